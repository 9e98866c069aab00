//! Labels and the sums that the objective is made of, kept exact while nodes move.

mod labels;
mod links;
mod node_cluster_weights;
mod sum;
mod table;

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::graph::{Apart, Graph, NodeId};
use crate::limits::Limits;
use crate::objective::{NormalizedCut, Objective, Sums};
use crate::parallel::prelude::*;
use labels::Labels;
use node_cluster_weights::NodeClusterWeights;

pub use links::Links;
pub(crate) use sum::Sum;
pub use table::{Cluster, ClusterTable};

/// Number of a cluster inside a partition, from 0.
pub type ClusterId = u32;

/// A labelling of all nodes together with the [sums](ClusterTable) of every cluster. Moves change it by
/// [`apply`](Self::apply), whole clusters at once by `relabel`.
///
/// Isolated nodes carry a label but take no part: they contribute nothing, never move, and do not count
/// in [`size`](Self::size).
#[derive(Clone, Debug)]
pub struct Partition<'g, O = NormalizedCut> {
    graph: &'g Graph<'g>,
    labels: Labels,
    table: ClusterTable<O>,
    /// `None` where they do not pay off.
    node_cluster_weights: Option<NodeClusterWeights>,
    /// Whether there are moves that are not allowed: some nodes are apart, or there is a ceiling.
    is_restricted: bool,
    /// What a move must gain to be worth it.
    price: f64,
    limits: Limits,
}

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
        Self::for_objective(NormalizedCut, graph, labels, n_clusters, &Limits::default())
    }
}

impl<'g, O: Objective> Partition<'g, O> {
    /// As [`new`](Partition::new), for any objective. Where it [uses sizes](Objective::USES_SIZES), those of the graph
    /// count.
    ///
    /// # Errors
    /// As [`new`](Partition::new).
    pub fn for_objective(
        objective: O,
        graph: &'g Graph<'g>,
        labels: Vec<ClusterId>,
        n_clusters: usize,
        limits: &Limits,
    ) -> Result<Self> {
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
        let mut n_nodes = vec![0; n_clusters];
        for (&label, &degree) in labels.iter().zip(graph.degrees()) {
            n_nodes[label as usize] += usize::from(degree > 0.0);
        }
        let empty = n_nodes.into_iter().map(|n_nodes| (Sums::default(), n_nodes));
        let mut partition = Self {
            graph,
            labels: Labels::new(labels, n_clusters, limits.min_nodes_for_short_labels),
            table: ClusterTable::new(objective, empty),
            node_cluster_weights: None,
            is_restricted: graph.apart().is_some(),
            price: 0.0,
            limits: *limits,
        };
        partition.refresh();
        Ok(partition)
    }

    /// The same partition, from now on without moves that let a cluster's mass (for N-Cut: its volume) fall below `floor`.
    #[must_use]
    pub fn with_floor(mut self, floor: f64) -> Self {
        self.set_floor(floor);
        self
    }

    /// As [`with_floor`](Self::with_floor), in place.
    pub(crate) fn set_floor(&mut self, floor: f64) {
        self.table.set_floor(floor);
    }

    /// From now on without moves that let a cluster's mass rise above `ceiling`, and again without those that bring nodes
    /// together that are apart.
    pub(crate) fn set_ceiling(&mut self, ceiling: f64) {
        self.table.set_ceiling(ceiling);
        self.is_restricted = ceiling < f64::INFINITY || self.graph.apart().is_some();
    }

    /// From now on every move is allowed, until a ceiling is set again: for steps that are only together what they should be.
    pub(crate) fn lift_restrictions(&mut self) {
        self.table.set_ceiling(f64::INFINITY);
        self.is_restricted = false;
    }

    /// From now on a move must gain more than this.
    pub(crate) fn set_price(&mut self, price: f64) {
        self.price = price;
    }

    /// What a move must gain to be worth it.
    pub(crate) fn price(&self) -> f64 {
        self.price
    }

    /// Whether a node may join a cluster. The one place that answers this: for nodes that are apart, and for the ceiling.
    #[inline]
    pub(crate) fn may_join(&self, node: NodeId, to: ClusterId) -> bool {
        !self.is_restricted || self.is_allowed(node, to)
    }

    /// Whether a node stands for a known label and stays: every cluster has one, or its row is so long that looking at it again
    /// and again, for each of its neighbours, would take most of the time.
    #[inline]
    fn is_pinned(&self, node: NodeId) -> bool {
        /// Strokes over a picture have thousands of neighbours.
        const MAX_ROW: usize = 1 << 10;
        let holds = |apart: &Apart| {
            let is_everywhere = apart.all_apart().len() == self.n_clusters();
            apart.is_in_list(node) && (is_everywhere || self.graph.entries(node).len() > MAX_ROW)
        };
        self.is_restricted && self.graph.apart().is_some_and(holds)
    }

    fn is_allowed(&self, node: NodeId, to: ClusterId) -> bool {
        let is_with = |apart: &Apart| apart.partners(node).any(|partner| self.labels.of(partner) == to);
        self.table.has_room(&self.node(node), to) && !self.graph.apart().is_some_and(is_with)
    }

    /// From now on keeps the weight between every node and every cluster, where visits to all nodes take less then; they
    /// find the same moves.
    pub(crate) fn keep_node_cluster_weights(&mut self) {
        if self.node_cluster_weights.is_none() {
            self.node_cluster_weights = NodeClusterWeights::where_they_pay(
                self.graph,
                self.labels.all(),
                self.n_clusters(),
                &self.limits,
            );
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
        self.table.len()
    }

    /// The sums of all clusters.
    pub fn table(&self) -> &ClusterTable<O> {
        &self.table
    }

    /// Number of nodes of positive degree in a cluster.
    pub fn size(&self, cluster: ClusterId) -> usize {
        self.table[cluster].n_nodes
    }

    /// Association of a cluster: the weight inside it, an edge counted in both directions.
    pub fn association(&self, cluster: ClusterId) -> f64 {
        self.table[cluster].sums.association
    }

    /// Volume of a cluster: the sum of its degrees.
    pub fn volume(&self, cluster: ClusterId) -> f64 {
        self.table[cluster].sums.volume
    }

    /// What is to be maximised: the sum of what the clusters contribute.
    pub fn objective(&self) -> f64 {
        self.table.objective()
    }

    /// The node as a cluster of its own.
    #[inline]
    fn node(&self, node: NodeId) -> Sums {
        self.graph.node_sums::<O>(node)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The change of the objective if `node` moved to `cluster`.
    pub fn gain(&self, node: NodeId, cluster: ClusterId) -> f64 {
        let from = self.labels.of(node);
        if from == cluster {
            return 0.0;
        }
        let (link_from, link_to) = self.links(node, cluster);
        self.gain_by_links(node, (from, cluster), (link_from, link_to))
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
    /// All clusters are considered, but looked at only where they can win. Most nodes stay, and of most of these the
    /// weight to their own cluster is all that need be known: joining another one cannot score more than if all the rest
    /// went to the smallest and least dense cluster ([`Objective::max_joining`]).
    ///
    /// # Panics
    /// When `links` was made for fewer clusters.
    pub fn best_move(&self, node: NodeId, links: &mut Links) -> Option<Move> {
        if !self.may_leave(node) || self.is_pinned(node) || self.is_surely_best_where_it_is(node) {
            return None;
        }
        let (from, sums) = (self.labels.of(node), self.node(node));
        let link_from = links.inside(self.graph, &self.labels, node);
        let stay = self.staying(node, from, link_from);
        // Sums of millions of weights are not exact.
        let outside = sums.volume - sums.association - link_from + 1e-9 * sums.volume;
        if stay >= self.table.max_joining(&sums, outside) {
            return None;
        }
        let largest = links.sum_outside(self.graph, &self.labels, node);
        if stay >= self.table.max_joining(&sums, largest) {
            return None;
        }
        let (to, score) = match self.is_restricted {
            false => self.table.best_target_above(stay, &sums, from, links),
            true => {
                let may_join = |to| self.is_allowed(node, to);
                self.table.best_allowed_above(stay, &sums, from, links, may_join)
            }
        };
        let link_to = links.weights[to as usize];
        (to != from).then_some(Move { node, from, to, gain: score - stay, link_from, link_to })
    }

    /// Whether the weights between a node and all clusters tell that no move gains anything; otherwise its neighbours
    /// have to be visited.
    ///
    /// The score of staying grows with the weight to the node's own cluster, and that of another with the weight to it,
    /// in floating point too: every operation in them is monotone. So a node stays that would do so with the least its
    /// weight to its own cluster can be, and the most all others can be.
    #[inline]
    fn is_surely_best_where_it_is(&self, node: NodeId) -> bool {
        let Some(weights) = &self.node_cluster_weights else { return false };
        let (from, sums) = (self.labels.of(node), self.node(node));
        if self.table.is_nearly_all(&sums, from) {
            return false;
        }
        let (links, rounded) = weights.of_node(node, sums.volume);
        let stay = self.table.staying(&sums, from, links[from as usize] - rounded);
        links.iter().zip(0..).all(|(&link, cluster)| {
            let link = link + rounded;
            self.table.is_hopeless(stay, &sums, cluster, link)
                || cluster == from
                || self.table.joining(&sums, cluster, link) <= stay
        })
    }

    /// The move of `node` that raises the objective most, or lowers it least, to a cluster it is linked to.
    pub(crate) fn best_departure(&self, node: NodeId, links: &mut Links) -> Option<Move> {
        if !self.may_leave(node) || self.is_pinned(node) {
            return None;
        }
        let (from, sums) = (self.labels.of(node), self.node(node));
        let link_from = links.inside(self.graph, &self.labels, node);
        links.sum_outside(self.graph, &self.labels, node);
        let mut best = (f64::NEG_INFINITY, from);
        for &cluster in links.adjacent() {
            if self.may_join(node, cluster) {
                self.table.consider(&sums, from, cluster, links.weights[cluster as usize], &mut best);
            }
        }
        let (score, to) = best;
        let gain = score - self.staying(node, from, link_from);
        let link_to = links.weights[to as usize];
        (to != from).then_some(Move { node, from, to, gain, link_from, link_to })
    }

    /// Whether the cluster of `node` can do without it.
    #[inline]
    fn may_leave(&self, node: NodeId) -> bool {
        self.table.may_leave(&self.node(node), self.labels.of(node))
    }

    /// The move of `node` to `cluster`, whatever it gains; `None` when the node is isolated, alone in its
    /// cluster, bound to it by the floor, not allowed to join the other, or there already.
    pub fn move_to(&self, node: NodeId, cluster: ClusterId) -> Option<Move> {
        let from = self.labels.of(node);
        if from == cluster || !self.may_leave(node) || !self.may_join(node, cluster) {
            return None;
        }
        let links = self.links(node, cluster);
        self.move_by_links(node, cluster, links)
    }

    /// As [`move_to`](Self::move_to), for a node of another cluster whose weights to both are known.
    pub(crate) fn move_by_links(&self, node: NodeId, to: ClusterId, links: (f64, f64)) -> Option<Move> {
        let from = self.labels.of(node);
        let gain = || self.gain_by_links(node, (from, to), links);
        (self.may_leave(node) && self.may_join(node, to)).then(|| Move {
            node,
            from,
            to,
            gain: gain(),
            link_from: links.0,
            link_to: links.1,
        })
    }

    /// A move as it is now, made earlier, whose node and neighbours have not moved since; `None` when it is no longer
    /// allowed.
    pub(crate) fn renewed(&self, step: Move) -> Option<Move> {
        let (clusters, links) = ((step.from, step.to), (step.link_from, step.link_to));
        (self.may_leave(step.node) && self.may_join(step.node, step.to))
            .then(|| Move { gain: self.gain_by_links(step.node, clusters, links), ..step })
    }

    /// The change of the objective when a node leaves one cluster for another, by its weights to both.
    #[inline]
    fn gain_by_links(&self, node: NodeId, (from, to): (ClusterId, ClusterId), links: (f64, f64)) -> f64 {
        self.table.joining(&self.node(node), to, links.1) - self.staying(node, from, links.0)
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
        let has_digits = self.table.apply(&self.node(node), (from, to), (link_from, link_to));
        self.labels.set(node, to);
        if let Some(weights) = &mut self.node_cluster_weights {
            weights.follow(node, (from, to), self.graph, self.labels.all());
        }
        if !has_digits {
            self.refresh();
        }
    }

    /// Recomputes all sums from the graph, so that rounding does not build up. Tells how much the value of a cluster
    /// changed by that, at most.
    pub fn refresh(&mut self) -> f64 {
        let n_nodes = self.graph.n_nodes();
        // So many that the sums of all pieces take less than the labels do.
        let n_per_piece = self.limits.nodes_per_sum.max(8 * self.n_clusters());
        let sums = if n_nodes <= n_per_piece {
            self.sums(0..n_nodes)
        } else {
            let starts: Vec<usize> = (0..n_nodes).step_by(n_per_piece).collect();
            let piece = |&start: &usize| self.sums(start..n_nodes.min(start + n_per_piece));
            let pieces: Vec<Vec<ClusterSums>> = starts.par_iter().with_max_len(1).map(piece).collect();
            let mut all = vec![ClusterSums::default(); self.n_clusters()];
            for piece in &pieces {
                for (sums, more) in all.iter_mut().zip(piece) {
                    sums.add_all(more);
                }
            }
            all
        };
        let mut largest_change: f64 = 0.0;
        for (cluster, sums) in (0..).zip(sums) {
            largest_change = largest_change.max(self.table.set_afresh(cluster, sums.total()));
        }
        self.table.find_lowest();
        largest_change
    }

    /// What some nodes add to their clusters.
    fn sums(&self, nodes: Range<usize>) -> Vec<ClusterSums> {
        let mut sums = vec![ClusterSums::default(); self.n_clusters()];
        let mut links = Links::new(0);
        for node in nodes.start as NodeId..nodes.end as NodeId {
            let label = self.labels.of(node);
            let inside = self.graph.self_loop(node) + links.inside(self.graph, &self.labels, node);
            sums[label as usize].add(inside, &self.node(node));
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
        self.node_cluster_weights = None;
        for &node in nodes {
            let label = self.labels.of(node);
            let mut inside = self.graph.self_loop(node);
            self.graph.for_each_neighbor(node, |neighbor, weight| {
                met(neighbor);
                if self.labels.of(neighbor) == label {
                    inside += weight;
                }
            });
            let of_node = self.node(node);
            let (sums, n_nodes) = sums[label as usize].get_or_insert_default();
            sums.add(inside, &of_node);
            *n_nodes += usize::from(of_node.volume > 0.0);
        }
        for (cluster, sums) in (0..).zip(sums) {
            if let Some((sums, n_nodes)) = sums {
                self.table.set_afresh(cluster, sums.total());
                self.table.set_n_nodes(cluster, n_nodes);
            }
        }
        self.table.find_lowest();
    }

    /// What the node's own cluster would lose without it, `link` being its weight to the rest.
    #[inline]
    fn staying(&self, node: NodeId, cluster: ClusterId, link: f64) -> f64 {
        let sums = self.node(node);
        if self.table.is_nearly_all(&sums, cluster) {
            return self.table[cluster].value - self.value_without(node, cluster);
        }
        self.table.staying(&sums, cluster, link)
    }

    /// Value of a cluster without a node that is nearly all of it, where subtracting would leave no digits.
    #[cold]
    fn value_without(&self, node: NodeId, cluster: ClusterId) -> f64 {
        let mut sums = ClusterSums::default();
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
            sums.add(inside, &self.node(other));
        }
        self.table.objective_type().value(&sums.total())
    }
}

/// The sums of a cluster, as they are added up.
#[derive(Clone, Copy, Debug, Default)]
struct ClusterSums {
    association: Sum,
    volume: Sum,
    size: f64,
}

impl ClusterSums {
    /// Adds a node, whose weight to its cluster is `inside`, its self-loop included.
    #[inline]
    fn add(&mut self, inside: f64, node: &Sums) {
        self.association.add(inside);
        self.volume.add(node.volume);
        self.size += node.size;
    }

    fn add_all(&mut self, others: &Self) {
        self.association.add(others.association.total());
        self.volume.add(others.volume.total());
        self.size += others.size;
    }

    fn total(&self) -> Sums {
        Sums { association: self.association.total(), volume: self.volume.total(), size: self.size }
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
