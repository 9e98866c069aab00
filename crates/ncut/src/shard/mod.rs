//! A part of a graph that is spread over several processes: the rows of some nodes, and what is done with them there.
//!
//! The nodes of the graph are numbered through all shards. A shard holds the rows of a range of them, its *local* nodes;
//! neighbours in other ranges are *ghosts*: it knows their labels, but not their rows. Whoever moves messages between the shards is
//! elsewhere: everything here takes arrays and gives arrays, one for each other shard.

mod numbers;
mod build;
mod contract;
mod pieces;
mod propagate;
mod refine;
mod attach;

use std::ops::Range;

use crate::error::{Error, Result};
use crate::graph::{NodeId, Weights};
use crate::objective::Sums;

pub use attach::{LinkedPiece, PieceLinks, attach};
pub use build::{CoarseBuilder, ShardBuilder};
pub use contract::{Contraction, Portion};
pub use numbers::Numbers;
pub use pieces::Pieces;
pub use propagate::{GroupNews, Propagation};
pub use refine::{Aim, LabelNews, Refinement, Round};

/// Label or group of nodes that have none: isolated nodes.
pub const NO_LABEL: u32 = u32::MAX;

/// The arrays of a shard: what is stored of it.
#[derive(Clone, Debug)]
pub struct ShardArrays {
    /// Where the ranges of all shards begin, and the number of nodes in all.
    pub bounds: Vec<u64>,
    /// Number of this shard.
    pub index: usize,
    /// Where the rows begin and end.
    pub offsets: Vec<u64>,
    /// Neighbours: local nodes by their place in the range, ghosts by theirs among [`ghosts`](Self::ghosts) after all local
    /// nodes.
    pub columns: Vec<NodeId>,
    /// The weights of the entries.
    pub weights: Weights<'static>,
    /// Sizes of the local nodes; empty when all are 1.
    pub sizes: Vec<f64>,
    /// The numbers of the ghosts, ascending.
    pub ghosts: Vec<u64>,
}

/// The rows of a range of nodes.
#[derive(Clone, Debug)]
pub struct Shard {
    arrays: ShardArrays,
    /// Local nodes as clusters of one; the size is set only where sizes are stored.
    degrees: Vec<f64>,
    /// Self-loops of local nodes; empty without any.
    loops: Vec<f64>,
    /// Where the ghosts of every shard begin among all ghosts.
    ghost_starts: Vec<usize>,
    /// For each shard the local nodes that it has as ghosts, in the order of its ghosts.
    receivers: Vec<Vec<NodeId>>,
}

impl Shard {
    /// A shard of these arrays.
    ///
    /// # Errors
    /// When they do not fit together.
    pub fn new(arrays: ShardArrays) -> Result<Self> {
        let problem = arrays.problem();
        if let Some(problem) = problem {
            return Err(Error::shape(format!("the rows of shard {} are damaged: {problem}", arrays.index)));
        }
        let starts = |bound: &u64| arrays.ghosts.partition_point(|ghost| ghost < bound);
        let ghost_starts = arrays.bounds.iter().map(starts).collect();
        let n_shards = arrays.bounds.len() - 1;
        let mut shard = Self {
            degrees: Vec::new(),
            loops: Vec::new(),
            ghost_starts,
            receivers: vec![Vec::new(); n_shards],
            arrays,
        };
        shard.degrees = (0..shard.n_local() as NodeId)
            .map(|node| {
                let mut degree = 0.0;
                shard.for_each_entry(node, |_, weight| degree += weight);
                degree
            })
            .collect();
        let mut loops = vec![0.0; shard.n_local()];
        let mut n_loops = 0;
        for node in 0..shard.n_local() as NodeId {
            shard.for_each_entry(node, |other, weight| {
                if other == node {
                    loops[node as usize] = weight;
                    n_loops += 1;
                }
            });
        }
        if n_loops > 0 {
            shard.loops = loops;
        }
        Ok(shard)
    }

    /// The arrays to be stored.
    pub fn arrays(&self) -> &ShardArrays {
        &self.arrays
    }

    /// Sets which local nodes another shard has as ghosts, in the order of its ghosts.
    ///
    /// # Errors
    /// When there is no such shard or node.
    pub fn set_receiver(&mut self, shard: usize, nodes: Vec<NodeId>) -> Result<()> {
        if nodes.iter().any(|&node| node as usize >= self.n_local()) || shard >= self.receivers.len() {
            return Err(Error::shape(format!(
                "shard {shard} has ghosts that are no nodes of shard {}",
                self.index()
            )));
        }
        self.receivers[shard] = nodes;
        Ok(())
    }

    /// Number of this shard.
    pub fn index(&self) -> usize {
        self.arrays.index
    }

    /// Number of shards.
    pub fn n_shards(&self) -> usize {
        self.arrays.bounds.len() - 1
    }

    /// Number of nodes whose rows are here.
    pub fn n_local(&self) -> usize {
        self.arrays.offsets.len() - 1
    }

    /// Number of nodes of all shards.
    pub fn n_nodes(&self) -> u64 {
        self.arrays.bounds[self.n_shards()]
    }

    /// Number of local nodes and ghosts.
    pub fn n_known(&self) -> usize {
        self.n_local() + self.arrays.ghosts.len()
    }

    /// Number of entries.
    pub fn n_entries(&self) -> usize {
        self.arrays.columns.len()
    }

    /// The number of the first local node.
    pub fn first(&self) -> u64 {
        self.arrays.bounds[self.arrays.index]
    }

    /// Degree of a local node.
    #[inline]
    pub fn degree(&self, node: NodeId) -> f64 {
        self.degrees[node as usize]
    }

    /// Size of a local node.
    #[inline]
    pub fn size(&self, node: NodeId) -> f64 {
        self.arrays.sizes.get(node as usize).copied().unwrap_or(1.0)
    }

    /// A local node as a cluster of its own.
    #[inline]
    pub fn sums(&self, node: NodeId) -> Sums {
        let association = self.loops.get(node as usize).copied().unwrap_or(0.0);
        Sums { association, volume: self.degree(node), size: self.size(node) }
    }

    /// The number, through all shards, of a local node or a ghost.
    #[inline]
    pub fn number(&self, known: usize) -> u64 {
        match known.checked_sub(self.n_local()) {
            None => self.first() + known as u64,
            Some(ghost) => self.arrays.ghosts[ghost],
        }
    }

    /// The shard that has the row of a node.
    pub fn owner(&self, number: u64) -> usize {
        self.arrays.bounds.partition_point(|&bound| bound <= number) - 1
    }

    /// The places, among local nodes and ghosts, of those whose rows a shard has, in the order of their numbers.
    fn places_of(&self, owner: usize) -> Range<usize> {
        match owner == self.index() {
            true => 0..self.n_local(),
            false => {
                let [start, end] = [owner, owner + 1].map(|shard| self.n_local() + self.ghost_starts[shard]);
                start..end
            }
        }
    }

    /// The place among local nodes and ghosts of what another shard says about its node at `position` among those that are
    /// ghosts here.
    ///
    /// # Errors
    /// When it has no such ghost.
    pub fn ghost(&self, from: usize, position: u32) -> Result<usize> {
        let place = self.ghost_starts.get(from).map(|start| start + position as usize);
        match place.filter(|&place| place < self.ghost_starts[from + 1]) {
            Some(place) => Ok(self.n_local() + place),
            None => Err(Error::shape(format!(
                "shard {from} tells of ghost {position}, which shard {} has not",
                self.index()
            ))),
        }
    }

    /// Calls `visit` with neighbours and weights of a local node, the node itself included where it has a self-loop.
    #[inline]
    pub fn for_each_entry(&self, node: NodeId, mut visit: impl FnMut(NodeId, f64)) {
        let entries = self.entries(node);
        let row = &self.arrays.columns[entries.clone()];
        match &self.arrays.weights {
            Weights::Unit => row.iter().for_each(|&other| visit(other, 1.0)),
            Weights::F32(weights) => {
                row.iter()
                    .zip(&weights[entries])
                    .for_each(|(&other, &weight)| visit(other, f64::from(weight)));
            }
            Weights::F64(weights) => {
                row.iter().zip(&weights[entries]).for_each(|(&other, &weight)| visit(other, weight));
            }
        }
    }

    #[inline]
    fn entries(&self, node: NodeId) -> Range<usize> {
        self.arrays.offsets[node as usize] as usize..self.arrays.offsets[node as usize + 1] as usize
    }

    /// For each other shard what it has to know of its ghosts, in their order: `values` are those of local nodes and maybe more.
    pub fn for_ghosts<T: Copy>(&self, values: &[T]) -> Vec<Vec<T>> {
        let of = |nodes: &Vec<NodeId>| nodes.iter().map(|&node| values[node as usize]).collect();
        self.receivers.iter().map(of).collect()
    }

    /// Number of self-loops.
    pub fn n_loops(&self) -> usize {
        self.loops.iter().filter(|&&weight| weight > 0.0).count()
    }

    /// Which of the local nodes that a shard has as ghosts are to be `told`: their positions there, and the nodes.
    fn told(&self, to: usize, mut is_told: impl FnMut(NodeId) -> bool) -> (Vec<u32>, Vec<NodeId>) {
        let told = self.receivers[to].iter().enumerate().filter(|(_, node)| is_told(**node));
        told.map(|(position, &node)| (position as u32, node)).unzip()
    }

    fn check_known(&self, what: &str, n: usize) -> Result<()> {
        if n == self.n_known() {
            return Ok(());
        }
        Err(Error::shape(format!(
            "{n} {what} were given for the {} nodes and ghosts of shard {}",
            self.n_known(),
            self.index()
        )))
    }
}

impl ShardArrays {
    fn problem(&self) -> Option<&'static str> {
        let Self { bounds, index, offsets, columns, sizes, ghosts, .. } = self;
        if bounds.len() < 2 || *index + 1 >= bounds.len() || bounds.windows(2).any(|pair| pair[0] > pair[1]) {
            return Some("its range is none");
        }
        let n_local = bounds[*index + 1] - bounds[*index];
        let n_known = n_local as usize + ghosts.len();
        if n_known >= NO_LABEL as usize {
            return Some("it has too many nodes; take more shards");
        }
        if offsets.len() as u64 != n_local + 1 || offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            return Some("its row offsets do not fit its nodes");
        }
        if offsets.first() != Some(&0) || offsets.last() != Some(&(columns.len() as u64)) {
            return Some("its row offsets do not fit its entries");
        }
        if columns.iter().any(|&column| column as usize >= n_known) {
            return Some("a row names a node that it does not know");
        }
        if !sizes.is_empty() && sizes.len() as u64 != n_local {
            return Some("its sizes do not fit its nodes");
        }
        let n_weights = match &self.weights {
            Weights::Unit => columns.len(),
            Weights::F32(weights) => weights.len(),
            Weights::F64(weights) => weights.len(),
        };
        if n_weights != columns.len() {
            return Some("its weights do not fit its entries");
        }
        let own = bounds[*index]..bounds[*index + 1];
        let total = bounds[bounds.len() - 1];
        if ghosts.windows(2).any(|pair| pair[0] >= pair[1])
            || ghosts.iter().any(|ghost| own.contains(ghost) || *ghost >= total)
        {
            return Some("its ghosts are no nodes of other shards in ascending order");
        }
        None
    }
}
