//! The sums of one row of a matrix, by group, in the order in which groups are met.

/// Up to so many groups every group has a place of its own for its sum.
pub(super) const MAX_DENSE: usize = 1 << 15;

/// What is added at a time where sums have to be looked for.
const MAX_WAITING: usize = 512;

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
    /// What is still to be added.
    waiting: [(u32, f64); MAX_WAITING],
    n_waiting: usize,
}

impl RowSums {
    pub(crate) fn new(n_groups: usize) -> Self {
        let sums = if n_groups <= MAX_DENSE { vec![0.0; n_groups] } else { Vec::new() };
        Self {
            n_groups,
            groups: Vec::new(),
            sums,
            taken: Vec::new(),
            bits: 0,
            waiting: [(0, 0.0); MAX_WAITING],
            n_waiting: 0,
        }
    }

    /// Makes room for a row of at most so many sums; none has been added yet.
    pub(crate) fn expect(&mut self, n_entries: impl FnOnce() -> usize) {
        if self.n_groups > MAX_DENSE {
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
        if self.n_groups <= MAX_DENSE {
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

    /// Adds to the sum of a group that is not `own`, sooner or later; all is [added](Self::add_waiting) before sums are
    /// looked at.
    #[inline]
    pub(crate) fn add_other(&mut self, own: u32, group: u32, weight: f64) {
        self.add_later(group, weight, group != own);
    }

    /// Adds to the sum of a group if it `counts`, as [`add_other`](Self::add_other) does.
    #[inline]
    pub(super) fn add_later(&mut self, group: u32, weight: f64, counts: bool) {
        // Groups come from anywhere in memory: many are on their way before the first is looked at. Without a branch on
        // `counts`, which would wait for them.
        self.waiting[self.n_waiting] = (group, weight);
        self.n_waiting += usize::from(counts);
        if self.n_waiting == MAX_WAITING {
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
    pub(super) fn drain_ascending(&mut self, mut take: impl FnMut(u32, f64)) {
        self.add_waiting();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn what_waits_is_added_in_time() {
        let mut random = Random::new(8);
        for n_groups in [100, MAX_DENSE + 1] {
            let mut sums = RowSums::new(n_groups);
            for n_added in [0, 1, MAX_WAITING, 3 * MAX_WAITING + 7] {
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
