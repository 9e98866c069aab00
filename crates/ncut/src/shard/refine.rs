//! Labels of a shard's nodes improved in rounds: moves are proposed against the sums of the last round, told to the other
//! shards, and kept or taken back when the sums of all are known.

use std::collections::HashSet;

use super::{NO_LABEL, Shard};
use crate::error::{Error, Result};
use crate::graph::NodeId;
use crate::objective::{Objective, ObjectiveKind, ROUNDING, Sums};
use crate::partition::{ClusterTable, Links};
use crate::random::mixed;

/// What is optimised, for a graph of which only the totals are known.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    /// Which objective.
    pub kind: ObjectiveKind,
    /// The resolution of modularity.
    pub resolution: f64,
    /// Volume of the graph.
    pub volume: f64,
    /// Size of the graph, isolated nodes left out.
    pub size: f64,
}

/// Calls `$body` with `$objective` bound to what an [`Aim`] names.
macro_rules! with_aim {
    ($aim:expr, |$objective:ident| $body:expr) => {
        match $aim.kind {
            $crate::objective::ObjectiveKind::NormalizedCut => {
                let $objective = $crate::objective::NormalizedCut;
                $body
            }
            $crate::objective::ObjectiveKind::RatioCut => {
                let $objective = $crate::objective::RatioCut::of_size($aim.volume, $aim.size);
                $body
            }
            $crate::objective::ObjectiveKind::Modularity => {
                let $objective =
                    $crate::objective::Modularity { total: $aim.volume, resolution: $aim.resolution };
                $body
            }
        }
    };
}
pub(super) use with_aim;

impl Aim {
    /// The objective of clusters with these sums and numbers of nodes, the mass of each, and what they lack to be as good as
    /// clusters can be.
    pub fn score(&self, clusters: &[(Sums, usize)]) -> (f64, Vec<f64>, f64) {
        with_aim!(self, |objective| {
            let value = ClusterTable::new(objective, clusters.iter().copied()).objective();
            let masses = clusters.iter().map(|cluster| objective.mass(&cluster.0)).collect();
            (value, masses, objective.cut(value, clusters.len()))
        })
    }
}

/// What one shard tells another about labels.
#[derive(Clone, Debug, Default)]
pub struct LabelNews {
    /// Ghosts there whose label has changed, by position.
    pub positions: Vec<u32>,
    /// The labels they have now.
    pub labels: Vec<u32>,
}

/// The labels of a shard's nodes and ghosts.
pub struct Refinement {
    labels: Vec<u32>,
    n_clusters: usize,
    /// Local nodes to be visited: their surroundings have changed.
    is_active: Vec<bool>,
    /// Local nodes and ghosts that have changed since the last state that was kept, and what their label was.
    changed: Vec<(u32, u32)>,
    is_changed: Vec<bool>,
    /// Local nodes that were visited since then.
    visited: Vec<NodeId>,
}

/// Which nodes move in a round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The part of the nodes that may move, chosen by a hash.
    pub part: f64,
    /// Number of the round, for the hash.
    pub number: u64,
    /// Only nodes move whose neighbours in their cluster are seen to hang together without them, and only to clusters that
    /// they are linked to.
    pub holds_together: bool,
}

/// So many entries are looked at to see whether the neighbours of a node hang together without it.
const MAX_LOOKED_AT: usize = 2048;

impl Refinement {
    /// Starts from the labels of local nodes and ghosts.
    ///
    /// # Errors
    /// When there is not one label for each, or one is out of range.
    pub fn new(shard: &Shard, labels: Vec<u32>, n_clusters: usize) -> Result<Self> {
        shard.check_known("labels", labels.len())?;
        if let Some(&label) = labels.iter().find(|&&label| label != NO_LABEL && label as usize >= n_clusters)
        {
            return Err(Error::labels(format!("label {label} is beyond the {n_clusters} clusters")));
        }
        Ok(Self {
            n_clusters,
            is_active: vec![true; shard.n_local()],
            changed: Vec::new(),
            is_changed: vec![false; labels.len()],
            visited: Vec::new(),
            labels,
        })
    }

    /// The labels of local nodes and ghosts.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Which local nodes are to be visited.
    pub fn is_active(&self) -> &[bool] {
        &self.is_active
    }

    /// Sets which local nodes are to be visited.
    ///
    /// # Errors
    /// When there is not one answer for each.
    pub fn set_active(&mut self, is_active: Vec<bool>) -> Result<()> {
        if is_active.len() != self.is_active.len() {
            return Err(Error::shape("the stored state is of another shard"));
        }
        self.is_active = is_active;
        Ok(())
    }

    /// Gives every active local node the best cluster for it, as if no other shard moved any: the sums of all clusters are
    /// those of the last state, changed by the moves of this shard alone. Tells how many moved.
    ///
    /// # Errors
    /// When there are sums for another number of clusters.
    pub fn propose(
        &mut self,
        shard: &Shard,
        aim: &Aim,
        clusters: &[(Sums, usize)],
        floor: f64,
        round: Round,
    ) -> Result<usize> {
        if clusters.len() != self.n_clusters {
            return Err(Error::labels(format!(
                "there are sums of {} clusters, not {}",
                clusters.len(),
                self.n_clusters
            )));
        }
        Ok(with_aim!(aim, |objective| self.propose_by(shard, objective, clusters, floor, round)))
    }

    fn propose_by<O: Objective>(
        &mut self,
        shard: &Shard,
        objective: O,
        clusters: &[(Sums, usize)],
        floor: f64,
        round: Round,
    ) -> usize {
        let mut table = ClusterTable::new(objective, clusters.iter().copied());
        table.set_floor(floor);
        let mut links = Links::new(self.n_clusters);
        let threshold = ROUNDING * objective.unit();
        let may_move = |node: NodeId| {
            let hash = mixed(shard.number(node as usize) ^ round.number << 40);
            round.part >= 1.0 || (hash as f64) < round.part * u64::MAX as f64
        };
        let (mut n_moves, mut row) = (0, Vec::new());
        for node in 0..shard.n_local() as NodeId {
            let from = self.labels[node as usize];
            if from == NO_LABEL || !self.is_active[node as usize] || !may_move(node) {
                continue;
            }
            self.is_active[node as usize] = false;
            self.visited.push(node);
            let labels = &self.labels;
            let is_inside = shard.arrays().columns[shard.entries(node)]
                .iter()
                .all(|&other| labels[other as usize] == from);
            let sums = shard.sums(node);
            // A node without links to others stays, unless its self-loop or its size makes it welcome elsewhere.
            if is_inside && objective_keeps_inner(&objective, &sums) {
                continue;
            }
            row.clear();
            shard.for_each_entry(node, |other, weight| {
                if other != node {
                    row.push((labels[other as usize], weight));
                }
            });
            links.sum_row(from, row.iter().copied());
            if let Some((to, gain)) = table.best_target(&sums, from, &links)
                && gain > threshold
                && (!round.holds_together || (links.weight(to) > 0.0 && self.may_part(shard, node)))
            {
                table.apply(&sums, (from, to), (links.weight(from), links.weight(to)));
                self.set(node as usize, to);
                shard.for_each_entry(node, |other, _| {
                    if let Some(is_active) = self.is_active.get_mut(other as usize) {
                        *is_active = true;
                    }
                });
                n_moves += 1;
            }
        }
        n_moves
    }

    /// Whether the neighbours of a node in its cluster are seen to hang together without it, by rows of this shard. One
    /// after the other, such moves keep clusters connected; where other shards move nodes at the same time they may not.
    fn may_part(&self, shard: &Shard, node: NodeId) -> bool {
        let label = self.labels[node as usize];
        let mut waiting: Vec<NodeId> = Vec::new();
        shard.for_each_entry(node, |other, _| {
            if other != node && self.labels[other as usize] == label {
                waiting.push(other);
            }
        });
        if waiting.len() <= 1 {
            return true;
        }
        let mut seen: HashSet<NodeId> = HashSet::from([node]);
        // Rows of ghosts are elsewhere: a search begins with a local node.
        let n_local = shard.n_local();
        let Some(start) = waiting.iter().copied().find(|&other| (other as usize) < n_local) else {
            return false;
        };
        seen.insert(start);
        let mut queue = vec![start];
        let (mut next, mut n_looked_at) = (0, 0);
        while next < queue.len() && n_looked_at < MAX_LOOKED_AT {
            let from = queue[next];
            next += 1;
            n_looked_at += shard.entries(from).len();
            shard.for_each_entry(from, |other, _| {
                if self.labels[other as usize] == label && seen.insert(other) && (other as usize) < n_local {
                    queue.push(other);
                }
            });
            waiting.retain(|other| !seen.contains(other));
            if waiting.is_empty() {
                return true;
            }
        }
        false
    }

    fn set(&mut self, known: usize, label: u32) {
        let before = std::mem::replace(&mut self.labels[known], label);
        if !std::mem::replace(&mut self.is_changed[known], true) {
            self.changed.push((known as u32, before));
        }
    }

    /// What a shard is to hear of the changes since the last state.
    pub fn news(&self, shard: &Shard, to: usize) -> LabelNews {
        let (positions, nodes) = shard.told(to, |node| self.is_changed[node as usize]);
        let labels = nodes.into_iter().map(|node| self.labels[node as usize]).collect();
        LabelNews { positions, labels }
    }

    /// Takes in what another shard tells.
    ///
    /// # Errors
    /// When it tells of nodes that are no ghosts here.
    pub fn hear(&mut self, shard: &Shard, from: usize, positions: &[u32], labels: &[u32]) -> Result<()> {
        for (&position, &label) in positions.iter().zip(labels) {
            self.set(shard.ghost(from, position)?, label);
        }
        Ok(())
    }

    /// The sums of all clusters over the local rows: association, volume and size, and the number of nodes. Also finds out
    /// which nodes are next to ghosts that have changed.
    pub fn sums(&mut self, shard: &Shard) -> Vec<(Sums, usize)> {
        let mut clusters = vec![(Sums::default(), 0); self.n_clusters];
        for node in 0..shard.n_local() as NodeId {
            let label = self.labels[node as usize];
            if label == NO_LABEL {
                continue;
            }
            let (mut inside, mut is_touched) = (0.0, false);
            shard.for_each_entry(node, |other, weight| {
                inside += if self.labels[other as usize] == label { weight } else { 0.0 };
                is_touched |= self.is_changed[other as usize];
            });
            self.is_active[node as usize] |= is_touched;
            let (sums, n_nodes) = &mut clusters[label as usize];
            let own = shard.sums(node);
            sums.association += inside;
            sums.volume += own.volume;
            sums.size += own.size;
            *n_nodes += 1;
        }
        clusters
    }

    /// The state is kept.
    pub fn keep(&mut self) {
        for (known, _) in self.changed.drain(..) {
            self.is_changed[known as usize] = false;
        }
        self.visited.clear();
    }

    /// Goes back to the last state that was kept; what was visited since is active again.
    pub fn undo(&mut self) {
        for (known, before) in self.changed.drain(..) {
            self.labels[known as usize] = before;
            self.is_changed[known as usize] = false;
        }
        for node in self.visited.drain(..) {
            self.is_active[node as usize] = true;
        }
    }

    /// Gives nodes of some pieces new labels: `pieces` are those of local nodes and ghosts, `moved` the pieces that move,
    /// ascending.
    ///
    /// # Errors
    /// When there is not a piece for each.
    pub fn relabel(&mut self, shard: &Shard, pieces: &[u64], moved: &[u64], to: &[u32]) -> Result<usize> {
        shard.check_known("pieces", pieces.len())?;
        let mut n_moves = 0;
        for (known, piece) in pieces.iter().enumerate() {
            if self.labels[known] != NO_LABEL
                && let Ok(place) = moved.binary_search(piece)
            {
                self.set(known, to[place]);
                n_moves += usize::from(known < shard.n_local());
            }
        }
        Ok(n_moves)
    }
}

/// Whether a node all of whose neighbours are in its cluster had better stay whatever the others are: without a link, no
/// cluster gains by a node that has no self-loop, where values are not negative and masses are volumes.
fn objective_keeps_inner<O: Objective>(_: &O, node: &Sums) -> bool {
    !O::USES_SIZES && node.association == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::{Modularity, NormalizedCut, RatioCut};

    #[test]
    fn an_aim_names_every_objective() {
        let sums = Sums { association: 6.0, volume: 10.0, size: 4.0 };
        let of =
            |kind| Aim { kind, resolution: 1.0, volume: 20.0, size: 8.0 }.score(&[(sums, 4), (sums, 4)]).0;
        assert_eq!(of(ObjectiveKind::NormalizedCut), 2.0 * NormalizedCut.value(&sums));
        assert_eq!(of(ObjectiveKind::RatioCut), 2.0 * RatioCut::of_size(20.0, 8.0).value(&sums));
        assert_eq!(
            of(ObjectiveKind::Modularity),
            2.0 * Modularity { total: 20.0, resolution: 1.0 }.value(&sums)
        );
    }
}
