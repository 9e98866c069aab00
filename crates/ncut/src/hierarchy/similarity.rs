//! How similar clusters are, and what it takes to merge the most similar two again and again.

use std::cmp::Ordering;

use crate::progress::Stopped;

/// Candidates looked at, and rows filed, between two reports to the clock.
pub(super) const STEPS_PER_REPORT: usize = 1 << 14;

/// Clusters that merge by twos.
pub(super) trait Pairs {
    /// Takes the most similar pair; `None` when nothing is linked any more.
    fn next_pair(
        &mut self,
        still_going: &mut dyn FnMut() -> Result<(), Stopped>,
    ) -> Result<Option<(usize, usize)>, Stopped>;

    /// Merges two linked clusters.
    fn merge(&mut self, a: usize, b: usize);

    /// `n_merges` merges among clusters without links: the two of smallest volume each time.
    fn merge_smallest(&mut self, n_merges: usize);

    /// The cluster of every one there was, numbered by first appearance, and how many there are.
    fn numbered(&mut self) -> (Vec<u32>, usize);
}

/// A similarity whose exponent has no end, so that no number of halvings is too many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Similarity {
    pub(super) exponent: i64,
    /// From 1/2 to below 1.
    pub(super) fraction: f64,
}

impl Similarity {
    pub(super) fn new(value: f64) -> Self {
        let (fraction, exponent) = libm::frexp(value);
        Self { exponent: i64::from(exponent), fraction }
    }

    pub(super) fn halved(self, times: i64) -> Self {
        Self { exponent: self.exponent - times, ..self }
    }

    /// The sum, rounded as that of two floats.
    pub(super) fn plus(self, other: Self) -> Self {
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        // Beyond 64 places the smaller one is lost in rounding anyway.
        let apart = (large.exponent - small.exponent).min(64) as i32;
        let (fraction, carry) = libm::frexp(large.fraction + libm::scalbn(small.fraction, -apart));
        Self { exponent: large.exponent + i64::from(carry), fraction }
    }
}

impl Eq for Similarity {}

impl PartialOrd for Similarity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Similarity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.exponent.cmp(&other.exponent).then(self.fraction.total_cmp(&other.fraction))
    }
}
