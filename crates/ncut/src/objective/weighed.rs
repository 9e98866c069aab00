//! An objective whose shares are measured in weights of the nodes.

use super::{Lowest, Objective, Sums};

/// An objective as it is, but shares are measured in the sizes of the nodes: in weights that somebody has given them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed<O>(pub O);

impl<O: Objective> Objective for Weighed<O> {
    const USES_SIZES: bool = true;

    #[inline]
    fn value(&self, sums: &Sums) -> f64 {
        self.0.value(sums)
    }

    #[inline]
    fn unclamped(&self, sums: &Sums) -> f64 {
        self.0.unclamped(sums)
    }

    #[inline]
    fn value_of_both(&self, a: &Sums, b: &Sums) -> f64 {
        self.0.value_of_both(a, b)
    }

    #[inline]
    fn mass(&self, sums: &Sums) -> f64 {
        sums.size
    }

    #[inline]
    fn scale(&self, sums: &Sums) -> f64 {
        self.0.scale(sums)
    }

    #[inline]
    fn unit(&self) -> f64 {
        self.0.unit()
    }

    fn cut(&self, objective: f64, n_clusters: usize) -> f64 {
        self.0.cut(objective, n_clusters)
    }

    #[inline]
    fn max_joining(&self, node: &Sums, link: f64, lowest: &Lowest) -> f64 {
        self.0.max_joining(node, link, lowest)
    }

    #[inline]
    fn max_joining_unlinked(&self, node: &Sums, lowest: &Lowest) -> f64 {
        self.0.max_joining_unlinked(node, lowest)
    }

    #[inline]
    fn gains_nothing(&self, value: f64, node: &Sums, link: f64) -> bool {
        self.0.gains_nothing(value, node, link)
    }
}
