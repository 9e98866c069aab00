//! The boundary between two pieces of a graph, beside the cuts through them.

use crate::graph::{Graph, NodeId};
use crate::objective::{NormalizedCut, Objective, Sums};

/// `ln` of how many times thinner than the cuts a boundary counts as at the most.
const MAX_EXCESS: f64 = 4.0;
/// A cloud of points without clusters, in any number of dimensions, is cut in half by an N-Cut that is 4/3 lower than that of
/// cutting a quarter off: the cuts are equal, and of the shares 1/2, 1/2 and 1/4, 3/4 the inverses add up to 4 and to 16/3.
const CLOUD: f64 = 4.0 / 3.0;
/// In a graph without places, where every node has links to both sides, cuts grow with both shares and the two would be equal. But
/// the cut through a piece is searched for, and a random graph has many to choose from: 0.75 to 1.07 was measured.
const RANDOM: f64 = 0.9;

/// Pieces of a graph, and the halves of each: the two sides of the cut through it.
#[derive(Clone)]
pub(super) struct Pieces<'g> {
    pub(super) graph: &'g Graph<'g>,
    pub(super) of_node: Vec<u32>,
    pub(super) members: Vec<Vec<NodeId>>,
    /// The half that every node is in, 0 or 1.
    half: Vec<u8>,
    /// The weight between every node and the other half of its piece.
    across: Vec<f64>,
    inside: Vec<Inside>,
}

/// What a piece is like by itself.
#[derive(Clone, Copy, Default)]
struct Inside {
    /// Weight inside the piece of the nodes of either half.
    volumes: [f64; 2],
    /// The cut between the halves; `None` for pieces of very few nodes.
    cut: Option<Cut>,
}

/// How a boundary compares with the cuts through both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boundary {
    /// `ln` of how many times thinner it is than the thinnest of the cuts, beyond what a cloud without clusters would show.
    pub(super) excess: f64,
    /// Variance of that: boundaries of few nodes are thin by chance.
    pub(super) variance: f64,
}

impl Boundary {
    /// The excess in standard deviations.
    pub(super) fn score(&self) -> f64 {
        self.excess / self.variance.sqrt()
    }
}

/// One way to cut a pair of pieces in two.
#[derive(Clone, Copy, Default)]
struct Cut {
    /// Weight cut at all nodes, which is twice that of the edges.
    weight: f64,
    squares: f64,
    /// Volume of one side.
    volume: f64,
}

impl Cut {
    fn add(&mut self, weight: f64) {
        self.add_to(0.0, weight);
    }

    /// A node of which `before` was cut already loses more.
    fn add_to(&mut self, before: f64, weight: f64) {
        self.weight += weight;
        self.squares += weight * (2.0 * before + weight);
    }

    fn ncut(&self, total: f64) -> f64 {
        let cut = 0.5 * self.weight;
        let side = |volume: f64| Sums { association: volume - cut, volume, size: 0.0 };
        let objective = NormalizedCut.value_of_both(&side(self.volume), &side(total - self.volume));
        NormalizedCut.cut(objective, 2)
    }

    /// The number of nodes that would make up the cut if all had the same part in it.
    fn n_effective(&self) -> f64 {
        if self.squares > 0.0 { (self.weight * self.weight / self.squares).max(1.0) } else { 1.0 }
    }
}

impl<'g> Pieces<'g> {
    /// Pieces not yet cut in halves.
    pub(super) fn new(graph: &'g Graph<'g>, of_node: Vec<u32>, members: Vec<Vec<NodeId>>) -> Self {
        let (n_nodes, n_pieces) = (graph.n_nodes(), members.len());
        let inside = vec![Inside::default(); n_pieces];
        Self { graph, of_node, members, half: vec![0; n_nodes], across: vec![0.0; n_nodes], inside }
    }

    /// Cuts a piece in halves, or leaves it whole.
    pub(super) fn cut(&mut self, piece: u32, halves: Option<Vec<u8>>) {
        let nodes = &self.members[piece as usize];
        let is_cut = halves.is_some();
        let halves = halves.unwrap_or_else(|| vec![0; nodes.len()]);
        for (&node, half) in nodes.iter().zip(halves) {
            self.half[node as usize] = half;
        }
        let (mut volumes, mut cut) = ([0.0; 2], Cut::default());
        for &node in nodes {
            let own = self.half[node as usize] as usize;
            let mut links = [0.0; 2];
            self.graph.for_each_neighbor(node, |neighbor, weight| {
                if self.of_node[neighbor as usize] == piece {
                    links[self.half[neighbor as usize] as usize] += weight;
                }
            });
            volumes[own] += links[0] + links[1];
            self.across[node as usize] = links[1 - own];
            cut.add(links[1 - own]);
        }
        self.inside[piece as usize] = Inside { volumes, cut: is_cut.then_some(cut) };
    }

    /// Whether there is a cut through a piece.
    pub(super) fn is_cut(&self, piece: u32) -> bool {
        self.inside[piece as usize].cut.is_some()
    }

    /// Compares the boundary between two linked pieces with the cuts through them, as if there were nothing else.
    pub(super) fn boundary(&self, a: u32, b: u32) -> Boundary {
        let size = |piece: u32| self.members[piece as usize].len();
        let (small, large) = if size(a) <= size(b) { (a, b) } else { (b, a) };
        let inside = [small, large].map(|piece| self.inside[piece as usize]);
        let mut boundary = Cut { volume: inside[0].volumes.iter().sum(), ..Cut::default() };
        let mut n_at_boundary = 0;
        // The cut that takes one half from the pair, of the small piece and of the large one.
        let mut through = inside
            .map(|inside| inside.volumes.map(|volume| Cut { volume, ..inside.cut.unwrap_or_default() }));
        let mut links: Vec<(NodeId, u8, f64)> = Vec::new();
        let mut add = |side: usize, node: NodeId, links: [f64; 2]| {
            let (link, own) = (links[0] + links[1], self.half[node as usize] as usize);
            boundary.add(link);
            n_at_boundary += 1;
            if side == 0 {
                boundary.volume += link;
            }
            through[side][own].volume += link;
            through[side][own].add_to(self.across[node as usize], link);
            for (cut, link) in through[1 - side].iter_mut().zip(links) {
                cut.add(link);
            }
        };
        for &node in &self.members[small as usize] {
            let mut of_node = [0.0; 2];
            self.graph.for_each_neighbor(node, |neighbor, weight| {
                if self.of_node[neighbor as usize] == large {
                    of_node[self.half[neighbor as usize] as usize] += weight;
                    links.push((neighbor, self.half[node as usize], weight));
                }
            });
            if of_node != [0.0; 2] {
                add(0, node, of_node);
            }
        }
        links.sort_unstable_by_key(|&(node, half, _)| (node, half));
        for of_one in links.chunk_by(|first, second| first.0 == second.0) {
            let mut of_node = [0.0; 2];
            for &(_, half, weight) in of_one {
                of_node[half as usize] += weight;
            }
            add(1, of_one[0].0, of_node);
        }
        let total: f64 = through.iter().flatten().map(|cut| cut.volume).sum();
        let thinnest = inside
            .iter()
            .zip(&through)
            .filter(|(inside, _)| inside.cut.is_some())
            .flat_map(|(_, cuts)| cuts.iter().map(|cut| (cut.ncut(total), cut)))
            .min_by(|first, second| first.0.total_cmp(&second.0));
        let Some((thinnest, cut)) = thinnest else {
            // Pieces too small to be cut show nothing.
            return Boundary { excess: 0.0, variance: 1.0 };
        };
        let n_nodes = (size(a) + size(b)) as f64;
        let usual = CLOUD + (RANDOM - CLOUD) * f64::from(n_at_boundary) / n_nodes;
        let ratio = thinnest / boundary.ncut(total).max(f64::MIN_POSITIVE) / usual;
        let excess = libm::log(ratio.max(f64::MIN_POSITIVE)).clamp(-MAX_EXCESS, MAX_EXCESS);
        // Chance is what a boundary as thick as usual would have: it would be made of more nodes.
        let n_usual = boundary.n_effective() * ratio.clamp(1.0, n_nodes);
        Boundary { excess, variance: 1.0 / n_usual + 1.0 / cut.n_effective() }
    }
}
