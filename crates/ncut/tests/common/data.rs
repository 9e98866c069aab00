//! The data in the folder that `NCUT_DATA` names.

use std::fs::File;
use std::path::Path;

use libtest_mimic::Failed;
use ncut::io::{ReadOptions, read_graph};
use ncut::neighbors::{Points, self_tuning_graph};
use ncut::{Clock, Graph, Label};

/// A graph by its name.
pub(crate) fn graph(data: &Path, name: &str) -> Result<Graph<'static>, Failed> {
    let path = data.join(format!("graphs/{name}.npz"));
    Ok(read_graph(&path, &ReadOptions::default(), &Clock::new())?.graph)
}

/// The self-tuning graph of 25 neighbours of a set of points, rows by class, and the classes.
pub(crate) fn set_graph(data: &Path, set: &str) -> Result<(Graph<'static>, Vec<Label>), Failed> {
    let table = Table::read(&data.join(format!("features/{set}.npz")))?.sorted_by_class();
    // Grey values.
    let divisor = if ["umist", "mnist10_like", "msra25"].contains(&set) { 255.0 } else { 1.0 };
    let values: Vec<f64> = table.values.iter().map(|value| value / divisor).collect();
    let graph = self_tuning_graph(Points::new(&values, table.n_features)?, 25)?;
    Ok((graph, table.classes))
}

pub(crate) fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(message().into()) }
}

/// `sum_c A_c / D_c` from the list of edges.
pub(crate) fn independent_objective(graph: &Graph<'_>, labels: &[Label]) -> f64 {
    let k = labels.iter().max().map_or(0, |&label| label as usize + 1);
    let (mut associations, mut volumes) = (vec![0.0; k], vec![0.0; k]);
    for (from, to, weight) in graph.edges() {
        let (a, b) = (labels[from as usize] as usize, labels[to as usize] as usize);
        if from == to {
            volumes[a] += weight;
            associations[a] += weight;
            continue;
        }
        volumes[a] += weight;
        volumes[b] += weight;
        if a == b {
            associations[a] += 2.0 * weight;
        }
    }
    associations.iter().zip(&volumes).filter(|(_, volume)| **volume > 0.0).map(|(a, d)| a / d).sum()
}

/// A table of points with classes, from an `.npz` file with arrays `X` and `y`.
struct Table {
    values: Vec<f64>,
    n_features: usize,
    classes: Vec<Label>,
}

impl Table {
    fn read(path: &Path) -> Result<Self, Failed> {
        let mut archive = zip::ZipArchive::new(File::open(path)?)?;
        let mut array = |name: &str| -> Result<(String, Vec<u8>), Failed> {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut archive.by_name(name)?, &mut bytes)?;
            let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            let data = bytes.split_off(start);
            Ok((String::from_utf8_lossy(&bytes[10..]).into_owned(), data))
        };
        let (header, data) = array("X.npy")?;
        let values = match header.split('\'').nth(3) {
            Some("|u1") => data.iter().map(|&byte| f64::from(byte)).collect(),
            Some("<u2") => {
                data.chunks_exact(2).map(|b| f64::from(u16::from_le_bytes([b[0], b[1]]))).collect()
            }
            Some("<f8") => data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
            other => return Err(format!("unexpected type {other:?}").into()),
        };
        let (_, data) = array("y.npy")?;
        let classes: Vec<Label> =
            data.chunks_exact(2).map(|b| i32::from(i16::from_le_bytes([b[0], b[1]]))).collect();
        let values: Vec<f64> = values;
        let (n_rows, n_features) = (classes.len(), values.len() / classes.len());
        let by_column = header.contains("'fortran_order': True");
        let stored = |row: usize, column: usize| {
            if by_column { column * n_rows + row } else { row * n_features + column }
        };
        let places = (0..n_rows).flat_map(|row| (0..n_features).map(move |column| (row, column)));
        let values = places.map(|(row, column)| values[stored(row, column)]).collect();
        Ok(Self { values, n_features, classes })
    }

    /// The rows by class, as the paper's files have them; stable.
    fn sorted_by_class(self) -> Self {
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.sort_by_key(|&row| self.classes[row]);
        let row = |row: usize| &self.values[row * self.n_features..][..self.n_features];
        Self {
            values: order.iter().flat_map(|&place| row(place).to_vec()).collect(),
            n_features: self.n_features,
            classes: order.iter().map(|&place| self.classes[place]).collect(),
        }
    }
}
