//! Leading eigenpairs by block Lanczos steps with polynomials of the matrix that enlarge what is wanted.

use std::f64::consts::LN_2;

use faer::{Mat, MatRef, Side};

use super::block::{Basis, Block};
use super::operator::Operator;
use crate::parallel::aside;
use crate::progress::{Clock, Progress, Stage, Stopped};
use crate::random::Random;

/// Vectors that are multiplied at once: a row of them is one line of the cache.
const WIDTH: usize = 8;
/// The cost of making a step orthogonal to a vector, in additions of a row of the block.
const STEP_COST: f64 = 3.0;
const MAX_DEGREE: f64 = 2000.0;
const FEW: usize = 2 * WIDTH;
const FIRST_DEGREE_OF_FEW: usize = 5;
/// A filter enlarges the first vector at most so much, by powers of e: the digits of the last are what remains.
const MAX_GROWTH: f64 = 15.0;
/// Wanted values that are closer to the cut than this share of its distance to 1 are the same value, ...
const CROWDED: f64 = 1e-4;
/// ... and the cut is made so much lower.
const LOWERED: f64 = 0.05;
/// The first filter, chosen without knowing anything, gives way when there are so many vectors for each that is kept.
const ENOUGH_FOR_A_GUESS: usize = 3;
const MAX_STEPS: usize = 2000;
/// Rows of a matrix whose eigenvalues take a tenth of a second.
const LONG_EIGEN: usize = 400;
/// Values closer than so many tolerances may be the same.
const SAME: f64 = 100.0;

/// Pairs found so far: values descending, vectors orthonormal, one column each.
pub(super) struct Pairs {
    pub(super) values: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    pub(super) vectors: Block,
    /// Lower bounds of values that follow; not converged.
    pub(super) guards: Vec<f64>,
    pub(super) is_cut_short: bool,
}

/// The nodes up to which there is no room for the steps.
pub(super) fn too_few_nodes(n_wanted: usize) -> usize {
    n_wanted + room(n_wanted.max(WIDTH)) + WIDTH
}

/// The `n_wanted` largest eigenpairs of the operator on the vectors orthogonal to `known`, residuals at most
/// `tolerance` unless stopped.
///
/// Steps with a block of some vectors see a repeated eigenvalue as often as the block is wide. So when as many values
/// as that are the same, more are looked for beside them, until those are no larger.
pub(super) fn leading_pairs(
    operator: &Operator,
    known: &Block,
    n_wanted: usize,
    tolerance: f64,
    seed: u64,
    clock: &Clock<'_>,
) -> Result<Pairs, Stopped> {
    let mut pairs = search(operator, known, n_wanted, tolerance, seed, clock)?;
    let same = SAME * tolerance;
    let mut pass = 0;
    while !pairs.is_cut_short
        && pairs.values.windows(WIDTH).any(|values| values[0] - values[WIDTH - 1] < same)
    {
        pass += 1;
        let fixed = known.beside(&pairs.vectors);
        let more = search(operator, &fixed, WIDTH, tolerance, seed.wrapping_add(pass), clock)?;
        pairs.is_cut_short = more.is_cut_short;
        if more.values[0] <= pairs.values[n_wanted - 1] + tolerance {
            break;
        }
        pairs.merge(&more);
    }
    Ok(pairs)
}

impl Pairs {
    /// Keeps the largest of both, as many as there are now.
    fn merge(&mut self, more: &Self) {
        let n_wanted = self.values.len();
        let values = [&self.values[..], &more.values].concat();
        let residuals = [&self.residuals[..], &more.residuals].concat();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let turn = Mat::from_fn(order.len(), n_wanted, |row, column| f64::from(order[column] == row));
        self.vectors = self.vectors.beside(&more.vectors).times(turn.as_ref());
        self.guards.extend(&more.guards);
        self.guards.extend(order[n_wanted..].iter().map(|&place| values[place]));
        self.guards.sort_by(|a, b| b.total_cmp(a));
        self.values = order[..n_wanted].iter().map(|&place| values[place]).collect();
        self.residuals = order[..n_wanted].iter().map(|&place| residuals[place]).collect();
    }
}

/// Vectors that are kept when the room is full: those that are wanted, and some more.
fn n_kept(n_wanted: usize) -> usize {
    (n_wanted + (n_wanted / 4).max(WIDTH / 2)).next_multiple_of(WIDTH)
}

/// Vectors that steps towards so many have at a time, at the most: work space included, and twice while they are turned.
pub(super) fn n_vectors(n_wanted: usize) -> usize {
    2 * room(n_wanted) + n_kept(n_wanted) + 4 * WIDTH
}

/// Vectors there is room for.
fn room(n_wanted: usize) -> usize {
    n_kept(n_wanted) + (n_wanted / 2).max(6 * WIDTH)
}

/// The largest pairs orthogonal to `fixed`: block Lanczos steps with a filter of the matrix in its place, restarted
/// with the best vectors when the room is full (Krylov-Schur), or anew when a better filter is known by then.
fn search(
    operator: &Operator,
    fixed: &Block,
    n_wanted: usize,
    tolerance: f64,
    seed: u64,
    clock: &Clock<'_>,
) -> Result<Pairs, Stopped> {
    let n_kept = n_kept(n_wanted);
    let mut progress = Progress::new(Stage::Spectrum, n_wanted as u64);
    let mut steps = Steps::new(fixed, operator, room(n_wanted), seed);
    let (mut filter, mut is_first) = (Filter::first(n_wanted), true);
    // Residuals are estimated; where that was too low, the estimate has to be so much smaller.
    let mut goal = tolerance;
    for _ in 0..MAX_STEPS {
        steps.step(operator, &filter, &progress, clock)?;
        if steps.count() < n_kept {
            continue;
        }
        let Some(ritz) = steps.ritz(&filter, &progress, clock)? else { break };
        let n_done = ritz.residuals[..n_wanted].iter().take_while(|&&residual| residual <= goal).count();
        progress.done = n_done as u64;
        clock.report(&progress)?;
        if n_done == n_wanted {
            let vectors = steps.basis.combine(ritz.turn.subcols(0, n_kept));
            let pairs = Pairs::of(operator, vectors, n_wanted);
            let worst = pairs.residuals.iter().copied().fold(0.0, f64::max);
            if worst <= tolerance {
                return Ok(pairs);
            }
            goal *= (tolerance / worst / 2.0).max(0.01);
        }
        let is_rough = is_first && steps.count() >= ENOUGH_FOR_A_GUESS * n_kept;
        if !steps.is_full() && !is_rough {
            continue;
        }
        let costs = Costs::of(operator, steps.basis.n_fixed(), n_wanted, goal);
        match filter.better(&ritz, n_wanted, &costs) {
            Some(better) => {
                steps.begin_anew(ritz.turn.subcols(0, n_kept));
                (filter, is_first) = (better, false);
            }
            None if steps.is_full() => steps.restart(&ritz, n_kept),
            None => {}
        }
    }
    let mut pairs = Pairs::of(operator, steps.best(n_wanted), n_wanted);
    pairs.is_cut_short = true;
    Ok(pairs)
}

impl Pairs {
    /// The best combinations of the vectors of a block.
    fn of(operator: &Operator, mut block: Block, n_wanted: usize) -> Self {
        let image = operator.apply_to(&mut block);
        let products = block.products(&image);
        let n = block.n_columns;
        let symmetric = Mat::from_fn(n, n, |r, c| f64::midpoint(products[(r, c)], products[(c, r)]));
        let (values, turn) = descending_eigen(&symmetric).unwrap_or((vec![0.0; n], Mat::identity(n, n)));
        let turn = turn.subcols(0, n_wanted);
        let vectors = block.times(turn);
        let residuals = image.distances(turn, &vectors, &values);
        Self {
            residuals,
            guards: values[n_wanted..].to_vec(),
            values: values[..n_wanted].to_vec(),
            vectors,
            is_cut_short: false,
        }
    }
}

/// Eigenvalues, descending, and vectors, unless there are numbers that are none.
fn descending_eigen(symmetric: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let eigen = symmetric.self_adjoint_eigen(Side::Lower).ok()?;
    let n = symmetric.nrows();
    let values = (0..n).map(|c| eigen.S().column_vector()[n - 1 - c]).collect();
    Some((values, Mat::from_fn(n, n, |r, c| eigen.U()[(r, n - 1 - c)])))
}

/// An orthonormal basis that grows by the image of its last block.
struct Steps {
    room: usize,
    basis: Basis,
    /// The block that comes next, ...
    next: Block,
    /// ... and what the image of the last one has of it.
    coupling: Mat<f64>,
    /// Room for blocks that is used again and again.
    image: Block,
    spare: Block,
    /// The filter in the basis.
    projected: Mat<f64>,
    random: Random,
}

/// What the basis says of the eigenpairs.
struct Ritz {
    /// Values of the filter, descending, ...
    grown: Vec<f64>,
    /// ... and those of the matrix.
    values: Vec<f64>,
    residuals: Vec<f64>,
    /// How the vectors are made of the basis.
    turn: Mat<f64>,
}

impl Steps {
    fn new(fixed: &Block, operator: &Operator, room: usize, seed: u64) -> Self {
        let n_rows = operator.n_nodes();
        let basis = Basis::new(fixed);
        let mut random = Random::new(seed);
        let mut next = Block::random(n_rows, WIDTH, random.next());
        let (image, mut spare) = (Block::zeros(n_rows, WIDTH), Block::zeros(n_rows, WIDTH));
        basis.extend_by(&mut next, random.next(), &mut spare);
        let (coupling, projected) = (Mat::zeros(WIDTH, WIDTH), Mat::zeros(room, room));
        Self { room, basis, next, coupling, image, spare, projected, random }
    }

    fn count(&self) -> usize {
        self.basis.count()
    }

    fn is_full(&self) -> bool {
        self.count() + WIDTH > self.room
    }

    /// Takes in the next block and finds the one after it, which is what its image adds to the basis.
    fn step(
        &mut self,
        operator: &Operator,
        filter: &Filter,
        progress: &Progress,
        clock: &Clock<'_>,
    ) -> Result<(), Stopped> {
        filter.apply(operator, &self.next, [&mut self.image, &mut self.spare], progress, clock)?;
        let first = self.count();
        self.basis.push(&mut self.next);
        let shares = self.basis.subtract_from(&mut self.image);
        for column in 0..WIDTH {
            for row in 0..self.count() {
                let share = shares[(row, column)];
                self.projected[(row, first + column)] = share;
                self.projected[(first + column, row)] = share;
            }
        }
        let longest = (0..WIDTH).map(|c| shares.col(c).norm_l2()).fold(0.0, f64::max);
        self.next.values.copy_from_slice(&self.image.values);
        self.next.orthonormalize(&self.basis, longest, self.random.next(), &mut self.spare);
        self.coupling = self.next.products(&self.image);
        Ok(())
    }

    /// The best combinations of the basis; none when there are numbers that are none.
    fn ritz(&self, filter: &Filter, progress: &Progress, clock: &Clock<'_>) -> Result<Option<Ritz>, Stopped> {
        let n = self.count();
        let projected = self.projected.submatrix(0, 0, n, n).to_owned();
        let eigen = match n < LONG_EIGEN {
            true => descending_eigen(&projected),
            false => aside(clock, progress, move || descending_eigen(&projected))?,
        };
        let Some((grown, turn)) = eigen else { return Ok(None) };
        let outside = &self.coupling * turn.subrows(n - WIDTH, WIDTH);
        let residuals = (0..n).map(|c| outside.col(c).norm_l2() * filter.residual_factor(grown[c])).collect();
        let values = grown.iter().map(|&value| filter.inverse(value)).collect();
        Ok(Some(Ritz { grown, values, residuals, turn }))
    }

    /// Goes on with the best vectors.
    fn restart(&mut self, ritz: &Ritz, n_kept: usize) {
        self.basis.turn(ritz.turn.subcols(0, n_kept));
        self.projected.fill(0.0);
        for place in 0..n_kept {
            self.projected[(place, place)] = ritz.grown[place];
        }
    }

    /// Begins with a block that has something of all the best vectors.
    fn begin_anew(&mut self, turn: MatRef<'_, f64>) {
        let mixture = Mat::from_fn(turn.ncols(), WIDTH, |_, _| self.random.normal());
        self.basis.combine_into((turn * mixture).as_ref(), &mut self.next);
        self.basis.clear();
        self.basis.extend_by(&mut self.next, self.random.next(), &mut self.spare);
        self.projected.fill(0.0);
    }

    /// The first vectors, which after a restart are the best; random ones where there are too few.
    fn best(&mut self, n_wanted: usize) -> Block {
        if self.count() < n_wanted {
            let n_rows = self.next.n_rows();
            let mut more = Block::random(n_rows, n_wanted - self.count(), self.random.next());
            let mut spare = more.clone();
            self.basis.extend_by(&mut more, self.random.next(), &mut spare);
            self.basis.push(&mut more);
        }
        self.basis.combine(Mat::<f64>::identity(self.count(), n_wanted).as_ref())
    }
}

/// What decides between filters, in products of the matrix with a block.
struct Costs {
    /// Of a step, beside those of its filter.
    step: f64,
    /// Steps until there are as many vectors as are kept, ...
    n_first: f64,
    /// ... and from then until the room is full.
    n_more: f64,
    /// What residuals should become.
    goal: f64,
}

impl Costs {
    fn of(operator: &Operator, n_fixed: usize, n_wanted: usize, goal: f64) -> Self {
        let (n_kept, room) = (n_kept(n_wanted), room(n_wanted));
        let step = STEP_COST * (n_fixed + n_kept) as f64 / operator.mean_entries();
        let n_steps = |n_vectors: usize| n_vectors as f64 / WIDTH as f64;
        Self { step, n_first: n_steps(n_kept), n_more: n_steps(room - n_kept), goal }
    }

    /// The cost of making residuals smaller by e^-digits when a step enlarges what is wanted by e^rate.
    fn of_digits(&self, digits: f64, rate: f64, degree: f64) -> f64 {
        // Between restarts the steps find the best polynomial, which grows like that of Chebyshev: ln(cosh(steps rate)).
        let growth = self.n_more * rate;
        let growth = growth + libm::log1p(libm::exp(-2.0 * growth)) - LN_2;
        (degree + self.step) * self.n_more * (digits / growth).max(1.0)
    }
}

/// A Chebyshev polynomial that is at most 1 on `[-1, cut]` and grows above.
struct Filter {
    cut: f64,
    degree: usize,
}

impl Filter {
    /// The filter when nothing is known yet: positive values grow as much as they may, or less where a few pairs are
    /// wanted, which often stand apart and come with few products.
    fn first(n_wanted: usize) -> Self {
        let degree =
            if n_wanted <= FEW { FIRST_DEGREE_OF_FEW } else { (MAX_GROWTH / growth_rate(2.0)) as usize };
        Self { cut: 0.0, degree }
    }

    /// A filter with which it takes less to begin anew than to go on with this one.
    fn better(&self, ritz: &Ritz, n_wanted: usize, costs: &Costs) -> Option<Self> {
        let n_kept = n_kept(n_wanted);
        if ritz.grown[n_wanted - 1] <= 1.0 {
            // What is wanted lies below the cut. The values add up to no less than 0: never are all far below.
            return Some(Self { cut: ((self.cut - 1.0) / 2.0).max(-0.9), degree: self.degree });
        }
        let (wanted, last) = (ritz.values[n_wanted - 1], ritz.values[n_kept - 1]);
        // A value that is repeated more often than vectors are kept leaves no room above the last of them.
        let space = 1.0 - last;
        let cut = if wanted - last < CROWDED * space { last - LOWERED * space } else { last };
        let cut = cut.clamp(-0.9, 1.0 - 1e-12);
        let rate = |value: f64| growth_rate(2.0 * (value.min(1.0) - cut) / (1.0 + cut));
        let all_digits = -libm::log(costs.goal);
        let anew = |degree: f64| {
            let first = (degree + costs.step) * costs.n_first;
            first + costs.of_digits(all_digits, degree * rate(wanted), degree)
        };
        let most = (MAX_GROWTH / rate(ritz.values[0])).clamp(2.0, MAX_DEGREE);
        let degrees = std::iter::successors(Some(2.0), |degree| Some((1.2_f64 * degree).ceil()));
        let degree =
            degrees.take_while(|&degree| degree <= most).min_by(|&a, &b| anew(a).total_cmp(&anew(b)))?;
        let (wanted, last) = (ritz.grown[n_wanted - 1], ritz.grown[n_kept - 1]);
        let digits = libm::log((ritz.residuals[n_wanted - 1] / costs.goal).max(2.0)).min(all_digits);
        let on =
            costs.of_digits(digits, growth_rate(2.0 * (wanted - last) / (1.0 + last)), self.degree as f64);
        (anew(degree) < on).then_some(Self { cut, degree: degree as usize })
    }

    fn center(&self) -> f64 {
        (self.cut - 1.0) / 2.0
    }

    fn radius(&self) -> f64 {
        (self.cut + 1.0) / 2.0
    }

    /// The eigenvalue of the matrix for one of the filter, as far as it is known: those below the cut are mixed up.
    fn inverse(&self, grown: f64) -> f64 {
        // cosh(rate / degree) - 1, with all its digits.
        let of_rate = |rate: f64| 2.0 * libm::sinh(rate / self.degree as f64 / 2.0).powi(2);
        self.cut + self.radius() * of_rate(growth_rate(grown - 1.0))
    }

    /// What a residual of the filter is as one of the matrix: the slope between the cut and the value.
    fn residual_factor(&self, grown: f64) -> f64 {
        if grown > 1.0 { (self.inverse(grown) - self.cut) / (grown - 1.0) } else { f64::INFINITY }
    }

    /// The image of a block, in the first of `room`.
    fn apply(
        &self,
        operator: &Operator,
        block: &Block,
        room: [&mut Block; 2],
        progress: &Progress,
        clock: &Clock<'_>,
    ) -> Result<(), Stopped> {
        // T_{m+1}(L) = 2 L T_m - T_{m-1} with L = (S - center) / radius, which maps [-1, cut] to [-1, 1].
        let (center, radius) = (self.center(), self.radius());
        let [now, next] = room;
        now.values.copy_from_slice(&block.values);
        operator.to_walk(now);
        for done in 0..self.degree {
            clock.report(progress)?;
            let (factor, drop) = if done == 0 { (1.0 / radius, 0.0) } else { (2.0 / radius, 1.0) };
            operator.step(now, next, factor, -factor * center, drop);
            std::mem::swap(now, next);
        }
        operator.leave_walk(now);
        Ok(())
    }
}

/// A Chebyshev polynomial grows by e^rate with every degree at `1 + beyond`: acosh(1 + beyond), with all its digits.
fn growth_rate(beyond: f64) -> f64 {
    let beyond = beyond.max(1e-18);
    libm::log1p(beyond + (beyond * (2.0 + beyond)).sqrt())
}
