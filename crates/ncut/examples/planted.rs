//! Writes a planted-partition graph and its labels: `planted NODES CLUSTERS SEED GRAPH LABELS`.

use std::error::Error;
use std::path::PathBuf;

use ncut::io::{write_graph, write_labels};
use ncut::synthetic::Planted;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [nodes, clusters, seed, graph, labels] = &arguments[..] else {
        return Err("usage: planted NODES CLUSTERS SEED GRAPH LABELS".into());
    };
    let planted = Planted::new(nodes.parse()?, clusters.parse()?).graph(seed.parse()?)?;
    write_graph(&PathBuf::from(graph), &planted.graph, None)?;
    write_labels(&PathBuf::from(labels), &planted.labels, None)?;
    Ok(())
}
