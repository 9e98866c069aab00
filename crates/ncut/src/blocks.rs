//! Nodes asked side by side, a block at a time, so that the answers do not depend on the number of threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::graph::NodeId;

/// Nodes of a block, and those that one thread asks at a time.
const BLOCK: usize = 1 << 14;
const NODES_PER_TASK: usize = 1 << 10;
/// Graphs with fewer nodes are visited one by one, each node knowing what all before it did.
const LEAST_NODES: usize = 1 << 19;

/// The blocks of the nodes of a large graph, and work space for the threads that ask them.
pub(crate) struct Blocks<S> {
    n_nodes: usize,
    spare: Mutex<Vec<S>>,
}

impl<S: Send> Blocks<S> {
    /// `None` where the nodes are too few to be asked by blocks.
    pub(crate) fn of(n_nodes: usize) -> Option<Self> {
        (n_nodes >= LEAST_NODES).then(|| Self { n_nodes, spare: Mutex::default() })
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<S> {
        let n_nodes = self.n_nodes;
        (0..n_nodes).step_by(BLOCK).map(move |start| start..n_nodes.min(start + BLOCK))
    }

    /// Asks the nodes of a block that are awake, and puts them to sleep. The answers are in the order of the nodes.
    pub(crate) fn ask<T: Send>(
        &self,
        block: Range<usize>,
        awake: &mut [bool],
        work_space: impl Fn() -> S + Sync,
        ask: impl Fn(NodeId, &mut S) -> Option<T> + Sync,
    ) -> Vec<T> {
        let start = block.start;
        let answers = awake[block].par_chunks_mut(NODES_PER_TASK).enumerate().map(|(task, awake)| {
            let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = spare().pop();
            let mut space = taken.unwrap_or_else(&work_space);
            let first = start + task * NODES_PER_TASK;
            let mut answers = Vec::new();
            for (place, awake) in awake.iter_mut().enumerate() {
                if std::mem::take(awake) {
                    answers.extend(ask((first + place) as NodeId, &mut space));
                }
            }
            spare().push(space);
            answers
        });
        answers.collect::<Vec<_>>().into_iter().flatten().collect()
    }
}
