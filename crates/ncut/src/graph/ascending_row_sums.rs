//! The sums of one row of a matrix, by group, taken out in ascending order.

use super::row_sums::{MAX_DENSE, RowSums};

/// The sums of one row that are taken out in ascending order: few groups are marked by bits, which are in order at
/// once; many are sorted.
pub(crate) enum AscendingRowSums {
    Few(Box<MarkedSums>),
    Many(Box<RowSums>),
}

impl AscendingRowSums {
    pub(super) fn new(n_groups: usize) -> Self {
        if n_groups <= MAX_DENSE {
            Self::Few(Box::new(MarkedSums::new(n_groups)))
        } else {
            Self::Many(Box::new(RowSums::new(n_groups)))
        }
    }

    /// Makes room for a row of at most so many sums; none has been added yet.
    pub(super) fn expect(&mut self, n_entries: impl FnOnce() -> usize) {
        match self {
            Self::Few(_) => {}
            Self::Many(sums) => sums.expect(n_entries),
        }
    }

    /// Adds to the sum of a group whose number is not below `first`.
    #[inline]
    pub(super) fn add_from(&mut self, first: u32, group: u32, weight: f64) {
        // Without a branch on the group: it would go either way, and wait for a group that comes from anywhere in memory.
        // A sum of 0 would be a place that is free.
        let counts = (group >= first) & (weight != 0.0);
        match self {
            Self::Few(sums) => sums.add(group, weight, counts),
            Self::Many(sums) => sums.add_later(group, weight, counts),
        }
    }

    /// Takes the sums out, groups ascending.
    pub(super) fn drain(&mut self, take: impl FnMut(u32, f64)) {
        match self {
            Self::Few(sums) => sums.drain(take),
            Self::Many(sums) => sums.drain_ascending(take),
        }
    }
}

/// A sum for each group, and which groups have one.
pub(crate) struct MarkedSums {
    sums: Vec<f64>,
    /// A bit for each group that has a sum.
    marks: Vec<u64>,
    /// A bit for each word of the marks.
    marked: [u64; MAX_DENSE / 64 / 64],
}

impl MarkedSums {
    fn new(n_groups: usize) -> Self {
        Self {
            sums: vec![0.0; n_groups],
            marks: vec![0; n_groups.div_ceil(64)],
            marked: [0; MAX_DENSE / 64 / 64],
        }
    }

    #[inline]
    fn add(&mut self, group: u32, weight: f64, counts: bool) {
        let word = group as usize / 64;
        self.marks[word] |= u64::from(counts) << (group % 64);
        self.marked[word / 64] |= u64::from(counts) << (word % 64);
        self.sums[group as usize] += if counts { weight } else { 0.0 };
    }

    fn drain(&mut self, mut take: impl FnMut(u32, f64)) {
        for (place, marked) in self.marked.iter_mut().enumerate() {
            for_each_bit(std::mem::take(marked), |word| {
                let word = 64 * place + word;
                for_each_bit(std::mem::take(&mut self.marks[word]), |group| {
                    let group = 64 * word + group;
                    take(group as u32, std::mem::take(&mut self.sums[group]));
                });
            });
        }
    }
}

#[inline]
fn for_each_bit(mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn many_groups_and_few_have_the_same_sums() {
        const FIRST: u32 = 300;
        let mut random = Random::new(7);
        let mut few = AscendingRowSums::new(1000);
        let mut many = AscendingRowSums::new(MAX_DENSE + 1);
        for n_added in [0, 1, 63, 64, 65, 200, 1000] {
            let mut expected = vec![0.0; 1000];
            for sums in [&mut few, &mut many] {
                sums.expect(|| n_added);
            }
            for _ in 0..n_added {
                let (group, weight) = (random.below(1000), f64::from(random.below(3)));
                few.add_from(FIRST, group, weight);
                many.add_from(FIRST, group, weight);
                expected[group as usize] += if group >= FIRST { weight } else { 0.0 };
            }
            let drained = |sums: &mut AscendingRowSums| {
                let mut drained = Vec::new();
                sums.drain(|group, sum| drained.push((group, sum)));
                drained
            };
            let of_many = drained(&mut many);
            assert_eq!(drained(&mut few), of_many);
            let expected = expected.into_iter().enumerate().filter(|&(_, sum)| sum > 0.0);
            assert_eq!(of_many, expected.map(|(group, sum)| (group as u32, sum)).collect::<Vec<_>>());
        }
    }
}
