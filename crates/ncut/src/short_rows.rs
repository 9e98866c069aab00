//! Short rows of numbers, all compared with all: most rows of a graph are short, and a branch for each comparison would be
//! mispredicted half of the time.

/// Rows of at most so many numbers are short.
pub(crate) const SHORT_ROW: usize = 64;

/// Numbers that are compared at once.
const LANES: usize = 8;

/// Counts for every number of a short row how many numbers of the row pass `test(other, number)`, itself included.
///
/// The test is given keys that are signed and in the order of the numbers: every processor compares such.
///
/// # Panics
/// When there are more than [`SHORT_ROW`].
#[inline(always)]
pub(crate) fn count_pairs(
    numbers: &[u32],
    counts: &mut [i32; SHORT_ROW],
    test: impl Fn(i32, i32) -> bool + Copy,
) {
    match numbers.len().div_ceil(LANES) {
        0..=1 => count_in_lanes::<1>(numbers, counts, test),
        2 => count_in_lanes::<2>(numbers, counts, test),
        3 => count_in_lanes::<3>(numbers, counts, test),
        4 => count_in_lanes::<4>(numbers, counts, test),
        5..=6 => count_in_lanes::<6>(numbers, counts, test),
        _ => count_in_lanes::<8>(numbers, counts, test),
    }
}

#[inline(always)]
fn count_in_lanes<const N: usize>(
    numbers: &[u32],
    counts: &mut [i32; SHORT_ROW],
    test: impl Fn(i32, i32) -> bool + Copy,
) {
    // What is counted for the numbers that fill up the lanes is not looked at.
    let mut keys = [[0; LANES]; N];
    for (key, &number) in keys.as_flattened_mut()[..numbers.len()].iter_mut().zip(numbers) {
        *key = (number ^ 1 << 31).cast_signed();
    }
    let mut counted = [[0; LANES]; N];
    for &other in &keys.as_flattened()[..numbers.len()] {
        for (counts, keys) in counted.iter_mut().zip(&keys) {
            for lane in 0..LANES {
                counts[lane] += i32::from(test(other, keys[lane]));
            }
        }
    }
    counts[..N * LANES].copy_from_slice(counted.as_flattened());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn pairs_are_counted() {
        let mut random = Random::new(3);
        for n_numbers in 0..=SHORT_ROW {
            for below in [9, u32::MAX] {
                let numbers: Vec<u32> = (0..n_numbers).map(|_| random.below(below)).collect();
                let (mut equal, mut less) = ([0; SHORT_ROW], [0; SHORT_ROW]);
                count_pairs(&numbers, &mut equal, |other, number| other == number);
                count_pairs(&numbers, &mut less, |other, number| other < number);
                for (place, number) in numbers.iter().enumerate() {
                    assert_eq!(
                        equal[place] as usize,
                        numbers.iter().filter(|&other| other == number).count()
                    );
                    assert_eq!(less[place] as usize, numbers.iter().filter(|&other| other < number).count());
                }
            }
        }
    }
}
