//! Sorting rows: most are short, and their order is what a processor guesses worst.

use super::NodeId;
use crate::short_rows::{SHORT_ROW, count_pairs};

/// Where each column of a row goes when they are sorted, equal ones in the order given; whether there are any.
///
/// Counts for every column how many are less, without a branch that depends on them.
///
/// # Panics
/// When there are more than [`SHORT_ROW`].
#[inline(always)]
pub(super) fn ranks(columns: &[NodeId], places: &mut [i32; SHORT_ROW]) -> HasEquals {
    let n = columns.len();
    count_pairs(columns, places, |other, column| other < column);
    let sum = places[..n].iter().sum::<i32>() as usize;
    // Different columns have all places from 0 on.
    if sum == n * n.saturating_sub(1) / 2 {
        return HasEquals::No;
    }
    for later in 1..n {
        let before = columns[..later].iter().filter(|&&column| column == columns[later]);
        places[later] += before.count() as i32;
    }
    HasEquals::Yes
}

/// Whether a row has a column more than once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum HasEquals {
    No,
    Yes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_the_places_of_a_stable_sort() {
        let mut state = 1u32;
        for n in 0..=SHORT_ROW {
            for range in [1, 3, 1000, u32::MAX] {
                let mut next = || {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 8).wrapping_mul(0x101) % range
                };
                let columns: Vec<NodeId> = (0..n).map(|_| next()).collect();
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by_key(|&entry| columns[entry]);
                let mut places = [0; SHORT_ROW];
                let equals = ranks(&columns, &mut places);
                for (place, &entry) in order.iter().enumerate() {
                    assert_eq!(places[entry], place as i32);
                }
                let differ = order.windows(2).all(|pair| columns[pair[0]] != columns[pair[1]]);
                assert_eq!(equals == HasEquals::No, differ);
            }
        }
    }
}
