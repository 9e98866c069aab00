//! Shards of a graph that is spread over several processes: arrays in, arrays out. Who sends them is in `python/ncut/distributed`.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use ncut::io::{GraphFormat, ReadOptions, parse_graph};
use ncut::objective::Sums;
use ncut::shard::{
    Aim, CoarseBuilder, Contraction, GroupNews, LinkedPiece, Numbers, PieceLinks, Pieces, Propagation,
    Refinement, Round, Shard, ShardArrays, ShardBuilder, attach,
};
use ncut::{Error, Weights};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::clustering::OBJECTIVES;
use crate::{named, refused};

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Given<'py, T> = PyReadonlyArray1<'py, T>;

/// Marks a file that holds a shard; the last letters are its version.
const MAGIC: &[u8; 8] = b"ncutsh01";

fn array<'py, T: Element>(py: Python<'py>, items: Vec<T>) -> Column<'py, T> {
    items.into_pyarray(py)
}

/// Numbers of nodes, as wide as they were sent.
#[derive(FromPyObject)]
enum GivenNumbers<'py> {
    Narrow(Given<'py, u32>),
    Wide(Given<'py, u64>),
}

impl GivenNumbers<'_> {
    fn to_numbers(&self) -> PyResult<Numbers> {
        Ok(match self {
            Self::Narrow(numbers) => Numbers::Narrow(numbers.as_slice()?.to_vec()),
            Self::Wide(numbers) => Numbers::Wide(numbers.as_slice()?.to_vec()),
        })
    }
}

fn numbers(py: Python<'_>, numbers: Numbers) -> Bound<'_, PyAny> {
    match numbers {
        Numbers::Narrow(numbers) => array(py, numbers).into_any(),
        Numbers::Wide(numbers) => array(py, numbers).into_any(),
    }
}

/// The rows of a range of nodes.
#[pyclass(name = "Shard", module = "ncut._ncut")]
pub(crate) struct ShardHandle {
    shard: Shard,
}

#[pymethods]
impl ShardHandle {
    /// Reads a shard from the file it was saved to.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let arrays = py.detach(|| read_arrays(&path)).map_err(|error| unreadable(&path, &error))?;
        Ok(Self { shard: Shard::new(arrays).map_err(refused)? })
    }

    /// Writes the shard to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write_arrays(&path, self.shard.arrays())).map_err(PyErr::from)
    }

    fn set_receiver(&mut self, shard: usize, nodes: Given<'_, u32>) -> PyResult<()> {
        self.shard.set_receiver(shard, nodes.as_slice()?.to_vec()).map_err(refused)
    }

    #[getter]
    fn n_local(&self) -> usize {
        self.shard.n_local()
    }

    #[getter]
    fn n_known(&self) -> usize {
        self.shard.n_known()
    }

    #[getter]
    fn n_entries(&self) -> usize {
        self.shard.n_entries()
    }

    /// Bytes of the rows and what is known of the nodes.
    #[getter]
    fn n_bytes(&self) -> usize {
        let arrays = self.shard.arrays();
        let per_entry = match arrays.weights {
            Weights::Unit => 4,
            Weights::F32(_) => 8,
            Weights::F64(_) => 12,
        };
        per_entry * arrays.columns.len() + 16 * self.shard.n_local() + 8 * arrays.ghosts.len()
    }

    /// The numbers of the ghosts, ascending.
    fn ghosts<'py>(&self, py: Python<'py>) -> Column<'py, u64> {
        array(py, self.shard.arrays().ghosts.clone())
    }

    /// Number of self-loops.
    #[getter]
    fn n_loops(&self) -> usize {
        self.shard.n_loops()
    }

    /// For each other shard the values of its ghosts, in their order.
    fn for_ghosts<'py>(&self, py: Python<'py>, values: Given<'py, u32>) -> PyResult<Vec<Column<'py, u32>>> {
        let values = values.as_slice()?;
        if values.len() < self.shard.n_local() {
            return Err(PyValueError::new_err("there are fewer values than nodes"));
        }
        Ok(self.shard.for_ghosts(values).into_iter().map(|values| array(py, values)).collect())
    }

    fn bounds<'py>(&self, py: Python<'py>) -> Column<'py, u64> {
        array(py, self.shard.arrays().bounds.clone())
    }

    /// Which local nodes have a degree.
    fn has_degree<'py>(&self, py: Python<'py>) -> Column<'py, bool> {
        array(py, (0..self.shard.n_local() as u32).map(|node| self.shard.degree(node) > 0.0).collect())
    }

    fn degrees<'py>(&self, py: Python<'py>) -> Column<'py, f64> {
        array(py, (0..self.shard.n_local() as u32).map(|node| self.shard.degree(node)).collect())
    }

    fn sizes<'py>(&self, py: Python<'py>) -> Column<'py, f64> {
        array(py, (0..self.shard.n_local() as u32).map(|node| self.shard.size(node)).collect())
    }

    /// Volume, size and number of the local nodes that have a degree, and the largest degree.
    fn totals(&self) -> (f64, f64, usize, f64) {
        let nodes = (0..self.shard.n_local() as u32).filter(|&node| self.shard.degree(node) > 0.0);
        nodes.fold((0.0, 0.0, 0, 0.0), |(volume, size, n_nodes, largest): (f64, f64, usize, f64), node| {
            let degree = self.shard.degree(node);
            (volume + degree, size + self.shard.size(node), n_nodes + 1, largest.max(degree))
        })
    }

    /// Where the rows begin and end.
    fn offsets<'py>(&self, py: Python<'py>) -> Column<'py, u64> {
        array(py, self.shard.arrays().offsets.clone())
    }

    /// Columns by their numbers through all shards, and weights, of the entries from one to another, to be put together with
    /// those of other shards.
    fn entries<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        end: usize,
    ) -> PyResult<(Column<'py, i64>, Column<'py, f64>)> {
        let arrays = self.shard.arrays();
        let columns = arrays.columns.get(start..end);
        let columns = columns.ok_or_else(|| PyValueError::new_err("there are not so many entries"))?;
        let columns = columns.iter().map(|&column| self.shard.number(column as usize) as i64).collect();
        let weights = (start..end).map(|entry| arrays.weights.at(entry)).collect();
        Ok((array(py, columns), array(py, weights)))
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> PyErr {
    PyOSError::new_err(format!("{}: {error}", path.display()))
}

fn write_array<T: Pod>(file: &mut impl Write, items: &[T]) -> std::io::Result<()> {
    file.write_all(&(items.len() as u64).to_le_bytes())?;
    file.write_all(bytemuck::cast_slice(items))
}

fn write_arrays(path: &Path, arrays: &ShardArrays) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(MAGIC)?;
    write_array(&mut file, &[arrays.index as u64])?;
    write_array(&mut file, &arrays.bounds)?;
    write_array(&mut file, &arrays.offsets)?;
    write_array(&mut file, &arrays.columns)?;
    write_array(&mut file, &arrays.sizes)?;
    write_array(&mut file, &arrays.ghosts)?;
    match &arrays.weights {
        Weights::Unit => write_array(&mut file, &[0u64])?,
        Weights::F32(weights) => {
            write_array(&mut file, &[32u64])?;
            write_array(&mut file, weights)?;
        }
        Weights::F64(weights) => {
            write_array(&mut file, &[64u64])?;
            write_array(&mut file, weights)?;
        }
    }
    let file = file.into_inner()?;
    file.sync_all()
}

fn damaged() -> std::io::Error {
    std::io::Error::other("this is no shard, or a damaged one; remove the storage folder and start again")
}

fn read_array<T: Pod>(file: &mut impl Read, n_left: &mut u64) -> std::io::Result<Vec<T>> {
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let n_bytes = length.checked_mul(size_of::<T>() as u64).filter(|n_bytes| n_bytes <= n_left);
    *n_left -= n_bytes.ok_or_else(damaged)?;
    let mut items = vec![T::zeroed(); length as usize];
    file.read_exact(bytemuck::cast_slice_mut(&mut items))?;
    Ok(items)
}

fn read_arrays(path: &Path) -> std::io::Result<ShardArrays> {
    let file = File::open(path)?;
    let mut n_left = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let mut magic = [0; 8];
    file.read_exact(&mut magic)?;
    let index: Vec<u64> = if &magic == MAGIC { read_array(&mut file, &mut n_left)? } else { Vec::new() };
    let index = *index.first().ok_or_else(damaged)? as usize;
    let bounds = read_array(&mut file, &mut n_left)?;
    let offsets = read_array(&mut file, &mut n_left)?;
    let columns = read_array(&mut file, &mut n_left)?;
    let sizes = read_array(&mut file, &mut n_left)?;
    let ghosts = read_array(&mut file, &mut n_left)?;
    let bits: Vec<u64> = read_array(&mut file, &mut n_left)?;
    let weights = match bits.first() {
        Some(0) => Weights::Unit,
        Some(32) => read_array::<f32>(&mut file, &mut n_left)?.into(),
        Some(64) => read_array::<f64>(&mut file, &mut n_left)?.into(),
        _ => return Err(damaged()),
    };
    Ok(ShardArrays { bounds, index, offsets, columns, weights, sizes, ghosts })
}

/// Makes a shard of edges.
#[pyclass(name = "ShardBuilder", module = "ncut._ncut")]
pub(crate) struct ShardBuilderHandle {
    builder: Option<ShardBuilder>,
    /// The numbers of ghosts, as far as they are known.
    ghosts: Vec<u64>,
    n_ghosts: usize,
}

impl ShardBuilderHandle {
    fn builder(&mut self) -> PyResult<&mut ShardBuilder> {
        self.builder.as_mut().ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the shard is finished")
}

#[pymethods]
impl ShardBuilderHandle {
    #[new]
    fn new(own: (i64, i64), span: (i64, i64), n_entries: u64) -> Self {
        Self { builder: Some(ShardBuilder::new(own, span, n_entries)), ghosts: Vec::new(), n_ghosts: 0 }
    }

    fn see(&mut self, py: Python<'_>, ids: Given<'_, i64>) -> PyResult<()> {
        let (builder, ids) = (self.builder()?, ids.as_slice()?);
        py.detach(|| builder.see(ids)).map_err(refused)
    }

    fn number<'py>(&mut self, py: Python<'py>) -> PyResult<(Column<'py, i64>, Column<'py, i64>)> {
        let builder = self.builder()?;
        let (own, ghosts) = py.detach(|| builder.number());
        self.n_ghosts = ghosts.len();
        Ok((array(py, own), array(py, ghosts)))
    }

    fn count(&mut self, py: Python<'_>, rows: Given<'_, i64>) -> PyResult<()> {
        let (builder, rows) = (self.builder()?, rows.as_slice()?);
        py.detach(|| builder.count(rows)).map_err(refused)
    }

    fn allocate(&mut self, weight_bits: u32) -> PyResult<()> {
        self.builder()?.allocate(weight_bits);
        Ok(())
    }

    fn fill(
        &mut self,
        py: Python<'_>,
        rows: Given<'_, i64>,
        columns: Given<'_, i64>,
        weights: Option<Given<'_, f64>>,
    ) -> PyResult<()> {
        let (builder, rows, columns) = (self.builder()?, rows.as_slice()?, columns.as_slice()?);
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        py.detach(|| builder.fill(rows, columns, weights)).map_err(refused)
    }

    /// Takes the numbers of the next ghosts.
    fn add_ghosts(&mut self, numbers: Given<'_, u64>) -> PyResult<()> {
        self.ghosts.reserve_exact(self.n_ghosts.saturating_sub(self.ghosts.len()));
        self.ghosts.extend_from_slice(numbers.as_slice()?);
        Ok(())
    }

    fn finish(&mut self, py: Python<'_>, index: usize, bounds: Given<'_, u64>) -> PyResult<ShardHandle> {
        let builder = self.builder.take().ok_or_else(finished)?;
        let (bounds, ghosts) = (bounds.as_slice()?.to_vec(), std::mem::take(&mut self.ghosts));
        let shard = py.detach(|| builder.finish(index, bounds, ghosts)).map_err(refused)?;
        Ok(ShardHandle { shard })
    }
}

/// Makes a shard of a coarse graph.
#[pyclass(name = "CoarseBuilder", module = "ncut._ncut")]
pub(crate) struct CoarseBuilderHandle {
    builder: Option<CoarseBuilder>,
}

/// Rows, columns, weights.
type Entries<'py> = (Given<'py, u64>, Given<'py, u64>, Given<'py, f64>);

#[pymethods]
impl CoarseBuilderHandle {
    #[new]
    fn new(index: usize, bounds: Given<'_, u64>) -> PyResult<Self> {
        let builder = CoarseBuilder::new(index, bounds.as_slice()?.to_vec()).map_err(refused)?;
        Ok(Self { builder: Some(builder) })
    }

    fn add_sizes(&mut self, nodes: Given<'_, u64>, sizes: Given<'_, f64>) -> PyResult<()> {
        let builder = self.builder.as_mut().ok_or_else(finished)?;
        builder.add_sizes(nodes.as_slice()?, sizes.as_slice()?).map_err(refused)
    }

    fn add_rows(&mut self, py: Python<'_>, end: u64, portions: Vec<Entries<'_>>) -> PyResult<()> {
        let builder = self.builder.as_mut().ok_or_else(finished)?;
        let slices = portions
            .iter()
            .map(|(rows, columns, weights)| Ok((rows.as_slice()?, columns.as_slice()?, weights.as_slice()?)));
        let slices: Vec<_> = slices.collect::<PyResult<_>>()?;
        py.detach(|| builder.add_rows(end, &slices)).map_err(refused)
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<ShardHandle> {
        let builder = self.builder.take().ok_or_else(finished)?;
        Ok(ShardHandle { shard: py.detach(|| builder.finish()).map_err(refused)? })
    }
}

/// Groups of nodes by label propagation.
#[pyclass(name = "Propagation", module = "ncut._ncut")]
pub(crate) struct PropagationHandle {
    propagation: Option<Propagation>,
}

impl PropagationHandle {
    fn get(&self) -> PyResult<&Propagation> {
        self.propagation.as_ref().ok_or_else(finished)
    }

    fn get_mut(&mut self) -> PyResult<&mut Propagation> {
        self.propagation.as_mut().ok_or_else(finished)
    }
}

/// Positions of ghosts, their groups, groups that have grown, by how much.
type GroupNewsArrays<'py> = (Column<'py, u32>, Bound<'py, PyAny>, Column<'py, u32>, Column<'py, f64>);

#[pymethods]
impl PropagationHandle {
    #[new]
    fn new(shard: &ShardHandle, max_mass: f64, by_size: bool, seed: u64) -> Self {
        Self { propagation: Some(Propagation::new(&shard.shard, max_mass, by_size, seed)) }
    }

    fn ask(&mut self) -> PyResult<()> {
        self.get_mut()?.ask();
        Ok(())
    }

    fn questions<'py>(
        &self,
        py: Python<'py>,
        shard: &ShardHandle,
        owner: usize,
    ) -> PyResult<Column<'py, u32>> {
        Ok(array(py, self.get()?.questions(&shard.shard, owner)))
    }

    fn count_askers(&mut self, shard: &ShardHandle, questions: Given<'_, u32>) -> PyResult<()> {
        self.get_mut()?.count_askers(&shard.shard, questions.as_slice()?).map_err(refused)
    }

    fn answers<'py>(
        &self,
        py: Python<'py>,
        shard: &ShardHandle,
        questions: Given<'py, u32>,
    ) -> PyResult<Column<'py, f64>> {
        Ok(array(py, self.get()?.answers(&shard.shard, questions.as_slice()?).map_err(refused)?))
    }

    fn learn(&mut self, shard: &ShardHandle, owner: usize, answers: Given<'_, f64>) -> PyResult<()> {
        self.get_mut()?.learn(&shard.shard, owner, answers.as_slice()?).map_err(refused)
    }

    fn sweep(&mut self, py: Python<'_>, shard: &ShardHandle) -> PyResult<usize> {
        let propagation = self.get_mut()?;
        Ok(py.detach(|| propagation.sweep(&shard.shard)))
    }

    fn news<'py>(&self, py: Python<'py>, shard: &ShardHandle, to: usize) -> PyResult<GroupNewsArrays<'py>> {
        let GroupNews { positions, groups, grown, added } = self.get()?.news(&shard.shard, to);
        Ok((array(py, positions), numbers(py, groups), array(py, grown), array(py, added)))
    }

    fn hear(
        &mut self,
        shard: &ShardHandle,
        from_shard: usize,
        news: (Given<'_, u32>, GivenNumbers<'_>, Given<'_, u32>, Given<'_, f64>),
    ) -> PyResult<()> {
        let news = GroupNews {
            positions: news.0.as_slice()?.to_vec(),
            groups: news.1.to_numbers()?,
            grown: news.2.as_slice()?.to_vec(),
            added: news.3.as_slice()?.to_vec(),
        };
        self.get_mut()?.hear(&shard.shard, from_shard, &news).map_err(refused)
    }

    /// The groups of local nodes and ghosts, which are of no more use here.
    fn take_groups<'py>(&mut self, py: Python<'py>) -> PyResult<Column<'py, u32>> {
        Ok(array(py, self.propagation.take().ok_or_else(finished)?.into_groups()))
    }
}

/// Connected pieces of groups or clusters.
#[pyclass(name = "Pieces", module = "ncut._ncut")]
pub(crate) struct PiecesHandle {
    pieces: Option<Pieces>,
}

impl PiecesHandle {
    fn get(&self) -> PyResult<&Pieces> {
        self.pieces.as_ref().ok_or_else(finished)
    }

    fn get_mut(&mut self) -> PyResult<&mut Pieces> {
        self.pieces.as_mut().ok_or_else(finished)
    }
}

#[pymethods]
impl PiecesHandle {
    #[new]
    fn new(py: Python<'_>, shard: &ShardHandle, labels: Given<'_, u32>) -> PyResult<Self> {
        let labels = labels.as_slice()?;
        Ok(Self { pieces: Some(py.detach(|| Pieces::new(&shard.shard, labels)).map_err(refused)?) })
    }

    fn news<'py>(
        &self,
        py: Python<'py>,
        shard: &ShardHandle,
        to: usize,
    ) -> PyResult<(Column<'py, u32>, Bound<'py, PyAny>)> {
        let (positions, first) = self.get()?.news(&shard.shard, to);
        Ok((array(py, positions), numbers(py, first)))
    }

    fn set_told(&mut self) -> PyResult<()> {
        self.get_mut()?.set_told();
        Ok(())
    }

    fn hear(
        &mut self,
        shard: &ShardHandle,
        from_shard: usize,
        news: (Given<'_, u32>, GivenNumbers<'_>),
    ) -> PyResult<()> {
        let first = news.1.to_numbers()?;
        self.get_mut()?.hear(&shard.shard, from_shard, news.0.as_slice()?, &first).map_err(refused)
    }

    fn all<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, u64>> {
        Ok(array(py, self.get()?.all()))
    }

    /// The local nodes with a degree that name a piece.
    fn representatives<'py>(&self, py: Python<'py>, shard: &ShardHandle) -> PyResult<Column<'py, u64>> {
        Ok(array(py, self.get()?.representatives(&shard.shard)))
    }

    /// The different pieces, and the places among them of those of local nodes and ghosts; the pieces are of no more use here.
    fn take_places<'py>(
        &mut self,
        py: Python<'py>,
        shard: &ShardHandle,
    ) -> PyResult<(Column<'py, u64>, Column<'py, u32>)> {
        let pieces = self.pieces.take().ok_or_else(finished)?;
        let (names, places) = py.detach(|| pieces.into_places(&shard.shard));
        Ok((array(py, names), array(py, places)))
    }
}

/// Rows of a coarse graph from those of a shard.
#[pyclass(frozen, name = "Contraction", module = "ncut._ncut")]
pub(crate) struct ContractionHandle {
    contraction: Contraction,
}

#[pymethods]
impl ContractionHandle {
    #[new]
    fn new(
        py: Python<'_>,
        shard: &ShardHandle,
        coarse: Given<'_, u64>,
        groups: Given<'_, u32>,
    ) -> PyResult<Self> {
        let (coarse, groups) = (coarse.as_slice()?, groups.as_slice()?.to_vec());
        Ok(Self {
            contraction: py.detach(|| Contraction::new(&shard.shard, coarse, groups)).map_err(refused)?,
        })
    }

    fn sizes<'py>(&self, py: Python<'py>, shard: &ShardHandle) -> (Column<'py, u64>, Column<'py, f64>) {
        let (nodes, sizes) = self.contraction.sizes(&shard.shard);
        (array(py, nodes), array(py, sizes))
    }

    fn portion<'py>(
        &self,
        py: Python<'py>,
        shard: &ShardHandle,
        start: u64,
        end: u64,
    ) -> (Column<'py, u64>, Column<'py, u64>, Column<'py, f64>) {
        let portion = py.detach(|| self.contraction.portion(&shard.shard, start, end));
        (array(py, portion.rows), array(py, portion.columns), array(py, portion.weights))
    }
}

/// What is optimised: its name, the resolution, volume and size of the graph.
type AimArguments = (String, f64, f64, f64);

fn aim(arguments: &AimArguments) -> PyResult<Aim> {
    let &(ref name, resolution, volume, size) = arguments;
    Ok(Aim { kind: named("objective", name, &OBJECTIVES)?, resolution, volume, size })
}

/// Association, volume, size and number of nodes of every cluster.
fn clusters(table: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<(Sums, usize)>> {
    let rows = table.as_slice()?.chunks_exact(4);
    let sums = |row: &[f64]| (Sums { association: row[0], volume: row[1], size: row[2] }, row[3] as usize);
    Ok(rows.map(sums).collect())
}

/// The objective of clusters, the mass of each, and what they lack.
#[pyfunction]
pub(crate) fn score_clusters<'py>(
    py: Python<'py>,
    arguments: AimArguments,
    table: PyReadonlyArray2<'py, f64>,
) -> PyResult<(f64, Column<'py, f64>, f64)> {
    let (value, masses, cut) = aim(&arguments)?.score(&clusters(&table)?);
    Ok((value, array(py, masses), cut))
}

/// Labels of a shard's nodes, improved in rounds.
#[pyclass(name = "Refinement", module = "ncut._ncut")]
pub(crate) struct RefinementHandle {
    refinement: Refinement,
}

#[pymethods]
impl RefinementHandle {
    #[new]
    fn new(shard: &ShardHandle, labels: Given<'_, u32>, n_clusters: usize) -> PyResult<Self> {
        let labels = labels.as_slice()?.to_vec();
        Ok(Self { refinement: Refinement::new(&shard.shard, labels, n_clusters).map_err(refused)? })
    }

    fn propose(
        &mut self,
        py: Python<'_>,
        shard: &ShardHandle,
        arguments: AimArguments,
        table: PyReadonlyArray2<'_, f64>,
        floor: f64,
        round: (f64, u64, bool),
    ) -> PyResult<usize> {
        let (part, number, holds_together) = round;
        let round = Round { part, number, holds_together };
        let (aim, clusters, refinement) = (aim(&arguments)?, clusters(&table)?, &mut self.refinement);
        py.detach(|| refinement.propose(&shard.shard, &aim, &clusters, floor, round)).map_err(refused)
    }

    fn news<'py>(
        &self,
        py: Python<'py>,
        shard: &ShardHandle,
        to: usize,
    ) -> (Column<'py, u32>, Column<'py, u32>) {
        let news = py.detach(|| self.refinement.news(&shard.shard, to));
        (array(py, news.positions), array(py, news.labels))
    }

    fn hear(
        &mut self,
        shard: &ShardHandle,
        from_shard: usize,
        news: (Given<'_, u32>, Given<'_, u32>),
    ) -> PyResult<()> {
        self.refinement
            .hear(&shard.shard, from_shard, news.0.as_slice()?, news.1.as_slice()?)
            .map_err(refused)
    }

    /// A row for each cluster: association, volume, size, number of nodes.
    fn sums<'py>(&mut self, py: Python<'py>, shard: &ShardHandle) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let refinement = &mut self.refinement;
        let clusters = py.detach(|| refinement.sums(&shard.shard));
        let row = |(sums, n): &(Sums, usize)| [sums.association, sums.volume, sums.size, *n as f64];
        let n_clusters = clusters.len();
        array(py, clusters.iter().flat_map(row).collect()).reshape([n_clusters, 4])
    }

    fn keep(&mut self) {
        self.refinement.keep();
    }

    fn undo(&mut self) {
        self.refinement.undo();
    }

    fn active<'py>(&self, py: Python<'py>) -> Column<'py, bool> {
        array(py, self.refinement.is_active().to_vec())
    }

    fn set_active(&mut self, is_active: Given<'_, bool>) -> PyResult<()> {
        self.refinement.set_active(is_active.as_slice()?.to_vec()).map_err(refused)
    }

    fn labels<'py>(&self, py: Python<'py>) -> Column<'py, u32> {
        array(py, self.refinement.labels().to_vec())
    }

    fn relabel(
        &mut self,
        shard: &ShardHandle,
        pieces: Given<'_, u64>,
        moved: Given<'_, u64>,
        to: Given<'_, u32>,
    ) -> PyResult<usize> {
        let (pieces, moved, to) = (pieces.as_slice()?, moved.as_slice()?, to.as_slice()?);
        self.refinement.relabel(&shard.shard, pieces, moved, to).map_err(refused)
    }
}

/// Sums of pieces that are to move (association, volume, size), and links: which piece, which cluster, what weight.
type PieceLinkArrays<'py> =
    (Bound<'py, PyArray2<f64>>, (Column<'py, u32>, Column<'py, u32>, Column<'py, f64>));

/// What a shard knows of pieces that are to move.
#[pyfunction]
pub(crate) fn piece_links<'py>(
    py: Python<'py>,
    shard: &ShardHandle,
    labels: Given<'py, u32>,
    pieces: Given<'py, u64>,
    moving: Given<'py, u64>,
) -> PyResult<PieceLinkArrays<'py>> {
    let (labels, pieces, moving) = (labels.as_slice()?, pieces.as_slice()?, moving.as_slice()?);
    let found = py.detach(|| PieceLinks::new(&shard.shard, labels, pieces, moving)).map_err(refused)?;
    let sums = found.sums.iter().flat_map(|sums| [sums.association, sums.volume, sums.size]).collect();
    let links = (
        array(py, found.links.iter().map(|link| link.0).collect()),
        array(py, found.links.iter().map(|link| link.1).collect()),
        array(py, found.links.iter().map(|link| link.2).collect()),
    );
    Ok((array(py, sums).reshape([moving.len(), 3])?, links))
}

/// The cluster that each piece joins, -1 for none.
#[pyfunction]
pub(crate) fn attach_pieces<'py>(
    py: Python<'py>,
    arguments: AimArguments,
    table: PyReadonlyArray2<'py, f64>,
    from_clusters: Given<'py, u32>,
    sums: PyReadonlyArray2<'py, f64>,
    links: (Given<'py, u32>, Given<'py, u32>, Given<'py, f64>),
) -> PyResult<Column<'py, i64>> {
    let (aim, clusters) = (aim(&arguments)?, clusters(&table)?);
    let piece = |(row, &from): (&[f64], &u32)| LinkedPiece {
        from,
        sums: Sums { association: row[0], volume: row[1], size: row[2] },
        links: Vec::new(),
    };
    let mut pieces: Vec<LinkedPiece> =
        sums.as_slice()?.chunks_exact(3).zip(from_clusters.as_slice()?).map(piece).collect();
    let (which, to, weights) = (links.0.as_slice()?, links.1.as_slice()?, links.2.as_slice()?);
    for ((&piece, &to), &weight) in which.iter().zip(to).zip(weights) {
        let problem = || PyValueError::new_err(format!("there is no piece {piece}"));
        pieces.get_mut(piece as usize).ok_or_else(problem)?.links.push((to, weight));
    }
    let joined = attach(&aim, &clusters, &pieces);
    Ok(array(py, joined.into_iter().map(|to| to.map_or(-1, i64::from)).collect()))
}

/// Edges of some lines of an edge list: ids, whole numbers or words, the places of both ends among them, and weights.
type ParsedEdges<'py> = (Bound<'py, PyAny>, Column<'py, u32>, Column<'py, u32>, Column<'py, f64>);

/// Reads lines of an edge list; `ending` tells their format.
#[pyfunction]
pub(crate) fn parse_edges<'py>(
    py: Python<'py>,
    lines: &[u8],
    ending: &str,
    columns: Option<&str>,
) -> PyResult<ParsedEdges<'py>> {
    let format = GraphFormat::of(Path::new(&format!("edges.{ending}"))).map_err(refused)?;
    let columns = columns.map(str::parse).transpose().map_err(PyValueError::new_err)?;
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let file = match py.detach(|| parse_graph(lines, format, &options)) {
        Ok(file) => file,
        Err(Error::EmptyGraph) => {
            let ids = array::<i64>(py, Vec::new()).into_any();
            return Ok((ids, array(py, Vec::new()), array(py, Vec::new()), array(py, Vec::new())));
        }
        Err(error) => return Err(refused(error)),
    };
    let names = file.names.unwrap_or_default();
    let whole = |node: usize| -> Option<i64> {
        let name = names.get(node as u32);
        // As the reader tells numbers from words: plain digits without a zero in front.
        let is_plain = name.len() <= 18 && (name == "0" || !name.starts_with('0'));
        (is_plain && name.bytes().all(|digit| digit.is_ascii_digit())).then(|| name.parse().ok()).flatten()
    };
    let n_nodes = file.graph.n_nodes();
    let ids: Option<Vec<i64>> = (0..n_nodes).map(whole).collect();
    let ids = match ids {
        Some(ids) => array(py, ids).into_any(),
        None => PyList::new(py, (0..n_nodes).map(|node| names.get(node as u32)))?.into_any(),
    };
    let n_edges = file.graph.n_edges();
    let (mut from, mut to, mut weights) =
        (Vec::with_capacity(n_edges), Vec::with_capacity(n_edges), Vec::with_capacity(n_edges));
    for (one, other, weight) in file.graph.edges() {
        from.push(one);
        to.push(other);
        weights.push(weight);
    }
    Ok((ids, array(py, from), array(py, to), array(py, weights)))
}
