//! Numbers of nodes through all shards, in four bytes each where all of them fit: of every node that a shard knows it keeps
//! one or two, and in graphs without locality it knows nearly all.

/// A list of numbers of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// All are below 2^32.
    Narrow(Vec<u32>),
    /// Some may not be.
    Wide(Vec<u64>),
}

impl Numbers {
    /// A list of numbers that are all below `end`.
    pub fn new(end: u64, numbers: impl Iterator<Item = u64>) -> Self {
        match end <= 1 << 32 {
            true => Self::Narrow(numbers.map(|number| number as u32).collect()),
            false => Self::Wide(numbers.collect()),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(numbers) => numbers.len(),
            Self::Wide(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at a place.
    #[inline]
    pub fn at(&self, place: usize) -> u64 {
        match self {
            Self::Narrow(numbers) => u64::from(numbers[place]),
            Self::Wide(numbers) => numbers[place],
        }
    }

    /// The numbers in their order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|place| self.at(place))
    }

    pub(super) fn set(&mut self, place: usize, number: u64) {
        match self {
            Self::Narrow(numbers) => numbers[place] = number as u32,
            Self::Wide(numbers) => numbers[place] = number,
        }
    }

    pub(super) fn push(&mut self, number: u64) {
        match self {
            Self::Narrow(numbers) => numbers.push(number as u32),
            Self::Wide(numbers) => numbers.push(number),
        }
    }

    /// Makes room for more, little at a time: what grows by doubling may take twice what it needs.
    pub(super) fn reserve(&mut self, n_more: usize) {
        match self {
            Self::Narrow(numbers) => reserve(numbers, n_more),
            Self::Wide(numbers) => reserve(numbers, n_more),
        }
    }

    /// A place for each number, in the same memory where it fits.
    pub(super) fn into_places(self, place: impl Fn(u64) -> u32) -> Vec<u32> {
        match self {
            Self::Narrow(mut numbers) => {
                for number in &mut numbers {
                    *number = place(u64::from(*number));
                }
                numbers.shrink_to_fit();
                numbers
            }
            Self::Wide(numbers) => numbers.into_iter().map(place).collect(),
        }
    }

    /// The different numbers in ascending order.
    pub(super) fn distinct(&self) -> Self {
        let mut distinct = self.clone();
        match &mut distinct {
            Self::Narrow(numbers) => {
                numbers.sort_unstable();
                numbers.dedup();
                numbers.shrink_to_fit();
            }
            Self::Wide(numbers) => {
                numbers.sort_unstable();
                numbers.dedup();
                numbers.shrink_to_fit();
            }
        }
        distinct
    }

    /// How many numbers of an ascending list are lower.
    pub(super) fn rank(&self, number: u64) -> usize {
        match self {
            Self::Narrow(numbers) => numbers.partition_point(|&other| u64::from(other) < number),
            Self::Wide(numbers) => numbers.partition_point(|&other| other < number),
        }
    }
}

fn reserve<T>(numbers: &mut Vec<T>, n_more: usize) {
    if numbers.capacity() - numbers.len() < n_more {
        numbers.reserve_exact(n_more + numbers.len() / 8);
    }
}
