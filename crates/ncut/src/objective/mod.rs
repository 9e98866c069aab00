//! What is optimised, as a function of the sums of a cluster. Each formula is written here and nowhere else.
//!
//! Every objective is `sum_c f(A_c, D_c, n_c)` over the association, the volume and the size of cluster `c`, and is
//! maximised. The rest of the library adds sums up ([`Sums`]) and asks for values ([`Objective`]).
//!
//! To add an objective that is a quotient of sums, implement [`RatioObjective`]; for any other implement [`Objective`]. Then
//! give it a name in [`ObjectiveKind`] and an arm in the macro `with_objective` below. Where users meet it: its bound in
//! `spectral/bound.rs`, what is refused in `settings.rs`, `ObjectiveArg` and `CutReport` in the command line, `OBJECTIVES`
//! in the Python package.

mod any;
mod modularity;
mod ratio;

use std::fmt::Debug;

pub use any::AnyObjective;
pub use modularity::{Modularity, Pull};
pub use ratio::{NormalizedCut, RatioCut, RatioObjective};

/// What is known of a cluster, or of a node, which is a cluster of one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Weight inside, every edge in both directions, a self-loop once.
    pub association: f64,
    /// Sum of the degrees.
    pub volume: f64,
    /// Number of nodes, or the sum of their weights where nodes have weights. Objectives that do not
    /// [use sizes](Objective::USES_SIZES) may be given anything.
    pub size: f64,
}

impl Sums {
    /// The cluster with a node, to which it is linked by `link`.
    #[inline]
    #[must_use]
    pub fn with(&self, node: &Self, link: f64) -> Self {
        Self {
            association: self.association + (2.0 * link + node.association),
            volume: self.volume + node.volume,
            size: self.size + node.size,
        }
    }

    /// The cluster without a node of it, which is linked to the rest by `link`.
    #[inline]
    #[must_use]
    pub fn without(&self, node: &Self, link: f64) -> Self {
        Self {
            association: self.association - (2.0 * link + node.association),
            volume: self.volume - node.volume,
            size: self.size - node.size,
        }
    }

    /// The share of the volume that is inside, 0 for an empty cluster.
    pub fn inside(&self) -> f64 {
        if self.volume > 0.0 { self.association / self.volume } else { 0.0 }
    }

    /// Conductance in a graph of the given volume: the weight cut over the volume of the smaller side, 0 where that is empty.
    pub fn conductance(&self, total: f64) -> f64 {
        let smaller = self.volume.min(total - self.volume);
        // What is cut is no more than what either side has; the difference of sums may be off by rounding.
        let cut = (self.volume - self.association).clamp(0.0, smaller.max(0.0));
        if smaller > 0.0 { cut / smaller } else { 0.0 }
    }

    /// Two clusters as one. Symmetric in the two to the last bit, unlike [`with`](Self::with): when two nodes look for
    /// their best partners, each must see the gain that the other sees.
    #[inline]
    #[must_use]
    pub fn merged(&self, other: &Self, link: f64) -> Self {
        Self {
            association: self.association + other.association + 2.0 * link,
            volume: self.volume + other.volume,
            size: self.size + other.size,
        }
    }
}

/// The lowest value and the lowest scale of all clusters, or less.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lowest {
    /// Of [`Objective::value`].
    pub value: f64,
    /// Of [`Objective::scale`].
    pub scale: f64,
}

/// An objective: the sum of [`value`](Self::value) over all clusters, to be maximised.
///
/// Small and `Copy`. The solvers are compiled for Normalized Cut by itself, so that it does not pay for the others, and for
/// [`AnyObjective`].
pub trait Objective: Copy + Debug + Send + Sync + 'static {
    /// Whether [`Sums::size`] may be asked for.
    const USES_SIZES: bool;

    /// Whether the [mass](Self::mass) is the size; otherwise it is the volume. Where it is, graphs must know the
    /// [sizes](crate::Graph::with_sizes) of their nodes.
    #[inline]
    fn weighs_by_size(&self) -> bool {
        Self::USES_SIZES
    }

    /// What a cluster contributes, brought into its mathematical range where rounding has left it; 0 for no cluster.
    fn value(&self, sums: &Sums) -> f64;

    /// The formula as it stands: out of range by rounding, or because degrees do not count all links.
    fn unclamped(&self, sums: &Sums) -> f64;

    /// `value(a) + value(b)`, but for rounding; where both are asked again and again, in less time.
    #[inline]
    fn value_of_both(&self, a: &Sums, b: &Sums) -> f64 {
        self.value(a) + self.value(b)
    }

    /// What shares are measured in.
    fn mass(&self, sums: &Sums) -> f64;

    /// What a cluster's value is divided by, or grows with; every cluster has some.
    #[inline]
    fn scale(&self, sums: &Sums) -> f64 {
        self.mass(sums)
    }

    /// The size of an ordinary value. Differences are large or small beside it.
    fn unit(&self) -> f64;

    /// What is minimised, from the objective of `n_clusters`: what they lack to be as good as clusters can be.
    fn cut(&self, objective: f64, n_clusters: usize) -> f64;

    /// No cluster gains more than this by a node, if the node is linked to none by more than `link`.
    fn max_joining(&self, node: &Sums, link: f64, lowest: &Lowest) -> f64;

    /// As [`max_joining`](Self::max_joining), for clusters without a link to the node.
    fn max_joining_unlinked(&self, node: &Sums, lowest: &Lowest) -> f64;

    /// Whether a cluster of the given value gains nothing by a node that is linked to it by `link`. It may, by rounding,
    /// when this says no.
    fn gains_nothing(&self, value: f64, node: &Sums, link: f64) -> bool;

    /// The change of the objective when two clusters become one.
    #[inline]
    fn merge_gain(&self, a: &Sums, b: &Sums, link: f64) -> f64 {
        self.value(&a.merged(b, link)) - self.value(a) - self.value(b)
    }
}

/// Which objective is optimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectiveKind {
    /// Normalized Cut: `A_c / D_c`.
    #[default]
    NormalizedCut,
    /// Ratio-Cut: `(A_c - D_c) / n_c`.
    RatioCut,
    /// Modularity: `A_c / W - g (D_c / W)^2`, of a resolution `g` that is a [setting](crate::Ncut::resolution) of its own.
    Modularity,
}

impl ObjectiveKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::NormalizedCut, Self::RatioCut, Self::Modularity];

    /// The name used in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::NormalizedCut => "ncut",
            Self::RatioCut => "ratio-cut",
            Self::Modularity => "modularity",
        }
    }
}

/// Calls `$body` with `$objective` bound to what an [`ObjectiveKind`] names, for `$graph`: Normalized Cut as its own type, the
/// others as [`AnyObjective`]. Modularity has resolution 1.
macro_rules! with_objective {
    ($kind:expr, $graph:expr, |$objective:ident| $body:expr) => {
        match $kind {
            $crate::objective::ObjectiveKind::NormalizedCut => {
                let $objective = $crate::objective::NormalizedCut;
                $body
            }
            other => {
                let $objective =
                    $crate::objective::AnyObjective::of(other, $graph.volume(), $graph.n_nodes() as f64);
                $body
            }
        }
    };
}
pub(crate) use with_objective;

/// More than a score can be wrong by rounding, in [units](Objective::unit).
pub(crate) const ROUNDING: f64 = 1e-14;
