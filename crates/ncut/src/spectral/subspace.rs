//! Leading eigenpairs by a block of vectors and polynomials of the matrix that enlarge what is wanted.

use std::ops::ControlFlow;

use faer::{Mat, Side};

use super::block::Block;
use super::operator::Operator;
use crate::progress::{Progress, Stage, Watch};

/// The degree of the first polynomial, when nothing is known of the spectrum.
const FIRST_DEGREE: usize = 12;
const MOST_DEGREE: usize = 800;
/// A polynomial enlarges the first vector at most so much more than the last, by powers of e.
const MOST_GROWTH: f64 = 23.0;
/// Wanted values that are closer to the last of the block than this share of its distance to 1 are the same value, ...
const CROWDED: f64 = 1e-4;
/// ... and the interval to be made small ends so much lower.
const LOWERED: f64 = 0.05;
/// Rounds at most.
const MOST_ROUNDS: usize = 60;

/// Pairs found so far: values descending, vectors orthonormal, one column each.
pub(super) struct Pairs {
    pub(super) values: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    pub(super) vectors: Block,
    /// Values of the guard vectors, which lie below; not converged.
    pub(super) guards: Vec<f64>,
    pub(super) is_cut_short: bool,
}

/// The `n_wanted` largest eigenpairs of the operator on the vectors orthogonal to `known`, residuals at most
/// `tolerance` unless stopped.
///
/// Chebyshev-filtered subspace iteration: a block of more vectors than are wanted is multiplied by a Chebyshev
/// polynomial of the matrix that is small on `[-1, cut]`, `cut` being the last Ritz value of the block, and grows fast
/// above; then the best combinations of the block are its Ritz vectors. As the block is wider than the number of
/// wanted pairs, repeated eigenvalues are found as often as they are there.
pub(super) fn leading_pairs(
    operator: &Operator,
    known: &Block,
    n_wanted: usize,
    tolerance: f64,
    seed: u64,
    watch: &dyn Watch,
) -> Pairs {
    let n_rest = operator.n_nodes() - known.n_columns;
    let width = (n_wanted + n_guards(n_wanted)).min(n_rest);
    let mut locked = Pairs {
        values: Vec::new(),
        residuals: Vec::new(),
        vectors: Block::zeros(operator.n_nodes(), 0),
        guards: Vec::new(),
        is_cut_short: false,
    };
    let mut fixed = known.clone();
    let mut block = Block::random(operator.n_nodes(), width, seed);
    block.subtract_span(&fixed);
    block.orthonormalize(&fixed, seed);
    let mut progress = Progress::new(Stage::Spectrum, n_wanted as u64);
    for round in 0..MOST_ROUNDS {
        let ritz = RitzPairs::of(operator, block);
        let n_open = n_wanted - locked.values.len();
        let n_done = ritz.residuals[..n_open].iter().take_while(|&&residual| residual <= tolerance).count();
        progress.done = (locked.values.len() + n_done) as u64;
        let is_stopped = watch.report(&progress).is_break() || round + 1 == MOST_ROUNDS;
        let n_taken = if is_stopped { n_open } else { n_done };
        locked.values.extend_from_slice(&ritz.values[..n_taken]);
        locked.residuals.extend_from_slice(&ritz.residuals[..n_taken]);
        locked.vectors = locked.vectors.beside(&ritz.vectors.columns(0..n_taken));
        if n_taken == n_open {
            locked.guards = ritz.values[n_taken..].to_vec();
            locked.is_cut_short = n_done < n_open;
            return locked;
        }
        fixed = fixed.beside(&ritz.vectors.columns(0..n_taken));
        let open = ritz.vectors.columns(n_taken..ritz.values.len());
        let filter = Filter::new(
            &ritz.values[n_taken..],
            &ritz.residuals[n_taken..],
            n_open - n_taken,
            tolerance,
            round,
        );
        let ControlFlow::Continue(filtered) = filter.apply(operator, open.clone(), &progress, watch) else {
            block = open;
            continue;
        };
        block = filtered;
        block.subtract_span(&fixed);
        block.orthonormalize(&fixed, seed ^ round as u64);
    }
    locked
}

/// Vectors beside those that are wanted.
fn n_guards(n_wanted: usize) -> usize {
    (n_wanted / 2).max(14) + (4 - (n_wanted + (n_wanted / 2).max(14)) % 4) % 4
}

/// The best combinations of the vectors of a block.
struct RitzPairs {
    values: Vec<f64>,
    residuals: Vec<f64>,
    vectors: Block,
}

impl RitzPairs {
    fn of(operator: &Operator, block: Block) -> Self {
        let image = operator.apply(&block);
        let products = block.products(&image);
        let n = block.n_columns;
        let symmetric = Mat::from_fn(n, n, |r, c| f64::midpoint(products[(r, c)], products[(c, r)]));
        let Ok(eigen) = symmetric.self_adjoint_eigen(Side::Lower) else {
            // Numbers that are none: nothing is known yet.
            return Self { values: vec![0.0; n], residuals: vec![f64::INFINITY; n], vectors: block };
        };
        // faer's values ascend.
        let turn = Mat::from_fn(n, n, |r, c| eigen.U()[(r, n - 1 - c)]);
        let values: Vec<f64> = (0..n).map(|c| eigen.S().column_vector()[n - 1 - c]).collect();
        let vectors = block.times(turn.as_ref());
        let image = image.times(turn.as_ref());
        let mut squares = vec![0.0; n];
        for (image, vector) in image.values.chunks_exact(n).zip(vectors.values.chunks_exact(n)) {
            for c in 0..n {
                let difference = image[c] - values[c] * vector[c];
                squares[c] += difference * difference;
            }
        }
        let residuals = squares.iter().map(|square: &f64| square.sqrt()).collect();
        Self { values, residuals, vectors }
    }
}

/// A Chebyshev polynomial that is at most 1 on `[-1, cut]` and grows above.
struct Filter {
    cut: f64,
    degree: usize,
}

impl Filter {
    /// The filter that brings the last wanted of `values` near `tolerance`.
    fn new(values: &[f64], residuals: &[f64], n_wanted: usize, tolerance: f64, round: usize) -> Self {
        let (last, wanted) = (values.last().copied().unwrap_or(0.0), values[n_wanted - 1]);
        // A value that is repeated more often than the block is wide leaves no room above the last of the block.
        let room = 1.0 - last;
        let cut = if wanted - last < CROWDED * room { last - LOWERED * room } else { last };
        let cut = cut.clamp(-0.9, 1.0 - 1e-12);
        if round == 0 {
            return Self { cut, degree: FIRST_DEGREE };
        }
        // A value beyond the interval grows by e^rate with every degree.
        let rate = |value: f64| {
            let beyond = (2.0 * (value.min(1.0) - cut) / (1.0 + cut)).max(0.0);
            // acosh(1 + beyond), with all its digits.
            (beyond + (beyond * (2.0 + beyond)).sqrt()).ln_1p()
        };
        let needed = (0..n_wanted)
            .map(|place| (residuals[place] / tolerance).max(1.0).ln() / rate(values[place]).max(1e-9))
            .fold(1.0, f64::max);
        let bearable = MOST_GROWTH / rate(values[0]).max(1e-9);
        // Early values are too low, and so is what they promise.
        let degree =
            (1.1 * needed).min(bearable).min(MOST_DEGREE as f64).min((FIRST_DEGREE << round.min(8)) as f64);
        Self { cut, degree: (degree as usize).max(4) }
    }

    fn apply(
        &self,
        operator: &Operator,
        mut now: Block,
        progress: &Progress,
        watch: &dyn Watch,
    ) -> ControlFlow<(), Block> {
        // T_{m+1}(L) = 2 L T_m - T_{m-1} with L = (S - center) / radius, which maps [-1, cut] to [-1, 1].
        let (center, radius) = ((self.cut - 1.0) / 2.0, (self.cut + 1.0) / 2.0);
        operator.to_walk(&mut now);
        let mut next = Block::zeros(operator.n_nodes(), now.n_columns);
        operator.step(&now, &mut next, 1.0 / radius, -center / radius, 0.0);
        std::mem::swap(&mut now, &mut next);
        for _ in 1..self.degree {
            watch.report(progress)?;
            operator.step(&now, &mut next, 2.0 / radius, -2.0 * center / radius, 1.0);
            std::mem::swap(&mut now, &mut next);
        }
        operator.leave_walk(&mut now);
        ControlFlow::Continue(now)
    }
}
