//! Numbers in digits, read fast.

/// Digits appended to a number (which wraps around after the nineteenth), how many, and what follows.
///
/// Eight letters at a time, without a branch for each: how many digits a number has is what a processor guesses worst.
#[inline(always)]
pub(super) fn digits(mut text: &[u8], mut number: u64) -> (u64, usize, &[u8]) {
    let mut n_digits = 0;
    while let Some(&letters) = text.first_chunk::<8>() {
        // Digits become 0 to 9, and whatever is more has its highest bit set below, or carries into later letters only.
        let values = u64::from_le_bytes(letters) ^ 0x3030_3030_3030_3030;
        let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
        if others != 0 {
            let n = others.trailing_zeros() as usize / 8;
            // In two steps, for there may be no digit at all.
            let value = value_of(values << (56 - 8 * n) << 8);
            return (number.wrapping_mul(POWERS[n]).wrapping_add(value), n_digits + n, &text[n..]);
        }
        number = number.wrapping_mul(POWERS[8]).wrapping_add(value_of(values));
        n_digits += 8;
        text = &text[8..];
    }
    while let &[digit @ b'0'..=b'9', ref next @ ..] = text {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        n_digits += 1;
        text = next;
    }
    (number, n_digits, text)
}

/// The number of eight digits, the first of which is the lowest byte.
#[inline(always)]
fn value_of(eight: u64) -> u64 {
    let pairs = eight.wrapping_mul(10).wrapping_add(eight >> 8);
    let high = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let low = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    high.wrapping_add(low) >> 32
}

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// A number in plain digits, with a fraction or without, and what follows; `None` where there are more digits than can
/// be read this way.
#[inline]
pub(super) fn decimal(text: &[u8]) -> Option<(f64, &[u8])> {
    let (whole, n_whole, rest) = digits(text, 0);
    let (mantissa, n_fraction, rest) = match rest {
        [b'.', fraction @ ..] => digits(fraction, whole),
        _ => (whole, 0, rest),
    };
    if n_whole == 0 || n_whole + n_fraction > 19 {
        return None;
    }
    let value = if mantissa < 1 << 53 {
        // Both numbers are exact, so their quotient is what the digits say, correctly rounded.
        mantissa as f64 / POWERS_OF_TEN[n_fraction]
    } else {
        rounded_quotient(mantissa, 10u64.pow(n_fraction as u32))
    };
    Some((value, rest))
}

/// The quotient of two whole numbers, the first not 0, correctly rounded: numbers as programs print them have 16 or 17
/// digits, more than a float holds. A table of such reads in 0.36 instead of 0.48 seconds (123 MB, one thread).
#[inline]
fn rounded_quotient(number: u64, divisor: u64) -> f64 {
    // 64 bits of the quotient at least, the last of which tells whether anything is left: rounding needs no more.
    let shift = 64 + number.leading_zeros();
    let (shifted, divisor) = (u128::from(number) << shift, u128::from(divisor));
    let quotient = shifted / divisor;
    let is_inexact = quotient * divisor != shifted;
    // A power of two changes the exponent only.
    (quotient | u128::from(is_inexact)) as f64 * f64::from_bits(u64::from(1023 - shift) << 52)
}

/// Up to the longest fraction of nineteen digits; all are exact.
const POWERS_OF_TEN: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19,
];
