//! In place of `parquet.rs` in a build without it: says how to get it.

use std::fs::File;
use std::io;

use super::GraphFile;
use super::ReadOptions;
use super::labels::{LabelColumns, TextColumns};
use super::names::Names;
use super::table::Table;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::metrics::Label;

const REMEDY: &str =
    "this build cannot read or write Parquet; build with --features parquet, or use .npy or .csv";

pub(super) fn check_known() -> Result<()> {
    Err(Error::in_file(None, REMEDY))
}

pub(super) fn read_table(_: File, _: Option<u64>) -> Result<Table> {
    Err(Error::in_file(None, REMEDY))
}

pub(super) fn parse_table(_: &[u8], _: Option<u64>) -> Result<Table> {
    Err(Error::in_file(None, REMEDY))
}

pub(super) fn read_edges(_: File, _: &ReadOptions, _: Option<u64>) -> Result<GraphFile> {
    Err(Error::in_file(None, REMEDY))
}

pub(super) fn parse_edges(_: &[u8], _: &ReadOptions, _: Option<u64>) -> Result<GraphFile> {
    Err(Error::in_file(None, REMEDY))
}

pub(super) fn write_edges(_: &mut File, _: &Graph<'_>, _: Option<&Names>) -> io::Result<()> {
    Err(io::Error::other(REMEDY))
}

pub(super) fn read_texts(_: File) -> Result<Option<TextColumns>> {
    Err(Error::in_file(None, REMEDY))
}

pub(super) fn read_labels(_: File) -> Result<LabelColumns> {
    Err(Error::in_file(None, REMEDY))
}

pub(super) fn parse_labels(_: &[u8]) -> Result<LabelColumns> {
    Err(Error::in_file(None, REMEDY))
}

pub(super) fn write_labels(_: &mut File, _: &[Label], _: Option<&Names>) -> io::Result<()> {
    Err(io::Error::other(REMEDY))
}
