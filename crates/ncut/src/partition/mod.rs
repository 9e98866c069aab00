//! Labels and the sums that N-Cut is made of, kept exact while nodes move.

mod bonds;
mod labels;
mod links;
mod sum;

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::parallel::prelude::*;
use bonds::Bonds;
use labels::Labels;

pub use links::Links;
pub(crate) use sum::Sum;

/// Number of a cluster inside a partition, from 0.
pub type ClusterId = u32;

/// `association / volume`, with `0 / 0 = 0`. Mathematically a share of the volume, so rounding is not
/// allowed to push it out of 0..1.
#[inline]
pub(crate) fn density(association: f64, volume: f64) -> f64 {
    if volume > 0.0 { (association / volume).clamp(0.0, 1.0) } else { 0.0 }
}

/// A labelling of all nodes together with the association `A_c = sum of a_ij over i, j in c` and the
/// volume `D_c = sum of d_i over i in c` of every cluster. Moves change it by [`apply`](Self::apply), whole
/// clusters at once by `relabel`.
///
/// Isolated nodes carry a label but take no part: they contribute nothing, never move, and do not count
/// in [`size`](Self::size).
#[derive(Clone, Debug)]
pub struct Partition<'g> {
    graph: &'g Graph<'g>,
    labels: Labels,
    clusters: Vec<Cluster>,
    /// No node leaves a cluster whose volume would fall below this.
    floor: f64,
    /// No cluster is below these; they follow slowly when the lowest cluster rises.
    lowest_density: f64,
    lowest_volume: f64,
    /// Moves until the lowest are looked for again.
    n_until_lowest: usize,
    /// `None` where they do not pay off.
    bonds: Option<Bonds>,
}

/// What is known of a cluster, side by side: a visit looks at a few of many.
#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    association: f64,
    volume: f64,
    /// `association / volume`.
    density: f64,
    /// Largest volume since the sums were computed from the graph.
    peak: f64,
    size: usize,
}

impl Cluster {
    fn set(&mut self, association: f64, volume: f64) {
        (self.association, self.volume) = (association, volume);
        self.density = density(association, volume);
        self.peak = self.peak.max(volume);
    }

    fn set_afresh(&mut self, association: f64, volume: f64) {
        self.peak = volume;
        self.set(association, volume);
    }
}

/// Sums that have shrunk to this share of what they were, or are to shrink to it by a single move, have lost
/// too many digits: they are computed afresh.
const LOST_DIGITS: f64 = 1e-4;
/// More than a score of a node in a cluster can be wrong by rounding.
const ROUNDING: f64 = 1e-14;

/// One node changing its cluster, made by a partition for itself as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    node: NodeId,
    from: ClusterId,
    to: ClusterId,
    gain: f64,
    /// Weight between the node and the rest of `from`.
    link_from: f64,
    /// Weight between the node and `to`.
    link_to: f64,
}

impl Move {
    /// The node.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The cluster it leaves.
    pub fn from(&self) -> ClusterId {
        self.from
    }

    /// The cluster it joins.
    pub fn to(&self) -> ClusterId {
        self.to
    }

    /// The change of the objective.
    pub fn gain(&self) -> f64 {
        self.gain
    }
}

impl<'g> Partition<'g> {
    /// The partition of `graph` by `labels`, each below `n_clusters`.
    ///
    /// # Errors
    /// When the number of labels is not that of the nodes, a label is not below `n_clusters`, or there are more
    /// clusters than nodes.
    pub fn new(graph: &'g Graph<'g>, labels: Vec<ClusterId>, n_clusters: usize) -> Result<Self> {
        graph.verify()?;
        if labels.len() != graph.n_nodes() {
            return Err(Error::labels(format!(
                "{} labels were given for {} nodes",
                labels.len(),
                graph.n_nodes()
            )));
        }
        if n_clusters > graph.n_nodes() {
            return Err(Error::BadClusterCount { n_clusters, n_nodes: graph.n_nodes(), nodes: "nodes" });
        }
        if let Some(node) = labels.iter().position(|&label| label as usize >= n_clusters) {
            return Err(Error::labels(format!(
                "node {node} has label {}, but there are only {n_clusters} clusters",
                labels[node]
            )));
        }
        let mut clusters = vec![Cluster::default(); n_clusters];
        for (&label, &degree) in labels.iter().zip(graph.degrees()) {
            clusters[label as usize].size += usize::from(degree > 0.0);
        }
        let mut partition = Self {
            graph,
            labels: Labels::new(labels, n_clusters),
            clusters,
            floor: 0.0,
            lowest_density: 0.0,
            lowest_volume: 0.0,
            n_until_lowest: 0,
            bonds: None,
        };
        partition.refresh();
        Ok(partition)
    }

    /// The same partition, from now on without moves that let a cluster's volume fall below `floor`.
    #[must_use]
    pub fn with_floor(self, floor: f64) -> Self {
        Self { floor, ..self }
    }

    /// From now on keeps the weight between every node and every cluster, where visits to all nodes take less then; they
    /// find the same moves.
    pub(crate) fn keep_bonds(&mut self) {
        if self.bonds.is_none() {
            self.bonds = Bonds::of(self.graph, self.labels.all(), self.n_clusters());
        }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph<'g> {
        self.graph
    }

    /// The cluster of every node.
    pub fn labels(&self) -> &[ClusterId] {
        self.labels.all()
    }

    /// The cluster of every node.
    pub fn into_labels(self) -> Vec<ClusterId> {
        self.labels.into_all()
    }

    /// Number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Number of nodes of positive degree in a cluster.
    pub fn size(&self, cluster: ClusterId) -> usize {
        self.clusters[cluster as usize].size
    }

    /// Association of a cluster: the weight inside it, an edge counted in both directions.
    pub fn association(&self, cluster: ClusterId) -> f64 {
        self.clusters[cluster as usize].association
    }

    /// Volume of a cluster: the sum of its degrees.
    pub fn volume(&self, cluster: ClusterId) -> f64 {
        self.clusters[cluster as usize].volume
    }

    /// `sum_c A_c / D_c`, to be maximised.
    pub fn objective(&self) -> f64 {
        self.clusters.iter().map(|cluster| cluster.density).sum()
    }

    /// The change of the objective if `node` moved to `cluster`.
    pub fn gain(&self, node: NodeId, cluster: ClusterId) -> f64 {
        let from = self.labels.of(node);
        if from == cluster {
            return 0.0;
        }
        let (link_from, link_to) = self.links(node, cluster);
        self.joining(node, cluster, link_to) - self.staying(node, from, link_from)
    }

    /// The weight between a node and its own cluster, and another.
    fn links(&self, node: NodeId, other: ClusterId) -> (f64, f64) {
        let from = self.labels.of(node);
        let (mut link_from, mut link_to) = (0.0, 0.0);
        self.graph.for_each_neighbor(node, |neighbor, weight| {
            let label = self.labels.of(neighbor);
            if label == from {
                link_from += weight;
            } else if label == other {
                link_to += weight;
            }
        });
        (link_from, link_to)
    }

    /// The move of `node` that raises the objective most, if any does; among equals the cluster with the
    /// lowest number. A node alone in its cluster stays, so that no cluster becomes empty, and so does one
    /// whose leaving would break the [floor](Self::with_floor).
    ///
    /// All clusters are considered, but looked at only where they can win. For a node of degree `d` and
    /// self-loop `s`, a cluster it has no edge to scores
    /// `(A_c + s) / (D_c + d) - A_c / D_c = (s / d - A_c / D_c) d / (D_c + d)`. Without self-loop that is at most
    /// 0 (in floating point too: division is monotone); with one it is at most the same expression for the
    /// lowest density and the lowest volume of all clusters. None of them beats staying when staying scores
    /// at least that, nor a neighbouring cluster that scores more.
    ///
    /// # Panics
    /// When `links` was made for fewer clusters.
    pub fn best_move(&self, node: NodeId, links: &mut Links) -> Option<Move> {
        if !self.may_leave(node) || self.is_bound(node) {
            return None;
        }
        let from = self.labels.of(node);
        let link_from = links.inside(self.graph, &self.labels, node);
        let stay = self.staying(node, from, link_from);
        let (degree, own) = (self.graph.degree(node), self.graph.self_loop(node));
        // Sums of millions of weights are not exact.
        let outside = degree - own - link_from + 1e-9 * degree;
        if stay >= self.most_joining(node, outside) {
            return None;
        }
        let largest = links.sum_outside(self.graph, &self.labels, node);
        if stay >= self.most_joining(node, largest) {
            return None;
        }
        let mut best = (stay, from);
        // A score of 0 or less, where staying has more.
        let is_hopeless = |cluster: ClusterId, link: f64| {
            stay >= ROUNDING && 2.0 * link + own <= degree * self.clusters[cluster as usize].density
        };
        for &cluster in links.adjacent() {
            let link = links.weights[cluster as usize];
            if !is_hopeless(cluster, link) {
                self.consider(node, cluster, link, &mut best);
            }
        }
        let unlinked = self.most_unlinked(node);
        let adjacent_decide = if best.1 == from { best.0 >= unlinked } else { best.0 > unlinked };
        if !adjacent_decide {
            for cluster in (0..self.n_clusters() as ClusterId).filter(|&cluster| cluster != from) {
                self.consider(node, cluster, links.weights[cluster as usize], &mut best);
            }
        }
        let (score, to) = best;
        let link_to = links.weights[to as usize];
        (to != from).then_some(Move { node, from, to, gain: score - stay, link_from, link_to })
    }

    /// Whether the bonds of a node tell that no move gains anything; otherwise, its neighbours have to be met.
    ///
    /// The score of staying grows with the weight to the node's own cluster, and that of another with the weight to it,
    /// in floating point too: every operation in them is monotone. So a node stays that would do so with the least its
    /// bond to its own cluster can be, and the most all others can be.
    #[inline]
    fn is_bound(&self, node: NodeId) -> bool {
        let Some(bonds) = &self.bonds else { return false };
        let from = self.labels.of(node);
        if self.is_nearly_all(node, from) {
            return false;
        }
        let (degree, own) = (self.graph.degree(node), self.graph.self_loop(node));
        let (links, rounded) = bonds.of_node(node, degree);
        let stay = self.staying(node, from, links[from as usize] - rounded);
        links.iter().zip(&self.clusters).zip(0..).all(|((&link, of), cluster)| {
            let link = link + rounded;
            let is_hopeless = stay >= ROUNDING && 2.0 * link + own <= degree * of.density;
            is_hopeless || cluster == from || self.joining(node, cluster, link) <= stay
        })
    }

    /// The move of `node` that raises the objective most, or lowers it least, to a cluster it is linked to.
    pub(crate) fn best_departure(&self, node: NodeId, links: &mut Links) -> Option<Move> {
        if !self.may_leave(node) {
            return None;
        }
        let from = self.labels.of(node);
        let link_from = links.inside(self.graph, &self.labels, node);
        links.sum_outside(self.graph, &self.labels, node);
        let mut best = (f64::NEG_INFINITY, from);
        for &cluster in links.adjacent() {
            self.consider(node, cluster, links.weights[cluster as usize], &mut best);
        }
        let (score, to) = best;
        let gain = score - self.staying(node, from, link_from);
        let link_to = links.weights[to as usize];
        (to != from).then_some(Move { node, from, to, gain, link_from, link_to })
    }

    /// Whether the cluster of `node` can do without it.
    #[inline]
    fn may_leave(&self, node: NodeId) -> bool {
        let (from, degree) = (&self.clusters[self.labels.of(node) as usize], self.graph.degree(node));
        from.size > 1 && degree > 0.0 && (self.floor == 0.0 || from.volume - degree >= self.floor)
    }

    /// Keeps the better of a cluster and the best so far: the lower number among equals, the node's own before all.
    #[inline]
    fn consider(&self, node: NodeId, cluster: ClusterId, link: f64, best: &mut (f64, ClusterId)) {
        let score = self.joining(node, cluster, link);
        let is_own = best.1 == self.labels.of(node);
        if score > best.0 || (score == best.0 && !is_own && cluster < best.1) {
            *best = (score, cluster);
        }
    }

    /// No other cluster scores more than this for a node with at most the weight `link` to any: it would do so with all of
    /// that, if it were the least dense and the smallest.
    #[inline]
    fn most_joining(&self, node: NodeId, link: f64) -> f64 {
        let (degree, own) = (self.graph.degree(node), self.graph.self_loop(node));
        let excess = 2.0 * link + own - degree * self.lowest_density;
        excess.max(0.0) / (self.lowest_volume + degree) + ROUNDING
    }

    /// A cluster without a link to the node scores no more than this.
    #[inline]
    fn most_unlinked(&self, node: NodeId) -> f64 {
        let (degree, own) = (self.graph.degree(node), self.graph.self_loop(node));
        if own == 0.0 {
            return 0.0;
        }
        let excess = (own / degree - self.lowest_density).max(0.0);
        excess * (degree / (self.lowest_volume + degree)) + ROUNDING
    }

    /// The move of `node` to `cluster`, whatever it gains; `None` when the node is isolated, alone in its
    /// cluster, bound to it by the floor, or there already.
    pub fn move_to(&self, node: NodeId, cluster: ClusterId) -> Option<Move> {
        let from = self.labels.of(node);
        if from == cluster || !self.may_leave(node) {
            return None;
        }
        let (link_from, link_to) = self.links(node, cluster);
        let gain = self.joining(node, cluster, link_to) - self.staying(node, from, link_from);
        Some(Move { node, from, to: cluster, gain, link_from, link_to })
    }

    /// A move as it is now, made earlier, whose node and neighbours have not moved since; `None` when it is no longer
    /// allowed.
    pub(crate) fn renewed(&self, step: Move) -> Option<Move> {
        let stay = || self.staying(step.node, step.from, step.link_from);
        self.may_leave(step.node)
            .then(|| Move { gain: self.joining(step.node, step.to, step.link_to) - stay(), ..step })
    }

    /// Takes a move back that was the last to be applied, or whose successors have been taken back.
    pub(crate) fn take_back(&mut self, step: &Move) {
        let (from, to) = (step.to, step.from);
        let (link_from, link_to) = self.links(step.node, to);
        self.apply(Move { node: step.node, from, to, gain: -step.gain, link_from, link_to });
    }

    /// Carries out a move that [`best_move`](Self::best_move) or [`move_to`](Self::move_to) made for the
    /// partition as it is now.
    ///
    /// # Panics
    /// When the node is not where the move takes it from: the move was made for another state.
    pub fn apply(&mut self, Move { node, from, to, link_from, link_to, .. }: Move) {
        assert_eq!(self.labels.of(node), from, "the move was made for another state of the partition");
        let (degree, own) = (self.graph.degree(node), self.graph.self_loop(node));
        let source = &mut self.clusters[from as usize];
        source.set(source.association - (2.0 * link_from + own), source.volume - degree);
        source.size -= 1;
        let has_lost_digits = source.volume < LOST_DIGITS * source.peak;
        let target = &mut self.clusters[to as usize];
        target.set(target.association + (2.0 * link_to + own), target.volume + degree);
        target.size += 1;
        self.labels.set(node, to);
        if let Some(bonds) = &mut self.bonds {
            bonds.follow(node, (from, to), self.graph, self.labels.all());
        }
        if has_lost_digits {
            self.refresh();
        } else if self.n_until_lowest == 0 {
            self.find_lowest();
        } else {
            self.n_until_lowest -= 1;
            for cluster in [from, to] {
                let Cluster { density, volume, .. } = self.clusters[cluster as usize];
                self.lowest_density = self.lowest_density.min(density);
                self.lowest_volume = self.lowest_volume.min(volume);
            }
        }
    }

    fn find_lowest(&mut self) {
        let lowest = |of: fn(&Cluster) -> f64| self.clusters.iter().map(of).fold(f64::INFINITY, f64::min);
        (self.lowest_density, self.lowest_volume) =
            (lowest(|cluster| cluster.density), lowest(|cluster| cluster.volume));
        self.n_until_lowest = self.n_clusters();
    }

    /// Recomputes associations and volumes from the graph, so that rounding does not build up. Tells how much
    /// the density of a cluster changed by that, at most.
    pub fn refresh(&mut self) -> f64 {
        let n_nodes = self.graph.n_nodes();
        // So many that the sums of all pieces take less than the labels do.
        let n_per_piece = NODES_PER_SUM.max(8 * self.n_clusters());
        let sums = if n_nodes <= n_per_piece {
            self.sums(0..n_nodes)
        } else {
            let starts: Vec<usize> = (0..n_nodes).step_by(n_per_piece).collect();
            let piece = |&start: &usize| self.sums(start..n_nodes.min(start + n_per_piece));
            let pieces: Vec<Vec<ClusterSums>> = starts.par_iter().with_max_len(1).map(piece).collect();
            let mut all = vec![ClusterSums::default(); self.n_clusters()];
            for piece in &pieces {
                for (sums, more) in all.iter_mut().zip(piece) {
                    sums.association.add(more.association.total());
                    sums.volume.add(more.volume.total());
                }
            }
            all
        };
        let mut largest_change: f64 = 0.0;
        for (cluster, sums) in self.clusters.iter_mut().zip(sums) {
            let before = cluster.density;
            cluster.set_afresh(sums.association.total(), sums.volume.total());
            largest_change = largest_change.max((cluster.density - before).abs());
        }
        self.find_lowest();
        largest_change
    }

    /// What some nodes add to their clusters.
    fn sums(&self, nodes: Range<usize>) -> Vec<ClusterSums> {
        let mut sums = vec![ClusterSums::default(); self.n_clusters()];
        let mut links = Links::new(0);
        for node in nodes.start as NodeId..nodes.end as NodeId {
            let label = self.labels.of(node);
            let inside = self.graph.self_loop(node) + links.inside(self.graph, &self.labels, node);
            sums[label as usize].association.add(inside);
            sums[label as usize].volume.add(self.graph.degree(node));
        }
        sums
    }

    /// Gives `nodes` the clusters in `labels`. They are all the nodes of some clusters, before and after: only the sums
    /// of these are computed afresh. Calls `met` for every neighbour.
    pub(crate) fn relabel(&mut self, nodes: &[NodeId], labels: &[ClusterId], mut met: impl FnMut(NodeId)) {
        let mut sums: Vec<Option<(ClusterSums, usize)>> = vec![None; self.n_clusters()];
        for &node in nodes {
            self.labels.set(node, labels[node as usize]);
        }
        self.bonds = None;
        for &node in nodes {
            let label = self.labels.of(node);
            let mut inside = self.graph.self_loop(node);
            self.graph.for_each_neighbor(node, |neighbor, weight| {
                met(neighbor);
                if self.labels.of(neighbor) == label {
                    inside += weight;
                }
            });
            let degree = self.graph.degree(node);
            let (sums, size) = sums[label as usize].get_or_insert_default();
            sums.association.add(inside);
            sums.volume.add(degree);
            *size += usize::from(degree > 0.0);
        }
        for (cluster, sums) in self.clusters.iter_mut().zip(sums) {
            if let Some((sums, size)) = sums {
                cluster.set_afresh(sums.association.total(), sums.volume.total());
                cluster.size = size;
            }
        }
        self.find_lowest();
    }

    /// `L(k)` of the paper for the node's own cluster (eq. FCD-c1-final), self-loops included.
    #[inline]
    fn staying(&self, node: NodeId, cluster: ClusterId, link: f64) -> f64 {
        let of = &self.clusters[cluster as usize];
        if self.is_nearly_all(node, cluster) {
            return of.density - self.density_without(node, cluster);
        }
        let without = of.association - (2.0 * link + self.graph.self_loop(node));
        of.density - density(without, of.volume - self.graph.degree(node))
    }

    /// Whether hardly anything is left of a cluster without a node in it.
    #[inline]
    fn is_nearly_all(&self, node: NodeId, cluster: ClusterId) -> bool {
        let volume = self.clusters[cluster as usize].volume;
        volume - self.graph.degree(node) < LOST_DIGITS * volume
    }

    /// Density of a cluster without a node that is nearly all of it, where subtracting would leave no digits.
    #[cold]
    fn density_without(&self, node: NodeId, cluster: ClusterId) -> f64 {
        let (mut association, mut volume) = (Sum::default(), Sum::default());
        for other in (0..self.graph.n_nodes() as NodeId).filter(|&other| other != node) {
            if self.labels.of(other) != cluster {
                continue;
            }
            let mut inside = self.graph.self_loop(other);
            self.graph.for_each_neighbor(other, |neighbor, weight| {
                if neighbor != node && self.labels.of(neighbor) == cluster {
                    inside += weight;
                }
            });
            association.add(inside);
            volume.add(self.graph.degree(other));
        }
        density(association.total(), volume.total())
    }

    /// `L(k)` of the paper for any other cluster (eq. FCD-c2-final), self-loops included.
    #[inline]
    fn joining(&self, node: NodeId, cluster: ClusterId, link: f64) -> f64 {
        let of = &self.clusters[cluster as usize];
        let with = of.association + (2.0 * link + self.graph.self_loop(node));
        density(with, of.volume + self.graph.degree(node)) - of.density
    }
}

/// Nodes whose sums are made by one thread at a time.
const NODES_PER_SUM: usize = 1 << 17;

/// Association and volume of a cluster, as they are added up.
#[derive(Clone, Copy, Debug, Default)]
struct ClusterSums {
    association: Sum,
    volume: Sum,
}

/// A node that may move, by what that gains, the lowest first among equals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) gain: f64,
    pub(crate) node: NodeId,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(other.node.cmp(&self.node))
    }
}
