//! Points as a metric sees them, and the distances between them.

use crate::graph::NodeId;
use crate::points::{Points, Values};

/// How far points are from each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Straight-line distance.
    #[default]
    Euclidean,
    /// The angle between points: the distance is that of their directions, whose square is
    /// `2 (1 - cos)`.
    Cosine,
}

/// Points as the metric sees them: every row times a scale of its own.
///
/// All decisions rest on [`squared_distances`](Self::squared_distances), which sums in eight lanes whatever
/// the machine has: the same numbers everywhere. Products of matrices, which do depend on the machine, only
/// propose candidates.
pub(super) struct Space<'a> {
    points: Points<'a>,
    /// One a point, or none where all are 1.
    scales: Option<Vec<f64>>,
    largest: f64,
    arch: pulp::Arch,
}

impl<'a> Space<'a> {
    pub(super) fn new(points: Points<'a>, metric: Metric) -> Self {
        let arch = pulp::Arch::new();
        let scales = (metric == Metric::Cosine).then(|| {
            // A point without direction stays at the origin.
            let scale = |length: f64| if length > 0.0 { 1.0 / length } else { 0.0 };
            (0..points.count())
                .map(|point| {
                    let row = point * points.n_features..(point + 1) * points.n_features;
                    scale(row.map(|place| points.values.at(place).powi(2)).sum::<f64>().sqrt())
                })
                .collect()
        });
        let largest = match (&scales, points.values) {
            (Some(_), _) => 1.0,
            (None, Values::F32(values)) => {
                values.iter().fold(0.0, |most, &value| f64::from(value.abs()).max(most))
            }
            (None, Values::F64(values)) => values.iter().fold(0.0, |most, value| value.abs().max(most)),
        };
        Self { points, scales, largest, arch }
    }

    /// The largest coordinate, by amount.
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    pub(super) fn count(&self) -> usize {
        self.points.count()
    }

    pub(super) fn n_features(&self) -> usize {
        self.points.n_features
    }

    fn scale(&self, point: usize) -> f64 {
        self.scales.as_ref().map_or(1.0, |scales| scales[point])
    }

    /// The coordinates of a point, by value.
    pub(super) fn coordinates(&self, point: usize) -> impl Iterator<Item = f64> + '_ {
        let (first, scale) = (point * self.n_features(), self.scale(point));
        (first..first + self.n_features()).map(move |place| scale * self.points.values.at(place))
    }

    pub(super) fn arch(&self) -> pulp::Arch {
        self.arch
    }

    /// Writes a point's coordinates less those of `center` to `row`, and returns the sum of their squares.
    pub(super) fn centered_into<F>(
        &self,
        point: usize,
        center: &[f64],
        round: impl Fn(f64) -> F,
        row: &mut [F],
    ) -> f64 {
        let (range, scale) = (point * self.n_features()..(point + 1) * self.n_features(), self.scale(point));
        match self.points.values {
            Values::F32(values) => {
                self.arch.dispatch(Centered { values: &values[range], scale, center, round, row })
            }
            Values::F64(values) => {
                self.arch.dispatch(Centered { values: &values[range], scale, center, round, row })
            }
        }
    }

    /// Appends the squared distances from a point of this space to points of `other`, by direct differences.
    pub(super) fn squared_distances(
        &self,
        from: usize,
        other: &Space<'_>,
        to: impl Iterator<Item = NodeId>,
        found: &mut Vec<(f64, NodeId)>,
    ) {
        match (self.points.values, other.points.values) {
            (Values::F64(a), Values::F64(b)) => self.measure(a, from, other, b, to, found),
            (Values::F32(a), Values::F32(b)) => self.measure(a, from, other, b, to, found),
            (Values::F32(a), Values::F64(b)) => self.measure(a, from, other, b, to, found),
            (Values::F64(a), Values::F32(b)) => self.measure(a, from, other, b, to, found),
        }
    }

    fn measure<A: Copy + Into<f64>, B: Copy + Into<f64>>(
        &self,
        a: &[A],
        from: usize,
        other: &Space<'_>,
        b: &[B],
        mut to: impl Iterator<Item = NodeId>,
        found: &mut Vec<(f64, NodeId)>,
    ) {
        let d = self.n_features();
        let (a, a_scale) = (&a[from * d..][..d], self.scale(from));
        loop {
            // The last group may be filled up by points that are measured in vain.
            let (mut group, mut n_wanted) = ([0; GROUP], 0);
            for (place, to) in group.iter_mut().zip(&mut to) {
                *place = to;
                n_wanted += 1;
            }
            if n_wanted == 0 {
                return;
            }
            let b = group.map(|to| &b[to as usize * d..][..d]);
            let b_scales = group.map(|to| other.scale(to as usize));
            let squared = self.arch.dispatch(SquaredDistances { a, a_scale, b, b_scales });
            found.extend(squared.into_iter().zip(group).take(n_wanted));
        }
    }
}

/// Points whose distances are computed at a time: rows in no order come slowly from memory one by one.
const GROUP: usize = 4;

/// Squared distances of a scaled row to others. Work for the widest registers there are is a struct, because only so
/// is all of it sure to be compiled for them.
struct SquaredDistances<'r, A, B> {
    a: &'r [A],
    a_scale: f64,
    b: [&'r [B]; GROUP],
    b_scales: [f64; GROUP],
}

impl<A: Copy + Into<f64>, B: Copy + Into<f64>> pulp::NullaryFnOnce for SquaredDistances<'_, A, B> {
    type Output = [f64; GROUP];

    #[inline(always)]
    fn call(self) -> [f64; GROUP] {
        let Self { a, a_scale, b, b_scales } = self;
        sums_of_squares(a, b, |a, b, place| a.into() * a_scale - b.into() * b_scales[place])
    }
}

const LANES: usize = 8;
/// Times [`LANES`], coordinates of one row that are summed before those of the next.
const STRETCH: usize = 8;

/// A scaled row less the center, rounded, and the sum of its squares.
struct Centered<'r, T, F, R> {
    values: &'r [T],
    scale: f64,
    center: &'r [f64],
    round: R,
    row: &'r mut [F],
}

impl<T: Copy + Into<f64>, F, R: Fn(f64) -> F> pulp::NullaryFnOnce for Centered<'_, T, F, R> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Self { values, scale, center, round, row } = self;
        let difference = |value: T, center: f64| scale * value.into() - center;
        for ((place, &value), &center) in row.iter_mut().zip(values).zip(center) {
            *place = round(difference(value, center));
        }
        let [sum] = sums_of_squares(values, [center], |value, center, _| difference(value, center));
        sum
    }
}

/// For each of several rows eight sums side by side, then one after the other: fast, and the same on every machine.
#[inline(always)]
fn sums_of_squares<A: Copy, B: Copy, const N: usize>(
    a: &[A],
    b: [&[B]; N],
    difference: impl Fn(A, B, usize) -> f64,
) -> [f64; N] {
    let n_whole = a.len() / LANES * LANES;
    let b = b.map(|b| &b[..a.len()]);
    let mut sums = [0.0; N];
    for place in n_whole..a.len() {
        for row in 0..N {
            let difference = difference(a[place], b[row][place], row);
            sums[row] += difference * difference;
        }
    }
    // Row by row within a stretch: eight sums stay in registers, and the rows come from memory side by side.
    let mut lanes = [[0.0; LANES]; N];
    let whole = a.as_chunks::<LANES>().0;
    let b = b.map(|b| b.as_chunks::<LANES>().0);
    for stretch in (0..whole.len()).step_by(STRETCH) {
        let end = (stretch + STRETCH).min(whole.len());
        for row in 0..N {
            let mut sums = lanes[row];
            for (a, b) in whole[stretch..end].iter().zip(&b[row][stretch..end]) {
                for lane in 0..LANES {
                    let difference = difference(a[lane], b[lane], row);
                    sums[lane] += difference * difference;
                }
            }
            lanes[row] = sums;
        }
    }
    for row in 0..N {
        for lane in lanes[row] {
            sums[row] += lane;
        }
    }
    sums
}
