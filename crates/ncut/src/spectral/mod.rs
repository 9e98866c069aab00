//! The spectrum of a graph: the largest eigenpairs of `S = D^-1/2 A D^-1/2`, whose values are at most 1. The paper's rivals.

mod block;
mod bound;
mod inertia;
mod kmeans;
mod lanczos;
mod operator;
mod rivals;
mod laplacian_rank;
mod balanced_cut;

use faer::{Mat, Side};

use crate::error::{Error, Result};
use crate::graph::{Components, Graph, NodeId, Subgraph};
use crate::memory;
use crate::parallel::aside;
use crate::progress::{Clock, Progress, Stage, Stopped};

pub use balanced_cut::{BalancedCut, BalancedCutResult};
pub use bound::{BoundStatus, UpperBound};
pub use kmeans::{KMeans, KMeansResult};
pub use laplacian_rank::{Distance, LaplacianRank, LearnedGraph};
pub use rivals::Rival;

use block::Block;
use lanczos::leading_pairs;
use operator::Operator;

/// How the spectrum is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectrumSettings {
    /// What the residual norms of all pairs add up to at most.
    pub tolerance: f64,
    /// Nodes with edges up to which all eigenpairs are computed at once, which misses none.
    pub most_dense: usize,
    /// Seed of the first vectors.
    pub seed: u64,
}

impl Default for SpectrumSettings {
    fn default() -> Self {
        Self { tolerance: 5e-8, most_dense: 800, seed: 0 }
    }
}

/// The largest eigenpairs of `S`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// The values, descending.
    pub values: Vec<f64>,
    /// The vectors, one row a node: entry `c` of row `i` is entry `i` of the vector of value `c`. Orthonormal.
    pub vectors: Vec<f64>,
    /// The norm of `S v - value v` for each of them: so far at most is a value from an eigenvalue.
    pub residuals: Vec<f64>,
    /// Whether all residuals are as small as was asked for.
    pub is_converged: bool,
    /// Whether all eigenvalues of the graph were computed, so that none can have been missed.
    pub is_complete: bool,
    /// Approximate values of a few more, descending: lower bounds of the eigenvalues that follow.
    pub following: Vec<f64>,
}

impl Spectrum {
    /// The `n_wanted` largest eigenpairs.
    ///
    /// Every connected component has the eigenvalue 1 with the vector `D^1/2 1_component`, every isolated node the
    /// eigenvalue 0 with its own unit vector: these are exact. The others come from a block solver that finds repeated
    /// values as often as they are there.
    ///
    /// # Errors
    /// When no pair is asked for, or more than there are nodes; or when the clock says stop.
    ///
    /// ```
    /// use ncut::{Graph, spectral::{Spectrum, SpectrumSettings}};
    /// let triangle = Graph::from_edges(3, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)])?;
    /// let spectrum = Spectrum::of(&triangle, 2, &SpectrumSettings::default(), &ncut::Clock::new())?;
    /// assert!((spectrum.values[1] + 0.5).abs() < 1e-12);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn of(
        graph: &Graph<'_>,
        n_wanted: usize,
        settings: &SpectrumSettings,
        clock: &Clock<'_>,
    ) -> Result<Self> {
        let n_nodes = graph.n_nodes();
        if n_wanted == 0 || n_wanted > n_nodes {
            let (value, expected) = (n_wanted.to_string(), "from 1 to the number of nodes");
            return Err(Error::BadSetting { name: "the number of eigenpairs", value, expected });
        }
        graph.verify()?;
        let (what, remedy) = ("finding the eigenvectors", "ask for fewer clusters");
        memory::check(clock, what, Self::memory_needed(graph, n_wanted), remedy)?;
        let (connected, n_isolated) = (graph.connected_nodes(), graph.n_isolated());
        let part = Subgraph::without_isolated(graph)?;
        let mut found = if connected.is_empty() {
            Found { is_converged: true, is_complete: true, ..Found::default() }
        } else {
            let n_asked = n_wanted.min(connected.len());
            Found::of(part.graph(), n_asked, settings, clock)?
        };
        found.insert_isolated(n_isolated, n_wanted);
        Ok(found.spectrum(graph, &connected, n_wanted))
    }

    /// Bytes of memory that finding so many eigenpairs takes, at the most: the matrix in an order of its own, the vectors of
    /// the steps, and what is found in both orders.
    pub fn memory_needed(graph: &Graph<'_>, n_wanted: usize) -> u64 {
        let (n_nodes, n_entries) = (graph.n_nodes() as u64, graph.columns().len() as u64);
        let n_vectors = lanczos::n_vectors(n_wanted) as u64 + 4 * n_wanted as u64;
        let few = SpectrumSettings::default().most_dense.max(lanczos::too_few_nodes(n_wanted)) as u64;
        let n_dense = if n_nodes <= few { n_nodes } else { 0 };
        memory::BASE
            + memory::matrix(n_entries, true)
            + (8 * n_vectors + 48).saturating_mul(n_nodes)
            + 24 * n_dense.saturating_mul(n_dense)
    }

    /// Number of pairs.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The entries of all vectors for a node.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn row(&self, node: NodeId) -> &[f64] {
        &self.vectors[node as usize * self.count()..][..self.count()]
    }
}

/// Pairs of the part of a graph that has edges, and places for those of isolated nodes.
#[derive(Default)]
struct Found {
    values: Vec<f64>,
    residuals: Vec<f64>,
    /// The column of `vectors`, or none for the unit vector of an isolated node.
    columns: Vec<Option<usize>>,
    vectors: Option<Block>,
    following: Vec<f64>,
    is_converged: bool,
    is_complete: bool,
}

impl Found {
    fn of(
        graph: &Graph<'_>,
        n_wanted: usize,
        settings: &SpectrumSettings,
        clock: &Clock<'_>,
    ) -> Result<Self, Stopped> {
        let components = graph.components();
        let operator = Operator::new(graph);
        let known = component_vectors(&operator, &components, n_wanted.min(components.count()));
        let n_known = known.n_columns;
        let mut found = Self {
            values: vec![1.0; n_known],
            residuals: vec![0.0; n_known],
            columns: (0..n_known).map(Some).collect(),
            following: vec![1.0; components.count() - n_known],
            is_converged: true,
            is_complete: false,
            vectors: None,
        };
        let n_open = n_wanted - n_known;
        if n_open == 0 {
            found.vectors = Some(operator.in_graph_order(&known));
            return Ok(found);
        }
        if graph.n_nodes() <= settings.most_dense.max(lanczos::too_few_nodes(n_wanted)) {
            found.add_dense(graph, &operator, &known, n_open, clock)?;
            return Ok(found);
        }
        let tolerance = settings.tolerance / n_wanted as f64;
        let pairs = leading_pairs(&operator, &known, n_open, tolerance, settings.seed, clock)?;
        found.values.extend(&pairs.values);
        found.residuals.extend(&pairs.residuals);
        found.columns = (0..n_wanted).map(Some).collect();
        found.vectors = Some(operator.in_graph_order(&known.beside(&pairs.vectors)));
        found.following = pairs.guards;
        found.is_converged = !pairs.is_cut_short;
        Ok(found)
    }

    /// All pairs at once, the known ones moved out of the way.
    fn add_dense(
        &mut self,
        graph: &Graph<'_>,
        operator: &Operator,
        known: &Block,
        n_open: usize,
        clock: &Clock<'_>,
    ) -> Result<(), Stopped> {
        // Known vectors get the value -3, below all others.
        const AWAY: f64 = 4.0;
        let n = graph.n_nodes();
        let mut matrix = Mat::<f64>::zeros(n, n);
        let mut place = vec![0; n];
        for (at, &node) in operator.order.iter().enumerate() {
            place[node as usize] = at;
        }
        for (from, to, weight) in graph.edges() {
            let (from, to) = (place[from as usize], place[to as usize]);
            let value = weight / (operator.roots[from] * operator.roots[to]);
            matrix[(from, to)] = value;
            matrix[(to, from)] = value;
        }
        let progress = Progress::new(Stage::Spectrum, n_open as u64);
        for i in 0..n {
            clock.report(&progress)?;
            for j in 0..n {
                let product: f64 = known.row(i).iter().zip(known.row(j)).map(|(a, b)| a * b).sum();
                matrix[(i, j)] -= AWAY * product;
            }
        }
        let Ok(eigen) = aside(clock, &progress, move || matrix.self_adjoint_eigen(Side::Lower))? else {
            // Not seen with numbers that are finite, as those of a graph are.
            self.is_converged = false;
            self.vectors = Some(operator.in_graph_order(known));
            return Ok(());
        };
        let value = |place: usize| eigen.S().column_vector()[n - 1 - place];
        let mut vectors = Block::zeros(n, n_open);
        for row in 0..n {
            for column in 0..n_open {
                vectors.values[row * n_open + column] = eigen.U()[(row, n - 1 - column)];
            }
        }
        let image = operator.apply_to(&mut vectors);
        for column in 0..n_open {
            let value = value(column);
            let square: f64 =
                (0..n).map(|row| (image.row(row)[column] - value * vectors.row(row)[column]).powi(2)).sum();
            self.values.push(value);
            self.residuals.push(square.sqrt());
        }
        self.following = (n_open..n - known.n_columns).map(value).collect();
        self.columns = (0..self.values.len()).map(Some).collect();
        self.vectors = Some(operator.in_graph_order(&known.beside(&vectors)));
        self.is_complete = true;
        Ok(())
    }

    /// Isolated nodes have the value 0, which may be among the largest.
    fn insert_isolated(&mut self, n_isolated: usize, n_wanted: usize) {
        let place = self.values.partition_point(|&value| value >= 0.0);
        let n_inserted = n_isolated.min(n_wanted - place);
        self.values.splice(place..place, vec![0.0; n_inserted]);
        self.residuals.splice(place..place, vec![0.0; n_inserted]);
        self.columns.splice(place..place, vec![None; n_inserted]);
        self.following.extend(self.values.drain(n_wanted.min(self.values.len())..));
        self.following.extend(vec![0.0; n_isolated - n_inserted]);
        self.following.sort_by(|a, b| b.total_cmp(a));
        self.residuals.truncate(n_wanted);
        self.columns.truncate(n_wanted);
    }

    /// The vectors on all nodes.
    fn spectrum(self, graph: &Graph<'_>, connected: &[NodeId], n_wanted: usize) -> Spectrum {
        let mut vectors = vec![0.0; graph.n_nodes() * n_wanted];
        if let Some(block) = &self.vectors {
            for (row, &node) in connected.iter().enumerate() {
                let entries = &mut vectors[node as usize * n_wanted..][..n_wanted];
                for (entry, column) in entries.iter_mut().zip(&self.columns) {
                    *entry = column.map_or(0.0, |column| block.row(row)[column]);
                }
            }
        }
        let isolated = (0..graph.n_nodes()).filter(|&node| graph.degree(node as NodeId) == 0.0);
        let places = (0..n_wanted).filter(|&place| self.columns[place].is_none());
        for (node, place) in isolated.zip(places) {
            vectors[node * n_wanted + place] = 1.0;
        }
        Spectrum {
            values: self.values,
            vectors,
            residuals: self.residuals,
            is_converged: self.is_converged,
            is_complete: self.is_complete,
            following: self.following,
        }
    }
}

/// The vectors of value 1 of the first `n_wanted` components.
fn component_vectors(operator: &Operator, components: &Components, n_wanted: usize) -> Block {
    let mut norms = vec![0.0; components.count()];
    let component = |at: usize| components.of_node[operator.order[at] as usize] as usize;
    for (at, root) in operator.roots.iter().enumerate() {
        norms[component(at)] += root * root;
    }
    let mut vectors = Block::zeros(operator.n_nodes(), n_wanted);
    for (at, root) in operator.roots.iter().enumerate() {
        let component = component(at);
        if component < n_wanted {
            vectors.values[at * n_wanted + component] = root / norms[component].sqrt();
        }
    }
    vectors
}
