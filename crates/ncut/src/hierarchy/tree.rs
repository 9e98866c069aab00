//! The merge tree of a clustering: which nodes, and then which clusters, come together in what order.

use crate::error::{Error, Result};
use crate::graph::{Graph, Members, NodeId, Subgraph};
use crate::limits::Limits;
use crate::metrics::{CutScore, Label, UNLABELLED, number_by_appearance};
use crate::objective::{NormalizedCut, Objective, Sums};
use crate::progress::Clock;

use super::groups::Groups;
use super::matching::Merging;

/// Two clusters that become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// The clusters: below the number of leaves a node, else the merge made as many before, as scipy numbers them.
    pub first: u32,
    /// As `first`.
    pub second: u32,
    /// The change of the objective.
    pub gain: f64,
}

/// A binary tree over the labelled nodes, made by greedy merging by the gain of N-Cut: first inside the clusters of a labelling until
/// each is one, then of these. Cut at their number it gives that labelling back; cut lower, clusters of these clusters.
///
/// ```
/// use ncut::{Graph, Ncut};
/// let path = Graph::from_edges(6, [(0, 1, 5.0), (1, 2, 1.0), (2, 3, 5.0), (3, 4, 0.1), (4, 5, 5.0)])?;
/// let found = Ncut::new(3).min_share(0.0).with_hierarchy().solve(&path)?;
/// let tree = found.hierarchy.unwrap();
/// assert_eq!(tree.labels(3)?, found.labels);
/// assert_eq!(tree.labels(2)?, [0, 0, 0, 0, 1, 1]);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MergeTree {
    n_nodes: usize,
    /// The labelled nodes, ascending.
    leaves: Vec<NodeId>,
    merges: Vec<Merge>,
}

impl MergeTree {
    /// The tree of a labelling.
    ///
    /// # Errors
    /// When the number of labels is not that of the nodes, a label is below -1, all are -1, or the clock says stop.
    pub fn of(graph: &Graph<'_>, labels: &[Label], clock: &Clock<'_>) -> Result<Self> {
        CutScore::new(graph, labels)?;
        let mut labels = labels.to_vec();
        number_by_appearance(&mut labels);
        Self::build(graph, &labels, NormalizedCut, clock)
    }

    /// The tree over `leaves`, ascending nodes of a graph of `n_nodes`, made by `merges`.
    ///
    /// # Errors
    /// When a leaf is no node or they do not ascend, the merges are not one fewer, or one names something that is not
    /// there yet or was merged before.
    pub fn new(n_nodes: usize, leaves: Vec<NodeId>, merges: Vec<Merge>) -> Result<Self> {
        let n_leaves = leaves.len();
        let ascend = leaves.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascend || leaves.last().is_none_or(|&last| last as usize >= n_nodes) {
            return Err(Error::shape(format!("the leaves of a tree are ascending nodes below {n_nodes}")));
        }
        if merges.len() + 1 != n_leaves {
            return Err(Error::shape(format!("{} merges do not join {n_leaves} leaves", merges.len())));
        }
        let mut is_merged = vec![false; n_leaves + merges.len()];
        for (number, merge) in merges.iter().enumerate() {
            for part in [merge.first as usize, merge.second as usize] {
                if part >= n_leaves + number || std::mem::replace(&mut is_merged[part], true) {
                    return Err(Error::shape(format!(
                        "merge {number} joins {part}, which is not there or was merged before"
                    )));
                }
            }
        }
        Ok(Self { n_nodes, leaves, merges })
    }

    /// The tree of a labelling, numbered by first appearance, by the gain of an objective.
    pub(crate) fn build<O: Objective>(
        graph: &Graph<'_>,
        labels: &[Label],
        objective: O,
        clock: &Clock<'_>,
    ) -> Result<Self> {
        let is_labelled = |&node: &NodeId| labels[node as usize] != UNLABELLED;
        let leaves: Vec<NodeId> = (0..graph.n_nodes() as NodeId).filter(is_labelled).collect();
        let part = Subgraph::between(graph, leaves.clone())?;
        let graph = part.graph();
        let clusters: Vec<u32> = part.gather(labels).into_iter().map(|label| label as u32).collect();
        let n_clusters = clusters.iter().max().map_or(0, |&cluster| cluster as usize + 1);
        let n_leaves = leaves.len();
        let tree = Self { n_nodes: labels.len(), leaves, merges: Vec::with_capacity(n_leaves - 1) };
        let names = (0..n_leaves as u32).collect();
        let mut growing = Growing { tree, names, objective, clock };
        // Inside the clusters, along links and then without; then the clusters themselves.
        let (groups, pieces) = growing.merge_all(graph, Some(&clusters), n_clusters)?;
        let of_piece = groups.restrict(&clusters);
        let whole = Groups { of_node: of_piece, count: n_clusters };
        let quotient = growing.record(pieces.as_ref().unwrap_or(graph), &whole)?;
        growing.merge_all(&quotient, None, 1)?;
        Ok(growing.tree)
    }

    /// The merges in their order, one fewer than leaves.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The nodes that the tree is about: those with a label.
    pub fn leaves(&self) -> &[NodeId] {
        &self.leaves
    }

    /// The labels when the tree is cut into `n_clusters`, numbered by first appearance.
    ///
    /// # Errors
    /// When there are fewer leaves than that, or none are asked for.
    pub fn labels(&self, n_clusters: usize) -> Result<Vec<Label>> {
        let n_leaves = self.leaves.len();
        if n_clusters == 0 || n_clusters > n_leaves {
            return Err(Error::BadClusterCount {
                n_clusters,
                n_nodes: n_leaves,
                nodes: "leaves of the tree",
            });
        }
        // From the last merge made down: everything takes the name of what it became.
        let n_merges = n_leaves - n_clusters;
        let mut became: Vec<u32> = (0..(n_leaves + n_merges) as u32).collect();
        for (number, merge) in self.merges[..n_merges].iter().enumerate().rev() {
            let merged = became[n_leaves + number];
            became[merge.first as usize] = merged;
            became[merge.second as usize] = merged;
        }
        let mut number: Vec<Option<Label>> = vec![None; became.len()];
        let mut n_seen = 0;
        let mut labels = vec![UNLABELLED; self.n_nodes];
        for (leaf, &node) in self.leaves.iter().enumerate() {
            labels[node as usize] = *number[became[leaf] as usize].get_or_insert_with(|| {
                n_seen += 1;
                n_seen - 1
            });
        }
        Ok(labels)
    }
}

/// A tree, and the names of the nodes of the graph that is being merged.
struct Growing<'c, O> {
    tree: MergeTree,
    names: Vec<u32>,
    objective: O,
    clock: &'c Clock<'c>,
}

impl<O: Objective> Growing<'_, O> {
    /// Merges as far as `within` allows, down to `target`; gives the groups and their graph, if anything was merged.
    fn merge_all(
        &mut self,
        graph: &Graph<'_>,
        within: Option<&[u32]>,
        target: usize,
    ) -> Result<(Groups, Option<Graph<'static>>)> {
        let limits = Limits::default();
        let merging = Merging { within, ..Merging::down_to(target, self.objective, &limits) };
        merging.merge_all_by(graph, self.clock, |graph, round| self.record(graph, round))
    }

    /// Records the merges that make one of each group, member after member, and gives the graph of the groups.
    fn record(&mut self, graph: &Graph<'_>, groups: &Groups) -> Result<Graph<'static>> {
        let members = Members::new(&groups.of_node, groups.count, graph)?;
        let mut names = Vec::with_capacity(groups.count);
        for group in 0..groups.count {
            let (&first, others) = members.of(group).split_first().expect("no group is empty");
            let mut name = self.names[first as usize];
            let mut sums: Sums = graph.node_sums::<O>(first);
            for &node in others {
                let is_in = |&(other, _): &(NodeId, f64)| {
                    other < node && groups.of_node[other as usize] as usize == group
                };
                let link: f64 = graph.neighbors(node).filter(is_in).map(|(_, weight)| weight).sum();
                let other = graph.node_sums::<O>(node);
                let gain = self.objective.merge_gain(&sums, &other, link);
                sums = sums.merged(&other, link);
                let next = (self.tree.leaves.len() + self.tree.merges.len()) as u32;
                self.tree.merges.push(Merge { first: name, second: self.names[node as usize], gain });
                name = next;
            }
            names.push(name);
        }
        self.names = names;
        graph.contract_observed(&groups.of_node, groups.count, self.clock)
    }
}
