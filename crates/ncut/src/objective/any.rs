//! Any objective, as one type.

use super::{Lowest, Modularity, NormalizedCut, Objective, ObjectiveKind, RatioCut, Sums};

/// Any objective, told apart whenever it is asked. Shares are measured in what the objective says, or in the sizes of the nodes:
/// in weights that somebody has given them.
///
/// The solvers are compiled for Normalized Cut alone and for this. They would be four times as large, and take as much longer
/// to compile, if every objective had its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnyObjective {
    formula: Formula,
    weighs_by_size: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Formula {
    NormalizedCut(NormalizedCut),
    RatioCut(RatioCut),
    Modularity(Modularity),
}

impl AnyObjective {
    /// For a graph of the given volume, whose nodes have sizes that add up to `size`. Modularity has resolution 1.
    pub fn of(kind: ObjectiveKind, volume: f64, size: f64) -> Self {
        match kind {
            ObjectiveKind::NormalizedCut => NormalizedCut.into(),
            ObjectiveKind::RatioCut => RatioCut::of_size(volume, size).into(),
            ObjectiveKind::Modularity => Modularity { total: volume, resolution: 1.0 }.into(),
        }
    }

    /// The same objective with shares measured in the sizes of the nodes. [Ratio-Cut](RatioCut) always does.
    #[must_use]
    pub fn weighed(self) -> Self {
        Self { weighs_by_size: true, ..self }
    }
}

impl From<NormalizedCut> for AnyObjective {
    fn from(objective: NormalizedCut) -> Self {
        Self { formula: Formula::NormalizedCut(objective), weighs_by_size: objective.weighs_by_size() }
    }
}

impl From<RatioCut> for AnyObjective {
    fn from(objective: RatioCut) -> Self {
        Self { formula: Formula::RatioCut(objective), weighs_by_size: objective.weighs_by_size() }
    }
}

impl From<Modularity> for AnyObjective {
    fn from(objective: Modularity) -> Self {
        Self { formula: Formula::Modularity(objective), weighs_by_size: objective.weighs_by_size() }
    }
}

/// Calls `$body` with `$objective` bound to the objective that is optimised.
macro_rules! of {
    ($any:expr, |$objective:ident| $body:expr) => {
        match &$any.formula {
            Formula::NormalizedCut($objective) => $body,
            Formula::RatioCut($objective) => $body,
            Formula::Modularity($objective) => $body,
        }
    };
}

impl Objective for AnyObjective {
    const USES_SIZES: bool = true;

    #[inline]
    fn weighs_by_size(&self) -> bool {
        self.weighs_by_size
    }

    #[inline]
    fn value(&self, sums: &Sums) -> f64 {
        of!(self, |objective| objective.value(sums))
    }

    #[inline]
    fn unclamped(&self, sums: &Sums) -> f64 {
        of!(self, |objective| objective.unclamped(sums))
    }

    #[inline]
    fn value_of_both(&self, a: &Sums, b: &Sums) -> f64 {
        of!(self, |objective| objective.value_of_both(a, b))
    }

    #[inline]
    fn mass(&self, sums: &Sums) -> f64 {
        if self.weighs_by_size { sums.size } else { of!(self, |objective| objective.mass(sums)) }
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
        of!(self, |any| any.cut(objective, n_clusters))
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
