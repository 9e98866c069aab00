//! How many eigenvalues lie above a number, by the signs of a factorisation (Sylvester's law of inertia).

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky, supernodal::SupernodalLdltRef,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Par, Side};

use std::sync::Arc;

use crate::graph::{Graph, NodeId};
use crate::parallel::aside;
use crate::progress::{Clock, Progress, Stage, Stopped};

/// Stored entries of a graph up to which a factorisation is considered.
const MAX_ENTRIES: usize = 20_000_000;
/// Multiplications that are affordable: a few seconds.
const MAX_WORK: f64 = 3e10;
/// Seconds that looking for an order of elimination takes for each entry, at most: measured 1e-7 to 2e-6.
const ORDERING_SECONDS: f64 = 2e-6;
/// Multiplications in a second, at least, a factorisation being made up to three times.
const WORK_PER_SECOND: f64 = 1e9;
/// Numbers of a factor that are affordable: 400 MB.
const MAX_NUMBERS: usize = 50_000_000;

/// The answer of a factorisation.
pub(super) struct Count {
    /// Eigenvalues above the number that was asked for.
    pub(super) above: usize,
    /// The count is that of a matrix this close to the true one: an eigenvalue so near the number may be on either
    /// side.
    pub(super) uncertainty: f64,
}

/// The plan of a factorisation of `shift - S`, the same for every shift.
pub(super) struct Plan {
    offsets: Vec<usize>,
    rows: Vec<usize>,
    /// `-s_ij`; on the diagonal too.
    values: Vec<f64>,
    symbolic: SymbolicCholesky<usize>,
}

impl Plan {
    /// A plan for a graph without isolated nodes, if it is affordable in the time that is left: a factorisation that is
    /// not over by then is in vain.
    pub(super) fn new(graph: &Graph<'_>, clock: &Clock<'_>) -> Result<Option<Arc<Self>>, Stopped> {
        let left = clock.left().map_or(f64::INFINITY, |left| left.as_secs_f64());
        let n_entries = graph.columns().len();
        if n_entries > MAX_ENTRIES || n_entries as f64 * ORDERING_SECONDS > left {
            return Ok(None);
        }
        let n = graph.n_nodes();
        let root = |node: NodeId| graph.degree(node).sqrt();
        let (mut offsets, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for node in 0..n as NodeId {
            rows.push(node as usize);
            values.push(-graph.self_loop(node) / graph.degree(node));
            for (neighbor, weight) in graph.neighbors(node).filter(|&(neighbor, _)| neighbor > node) {
                rows.push(neighbor as usize);
                values.push(-weight / (root(node) * root(neighbor)));
            }
            offsets.push(rows.len());
        }
        let plan = aside(clock, &progress(), move || Self::analysed(offsets, rows, values, left));
        Ok(plan?.map(Arc::new))
    }

    /// The plan of a matrix, if a factorisation is affordable in so many seconds.
    fn analysed(offsets: Vec<usize>, rows: Vec<usize>, values: Vec<f64>, left: f64) -> Option<Self> {
        let n = offsets.len() - 1;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &offsets, None, &rows);
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..CholeskySymbolicParams::default()
        };
        let symbolic =
            factorize_symbolic_cholesky(pattern, Side::Lower, SymmetricOrdering::Amd, params).ok()?;
        let SymbolicCholeskyRaw::Supernodal(structure) = symbolic.raw() else { return None };
        let work: f64 = (0..structure.n_supernodes())
            .map(|node| {
                let width = (structure.supernode_end()[node] - structure.supernode_begin()[node]) as f64;
                let height = structure.nnz_per_super()[node] as f64 + width;
                width * height * height
            })
            .sum();
        let affordable = work <= MAX_WORK.min(left * WORK_PER_SECOND) && symbolic.len_val() <= MAX_NUMBERS;
        affordable.then_some(Self { offsets, rows, values, symbolic })
    }

    /// How many eigenvalues of `S` are above `shift`; none when the factorisation broke down.
    pub(super) fn count_above(
        self: &Arc<Self>,
        shift: f64,
        clock: &Clock<'_>,
    ) -> Result<Option<Count>, Stopped> {
        let plan = Arc::clone(self);
        aside(clock, &progress(), move || plan.factorized(shift))
    }

    fn factorized(&self, shift: f64) -> Option<Count> {
        let n = self.offsets.len() - 1;
        let mut values = self.values.clone();
        for column in 0..n {
            values[self.offsets[column]] += shift;
        }
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.offsets, None, &self.rows);
        let matrix = SparseColMatRef::new(pattern, &values);
        let mut factor = Vec::new();
        factor.try_reserve_exact(self.symbolic.len_val()).ok()?;
        factor.resize(self.symbolic.len_val(), 0.0);
        let scratch = self.symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(scratch).ok()?;
        let done = self.symbolic.factorize_numeric_ldlt(
            &mut factor,
            matrix,
            Side::Lower,
            LdltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        done.ok()?;
        let SymbolicCholeskyRaw::Supernodal(structure) = self.symbolic.raw() else { return None };
        let factor = SupernodalLdltRef::new(structure, &factor);
        // The computed factors are those of a matrix M + E with |E| <= gamma |L| |D| |L^T| entry by entry, where
        // gamma is the rounding unit times the terms of the longest sum, a row of L. The matrix on the right is
        // positive semidefinite, so its norm is at most its trace, which is sum_j |d_j| sum_i l_ij^2.
        let (mut above, mut trace) = (0, 0.0);
        let mut n_terms = vec![0usize; n];
        for node in 0..structure.n_supernodes() {
            let supernode = factor.supernode(node);
            let columns = supernode.val();
            let own = supernode.start()..supernode.start() + columns.ncols();
            for row in own.chain(supernode.pattern().iter().copied()) {
                n_terms[row] += columns.ncols();
            }
            for column in 0..columns.ncols() {
                let pivot = columns[(column, column)];
                if !pivot.is_finite() || pivot == 0.0 {
                    return None;
                }
                above += usize::from(pivot < 0.0);
                let below =
                    (column + 1..columns.nrows()).map(|row| columns[(row, column)].powi(2)).sum::<f64>();
                trace += pivot.abs() * (1.0 + below);
            }
        }
        let longest = n_terms.into_iter().max().unwrap_or(0);
        let uncertainty = (longest + 3) as f64 * f64::EPSILON * trace;
        uncertainty.is_finite().then_some(Count { above, uncertainty })
    }
}

fn progress() -> Progress {
    Progress::new(Stage::Spectrum, 1)
}
