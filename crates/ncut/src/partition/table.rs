//! The sums of all clusters, and what a node would gain by moving between them.

use std::ops::Index;

use super::{ClusterId, Links};
use crate::objective::{Lowest, NormalizedCut, Objective, ROUNDING, Sums};

/// Sums that have shrunk to this share of what they were, or are to shrink to it by a single move, have lost too many
/// digits: they are computed afresh from the graph.
pub(super) const LOST_DIGITS: f64 = 1e-4;

/// The sums of every cluster, kept exact while nodes move.
///
/// It needs no graph: whoever has the row of a node and the labels around it can ask for its best move. A
/// [`Partition`](super::Partition) is such a table with a graph and labels; a process that holds only some rows of a
/// graph works with the table alone.
///
/// ```
/// use ncut::objective::{NormalizedCut, Sums};
/// use ncut::partition::{ClusterTable, Links};
/// // Two clusters, and a node of degree 3 in the first: linked by 2 to the second, by 1 to its own.
/// let clusters = [Sums { association: 6.0, volume: 10.0, size: 4.0 }, Sums { association: 8.0, volume: 10.0, size: 4.0 }];
/// let table = ClusterTable::new(NormalizedCut, clusters.iter().map(|sums| (*sums, 4)));
/// let node = Sums { association: 0.0, volume: 3.0, size: 1.0 };
/// let mut links = Links::new(2);
/// links.sum_row(0, [(1, 2.0), (0, 1.0)]);
/// let (to, gain) = table.best_target(&node, 0, &links).unwrap();
/// assert_eq!(to, 1);
/// assert!((gain - ((8.0 + 4.0) / 13.0 - 0.8 + (6.0 - 2.0) / 7.0 - 0.6)).abs() < 1e-12);
/// ```
#[derive(Clone, Debug)]
pub struct ClusterTable<O = NormalizedCut> {
    objective: O,
    clusters: Vec<Cluster>,
    /// Largest volume of every cluster since its sums were computed from the graph.
    peaks: Vec<f64>,
    /// No node leaves a cluster whose mass would fall below this.
    floor: f64,
    /// No node joins a cluster whose mass would rise above this.
    ceiling: f64,
    /// No cluster is below these; they follow slowly when the lowest cluster rises.
    lowest: Lowest,
    /// Moves until the lowest are looked for again.
    n_until_lowest: usize,
}

/// What is known of a cluster, side by side: a visit looks at a few of many.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cluster {
    /// Association, volume and size.
    pub sums: Sums,
    /// What it contributes to the objective.
    pub value: f64,
    /// Number of nodes of positive degree.
    pub n_nodes: usize,
}

impl<O> Index<ClusterId> for ClusterTable<O> {
    type Output = Cluster;

    #[inline]
    fn index(&self, cluster: ClusterId) -> &Cluster {
        &self.clusters[cluster as usize]
    }
}

impl<O: Objective> ClusterTable<O> {
    /// The table of clusters with the given sums and numbers of nodes.
    pub fn new(objective: O, clusters: impl IntoIterator<Item = (Sums, usize)>) -> Self {
        let cluster = |(sums, n_nodes)| Cluster { sums, value: objective.value(&sums), n_nodes };
        let clusters: Vec<Cluster> = clusters.into_iter().map(cluster).collect();
        let peaks = clusters.iter().map(|cluster| cluster.sums.volume).collect();
        let (floor, ceiling, lowest) = (0.0, f64::INFINITY, Lowest::default());
        let mut table = Self { objective, clusters, peaks, floor, ceiling, lowest, n_until_lowest: 0 };
        table.find_lowest();
        table
    }

    /// Number of clusters.
    pub fn len(&self) -> usize {
        self.clusters.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// What is optimised.
    pub fn objective_type(&self) -> O {
        self.objective
    }

    /// The clusters in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.iter()
    }

    /// The sum of what all clusters contribute.
    pub fn objective(&self) -> f64 {
        self.clusters.iter().map(|cluster| cluster.value).sum()
    }

    /// From now on no move may let a cluster's mass fall below `floor`.
    pub fn set_floor(&mut self, floor: f64) {
        self.floor = floor;
    }

    /// From now on no move may let a cluster's mass rise above `ceiling`.
    pub fn set_ceiling(&mut self, ceiling: f64) {
        self.ceiling = ceiling;
    }

    /// The mass that no cluster may rise above.
    pub(crate) fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// Whether a cluster has room for a node below the ceiling.
    #[inline]
    pub fn has_room(&self, node: &Sums, to: ClusterId) -> bool {
        self.ceiling == f64::INFINITY
            || self.objective.mass(&self[to].sums) + self.objective.mass(node) <= self.ceiling
    }

    /// Whether a cluster can do without a node of it. A node alone in its cluster stays, and so does one whose leaving
    /// would break the floor.
    #[inline]
    pub fn may_leave(&self, node: &Sums, from: ClusterId) -> bool {
        let cluster = &self[from];
        let mass = |sums| self.objective.mass(sums);
        cluster.n_nodes > 1
            && node.volume > 0.0
            && (self.floor == 0.0 || mass(&cluster.sums) - mass(node) >= self.floor)
    }

    /// What the node's own cluster would lose without it, `link` being its weight to the rest: `L(k)` of the paper for the
    /// node's own cluster (eq. FCD-c1-final), self-loops included.
    #[inline]
    pub fn staying(&self, node: &Sums, from: ClusterId, link: f64) -> f64 {
        let cluster = &self[from];
        cluster.value - self.objective.value(&cluster.sums.without(node, link))
    }

    /// What another cluster would gain by a node with the weight `link` to it: `L(k)` of the paper for any other cluster
    /// (eq. FCD-c2-final), self-loops included.
    #[inline]
    pub fn joining(&self, node: &Sums, to: ClusterId, link: f64) -> f64 {
        let cluster = &self[to];
        self.objective.value(&cluster.sums.with(node, link)) - cluster.value
    }

    /// Whether hardly anything is left of a cluster without a node in it, so that subtracting leaves no digits.
    #[inline]
    pub(super) fn is_nearly_all(&self, node: &Sums, from: ClusterId) -> bool {
        let volume = self[from].sums.volume;
        volume - node.volume < LOST_DIGITS * volume
    }

    /// No other cluster gains more than this by a node that is linked to none by more than `link`.
    #[inline]
    pub(super) fn max_joining(&self, node: &Sums, link: f64) -> f64 {
        self.objective.max_joining(node, link, &self.lowest)
    }

    /// Whether joining a cluster gains nothing, while staying gains something.
    #[inline]
    pub(super) fn is_hopeless(&self, stay: f64, node: &Sums, to: ClusterId, link: f64) -> bool {
        stay >= ROUNDING * self.objective.unit() && self.objective.gains_nothing(self[to].value, node, link)
    }

    /// The cluster that a node had better be in, and what the move gains; `None` where staying is best or leaving is not
    /// allowed. `links` hold the weights between the node and all clusters.
    ///
    /// Among equals the cluster with the lowest number is taken. All clusters are considered, but those without a link are
    /// looked at only where one of them can win.
    pub fn best_target(&self, node: &Sums, from: ClusterId, links: &Links) -> Option<(ClusterId, f64)> {
        if !self.may_leave(node, from) {
            return None;
        }
        let stay = self.staying(node, from, links.weights[from as usize]);
        let (to, score) = match self.ceiling == f64::INFINITY {
            true => self.best_target_above(stay, node, from, links),
            false => self.best_allowed_above(stay, node, from, links, |to| self.has_room(node, to)),
        };
        (to != from).then_some((to, score - stay))
    }

    /// The cluster with the highest score, which is `from` when none scores more than `stay`.
    ///
    /// A cluster without a link to the node may be better than all others (it can where the node has a self-loop, and for
    /// some objectives without), but not better than the bound; below it the linked ones decide.
    #[inline]
    pub(super) fn best_target_above(
        &self,
        stay: f64,
        node: &Sums,
        from: ClusterId,
        links: &Links,
    ) -> (ClusterId, f64) {
        let mut best = (stay, from);
        for &cluster in links.adjacent() {
            let link = links.weights[cluster as usize];
            if cluster != from && !self.is_hopeless(stay, node, cluster, link) {
                self.consider(node, from, cluster, link, &mut best);
            }
        }
        let unlinked = self.objective.max_joining_unlinked(node, &self.lowest);
        let adjacent_decide = if best.1 == from { best.0 >= unlinked } else { best.0 > unlinked };
        if !adjacent_decide {
            for cluster in (0..self.len() as ClusterId).filter(|&cluster| cluster != from) {
                self.consider(node, from, cluster, links.weights[cluster as usize], &mut best);
            }
        }
        (best.1, best.0)
    }

    /// As [`best_target_above`](Self::best_target_above), of the clusters that a node may join.
    pub(super) fn best_allowed_above(
        &self,
        stay: f64,
        node: &Sums,
        from: ClusterId,
        links: &Links,
        may_join: impl Fn(ClusterId) -> bool,
    ) -> (ClusterId, f64) {
        let mut best = (stay, from);
        for &cluster in links.adjacent() {
            let link = links.weights[cluster as usize];
            if cluster != from && !self.is_hopeless(stay, node, cluster, link) && may_join(cluster) {
                self.consider(node, from, cluster, link, &mut best);
            }
        }
        let unlinked = self.objective.max_joining_unlinked(node, &self.lowest);
        let adjacent_decide = if best.1 == from { best.0 >= unlinked } else { best.0 > unlinked };
        if !adjacent_decide {
            for cluster in
                (0..self.len() as ClusterId).filter(|&cluster| cluster != from && may_join(cluster))
            {
                self.consider(node, from, cluster, links.weights[cluster as usize], &mut best);
            }
        }
        (best.1, best.0)
    }

    /// Keeps the better of a cluster and the best so far: the lower number among equals, the node's own before all.
    #[inline]
    pub(super) fn consider(
        &self,
        node: &Sums,
        from: ClusterId,
        to: ClusterId,
        link: f64,
        best: &mut (f64, ClusterId),
    ) {
        let score = self.joining(node, to, link);
        if score > best.0 || (score == best.0 && best.1 != from && to < best.1) {
            *best = (score, to);
        }
    }

    /// Moves a node from one cluster, to whose rest it is linked by the first of `links`, to another, to which it is linked
    /// by the second. `false` when the sums have lost too many digits and had better be computed afresh.
    #[inline]
    pub fn apply(&mut self, node: &Sums, (from, to): (ClusterId, ClusterId), links: (f64, f64)) -> bool {
        let left = self[from].sums.without(node, links.0);
        let joined = self[to].sums.with(node, links.1);
        let has_digits = left.volume >= LOST_DIGITS * self.peaks[from as usize];
        for (cluster, sums) in [(from, left), (to, joined)] {
            self.peaks[cluster as usize] = self.peaks[cluster as usize].max(sums.volume);
            let cluster = &mut self.clusters[cluster as usize];
            cluster.sums = sums;
            cluster.value = self.objective.value(&sums);
        }
        self.clusters[from as usize].n_nodes -= 1;
        self.clusters[to as usize].n_nodes += 1;
        if self.n_until_lowest == 0 {
            self.find_lowest();
        } else {
            self.n_until_lowest -= 1;
            for cluster in [from, to] {
                let Cluster { value, sums, .. } = self[cluster];
                self.lowest.value = self.lowest.value.min(value);
                self.lowest.scale = self.lowest.scale.min(self.objective.scale(&sums));
            }
        }
        has_digits
    }

    /// Replaces the sums of a cluster by ones computed afresh; tells how much its value changed. The caller has
    /// [`find_lowest`](Self::find_lowest) called when all are in.
    pub(super) fn set_afresh(&mut self, cluster: ClusterId, sums: Sums) -> f64 {
        self.peaks[cluster as usize] = sums.volume;
        let known = &mut self.clusters[cluster as usize];
        let before = std::mem::replace(&mut known.value, self.objective.value(&sums));
        known.sums = sums;
        (known.value - before).abs()
    }

    pub(super) fn set_n_nodes(&mut self, cluster: ClusterId, n_nodes: usize) {
        self.clusters[cluster as usize].n_nodes = n_nodes;
    }

    pub(super) fn find_lowest(&mut self) {
        let objective = self.objective;
        let lowest =
            |of: &dyn Fn(&Cluster) -> f64| self.clusters.iter().map(of).fold(f64::INFINITY, f64::min);
        self.lowest = Lowest {
            value: lowest(&|cluster| cluster.value),
            scale: lowest(&|cluster| objective.scale(&cluster.sums)),
        };
        self.n_until_lowest = self.len();
    }
}
