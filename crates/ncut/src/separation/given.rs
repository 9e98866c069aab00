//! How clearly clusters that are given are apart.

use super::merging::{MIN_EXCESS, Merging, Nearest};
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::progress::Clock;

/// How sure a boundary must be, in standard deviations; the library asks as much inside communities.
const SURE: f64 = 3.0;

/// What divides a cluster from the one it is linked to most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Division {
    /// It is linked to no other.
    Unlinked,
    /// Too small, or there was no time to look.
    Unknown,
    /// The boundary is so many times thinner than the thinnest cut through either of both, beyond what a cloud of points without
    /// clusters would show; and whether that is clear.
    Boundary { times: f64, is_clear: bool },
}

impl Division {
    /// So many times thinner at the least is apart.
    pub(crate) fn least_times() -> f64 {
        libm::exp(MIN_EXCESS)
    }
}

/// What divides each of some groups of nodes; nodes in none must have no edges. In the time of some products with the matrix.
pub(crate) fn divisions(
    graph: &Graph<'_>,
    members: Vec<Vec<NodeId>>,
    clock: &Clock<'_>,
) -> Result<Vec<Division>> {
    let division = |nearest: Nearest| match nearest {
        Nearest::Unlinked => Division::Unlinked,
        Nearest::TooSmall => Division::Unknown,
        Nearest::Boundary(boundary) => Division::Boundary {
            times: libm::exp(boundary.excess),
            is_clear: boundary.excess >= MIN_EXCESS && boundary.score() >= SURE,
        },
    };
    Ok(Merging::new(graph, members, clock)?.nearest().into_iter().map(division).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::synthetic::five_blocks;

    fn halves(n_nodes: NodeId) -> Vec<Vec<NodeId>> {
        vec![(0..n_nodes / 2).collect(), (n_nodes / 2..n_nodes).collect()]
    }

    fn clear(divisions: &[Division]) -> usize {
        let is_clear = |one: &&Division| matches!(one, Division::Boundary { is_clear: true, .. });
        divisions.iter().filter(is_clear).count()
    }

    #[test]
    fn blocks_are_apart_and_halves_of_a_mesh_are_not() {
        let blocks = five_blocks(0.5, 1).unwrap();
        let mut members = vec![Vec::new(); 5];
        for (node, &label) in (0..).zip(&blocks.labels) {
            members[label as usize].push(node);
        }
        assert_eq!(clear(&divisions(&blocks.graph, members, &Clock::new()).unwrap()), 5);

        let side: NodeId = 24;
        let right = (0..side * side).filter(|node| node % side + 1 < side).map(|node| (node, node + 1, 1.0));
        let down = (0..side * (side - 1)).map(|node| (node, node + side, 1.0));
        let mesh = Graph::from_edges((side * side) as usize, right.chain(down)).unwrap();
        assert_eq!(clear(&divisions(&mesh, halves(side * side), &Clock::new()).unwrap()), 0);
    }

    #[test]
    fn what_is_not_linked_or_cannot_be_cut_is_said_to_be_so() {
        let graph = Graph::from_edges(4, [(0, 1, 1.0), (2, 3, 1.0)]).unwrap();
        assert_eq!(divisions(&graph, halves(4), &Clock::new()).unwrap(), [Division::Unlinked; 2]);
        let pair = Graph::from_edges(2, [(0, 1, 1.0)]).unwrap();
        assert_eq!(divisions(&pair, halves(2), &Clock::new()).unwrap(), [Division::Unknown; 2]);
    }
}
