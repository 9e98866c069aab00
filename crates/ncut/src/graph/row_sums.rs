//! The sums of one row of a matrix, by group.

/// Up to so many groups every group has a place of its own for its sum.
const MOST_DENSE: usize = 1 << 15;

/// What is added at a time where sums have to be looked for.
const MOST_WAITING: usize = 512;

/// The sums of one row: a table of groups by hash, or by number where there are few.
pub(crate) struct RowSums {
    n_groups: usize,
    groups: Vec<u32>,
    /// 0 in places that are free.
    sums: Vec<f64>,
    /// The groups that have a sum, each followed by its place.
    taken: Vec<u64>,
    /// Bits of a place.
    bits: u32,
    /// A bit for each group that may have a sum, instead of those taken; empty where these are kept.
    marks: Vec<u64>,
    /// A bit for each word of the marks.
    marked: [u64; MOST_DENSE / 64 / 64],
    /// What is still to be added.
    waiting: [(u32, f64); MOST_WAITING],
    n_waiting: usize,
}

impl RowSums {
    pub(crate) fn new(n_groups: usize) -> Self {
        let sums = if n_groups <= MOST_DENSE { vec![0.0; n_groups] } else { Vec::new() };
        Self {
            n_groups,
            groups: Vec::new(),
            sums,
            taken: Vec::new(),
            bits: 0,
            marks: Vec::new(),
            marked: [0; MOST_DENSE / 64 / 64],
            waiting: [(0, 0.0); MOST_WAITING],
            n_waiting: 0,
        }
    }

    /// Sums that are only added to by [`add_from`](Self::add_from), and taken out in ascending order.
    pub(crate) fn ascending(n_groups: usize) -> Self {
        let n_marks = if n_groups <= MOST_DENSE { n_groups.div_ceil(64) } else { 0 };
        Self { marks: vec![0; n_marks], ..Self::new(n_groups) }
    }

    /// Makes room for a row of at most so many sums; none has been added yet.
    pub(crate) fn expect(&mut self, n_entries: impl FnOnce() -> usize) {
        if self.n_groups > MOST_DENSE {
            let n_places = 2 * n_entries().min(self.n_groups);
            self.bits = n_places.max(16).next_power_of_two().ilog2();
            if self.sums.len() < 1 << self.bits {
                self.groups = vec![0; 1 << self.bits];
                self.sums = vec![0.0; 1 << self.bits];
            }
        }
    }

    /// Adds a weight that is not 0 to the sum of a group.
    #[inline]
    pub(crate) fn add(&mut self, group: u32, weight: f64) {
        let taken = |place: usize| u64::from(group) << 32 | place as u64;
        if self.n_groups <= MOST_DENSE {
            // Whether it is the first of its group is what a processor would guess wrong: it is noted in any case, and maybe
            // taken back.
            let sum = &mut self.sums[group as usize];
            let n_taken = self.taken.len() + usize::from(*sum == 0.0);
            *sum += weight;
            self.taken.push(taken(group as usize));
            self.taken.truncate(n_taken);
            return;
        }
        let mut place = (group.wrapping_mul(0x9e37_79b1) >> (32 - self.bits)) as usize;
        while self.sums[place] != 0.0 && self.groups[place] != group {
            place = (place + 1) & ((1 << self.bits) - 1);
        }
        if self.sums[place] == 0.0 {
            self.groups[place] = group;
            self.taken.push(taken(place));
        }
        self.sums[place] += weight;
    }

    /// Adds to the sum of a group whose number is not below `first`.
    #[inline]
    pub(crate) fn add_from(&mut self, first: u32, group: u32, weight: f64) {
        // Without a branch on the group: it would go either way, and wait for a group that comes from anywhere in memory.
        // A sum of 0 would be a place that is free.
        let counts = (group >= first) & (weight != 0.0);
        let word = group as usize / 64;
        if let Some(mark) = self.marks.get_mut(word) {
            *mark |= u64::from(counts) << (group % 64);
            self.marked[word / 64] |= u64::from(counts) << (word % 64);
            self.sums[group as usize] += if counts { weight } else { 0.0 };
        } else {
            self.waiting[self.n_waiting] = (group, weight);
            self.n_waiting += usize::from(counts);
            if self.n_waiting == MOST_WAITING {
                self.add_waiting();
            }
        }
    }

    /// Adds to the sum of a group that is not `own`, sooner or later; all is [added](Self::add_waiting) before sums are
    /// looked at.
    #[inline]
    pub(crate) fn add_other(&mut self, own: u32, group: u32, weight: f64) {
        // Groups come from anywhere in memory: many are on their way before the first is looked at.
        self.waiting[self.n_waiting] = (group, weight);
        self.n_waiting += usize::from(group != own);
        if self.n_waiting == MOST_WAITING {
            self.add_waiting();
        }
    }

    /// Adds what still waits.
    pub(crate) fn add_waiting(&mut self) {
        for place in 0..std::mem::take(&mut self.n_waiting) {
            let (group, weight) = self.waiting[place];
            self.add(group, weight);
        }
    }

    /// Takes the sums out, groups ascending.
    pub(crate) fn drain_ascending(&mut self, mut take: impl FnMut(u32, f64)) {
        self.add_waiting();
        for (place, marked) in self.marked.iter_mut().enumerate() {
            for_each_bit(std::mem::take(marked), |word| {
                let word = 64 * place + word;
                for_each_bit(std::mem::take(&mut self.marks[word]), |group| {
                    let group = 64 * word + group;
                    take(group as u32, std::mem::take(&mut self.sums[group]));
                });
            });
        }
        self.taken.sort_unstable();
        for taken in self.taken.drain(..) {
            let (group, place) = ((taken >> 32) as u32, taken as u32 as usize);
            take(group, std::mem::take(&mut self.sums[place]));
        }
    }

    /// Groups that have a sum.
    pub(crate) fn count(&self) -> usize {
        self.taken.len()
    }

    /// Calls `visit(group, sum)` in the order in which groups were met first.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u32, f64)) {
        for &taken in &self.taken {
            visit((taken >> 32) as u32, self.sums[taken as u32 as usize]);
        }
    }

    pub(crate) fn clear(&mut self) {
        for taken in self.taken.drain(..) {
            self.sums[taken as u32 as usize] = 0.0;
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
        let mut few = RowSums::ascending(1000);
        let mut many = RowSums::ascending(MOST_DENSE + 1);
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
            let drained = |sums: &mut RowSums| {
                let mut drained = Vec::new();
                sums.drain_ascending(|group, sum| drained.push((group, sum)));
                drained
            };
            let of_many = drained(&mut many);
            assert_eq!(drained(&mut few), of_many);
            let expected = expected.into_iter().enumerate().filter(|&(_, sum)| sum > 0.0);
            assert_eq!(of_many, expected.map(|(group, sum)| (group as u32, sum)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_waits_is_added_in_time() {
        let mut random = Random::new(8);
        for n_groups in [100, MOST_DENSE + 1] {
            let mut sums = RowSums::new(n_groups);
            for n_added in [0, 1, MOST_WAITING, 3 * MOST_WAITING + 7] {
                let mut expected = [0.0; 50];
                sums.expect(|| n_added);
                for _ in 0..n_added {
                    let (group, weight) = (random.below(50), f64::from(1 + random.below(3)));
                    sums.add_other(9, group, weight);
                    expected[group as usize] += if group == 9 { 0.0 } else { weight };
                }
                sums.add_waiting();
                assert_eq!(sums.count(), expected.iter().filter(|&&sum| sum > 0.0).count());
                sums.for_each(|group, sum| assert_eq!(sum, expected[group as usize]));
                sums.clear();
            }
        }
    }
}
