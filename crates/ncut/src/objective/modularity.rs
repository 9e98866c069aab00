//! Modularity: how much more of the weight is inside clusters than chance would put there.

use super::{Lowest, Objective, ROUNDING, Sums};

/// Modularity of a given resolution `g`: a cluster contributes `A_c / W - g (D_c / W)^2`, `W` being the volume of the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modularity {
    /// Volume of the graph.
    pub total: f64,
    /// 1 in Newman's definition; higher values favour smaller clusters.
    pub resolution: f64,
}

impl Modularity {
    /// How much a node, or a group of nodes, of the given degree is drawn to clusters.
    #[inline]
    pub fn pull_on(&self, degree: f64) -> Pull {
        let repulsion = if self.total > 0.0 { self.resolution * degree / self.total } else { 0.0 };
        Pull { repulsion }
    }

    /// The change of the objective when a node leaves a cluster for another whose pull is so much stronger. Two clusters
    /// that become one gain as much as a node that leaves no cluster for one: by the pull of each on the other.
    #[inline]
    pub fn gain(&self, stronger: f64) -> f64 {
        if self.total > 0.0 { 2.0 * stronger / self.total } else { 0.0 }
    }

    /// A pull that is so much stronger gains nothing but rounding.
    #[inline]
    pub fn rounding(&self) -> f64 {
        0.5 * ROUNDING * self.total
    }
}

/// What draws one node to clusters: `l - g d D / W`, in units of weight, for a cluster of volume `D`, the node left out, to
/// which the node is linked by `l`. Moves between clusters need no other sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    repulsion: f64,
}

impl Pull {
    /// The pull of a cluster.
    #[inline]
    pub fn of(&self, link: f64, volume: f64) -> f64 {
        link - self.repulsion * volume
    }
}

impl Objective for Modularity {
    const USES_SIZES: bool = false;

    #[inline]
    fn value(&self, sums: &Sums) -> f64 {
        if self.total > 0.0 { self.unclamped(sums) } else { 0.0 }
    }

    #[inline]
    fn unclamped(&self, sums: &Sums) -> f64 {
        let share = sums.volume / self.total;
        sums.association / self.total - self.resolution * (share * share)
    }

    #[inline]
    fn mass(&self, sums: &Sums) -> f64 {
        sums.volume
    }

    #[inline]
    fn unit(&self) -> f64 {
        1.0
    }

    fn cut(&self, objective: f64, _: usize) -> f64 {
        1.0 - objective
    }

    /// The change is `(2 l + s) / W - g d (2 D_c + d) / W^2`, the more the smaller the cluster.
    #[inline]
    fn max_joining(&self, node: &Sums, link: f64, lowest: &Lowest) -> f64 {
        let (added, degree) = (2.0 * link + node.association, node.volume / self.total);
        let expected = degree * (2.0 * lowest.scale / self.total + degree);
        added / self.total - self.resolution * expected + ROUNDING
    }

    #[inline]
    fn max_joining_unlinked(&self, node: &Sums, lowest: &Lowest) -> f64 {
        self.max_joining(node, 0.0, lowest)
    }

    /// What a cluster gains depends on its volume, which the value does not tell.
    #[inline]
    fn gains_nothing(&self, _: f64, _: &Sums, _: f64) -> bool {
        false
    }
}
