//! A small generator of random numbers whose stream never changes (SplitMix64).

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash of a number: a step of the generator and its output.
pub(crate) fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(STEP);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Random numbers from a seed: the same on every machine and in every version.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let bits = mixed(self.state);
        self.state = self.state.wrapping_add(STEP);
        bits
    }

    /// Uniform in 0..1, never 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `0..bound`, for `bound > 0`; the bias is below 2^-32.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }

    /// Standard normal (Box-Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

/// A hash of two numbers.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    Random::new(a ^ b.wrapping_mul(0xd6e8_feb8_6659_fd93)).next()
}
