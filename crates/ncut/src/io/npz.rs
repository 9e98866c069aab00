//! Sparse matrices of `scipy.sparse.save_npz`: csr, csc and coo.

use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::npy::{self, Array};
use super::{GraphFile, ReadOptions};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Weights};
use crate::memory;

/// Reads a matrix; the arrays it takes may have `budget` bytes of memory.
pub(super) fn read(file: impl Read + Seek, options: &ReadOptions, budget: Option<u64>) -> Result<GraphFile> {
    let mut archive = Archive::open(file, budget)?;
    if !archive.names().iter().any(|name| name == "format") {
        let problem = format!(
            "is no matrix of scipy.sparse.save_npz (its arrays are: {}); save the graph's matrix with that",
            archive.names().join(", ")
        );
        return Err(Error::in_file(None, problem));
    }
    let format = archive.array("format")?.text();
    let shape = archive.integers("shape")?;
    let n_nodes = match shape[..] {
        [rows, columns] if rows == columns && (0..=i64::from(NodeId::MAX)).contains(&rows) => rows as usize,
        [rows, columns] if rows != columns => {
            let problem =
                format!("the matrix has {rows} rows and {columns} columns; a graph's matrix is square");
            return Err(Error::in_file(None, problem));
        }
        _ => return Err(Error::in_file(None, format!("the matrix has the impossible shape {shape:?}"))),
    };
    let of_nodes = memory::PER_NODE * n_nodes as u64;
    memory::check_within(budget, "a graph with as many nodes as the matrix has rows", of_nodes, REMEDY)?;
    let data = archive.array("data")?;
    let (n_data, weights) = (data.len(), weights(&data)?);
    drop(data);
    // Columns are held once as they come and once as numbers of nodes, beside the weights.
    let needed = of_nodes + 24 * n_data as u64 + if format == "coo" { 40 * n_data as u64 } else { 0 };
    memory::check_within(budget, "the graph", needed, REMEDY)?;
    let graph = match format.as_str() {
        // The columns of a symmetric matrix are its rows.
        "csr" | "csc" => {
            let offsets = archive.numbers("indptr", u64::MAX)?;
            if offsets.len() != n_nodes + 1 {
                return Err(Error::in_file(
                    None,
                    format!(
                        "`indptr` has {} numbers, but {n_nodes} rows need {}",
                        offsets.len(),
                        n_nodes + 1
                    ),
                ));
            }
            let columns = archive.nodes("indices", n_nodes)?;
            if columns.len() != n_data {
                let problem = format!("there are {} `indices` but {n_data} `data`", columns.len());
                return Err(Error::in_file(None, problem));
            }
            Graph::from_csr(offsets, columns, weights, options.symmetrize)?
        }
        "coo" => {
            let (rows, columns) = (archive.nodes("row", n_nodes)?, archive.nodes("col", n_nodes)?);
            if rows.len() != columns.len() || rows.len() != n_data {
                let problem = format!(
                    "`row`, `col` and `data` have {}, {} and {n_data} numbers; they must have as many",
                    rows.len(),
                    columns.len()
                );
                return Err(Error::in_file(None, problem));
            }
            let entries: Vec<(NodeId, NodeId)> = rows.into_iter().zip(columns).collect();
            Graph::from_entries(n_nodes, &entries, &weights, options.symmetrize)?
        }
        other => {
            let problem = format!("the matrix format `{other}` cannot be read; save it as csr, csc or coo");
            return Err(Error::in_file(None, problem));
        }
    };
    Ok(GraphFile::new(graph, None))
}

/// Writes the matrix as csr, the way scipy does.
pub(super) fn write(file: &mut (impl Write + Seek), graph: &Graph<'_>) -> io::Result<()> {
    let mut archive = ZipWriter::new(file);
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    let mut entry = |name: &str, fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>| {
        archive.start_file(format!("{name}.npy"), options)?;
        let mut writer = BufWriter::with_capacity(1 << 18, &mut archive);
        fill(&mut writer)?;
        writer.flush()
    };
    let n_entries = graph.columns().len();
    let (n_nodes, entries) = (graph.n_nodes() as i64, format!("({n_entries},)"));
    // scipy wants both index arrays of one type.
    let narrow = i32::try_from(n_entries).is_ok() && i32::try_from(n_nodes).is_ok();
    entry("indices", &mut |writer| {
        let nodes = graph.columns().iter();
        if narrow {
            npy::write(writer, "<i4", &entries, nodes.map(|node| node.to_le_bytes()))
        } else {
            npy::write(writer, "<i8", &entries, nodes.map(|&node| i64::from(node).to_le_bytes()))
        }
    })?;
    entry("indptr", &mut |writer| {
        let shape = format!("({},)", graph.offsets().len());
        let offsets = graph.offsets().iter();
        if narrow {
            npy::write(writer, "<i4", &shape, offsets.map(|&offset| (offset as i32).to_le_bytes()))
        } else {
            npy::write(writer, "<i8", &shape, offsets.map(|offset| offset.to_le_bytes()))
        }
    })?;
    entry("format", &mut |writer| npy::write(writer, "|S3", "()", std::iter::once(*b"csr")))?;
    entry("shape", &mut |writer| {
        npy::write(writer, "<i8", "(2,)", [n_nodes; 2].map(i64::to_le_bytes).into_iter())
    })?;
    entry("data", &mut |writer| match graph.weights() {
        Weights::Unit => {
            npy::write(writer, "<f8", &entries, std::iter::repeat_n(1f64.to_le_bytes(), n_entries))
        }
        Weights::F32(weights) => npy::write(writer, "<f4", &entries, weights.iter().map(|w| w.to_le_bytes())),
        Weights::F64(weights) => npy::write(writer, "<f8", &entries, weights.iter().map(|w| w.to_le_bytes())),
    })?;
    archive.finish()?;
    Ok(())
}

/// What helps when a matrix is too large.
const REMEDY: &str = "make an .ncut file of it on a larger machine (`ncut convert`)";

/// 32-bit floats stay what they are, everything else becomes 64-bit.
fn weights(data: &Array) -> Result<Weights<'static>> {
    let problem = |problem| Error::in_file(None, format!("array `data` {problem}"));
    if data.is_f32() {
        return Ok(Weights::F32(data.f32s().into()));
    }
    Ok(Weights::F64(data.floats().map_err(problem)?.into()))
}

/// The arrays of an `.npz` file.
pub(super) struct Archive<R> {
    zip: ZipArchive<R>,
    /// Bytes of memory that an array may take.
    budget: Option<u64>,
}

impl<R: Read + Seek> Archive<R> {
    pub(super) fn open(file: R, budget: Option<u64>) -> Result<Self> {
        let problem = |error| Error::in_file(None, format!("is no .npz file, or a damaged one: {error}"));
        Ok(Self { zip: ZipArchive::new(file).map_err(problem)?, budget })
    }

    /// The names of the arrays.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.zip.file_names().filter_map(std::result::Result::ok);
        names.map(|name| name.strip_suffix(".npy").unwrap_or(&name).to_string()).collect()
    }

    pub(super) fn array(&mut self, name: &str) -> Result<Array> {
        let problem = |problem: String| Error::in_file(None, problem);
        let names = self.names();
        let entry = self.zip.by_name(&format!("{name}.npy")).map_err(|error| match error {
            zip::result::ZipError::FileNotFound => {
                problem(format!("has no array `{name}`; its arrays are: {}", names.join(", ")))
            }
            other => problem(format!("array `{name}` cannot be read: {other}")),
        })?;
        Array::read(BufReader::new(entry), &format!("array `{name}`"), self.budget)
    }

    pub(super) fn integers(&mut self, name: &str) -> Result<Vec<i64>> {
        let integers = self.array(name)?.integers();
        integers.map_err(|problem| Error::in_file(None, format!("array `{name}` {problem}")))
    }

    /// Integers from 0 to below `limit`.
    fn numbers(&mut self, name: &str, limit: u64) -> Result<Vec<u64>> {
        let integers = self.integers(name)?;
        let fits = |&number: &i64| u64::try_from(number).is_ok_and(|number| number < limit);
        match integers.iter().position(|number| !fits(number)) {
            None => Ok(integers.into_iter().map(|number| number as u64).collect()),
            Some(place) => Err(Error::in_file(
                None,
                format!("array `{name}` holds {} at place {place}, which is out of range", integers[place]),
            )),
        }
    }

    fn nodes(&mut self, name: &str, n_nodes: usize) -> Result<Vec<NodeId>> {
        let numbers = self.numbers(name, n_nodes as u64)?;
        Ok(numbers.into_iter().map(|number| number as NodeId).collect())
    }
}
