//! Writes a planted-partition graph and its labels: `planted NODES CLUSTERS SEED GRAPH LABELS [DEGREE]`.
//!
//! `DEGREE` is the mean number of edges at a node, [`Planted::new`]'s where it is left out.

use std::error::Error;
use std::path::PathBuf;

use ncut::io::{write_graph, write_labels};
use ncut::synthetic::Planted;

const USAGE: &str = "usage: planted NODES CLUSTERS SEED GRAPH LABELS [DEGREE]";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [nodes, clusters, seed, graph, labels, degree @ ..] = &arguments[..] else {
        return Err(USAGE.into());
    };
    let mut planted = Planted::new(nodes.parse()?, clusters.parse()?);
    match degree {
        [] => {}
        [degree] => planted.mean_degree = degree.parse()?,
        _ => return Err(USAGE.into()),
    }
    let planted = planted.graph(seed.parse()?)?;
    write_graph(&PathBuf::from(graph), &planted.graph, None)?;
    write_labels(&PathBuf::from(labels), &planted.labels, None)?;
    Ok(())
}
