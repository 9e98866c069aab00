//! Objectives whose shares are measured in weights of the nodes.

use super::{Lowest, Modularity, NormalizedCut, Objective, Sums};

/// An objective as it is, but shares are measured in the sizes of the nodes: in weights that somebody has given them.
/// [Ratio-Cut](super::RatioCut) needs no other: its sizes are the weights.
///
/// One type for both, so that the solvers are compiled once more, not twice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weighed {
    /// Normalized Cut.
    NormalizedCut(NormalizedCut),
    /// Modularity.
    Modularity(Modularity),
}

/// Calls `$body` with `$objective` bound to the objective that is optimised.
macro_rules! of {
    ($weighed:expr, |$objective:ident| $body:expr) => {
        match $weighed {
            Weighed::NormalizedCut($objective) => $body,
            Weighed::Modularity($objective) => $body,
        }
    };
}

impl Objective for Weighed {
    const USES_SIZES: bool = true;

    #[inline]
    fn value(&self, sums: &Sums) -> f64 {
        of!(self, |objective| objective.value(sums))
    }

    #[inline]
    fn unclamped(&self, sums: &Sums) -> f64 {
        of!(self, |objective| objective.unclamped(sums))
    }

    #[inline]
    fn mass(&self, sums: &Sums) -> f64 {
        sums.size
    }

    #[inline]
    fn scale(&self, sums: &Sums) -> f64 {
        of!(self, |objective| objective.scale(sums))
    }

    #[inline]
    fn unit(&self) -> f64 {
        of!(self, |objective| Objective::unit(objective))
    }

    fn cut(&self, objective: f64, n_clusters: usize) -> f64 {
        of!(self, |weighed| weighed.cut(objective, n_clusters))
    }

    #[inline]
    fn max_joining(&self, node: &Sums, link: f64, lowest: &Lowest) -> f64 {
        of!(self, |objective| objective.max_joining(node, link, lowest))
    }

    #[inline]
    fn max_joining_unlinked(&self, node: &Sums, lowest: &Lowest) -> f64 {
        of!(self, |objective| objective.max_joining_unlinked(node, lowest))
    }

    #[inline]
    fn gains_nothing(&self, value: f64, node: &Sums, link: f64) -> bool {
        of!(self, |objective| objective.gains_nothing(value, node, link))
    }
}
