//! How sure a labelling is of every node, and which other clusters the node leans to.

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::metrics::{ClusterSummary, Label, UNLABELLED};
use crate::objective::{Modularity, NormalizedCut, Objective, ObjectiveKind, RatioCut, Sums};
use crate::parallel::prelude::*;

/// Nodes that one thread looks at at a time.
const NODES_PER_TASK: usize = 1 << 10;

/// How sure a labelling is of every node, and the clusters that it leans to.
///
/// The *pull* of a cluster on a node is the weight between them, over the square root of the cluster's volume (for Ratio-Cut:
/// its size). That is how fast the objective rises when the node moves a little towards the cluster: N-Cut is the trace of
/// `Y' A Y`, the columns of `Y` being the clusters, `1 / sqrt(D_c)` for their nodes, and its derivative by the entry of a node
/// is twice the pull. The *margin* is the pull of the node's own cluster without that of the strongest other; the confidence is
/// `margin / (margin + mean pull)`, the mean being that of own clusters over all nodes, and 0 where another cluster pulls
/// more: 0 on the boundary, a half where nothing else pulls on an ordinary node, near 1 only for nodes with far heavier links
/// than others.
///
/// It says how firmly a node sits in *these* clusters of *this* graph. It is no probability that the label is right: whole
/// clusters may be other than somebody expects, and all their nodes sure.
///
/// ```
/// use ncut::{Confidence, Graph, ObjectiveKind};
/// // Two triangles and an edge between them.
/// let edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)];
/// let graph = Graph::from_edges(6, edges.map(|(from, to)| (from, to, 1.0)))?;
/// let sure = Confidence::of(&graph, &[0, 0, 0, 1, 1, 1], ObjectiveKind::NormalizedCut, 2)?;
/// assert!(sure.values[0] > sure.values[2]);
/// let [(own, share), (other, _)] = sure.best(2)[..] else { unreachable!("two are told") };
/// assert_eq!((own, other), (0, 1));
/// assert!((share - 2.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), ncut::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Confidence {
    /// Of every node, from 0 to 1; 0 for a node without a label.
    pub values: Vec<f64>,
    /// Clusters told for each node.
    n_best: usize,
    /// For each node in turn so many clusters and their shares of all pulls, the strongest first; -1 where there are fewer.
    members: Vec<(Label, f64)>,
}

impl Confidence {
    /// Of labels, with up to `n_best` clusters for each node. O(|E|).
    ///
    /// # Errors
    /// When the number of labels is not that of the nodes, or a label is below -1.
    pub fn of(graph: &Graph<'_>, labels: &[Label], kind: ObjectiveKind, n_best: usize) -> Result<Self> {
        graph.verify()?;
        if labels.len() != graph.n_nodes() {
            return Err(Error::labels(format!(
                "{} labels were given for {} nodes",
                labels.len(),
                graph.n_nodes()
            )));
        }
        let lowest = labels.iter().copied().min().unwrap_or(0);
        if lowest < UNLABELLED {
            return Err(Error::labels(format!(
                "there is a label {lowest}; labels are 0 or above, -1 for none"
            )));
        }
        let mut names: Vec<Label> = labels.iter().copied().filter(|&label| label != UNLABELLED).collect();
        names.sort_unstable();
        names.dedup();
        let row_of = |label: Label| names.binary_search(&label).ok();
        let mut sums = vec![Sums::default(); names.len()];
        for (node, &label) in (0..).zip(labels) {
            if let Some(row) = row_of(label) {
                sums[row].volume += graph.degree(node);
                sums[row].size += graph.size(node);
            }
        }
        let scales: Vec<f64> = sums.iter().map(|sums| scale(kind, sums)).collect();
        let rows: Vec<u32> =
            labels.iter().map(|&label| row_of(label).map_or(NO_ROW, |row| row as u32)).collect();
        let nodes: Vec<NodeId> = (0..graph.n_nodes() as NodeId).collect();
        let of_nodes: Vec<Look> = nodes
            .par_iter()
            .with_min_len(NODES_PER_TASK)
            .map_init(
                || Pulls::new(names.len()),
                |pulls, &node| pulls.look(graph, &rows, &scales, node, n_best),
            )
            .collect();
        let n_labelled = rows.iter().filter(|&&row| row != NO_ROW).count();
        let mean = of_nodes.iter().map(|of_node| of_node.0).sum::<f64>() / n_labelled.max(1) as f64;
        let value = |&(_, margin, _): &Look| confidence(margin, mean);
        let values = of_nodes.iter().map(value).collect();
        let mut members = Vec::with_capacity(n_best * graph.n_nodes());
        for (_, _, best) in of_nodes {
            let n_missing = n_best - best.len();
            members.extend(best.into_iter().map(|(row, share)| (names[row as usize], share)));
            members.extend(std::iter::repeat_n((UNLABELLED, 0.0), n_missing));
        }
        Ok(Self { values, n_best, members })
    }

    /// Clusters told for each node.
    pub fn n_best(&self) -> usize {
        self.n_best
    }

    /// The clusters that a node leans to and their shares of all pulls on it, the strongest first.
    pub fn best(&self, node: usize) -> &[(Label, f64)] {
        let best = &self.members[node * self.n_best..][..self.n_best];
        &best[..best.iter().position(|&(label, _)| label == UNLABELLED).unwrap_or(best.len())]
    }

    /// As [`best`](Self::best), for all nodes one after the other, filled up with the label -1.
    pub fn members(&self) -> &[(Label, f64)] {
        &self.members
    }

    /// The shares of all clusters in the pulls on new nodes, from the weights of their links: `weights` hold those to each
    /// cluster. All 0 for a node without links.
    pub fn shares(kind: ObjectiveKind, weights: &[f64], clusters: &[ClusterSummary]) -> Vec<f64> {
        let pulls = weights.iter().zip(clusters).map(|(weight, cluster)| {
            let scale = scale(kind, &cluster.sums());
            if scale > 0.0 { weight / scale } else { 0.0 }
        });
        let pulls: Vec<f64> = pulls.collect();
        let total: f64 = pulls.iter().sum();
        pulls.into_iter().map(|pull| if total > 0.0 { pull / total } else { 0.0 }).collect()
    }
}

/// The pull of a node's own cluster, the margin, and the clusters that pull most with their shares.
type Look = (f64, f64, Vec<(u32, f64)>);

const NO_ROW: u32 = u32::MAX;

/// What links are divided by: the root of what the objective divides by.
fn scale(kind: ObjectiveKind, sums: &Sums) -> f64 {
    let scale = match kind {
        ObjectiveKind::NormalizedCut => NormalizedCut.scale(sums),
        ObjectiveKind::RatioCut => RatioCut::of_size(1.0, 1.0).scale(sums),
        ObjectiveKind::Modularity => Modularity { total: 1.0, resolution: 1.0 }.scale(sums),
    };
    scale.sqrt()
}

fn confidence(margin: f64, mean: f64) -> f64 {
    if margin > 0.0 { margin / (margin + mean) } else { 0.0 }
}

/// Work space for the pulls on one node.
struct Pulls {
    weights: Vec<f64>,
    adjacent: Vec<u32>,
}

impl Pulls {
    fn new(n_clusters: usize) -> Self {
        Self { weights: vec![0.0; n_clusters], adjacent: Vec::new() }
    }

    /// The pull of a node's own cluster, the margin, and the clusters that pull most with their shares.
    fn look(&mut self, graph: &Graph<'_>, rows: &[u32], scales: &[f64], node: NodeId, n_best: usize) -> Look {
        let own = rows[node as usize];
        if own == NO_ROW {
            return (0.0, 0.0, Vec::new());
        }
        graph.for_each_neighbor(node, |neighbor, weight| {
            let row = rows[neighbor as usize];
            if row != NO_ROW {
                let known = &mut self.weights[row as usize];
                if *known == 0.0 {
                    self.adjacent.push(row);
                }
                *known += weight;
            }
        });
        let weights = &mut self.weights;
        let mut pulls: Vec<(u32, f64)> = self
            .adjacent
            .drain(..)
            .map(|row| (row, std::mem::take(&mut weights[row as usize]) / scales[row as usize]))
            .collect();
        pulls.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let total: f64 = pulls.iter().map(|pull| pull.1).sum();
        let of_own = pulls.iter().find(|pull| pull.0 == own).map_or(0.0, |pull| pull.1);
        let of_other = pulls.iter().find(|pull| pull.0 != own).map_or(0.0, |pull| pull.1);
        pulls.truncate(n_best);
        pulls.iter_mut().for_each(|pull| pull.1 /= total);
        (of_own, of_own - of_other, pulls)
    }
}
