//! Nodes asked side by side, a block at a time, so that the answers do not depend on the number of threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::graph::NodeId;
use crate::parallel::prelude::*;

/// Blocks of a graph, and how many nodes they have at most.
const N_BLOCKS: usize = 64;
const MAX_NODES: usize = 1 << 14;
/// Pieces of a block that one thread asks at a time.
const TASKS_PER_BLOCK: usize = 16;
/// Nodes that are asked together, if so many of a piece are active.
const TOGETHER: usize = 16;

/// The blocks of the nodes of a large graph, and work space for the threads that ask them.
pub(crate) struct Blocks<S> {
    n_nodes: usize,
    /// Nodes of a block.
    size: usize,
    spare: Mutex<Vec<S>>,
}

impl<S: Send> Blocks<S> {
    /// `None` with fewer than `min_entries`: there nodes are visited one by one, each knowing what all before it did.
    pub(crate) fn of(n_nodes: usize, n_entries: usize, min_entries: usize) -> Option<Self> {
        let size = n_nodes.div_ceil(N_BLOCKS).clamp(TASKS_PER_BLOCK, MAX_NODES);
        (n_entries >= min_entries).then(|| Self { n_nodes, size, spare: Mutex::default() })
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<S> {
        let Self { n_nodes, size, .. } = *self;
        (0..n_nodes).step_by(size).map(move |start| start..n_nodes.min(start + size))
    }

    /// Asks the nodes of a block that are active, and puts them to sleep. The answers are in the order of the nodes.
    pub(crate) fn ask<T: Send>(
        &self,
        block: Range<usize>,
        active: &mut [bool],
        work_space: impl Fn() -> S + Sync,
        ask: impl Fn(NodeId, &mut S) -> Option<T> + Sync,
    ) -> Vec<T> {
        let ask = |nodes: &[NodeId], space: &mut S, answers: &mut Vec<T>| {
            answers.extend(nodes.iter().filter_map(|&node| ask(node, space)));
        };
        self.ask_together(block, active, work_space, ask)
    }

    /// As [`ask`](Self::ask), some nodes at a time: what they need can be fetched for all of them at once.
    pub(crate) fn ask_together<T: Send>(
        &self,
        block: Range<usize>,
        active: &mut [bool],
        work_space: impl Fn() -> S + Sync,
        ask: impl Fn(&[NodeId], &mut S, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let (start, per_task) = (block.start, self.size.div_ceil(TASKS_PER_BLOCK));
        let answers =
            active[block].par_chunks_mut(per_task).enumerate().with_max_len(1).map(|(task, active)| {
                let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
                let taken = spare().pop();
                let mut space = taken.unwrap_or_else(&work_space);
                let first = start + task * per_task;
                let mut answers = Vec::new();
                let mut together = [0; TOGETHER];
                let mut n_together = 0;
                for (place, active) in active.iter_mut().enumerate() {
                    together[n_together] = (first + place) as NodeId;
                    n_together += usize::from(std::mem::take(active));
                    if n_together == TOGETHER {
                        ask(&together, &mut space, &mut answers);
                        n_together = 0;
                    }
                }
                ask(&together[..n_together], &mut space, &mut answers);
                spare().push(space);
                answers
            });
        answers.collect::<Vec<_>>().into_iter().flatten().collect()
    }
}
