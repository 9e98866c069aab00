//! Sums of many terms.

/// A sum that carries its own rounding error along (Neumaier), so that millions of terms add up to the
/// last digit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, term: f64) {
        let total = self.total + term;
        self.lost += if self.total.abs() >= term.abs() {
            (self.total - total) + term
        } else {
            (term - total) + self.total
        };
        self.total = total;
    }

    pub(crate) fn total(&self) -> f64 {
        self.total + self.lost
    }
}
