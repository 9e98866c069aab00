//! Objectives in which a cluster contributes a quotient of two sums.

use super::{Lowest, Objective, ROUNDING, Sums};

/// An objective whose clusters contribute `numerator / denominator`, both linear in the [sums](Sums), the denominator without
/// the association: links change the numerator only.
///
/// A node with numerator `x` (its links to the cluster included) and denominator `m` changes the value `v = N / M` of a
/// cluster it joins by `(N + x) / (M + m) - N / M = (x - m v) / (M + m)`. All bounds below follow from that.
pub trait RatioObjective: Copy + std::fmt::Debug + Send + Sync + 'static {
    /// As [`Objective::USES_SIZES`].
    const USES_SIZES: bool;
    /// The range of values.
    const RANGE: (f64, f64);

    /// What is divided.
    fn numerator(&self, sums: &Sums) -> f64;

    /// What it is divided by; positive for every cluster.
    fn denominator(&self, sums: &Sums) -> f64;

    /// As [`Objective::unit`].
    fn unit(&self) -> f64;
}

/// Normalized Cut: a cluster contributes `A_c / D_c`, the share of its volume that stays inside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NormalizedCut;

impl RatioObjective for NormalizedCut {
    const USES_SIZES: bool = false;
    const RANGE: (f64, f64) = (0.0, 1.0);

    #[inline]
    fn numerator(&self, sums: &Sums) -> f64 {
        sums.association
    }

    #[inline]
    fn denominator(&self, sums: &Sums) -> f64 {
        sums.volume
    }

    #[inline]
    fn unit(&self) -> f64 {
        1.0
    }
}

/// Ratio-Cut: a cluster contributes `(A_c - D_c) / n_c`, minus what is cut from it for each of its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioCut {
    /// The mean degree of the graph.
    unit: f64,
}

impl RatioCut {
    /// For a graph of the given volume and size.
    pub fn of(volume: f64, n_nodes: usize) -> Self {
        Self::of_size(volume, n_nodes.max(1) as f64)
    }

    /// For a graph of the given volume, whose nodes have weights that add up to `size`.
    pub fn of_size(volume: f64, size: f64) -> Self {
        Self { unit: (volume / size).max(f64::MIN_POSITIVE) }
    }
}

impl RatioObjective for RatioCut {
    const USES_SIZES: bool = true;
    const RANGE: (f64, f64) = (f64::NEG_INFINITY, 0.0);

    #[inline]
    fn numerator(&self, sums: &Sums) -> f64 {
        sums.association - sums.volume
    }

    #[inline]
    fn denominator(&self, sums: &Sums) -> f64 {
        sums.size
    }

    #[inline]
    fn unit(&self) -> f64 {
        self.unit
    }
}

impl<Q: RatioObjective> Objective for Q {
    const USES_SIZES: bool = Q::USES_SIZES;

    #[inline]
    fn value(&self, sums: &Sums) -> f64 {
        let (least, most) = Q::RANGE;
        if self.denominator(sums) > 0.0 { self.unclamped(sums).clamp(least, most) } else { 0.0 }
    }

    #[inline]
    fn unclamped(&self, sums: &Sums) -> f64 {
        self.numerator(sums) / self.denominator(sums)
    }

    /// One division instead of two.
    #[inline]
    fn value_of_both(&self, a: &Sums, b: &Sums) -> f64 {
        let (x, m) = (self.numerator(a), self.denominator(a));
        let (y, n) = (self.numerator(b), self.denominator(b).max(f64::MIN_POSITIVE));
        (x * n + y * m) / (m * n)
    }

    #[inline]
    fn mass(&self, sums: &Sums) -> f64 {
        self.denominator(sums)
    }

    #[inline]
    fn unit(&self) -> f64 {
        RatioObjective::unit(self)
    }

    #[inline]
    fn cut(&self, objective: f64, n_clusters: usize) -> f64 {
        n_clusters as f64 * Q::RANGE.1 - objective
    }

    #[inline]
    fn max_joining(&self, node: &Sums, link: f64, lowest: &Lowest) -> f64 {
        let joining = Sums { association: 2.0 * link + node.association, ..*node };
        let mass = self.denominator(node);
        let excess = self.numerator(&joining) - mass * lowest.value;
        excess.max(0.0) / (lowest.scale + mass) + ROUNDING * RatioObjective::unit(self)
    }

    #[inline]
    fn max_joining_unlinked(&self, node: &Sums, lowest: &Lowest) -> f64 {
        let (added, mass) = (self.numerator(node), self.denominator(node));
        // Nothing over something is never more than a value that is not negative; in floating point too, division being
        // monotone.
        if Q::RANGE.0 >= 0.0 && added == 0.0 {
            return 0.0;
        }
        let excess = (added / mass - lowest.value).max(0.0);
        excess * (mass / (lowest.scale + mass)) + ROUNDING * RatioObjective::unit(self)
    }

    #[inline]
    fn gains_nothing(&self, value: f64, node: &Sums, link: f64) -> bool {
        let joining = Sums { association: 2.0 * link + node.association, ..*node };
        self.numerator(&joining) <= self.denominator(node) * value
    }
}
