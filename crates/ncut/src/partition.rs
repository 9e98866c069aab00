//! Labels and the sums that N-Cut is made of, kept exact while nodes move.

use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};

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
    labels: Vec<ClusterId>,
    sizes: Vec<usize>,
    associations: Vec<f64>,
    volumes: Vec<f64>,
    /// Largest volume of every cluster since the sums were computed from the graph.
    peaks: Vec<f64>,
    /// No node leaves a cluster whose volume would fall below this.
    floor: f64,
    /// No cluster is below these; they follow slowly when the lowest cluster rises.
    lowest_density: f64,
    lowest_volume: f64,
    /// Moves until the lowest are looked for again.
    n_until_lowest: usize,
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

/// The weight between one node and every cluster: work space of [`Partition::best_move`].
#[derive(Clone, Debug)]
pub struct Links {
    weights: Vec<f64>,
    /// The clusters with a weight, in the order met.
    adjacent: Vec<ClusterId>,
}

impl Links {
    /// Work space for partitions into `n_clusters`.
    pub fn new(n_clusters: usize) -> Self {
        Self { weights: vec![0.0; n_clusters], adjacent: Vec::new() }
    }

    #[inline]
    fn gather(&mut self, graph: &Graph<'_>, labels: &[ClusterId], node: NodeId) {
        for cluster in self.adjacent.drain(..) {
            self.weights[cluster as usize] = 0.0;
        }
        let (weights, adjacent) = (&mut self.weights, &mut self.adjacent);
        graph.for_each_neighbor(node, |neighbor, weight| {
            let cluster = labels[neighbor as usize];
            let link = &mut weights[cluster as usize];
            if *link == 0.0 {
                adjacent.push(cluster);
            }
            *link += weight;
        });
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
        let mut sizes = vec![0; n_clusters];
        for (&label, &degree) in labels.iter().zip(graph.degrees()) {
            sizes[label as usize] += usize::from(degree > 0.0);
        }
        let zeros = vec![0.0; n_clusters];
        let (associations, peaks) = (zeros.clone(), zeros.clone());
        let mut partition = Self {
            graph,
            labels,
            sizes,
            associations,
            volumes: zeros,
            peaks,
            floor: 0.0,
            lowest_density: 0.0,
            lowest_volume: 0.0,
            n_until_lowest: 0,
        };
        partition.refresh();
        Ok(partition)
    }

    /// The same partition, from now on without moves that let a cluster's volume fall below `floor`.
    #[must_use]
    pub fn with_floor(self, floor: f64) -> Self {
        Self { floor, ..self }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph<'g> {
        self.graph
    }

    /// The cluster of every node.
    pub fn labels(&self) -> &[ClusterId] {
        &self.labels
    }

    /// The cluster of every node.
    pub fn into_labels(self) -> Vec<ClusterId> {
        self.labels
    }

    /// Number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.sizes.len()
    }

    /// Number of nodes of positive degree in a cluster.
    pub fn size(&self, cluster: ClusterId) -> usize {
        self.sizes[cluster as usize]
    }

    /// Association of a cluster: the weight inside it, an edge counted in both directions.
    pub fn association(&self, cluster: ClusterId) -> f64 {
        self.associations[cluster as usize]
    }

    /// Volume of a cluster: the sum of its degrees.
    pub fn volume(&self, cluster: ClusterId) -> f64 {
        self.volumes[cluster as usize]
    }

    /// `sum_c A_c / D_c`, to be maximised.
    pub fn objective(&self) -> f64 {
        self.associations.iter().zip(&self.volumes).map(|(&a, &d)| density(a, d)).sum()
    }

    /// The change of the objective if `node` moved to `cluster`.
    pub fn gain(&self, node: NodeId, cluster: ClusterId) -> f64 {
        let from = self.labels[node as usize];
        if from == cluster {
            return 0.0;
        }
        let (mut link_from, mut link_to) = (0.0, 0.0);
        self.graph.for_each_neighbor(node, |neighbor, weight| {
            let label = self.labels[neighbor as usize];
            if label == from {
                link_from += weight;
            } else if label == cluster {
                link_to += weight;
            }
        });
        self.joining(node, cluster, link_to) - self.staying(node, from, link_from)
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
        if !self.may_leave(node) {
            return None;
        }
        links.gather(self.graph, &self.labels, node);
        let from = self.labels[node as usize];
        let link_from = links.weights[from as usize];
        let stay = self.staying(node, from, link_from);
        let (score, to) = self.best_cluster(node, links, (stay, from));
        let link_to = links.weights[to as usize];
        (to != from).then_some(Move { node, from, to, gain: score - stay, link_from, link_to })
    }

    /// The move of `node` that raises the objective most, or lowers it least, to a cluster it is linked to.
    pub(crate) fn best_departure(&self, node: NodeId, links: &mut Links) -> Option<Move> {
        if !self.may_leave(node) {
            return None;
        }
        links.gather(self.graph, &self.labels, node);
        let from = self.labels[node as usize];
        let mut best = (f64::NEG_INFINITY, from);
        for &cluster in &links.adjacent {
            self.consider(node, links, from, cluster, &mut best);
        }
        let (score, to) = best;
        let (link_from, link_to) = (links.weights[from as usize], links.weights[to as usize]);
        let gain = score - self.staying(node, from, link_from);
        (to != from).then_some(Move { node, from, to, gain, link_from, link_to })
    }

    /// Whether the cluster of `node` can do without it.
    #[inline]
    fn may_leave(&self, node: NodeId) -> bool {
        let (from, degree) = (self.labels[node as usize] as usize, self.graph.degree(node));
        self.sizes[from] > 1
            && degree > 0.0
            && (self.floor == 0.0 || self.volumes[from] - degree >= self.floor)
    }

    /// The cluster where the gathered node scores most, `best` being its own.
    #[inline]
    fn best_cluster(&self, node: NodeId, links: &Links, mut best: (f64, ClusterId)) -> (f64, ClusterId) {
        let from = best.1;
        for &cluster in &links.adjacent {
            self.consider(node, links, from, cluster, &mut best);
        }
        let unlinked = self.most_unlinked(node);
        let adjacent_decide = if best.1 == from { best.0 >= unlinked } else { best.0 > unlinked };
        if !adjacent_decide {
            for cluster in 0..self.n_clusters() as ClusterId {
                self.consider(node, links, from, cluster, &mut best);
            }
        }
        best
    }

    #[inline]
    fn consider(
        &self,
        node: NodeId,
        links: &Links,
        from: ClusterId,
        cluster: ClusterId,
        best: &mut (f64, ClusterId),
    ) {
        if cluster != from {
            let score = self.joining(node, cluster, links.weights[cluster as usize]);
            if score > best.0 || (score == best.0 && best.1 != from && cluster < best.1) {
                *best = (score, cluster);
            }
        }
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
    pub fn move_to(&self, node: NodeId, cluster: ClusterId, links: &mut Links) -> Option<Move> {
        let from = self.labels[node as usize];
        if from == cluster || !self.may_leave(node) {
            return None;
        }
        links.gather(self.graph, &self.labels, node);
        let (link_from, link_to) = (links.weights[from as usize], links.weights[cluster as usize]);
        let gain = self.joining(node, cluster, link_to) - self.staying(node, from, link_from);
        Some(Move { node, from, to: cluster, gain, link_from, link_to })
    }

    /// Takes a move back that was the last to be applied, or whose successors have been taken back.
    pub(crate) fn take_back(&mut self, step: &Move, links: &mut Links) {
        links.gather(self.graph, &self.labels, step.node);
        let (from, to) = (step.to, step.from);
        let (link_from, link_to) = (links.weights[from as usize], links.weights[to as usize]);
        self.apply(Move { node: step.node, from, to, gain: -step.gain, link_from, link_to });
    }

    /// Carries out a move that [`best_move`](Self::best_move) or [`move_to`](Self::move_to) made for the
    /// partition as it is now.
    ///
    /// # Panics
    /// When the node is not where the move takes it from: the move was made for another state.
    pub fn apply(&mut self, Move { node, from, to, link_from, link_to, .. }: Move) {
        assert_eq!(self.labels[node as usize], from, "the move was made for another state of the partition");
        let (degree, own) = (self.graph.degree(node), self.graph.self_loop(node));
        let (source, target) = (from as usize, to as usize);
        self.associations[source] -= 2.0 * link_from + own;
        self.associations[target] += 2.0 * link_to + own;
        self.volumes[source] -= degree;
        self.volumes[target] += degree;
        self.peaks[target] = self.peaks[target].max(self.volumes[target]);
        self.sizes[source] -= 1;
        self.sizes[target] += 1;
        self.labels[node as usize] = to;
        if self.volumes[source] < LOST_DIGITS * self.peaks[source] {
            self.refresh();
        } else if self.n_until_lowest == 0 {
            self.find_lowest();
        } else {
            self.n_until_lowest -= 1;
            for cluster in [source, target] {
                let density = density(self.associations[cluster], self.volumes[cluster]);
                self.lowest_density = self.lowest_density.min(density);
                self.lowest_volume = self.lowest_volume.min(self.volumes[cluster]);
            }
        }
    }

    fn find_lowest(&mut self) {
        let lowest = |low: f64, value: f64| low.min(value);
        let densities = self.associations.iter().zip(&self.volumes).map(|(&a, &d)| density(a, d));
        self.lowest_density = densities.fold(f64::INFINITY, lowest);
        self.lowest_volume = self.volumes.iter().copied().fold(f64::INFINITY, lowest);
        self.n_until_lowest = self.n_clusters();
    }

    /// Recomputes associations and volumes from the graph, so that rounding does not build up. Tells how much
    /// the density of a cluster changed by that, at most.
    pub fn refresh(&mut self) -> f64 {
        let mut associations = vec![Sum::default(); self.n_clusters()];
        let mut volumes = vec![Sum::default(); self.n_clusters()];
        for node in 0..self.graph.n_nodes() as NodeId {
            let label = self.labels[node as usize];
            let mut inside = self.graph.self_loop(node);
            self.graph.for_each_neighbor(node, |neighbor, weight| {
                if self.labels[neighbor as usize] == label {
                    inside += weight;
                }
            });
            associations[label as usize].add(inside);
            volumes[label as usize].add(self.graph.degree(node));
        }
        let mut largest_change: f64 = 0.0;
        for cluster in 0..self.n_clusters() {
            let before = density(self.associations[cluster], self.volumes[cluster]);
            self.associations[cluster] = associations[cluster].total();
            self.volumes[cluster] = volumes[cluster].total();
            self.peaks[cluster] = self.volumes[cluster];
            let after = density(self.associations[cluster], self.volumes[cluster]);
            largest_change = largest_change.max((after - before).abs());
        }
        self.find_lowest();
        largest_change
    }

    /// Gives `nodes` the clusters in `labels`. They are all the nodes of some clusters, before and after: only the sums
    /// of these are computed afresh. Calls `met` for every neighbour.
    pub(crate) fn relabel(&mut self, nodes: &[NodeId], labels: &[ClusterId], mut met: impl FnMut(NodeId)) {
        let mut sums: Vec<Option<(Sum, Sum, usize)>> = vec![None; self.n_clusters()];
        for &node in nodes {
            self.labels[node as usize] = labels[node as usize];
        }
        for &node in nodes {
            let label = self.labels[node as usize];
            let mut inside = self.graph.self_loop(node);
            self.graph.for_each_neighbor(node, |neighbor, weight| {
                met(neighbor);
                if self.labels[neighbor as usize] == label {
                    inside += weight;
                }
            });
            let degree = self.graph.degree(node);
            let (association, volume, size) = sums[label as usize].get_or_insert_default();
            association.add(inside);
            volume.add(degree);
            *size += usize::from(degree > 0.0);
        }
        for (cluster, sums) in sums.into_iter().enumerate() {
            if let Some((association, volume, size)) = sums {
                self.associations[cluster] = association.total();
                self.volumes[cluster] = volume.total();
                self.peaks[cluster] = self.volumes[cluster];
                self.sizes[cluster] = size;
            }
        }
        self.find_lowest();
    }

    /// `L(k)` of the paper for the node's own cluster (eq. FCD-c1-final), self-loops included.
    #[inline]
    fn staying(&self, node: NodeId, cluster: ClusterId, link: f64) -> f64 {
        let (association, volume) = (self.associations[cluster as usize], self.volumes[cluster as usize]);
        let rest = volume - self.graph.degree(node);
        if rest < LOST_DIGITS * volume {
            return density(association, volume) - self.density_without(node, cluster);
        }
        let without = association - (2.0 * link + self.graph.self_loop(node));
        density(association, volume) - density(without, rest)
    }

    /// Density of a cluster without a node that is nearly all of it, where subtracting would leave no digits.
    #[cold]
    fn density_without(&self, node: NodeId, cluster: ClusterId) -> f64 {
        let (mut association, mut volume) = (Sum::default(), Sum::default());
        for other in (0..self.graph.n_nodes() as NodeId).filter(|&other| other != node) {
            if self.labels[other as usize] != cluster {
                continue;
            }
            let mut inside = self.graph.self_loop(other);
            self.graph.for_each_neighbor(other, |neighbor, weight| {
                if neighbor != node && self.labels[neighbor as usize] == cluster {
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
        let (association, volume) = (self.associations[cluster as usize], self.volumes[cluster as usize]);
        let with = association + (2.0 * link + self.graph.self_loop(node));
        density(with, volume + self.graph.degree(node)) - density(association, volume)
    }
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
