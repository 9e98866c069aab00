//! Stands for `verify.rs` without the feature `files`: no graph comes from a file, so all of them were checked.

use super::Graph;
use crate::error::Result;
use crate::progress::Clock;

/// Nothing is left to be compared.
#[derive(Debug)]
pub(crate) enum Seal {}

impl Seal {
    pub(super) fn check(&self, _: &Graph<'_>, _: &Clock<'_>) -> Result<()> {
        match *self {}
    }
}
