//! Clusters that hold together: pieces that have come off are given to the clusters next to them.

use std::collections::VecDeque;

use crate::graph::{Graph, NodeId};
use crate::objective::{Objective, Sums};
use crate::partition::{ClusterId, Partition};

/// Labels whose clusters hold together, and the nodes that have changed their cluster for it.
pub(super) struct Connected {
    pub(super) labels: Vec<ClusterId>,
    pub(super) moved: Vec<NodeId>,
}

/// Gives all pieces of a cluster but the heaviest to clusters next to them; `None` where all clusters hold together.
///
/// Components of the graph that a cluster holds as a whole do not count as pieces. No cluster becomes empty. Takes O(|E|), so
/// that there is always time for it.
pub(super) fn connected<O: Objective>(partition: &Partition<'_, O>) -> Option<Connected> {
    let loose = Loose::find(partition)?;
    let mut labels = partition.labels().to_vec();
    loose.attach(partition, &mut labels);
    Some(Connected { labels, moved: loose.nodes.concat() })
}

/// Pieces that are not the heaviest of their cluster.
struct Loose {
    /// The number of a node's loose piece, [`SETTLED`] for other nodes.
    of_node: Vec<u32>,
    /// The nodes of every piece, ascending; the pieces by falling mass.
    nodes: Vec<Vec<NodeId>>,
    sums: Vec<Sums>,
}

const SETTLED: u32 = u32::MAX;

impl Loose {
    fn find<O: Objective>(partition: &Partition<'_, O>) -> Option<Self> {
        let (graph, labels, n_clusters) = (partition.graph(), partition.labels(), partition.n_clusters());
        let objective = partition.table().objective_type();
        let pieces = graph.pieces(labels, n_clusters);
        if pieces.count <= n_clusters {
            return None;
        }
        let mut cluster_of = vec![0; pieces.count];
        for (&piece, &label) in pieces.of_node.iter().zip(labels) {
            cluster_of[piece as usize] = label;
        }
        let mut n_pieces = vec![0u32; n_clusters];
        cluster_of.iter().for_each(|&cluster| n_pieces[cluster as usize] += 1);
        // Of clusters in several pieces the heaviest piece is looked at only as far as is needed.
        let mut masses = vec![0.0; pieces.count];
        for (node, &piece) in (0..).zip(&pieces.of_node) {
            masses[piece as usize] += objective.mass(&graph.node_sums::<O>(node));
        }
        let mut heaviest: Vec<Option<usize>> = vec![None; n_clusters];
        for piece in 0..pieces.count {
            let heaviest = &mut heaviest[cluster_of[piece] as usize];
            if heaviest.is_none_or(|heaviest| masses[piece] > masses[heaviest]) {
                *heaviest = Some(piece);
            }
        }
        let mut sums = vec![Sums::default(); pieces.count];
        let mut is_whole = vec![true; pieces.count];
        for (node, &label) in (0..).zip(labels) {
            let piece = pieces.of_node[node as usize] as usize;
            if n_pieces[label as usize] == 1 {
                continue;
            }
            if heaviest[label as usize] == Some(piece) {
                let row = &graph.columns()[graph.entries(node)];
                is_whole[piece] =
                    is_whole[piece] && row.iter().all(|&neighbor| labels[neighbor as usize] == label);
                continue;
            }
            let mut inside = graph.self_loop(node);
            graph.for_each_neighbor(node, |neighbor, weight| {
                let is_inside = labels[neighbor as usize] == label;
                inside += if is_inside { weight } else { 0.0 };
                is_whole[piece] &= is_inside;
            });
            let of_node = graph.node_sums::<O>(node);
            sums[piece].association += inside;
            sums[piece].volume += of_node.volume;
            sums[piece].size += of_node.size;
        }
        // Where the heaviest is a whole component, the heaviest of the others stays.
        let is_part = |&piece: &usize| n_pieces[cluster_of[piece] as usize] > 1 && !is_whole[piece];
        let mut staying: Vec<Option<usize>> =
            heaviest.into_iter().map(|piece| piece.filter(|&piece| !is_whole[piece])).collect();
        for piece in (0..pieces.count).filter(is_part) {
            let staying = &mut staying[cluster_of[piece] as usize];
            if staying.is_none_or(|staying| masses[piece] > masses[staying]) {
                *staying = Some(piece);
            }
        }
        let is_loose = |&piece: &usize| staying[cluster_of[piece] as usize] != Some(piece);
        let mut loose: Vec<usize> = (0..pieces.count).filter(is_part).filter(is_loose).collect();
        if loose.is_empty() {
            return None;
        }
        loose.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]).then(a.cmp(&b)));
        let mut number_of = vec![SETTLED; pieces.count];
        for (number, &piece) in (0..).zip(&loose) {
            number_of[piece] = number;
        }
        let of_node: Vec<u32> = pieces.of_node.iter().map(|&piece| number_of[piece as usize]).collect();
        let mut nodes = vec![Vec::new(); loose.len()];
        for (node, &number) in (0..).zip(&of_node) {
            if number != SETTLED {
                nodes[number as usize].push(node);
            }
        }
        Some(Self { of_node, nodes, sums: loose.iter().map(|&piece| sums[piece]).collect() })
    }

    /// Gives every piece to the cluster next to it that gains most by it, from the clusters outwards. Pieces that no cluster is
    /// next to make up whole components, which stay together.
    fn attach<O: Objective>(&self, partition: &Partition<'_, O>, labels: &mut [ClusterId]) {
        let (graph, objective) = (partition.graph(), partition.table().objective_type());
        let mut clusters: Vec<Sums> = partition.table().iter().map(|cluster| cluster.sums).collect();
        for (nodes, sums) in self.nodes.iter().zip(&self.sums) {
            // There is no weight between the pieces of a cluster.
            let cluster = &mut clusters[labels[nodes[0] as usize] as usize];
            cluster.association -= sums.association;
            cluster.volume -= sums.volume;
            cluster.size -= sums.size;
        }
        let n_loose = self.nodes.len();
        let mut is_settled = vec![false; n_loose];
        let mut was_queued = vec![false; n_loose];
        let mut queue: VecDeque<usize> = VecDeque::new();
        for (piece, nodes) in self.nodes.iter().enumerate() {
            let touches = |&node: &NodeId| {
                graph.neighbors(node).any(|(neighbor, _)| self.of_node[neighbor as usize] == SETTLED)
            };
            if nodes.iter().any(touches) {
                was_queued[piece] = true;
                queue.push_back(piece);
            }
        }
        let ceiling = partition.table().ceiling();
        let is_apart = |piece: usize, cluster: ClusterId, labels: &[ClusterId]| {
            graph.apart().is_some_and(|apart| {
                let mut partners = self.nodes[piece].iter().flat_map(|&node| apart.partners(node));
                partners.any(|partner| labels[partner as usize] == cluster)
            })
        };
        let mut links = vec![0.0; clusters.len()];
        let mut adjacent: Vec<ClusterId> = Vec::new();
        let mut waiting: Vec<u32> = Vec::new();
        while let Some(piece) = queue.pop_front() {
            for &node in &self.nodes[piece] {
                graph.for_each_neighbor(node, |neighbor, weight| {
                    let other = self.of_node[neighbor as usize];
                    if other == SETTLED || is_settled[other as usize] {
                        let cluster = labels[neighbor as usize];
                        if links[cluster as usize] == 0.0 {
                            adjacent.push(cluster);
                        }
                        links[cluster as usize] += weight;
                    } else if other as usize != piece {
                        waiting.push(other);
                    }
                });
            }
            adjacent.sort_unstable();
            let mut best: Option<(f64, ClusterId)> = None;
            for &cluster in &adjacent {
                let before = &clusters[cluster as usize];
                let link = links[cluster as usize];
                let is_too_much = objective.mass(before) + objective.mass(&self.sums[piece]) > ceiling
                    || is_apart(piece, cluster, labels);
                if is_too_much {
                    continue;
                }
                let gain = objective.merge_gain(before, &self.sums[piece], link);
                if best.is_none_or(|(highest, _)| gain > highest) {
                    best = Some((gain, cluster));
                }
            }
            // Where no cluster next to a piece may have it, it stays: what must be goes before holding together.
            let to = best.map_or(labels[self.nodes[piece][0] as usize], |(_, to)| to);
            clusters[to as usize] = clusters[to as usize].merged(&self.sums[piece], links[to as usize]);
            for cluster in adjacent.drain(..) {
                links[cluster as usize] = 0.0;
            }
            self.settle(piece, to, labels, &mut is_settled);
            for other in waiting.drain(..) {
                if !std::mem::replace(&mut was_queued[other as usize], true) {
                    queue.push_back(other as usize);
                }
            }
        }
        self.join_rest(graph, labels, &mut is_settled);
    }

    fn settle(&self, piece: usize, to: ClusterId, labels: &mut [ClusterId], is_settled: &mut [bool]) {
        is_settled[piece] = true;
        for &node in &self.nodes[piece] {
            labels[node as usize] = to;
        }
    }

    /// Of a component in which all pieces are loose, all go where the heaviest is.
    fn join_rest(&self, graph: &Graph<'_>, labels: &mut [ClusterId], is_settled: &mut [bool]) {
        for first in 0..self.nodes.len() {
            if is_settled[first] {
                continue;
            }
            let to = labels[self.nodes[first][0] as usize];
            let mut reached = vec![first];
            is_settled[first] = true;
            while let Some(piece) = reached.pop() {
                self.settle(piece, to, labels, is_settled);
                for &node in &self.nodes[piece] {
                    graph.for_each_neighbor(node, |neighbor, _| {
                        let other = self.of_node[neighbor as usize];
                        if other != SETTLED && !std::mem::replace(&mut is_settled[other as usize], true) {
                            reached.push(other as usize);
                        }
                    });
                }
            }
        }
    }
}
