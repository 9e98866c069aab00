//! Local moving: every node to the community that draws it most, until none is drawn elsewhere.

use std::collections::VecDeque;

use crate::blocks::Blocks;
use crate::graph::{Graph, NodeId};
use crate::limits::Limits;
use crate::objective::Modularity;
use crate::partition::ClusterId;
use crate::progress::{Clock, Progress, Stage, Stopped};
use crate::random::Random;

/// Visits between two looks at the clock.
const VISITS_PER_REPORT: u64 = 4096;
/// Visits to a node on average before moving ends all the same: with weights that differ by more digits than a float
/// has, gains may be rounding for ever.
const MAX_VISITS: u64 = 1000;

/// How many communities there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// Any number: communities vanish, and nodes leave for communities of their own.
    Free,
    /// As many as there are: a node alone in its community stays.
    Fixed,
}

/// When local moving may end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Until {
    /// When no node is drawn elsewhere.
    Settled,
    /// Also after a sweep that moved less than this share of the nodes: coarser levels move the others together.
    FewMove(f64),
}

impl Until {
    fn is_met(self, n_moves: u64, n_nodes: usize) -> bool {
        match self {
            Self::Settled => n_moves == 0,
            Self::FewMove(share) => n_moves as f64 <= share * n_nodes as f64,
        }
    }
}

/// Labels of a graph, and the volumes of communities, which is all that moves need.
pub(super) struct Moving<'g> {
    graph: &'g Graph<'g>,
    modularity: Modularity,
    number: Number,
    labels: Vec<ClusterId>,
    volumes: Vec<f64>,
    /// Nodes of every community.
    sizes: Vec<u32>,
    /// Numbers of communities without nodes.
    empty: Vec<ClusterId>,
    /// No node leaves a community whose volume would fall below this.
    floor: f64,
    /// A stronger pull by less than this may be rounding.
    rounding: f64,
}

/// A node that is drawn elsewhere.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: NodeId,
    /// `None` for a community of its own.
    to: Option<ClusterId>,
    link_from: f64,
    link_to: f64,
}

impl<'g> Moving<'g> {
    /// `labels` are below `n_labels`. With [`Number::Fixed`] each is the label of a node.
    pub(super) fn new(
        graph: &'g Graph<'g>,
        modularity: Modularity,
        number: Number,
        labels: Vec<ClusterId>,
        n_labels: usize,
    ) -> Self {
        let mut volumes = vec![0.0; n_labels];
        let mut sizes = vec![0; n_labels];
        for (&label, &degree) in labels.iter().zip(graph.degrees()) {
            volumes[label as usize] += degree;
            sizes[label as usize] += 1;
        }
        let mut empty = Vec::new();
        if number == Number::Free {
            empty.extend((0..n_labels as ClusterId).rev().filter(|&label| sizes[label as usize] == 0));
        }
        let rounding = modularity.rounding();
        Self { graph, modularity, number, labels, volumes, sizes, empty, floor: 0.0, rounding }
    }

    /// From now on no community's volume falls below `floor`.
    pub(super) fn with_floor(self, floor: f64) -> Self {
        Self { floor, ..self }
    }

    /// The community of every node, numbered by first appearance, and how many there are.
    pub(super) fn into_labels(self) -> (Vec<ClusterId>, usize) {
        numbered(self.labels, self.volumes.len())
    }

    /// Moves nodes until none is drawn elsewhere; tells what that gained. When the clock says stop, the labels are those
    /// so far.
    pub(super) fn settle(
        &mut self,
        seed: u64,
        until: Until,
        limits: &Limits,
        gained: &mut f64,
        clock: &Clock<'_>,
    ) -> Result<(), Stopped> {
        let n_entries = self.graph.columns().len();
        let mut stronger = 0.0;
        let settled = match Blocks::of(self.graph.n_nodes(), n_entries, limits.min_entries_for_blocks) {
            None => self.settle_one_by_one(seed, until, &mut stronger, clock),
            Some(blocks) => self.settle_by_blocks(&blocks, until, &mut stronger, clock),
        };
        *gained += self.modularity.gain(stronger);
        settled
    }

    /// A queue of nodes, at first all in random order, then those next to a move.
    fn settle_one_by_one(
        &mut self,
        seed: u64,
        until: Until,
        stronger: &mut f64,
        clock: &Clock<'_>,
    ) -> Result<(), Stopped> {
        let graph = self.graph;
        let n_nodes = graph.n_nodes();
        let mut progress = Progress::new(Stage::Search, 0);
        let mut links = CommunityLinks::new(self.volumes.len());
        let mut queue: VecDeque<NodeId> = shuffled(n_nodes, seed).into();
        let mut is_queued = vec![true; n_nodes];
        let (mut n_visits, mut n_moves_before) = (0, 0);
        while let Some(node) = queue.pop_front() {
            if n_visits % VISITS_PER_REPORT == 0 {
                clock.report(&progress)?;
            }
            n_visits += 1;
            if n_visits.is_multiple_of(n_nodes as u64) {
                let n_moves = progress.moves - n_moves_before;
                if until.is_met(n_moves, n_nodes) || n_visits / n_nodes as u64 >= MAX_VISITS {
                    break;
                }
                n_moves_before = progress.moves;
            }
            is_queued[node as usize] = false;
            let Some(step) = self.best_step(node, &mut links) else { continue };
            let Some((to, gain)) = self.apply(step) else { continue };
            *stronger += gain;
            progress.moves += 1;
            let labels = &self.labels;
            graph.for_each_neighbor(node, |neighbor, _| {
                let is_queued = &mut is_queued[neighbor as usize];
                if !*is_queued && labels[neighbor as usize] != to {
                    *is_queued = true;
                    queue.push_back(neighbor);
                }
            });
        }
        Ok(())
    }

    /// The nodes of a block are asked side by side, all in the same state; then their moves are carried out in order.
    fn settle_by_blocks(
        &mut self,
        blocks: &Blocks<CommunityLinks>,
        until: Until,
        stronger: &mut f64,
        clock: &Clock<'_>,
    ) -> Result<(), Stopped> {
        let graph = self.graph;
        let n_nodes = graph.n_nodes();
        let mut progress = Progress::new(Stage::Search, n_nodes as u64);
        let mut links = CommunityLinks::new(self.volumes.len());
        let mut active = vec![true; n_nodes];
        for _ in 0..MAX_VISITS {
            let before = progress.moves;
            for block in blocks.ranges() {
                progress.done = block.start as u64;
                clock.report(&progress)?;
                let state = &*self;
                let work_space = || CommunityLinks::new(state.volumes.len());
                let ask = |node: NodeId, links: &mut CommunityLinks| state.best_step(node, links);
                for step in blocks.ask(block, &mut active, work_space, ask) {
                    let node = step.node;
                    // Active again: a neighbour has moved since it was asked.
                    let step = match std::mem::take(&mut active[node as usize]) {
                        true => self.best_step(node, &mut links),
                        false => Some(step),
                    };
                    let Some((to, gain)) = step.and_then(|step| self.apply(step)) else { continue };
                    *stronger += gain;
                    progress.moves += 1;
                    let labels = &self.labels;
                    graph.for_each_neighbor(node, |neighbor, _| {
                        active[neighbor as usize] |= labels[neighbor as usize] != to;
                    });
                }
            }
            if until.is_met(progress.moves - before, n_nodes) {
                break;
            }
        }
        Ok(())
    }

    /// Where a node is drawn more than to its own community; among equals to the lowest number.
    #[inline]
    fn best_step(&self, node: NodeId, links: &mut CommunityLinks) -> Option<Step> {
        let (from, degree) = (self.labels[node as usize], self.graph.degree(node));
        let is_alone = self.sizes[from as usize] == 1;
        if is_alone && self.number == Number::Fixed || !self.may_leave(from, degree) {
            return None;
        }
        links.sum(self.graph, &self.labels, node);
        let pull = self.modularity.pull_on(degree);
        let own = links.adjacent.iter().find(|&&(cluster, _)| cluster == from);
        let link_from = own.map_or(0.0, |&(_, link)| link);
        let stay = pull.of(link_from, self.volume_without(from, degree));
        let mut best = (stay + self.rounding, from, 0.0);
        for &(cluster, link) in &links.adjacent {
            let drawn = pull.of(link, self.volumes[cluster as usize]);
            let is_tie = drawn == best.0 && best.1 != from && cluster < best.1;
            if cluster != from && (drawn > best.0 || is_tie) {
                best = (drawn, cluster, link);
            }
        }
        let (drawn, to, link_to) = best;
        let to = match self.number {
            Number::Free if !is_alone && drawn < 0.0 => None,
            _ if to == from => return None,
            _ => Some(to),
        };
        Some(Step { node, to, link_from, link_to })
    }

    #[inline]
    fn may_leave(&self, from: ClusterId, degree: f64) -> bool {
        self.floor == 0.0 || self.volumes[from as usize] - degree >= self.floor
    }

    /// The volume of a community without a node of it.
    #[inline]
    fn volume_without(&self, cluster: ClusterId, degree: f64) -> f64 {
        if self.sizes[cluster as usize] == 1 { 0.0 } else { self.volumes[cluster as usize] - degree }
    }

    /// Carries a move out, if it gains something by now; tells where the node went and how much more it is drawn there.
    #[inline]
    fn apply(&mut self, Step { node, to, link_from, link_to }: Step) -> Option<(ClusterId, f64)> {
        let (from, degree) = (self.labels[node as usize], self.graph.degree(node));
        let is_alone = self.sizes[from as usize] == 1;
        if is_alone && (self.number == Number::Fixed || to.is_none()) || !self.may_leave(from, degree) {
            return None;
        }
        let left = self.volume_without(from, degree);
        let pull = self.modularity.pull_on(degree);
        let drawn = to.map_or(0.0, |to| pull.of(link_to, self.volumes[to as usize]));
        let stronger = drawn - pull.of(link_from, left);
        if stronger <= self.rounding {
            return None;
        }
        let to = match to {
            Some(to) => to,
            None => self.empty.pop()?,
        };
        self.volumes[from as usize] = left;
        self.sizes[from as usize] -= 1;
        if is_alone {
            self.empty.push(from);
        }
        self.volumes[to as usize] += degree;
        self.sizes[to as usize] += 1;
        self.labels[node as usize] = to;
        Some((to, stronger))
    }
}

/// The weights between one node and the communities around it.
pub(super) struct CommunityLinks {
    /// The communities with a weight, in the order met, and the weights.
    adjacent: Vec<(ClusterId, f64)>,
    /// For short rows: places in `adjacent` by a hash of the community. They stay in the fastest memory, where an array over
    /// all communities does not: from single nodes a planted graph of 10 million edges then settles in two thirds of the time.
    short: [u8; N_SLOTS],
    /// For long rows: places in `adjacent`, one more, of all communities.
    long: Vec<u32>,
    n_labels: usize,
}

const N_SLOTS: usize = 256;
/// Rows with at most so many entries fill the slots to a quarter.
const MAX_SHORT_ROW: usize = N_SLOTS / 4;

impl CommunityLinks {
    fn new(n_labels: usize) -> Self {
        Self { adjacent: Vec::new(), short: [0; N_SLOTS], long: Vec::new(), n_labels }
    }

    /// Sums up the row of a node.
    #[inline]
    fn sum(&mut self, graph: &Graph<'_>, labels: &[ClusterId], node: NodeId) {
        self.adjacent.clear();
        if graph.entries(node).len() <= MAX_SHORT_ROW {
            self.sum_short(graph, labels, node);
        } else {
            self.sum_long(graph, labels, node);
        }
    }

    #[inline]
    fn sum_short(&mut self, graph: &Graph<'_>, labels: &[ClusterId], node: NodeId) {
        let Self { adjacent, short, .. } = self;
        short.fill(0);
        graph.for_each_neighbor(node, |neighbor, weight| {
            let cluster = labels[neighbor as usize];
            let mut slot = (cluster.wrapping_mul(0x9e37_79b1) >> 24) as usize;
            loop {
                let place = short[slot] as usize;
                if place == 0 {
                    adjacent.push((cluster, weight));
                    short[slot] = adjacent.len() as u8;
                    break;
                }
                let (other, link) = &mut adjacent[place - 1];
                if *other == cluster {
                    *link += weight;
                    break;
                }
                slot = (slot + 1) % N_SLOTS;
            }
        });
    }

    fn sum_long(&mut self, graph: &Graph<'_>, labels: &[ClusterId], node: NodeId) {
        let Self { adjacent, long, n_labels, .. } = self;
        long.resize(*n_labels, 0);
        graph.for_each_neighbor(node, |neighbor, weight| {
            let cluster = labels[neighbor as usize];
            let place = &mut long[cluster as usize];
            if *place == 0 {
                adjacent.push((cluster, weight));
                *place = adjacent.len() as u32;
            } else {
                adjacent[*place as usize - 1].1 += weight;
            }
        });
        for &(cluster, _) in adjacent.iter() {
            long[cluster as usize] = 0;
        }
    }
}

/// The nodes in an order that depends on the seed alone.
pub(super) fn shuffled(n_nodes: usize, seed: u64) -> Vec<NodeId> {
    let mut random = Random::new(seed);
    let mut nodes: Vec<NodeId> = (0..n_nodes as NodeId).collect();
    for place in (1..n_nodes).rev() {
        nodes.swap(place, random.below(place as u32 + 1) as usize);
    }
    nodes
}

/// The same labels, numbered by first appearance, and how many there are.
pub(super) fn numbered(mut labels: Vec<ClusterId>, n_labels: usize) -> (Vec<ClusterId>, usize) {
    const NONE: ClusterId = ClusterId::MAX;
    let mut number = vec![NONE; n_labels];
    let mut count = 0;
    for label in &mut labels {
        let number = &mut number[*label as usize];
        if *number == NONE {
            *number = count;
            count += 1;
        }
        *label = *number;
    }
    (labels, count as usize)
}
