//! Two clusters exchange nodes (Fiduccia and Mattheyses): always the node moves whose move gains most, or costs least, and
//! each at most once. What follows the best state is taken back.
//!
//! [Chains](super::chains) stay near the node they start from. Where half of all weight is between two clusters, what is to be
//! exchanged is spread over the whole boundary.

use std::collections::BinaryHeap;

use crate::graph::NodeId;
use crate::objective::Objective;
use crate::partition::{Candidate, ClusterId, Move, Partition};
use crate::progress::{Clock, Progress, Stage};

use super::NODES_PER_REPORT;
use super::settle::MIN_GAIN;

/// Passes over one pair at most; each begins where the one before it has ended.
const MAX_PASSES: usize = 12;
/// Moves without a new best state after which a pass ends: so many, and this share of the nodes.
const PATIENCE: usize = 200;
const PATIENCE_SHARE: f64 = 0.02;
/// Candidates of either cluster whose gains are computed anew before one of them moves: every move changes all gains a little.
const N_RENEWED: usize = 3;

/// Lets two clusters exchange nodes until that gains nothing more. Tells how much was gained.
pub(crate) fn exchange<O: Objective>(
    partition: &mut Partition<'_, O>,
    pair: [ClusterId; 2],
    clock: &Clock<'_>,
) -> f64 {
    let min_gain = MIN_GAIN * partition.table().objective_type().unit();
    let n_nodes = partition.graph().n_nodes();
    let mut sides = Sides { pair, links: vec![[0.0; 2]; n_nodes], keys: vec![f64::NEG_INFINITY; n_nodes] };
    let mut gained = 0.0;
    for _ in 0..MAX_PASSES {
        let gain = sides.pass(partition, min_gain, clock);
        gained += gain;
        if gain <= min_gain || clock.is_stopped() {
            break;
        }
    }
    gained
}

/// The nodes of two clusters.
struct Sides {
    pair: [ClusterId; 2],
    /// The weight between a node and either side, in each pass computed afresh.
    links: Vec<[f64; 2]>,
    /// What a move of the node was last known to gain. It will not move again: not a number.
    keys: Vec<f64>,
}

impl Sides {
    /// Which of the two a cluster is.
    fn side(&self, cluster: ClusterId) -> Option<usize> {
        self.pair.iter().position(|&of_pair| of_pair == cluster)
    }

    fn pass<O: Objective>(
        &mut self,
        partition: &mut Partition<'_, O>,
        min_gain: f64,
        clock: &Clock<'_>,
    ) -> f64 {
        let (mut heaps, n_nodes) = self.begin(partition);
        let patience = PATIENCE.max((PATIENCE_SHARE * n_nodes as f64) as usize);
        let mut progress = Progress::new(Stage::Descent, n_nodes as u64);
        let mut steps: Vec<Move> = Vec::new();
        let (mut gain, mut best_gain, mut n_best) = (0.0, 0.0, 0);
        while steps.len() < n_best + patience {
            if steps.len().is_multiple_of(NODES_PER_REPORT) {
                progress.done = steps.len() as u64;
                if clock.report(&progress).is_err() {
                    break;
                }
            }
            let Some(step) = self.next(partition, &mut heaps) else { break };
            partition.apply(step);
            self.follow(partition, &step, &mut heaps);
            gain += step.gain();
            steps.push(step);
            if gain > best_gain + min_gain {
                (best_gain, n_best) = (gain, steps.len());
            }
        }
        for step in steps.drain(n_best..).rev() {
            partition.take_back(&step);
        }
        best_gain
    }

    /// Sums up the links of all nodes of both clusters; tells who is at the boundary, by side, and how many nodes there are.
    fn begin<O: Objective>(&mut self, partition: &Partition<'_, O>) -> ([BinaryHeap<Candidate>; 2], usize) {
        let (graph, labels) = (partition.graph(), partition.labels());
        let mut boundary = [Vec::new(), Vec::new()];
        let mut n_in_pair = 0;
        for node in 0..graph.n_nodes() as NodeId {
            let Some(side) = self.side(labels[node as usize]) else { continue };
            n_in_pair += 1;
            let mut links = [0.0; 2];
            graph.for_each_neighbor(node, |neighbor, weight| {
                if let Some(side) = self.side(labels[neighbor as usize]) {
                    links[side] += weight;
                }
            });
            self.links[node as usize] = links;
            self.keys[node as usize] = f64::NEG_INFINITY;
            if links[1 - side] > 0.0
                && let Some(step) = self.departure(partition, node, side)
            {
                self.keys[node as usize] = step.gain();
                boundary[side].push(Candidate { gain: step.gain(), node });
            }
        }
        (boundary.map(BinaryHeap::from), n_in_pair)
    }

    fn departure<O: Objective>(
        &self,
        partition: &Partition<'_, O>,
        node: NodeId,
        side: usize,
    ) -> Option<Move> {
        let links = self.links[node as usize];
        partition.move_by_links(node, self.pair[1 - side], (links[side], links[1 - side]))
    }

    /// The best of the first candidates of both sides, as they are now.
    fn next<O: Objective>(
        &mut self,
        partition: &Partition<'_, O>,
        heaps: &mut [BinaryHeap<Candidate>; 2],
    ) -> Option<Move> {
        let mut best: Option<Move> = None;
        for (side, heap) in heaps.iter_mut().enumerate() {
            let mut renewed = Vec::with_capacity(N_RENEWED);
            while renewed.len() < N_RENEWED
                && let Some(candidate) = heap.peek()
            {
                let node = candidate.node;
                if candidate.gain != self.keys[node as usize] {
                    heap.pop();
                    continue;
                }
                // Where one node may not leave, a smaller one may; but the next move may be one to this side.
                let Some(step) = self.departure(partition, node, side) else { break };
                heap.pop();
                self.keys[node as usize] = step.gain();
                renewed.push(Candidate { gain: step.gain(), node });
                if best.is_none_or(|best| step.gain() > best.gain()) {
                    best = Some(step);
                }
            }
            heap.extend(renewed);
        }
        best
    }

    /// Brings the links of a moved node's neighbours up to date.
    fn follow<O: Objective>(
        &mut self,
        partition: &Partition<'_, O>,
        step: &Move,
        heaps: &mut [BinaryHeap<Candidate>; 2],
    ) {
        self.keys[step.node() as usize] = f64::NAN;
        let (graph, labels) = (partition.graph(), partition.labels());
        let to = usize::from(step.to() == self.pair[1]);
        graph.for_each_neighbor(step.node(), |neighbor, weight| {
            let Some(side) = self.side(labels[neighbor as usize]) else { return };
            let links = &mut self.links[neighbor as usize];
            links[to] += weight;
            links[1 - to] -= weight;
            // Those on the other side want to follow; the others are found out about when it is their turn.
            let key = self.keys[neighbor as usize];
            if side != to
                && !key.is_nan()
                && let Some(step) = self.departure(partition, neighbor, side)
                && step.gain() > key
            {
                self.keys[neighbor as usize] = step.gain();
                heaps[side].push(Candidate { gain: step.gain(), node: neighbor });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::graph::Graph;
    use crate::random::Random;

    /// Labels drawn at random on graphs drawn at random: what was gained is what the objective rose by, and the floor holds.
    #[test]
    fn the_objective_rises_by_what_was_gained() -> Result<()> {
        let mut random = Random::new(1);
        for _ in 0..200 {
            let n_nodes = 6 + random.below(30);
            let edge = |random: &mut Random| {
                let (a, b) = (random.below(n_nodes), random.below(n_nodes));
                (a, b, f64::from(1 + random.below(5)))
            };
            let path = (1..n_nodes).map(|node| (node - 1, node, 1.0));
            let edges: Vec<_> = path.chain((0..3 * n_nodes).map(|_| edge(&mut random))).collect();
            let graph = Graph::from_edges(n_nodes as usize, edges)?;
            let labels: Vec<ClusterId> = (0..n_nodes).map(|node| node % 3).collect();
            let floor = 0.5 * graph.volume() / 3.0;
            let mut partition = Partition::new(&graph, labels, 3)?.with_floor(floor);
            let lowest =
                |partition: &Partition<'_>| (0..3).map(|c| partition.volume(c)).fold(f64::INFINITY, f64::min);
            let (before, lowest_before) = (partition.objective(), lowest(&partition));
            let gained = exchange(&mut partition, [0, 2], &Clock::new());
            partition.refresh();
            assert!(gained >= 0.0);
            assert!((partition.objective() - before - gained).abs() < 1e-9);
            assert!(lowest(&partition) >= floor.min(lowest_before));
        }
        Ok(())
    }

    /// Two squares whose nodes are all in the wrong place: single moves lose, an exchange does not.
    #[test]
    fn an_exchange_crosses_a_valley() -> Result<()> {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (3, 4)];
        let graph = Graph::from_edges(8, edges.map(|(a, b)| (a, b, 1.0)))?;
        let mut partition = Partition::new(&graph, vec![0, 0, 1, 1, 0, 0, 1, 1], 2)?;
        assert!(exchange(&mut partition, [0, 1], &Clock::new()) > 0.5);
        assert_eq!(partition.labels()[0], partition.labels()[2]);
        assert_ne!(partition.labels()[0], partition.labels()[4]);
        Ok(())
    }
}
