//! Merging the most similar pair of clusters, again and again, until k are left (the paper's step c).

use crate::graph::Graph;
use crate::progress::{Clock, Progress, Stage, Stopped};

use super::dense_pairs::Table;
use super::similarity::Pairs;
use super::sparse_pairs::Clusters;

/// Links from which on a table is smaller than rows and heaps, as a share of all that there can be.
const DENSE: f64 = 0.2;

/// What the merging made of the clusters.
pub(super) struct Merge {
    /// New cluster of every cluster, numbered by first appearance.
    pub(super) merged_to: Vec<u32>,
    /// Why it ended early; the rest was merged in haste.
    pub(super) stopped: Option<Stopped>,
}

/// Merges the most similar pair until `n_clusters` are left; the row of the new cluster is the mean of the
/// two. Among equals the pair with the lowest numbers goes first, a merged cluster keeping its lower one.
/// When no pair is linked any more, the two of smallest volume merge, then the lowest numbers.
pub(super) fn merge(
    similarity: Graph<'static>,
    volumes: &[f64],
    n_clusters: usize,
    clock: &Clock<'_>,
) -> Merge {
    let n_merges = similarity.n_nodes().saturating_sub(n_clusters);
    let mut progress = Progress::new(Stage::Hierarchy, n_merges as u64);
    let mut still_going = |done: usize| {
        progress.done = done as u64;
        clock.report(&progress)
    };
    let n_slots = similarity.n_nodes();
    let is_dense = similarity.columns().len() as f64 >= DENSE * (n_slots as f64).powi(2);
    let clusters: Result<Box<dyn Pairs>, Stopped> = match is_dense {
        true => Table::new(&similarity, volumes, &mut still_going).map(boxed),
        false => Clusters::new(similarity, volumes, &mut still_going).map(boxed),
    };
    let mut clusters = match clusters {
        Ok(clusters) => clusters,
        Err(stopped) => {
            return Merge { merged_to: merge_in_order(volumes, n_clusters), stopped: Some(stopped) };
        }
    };
    let mut stopped = None;
    for merge in 0..n_merges {
        match clusters.next_pair(&mut || still_going(merge)) {
            Ok(Some((a, b))) => clusters.merge(a, b),
            Ok(None) => {
                clusters.merge_smallest(n_merges - merge);
                break;
            }
            Err(reason) => {
                stopped = Some(reason);
                break;
            }
        }
    }
    let (mut merged_to, n_left) = clusters.numbered();
    if n_left > n_clusters {
        let mut summed = vec![0.0; n_left];
        for (slot, &cluster) in merged_to.iter().enumerate() {
            summed[cluster as usize] += volumes[slot];
        }
        let hasty = merge_in_order(&summed, n_clusters);
        for cluster in &mut merged_to {
            *cluster = hasty[*cluster as usize];
        }
    }
    Merge { merged_to, stopped }
}

fn boxed<'a>(pairs: impl Pairs + 'a) -> Box<dyn Pairs + 'a> {
    Box::new(pairs)
}

/// Merges clusters that follow each other, into `n_clusters` of about the same volume: what is left to do
/// when there is no time.
pub(crate) fn merge_in_order(volumes: &[f64], n_clusters: usize) -> Vec<u32> {
    let total: f64 = volumes.iter().sum();
    let mut merged_to = Vec::with_capacity(volumes.len());
    let (mut cluster, mut filled) = (0, 0.0);
    for (place, &volume) in volumes.iter().enumerate() {
        let clusters_after = n_clusters - 1 - cluster;
        let full = filled >= total * (cluster + 1) as f64 / n_clusters as f64;
        let must_open = volumes.len() - place <= clusters_after;
        let is_empty = merged_to.last() != Some(&(cluster as u32));
        if clusters_after > 0 && !is_empty && (full || must_open) {
            cluster += 1;
        }
        merged_to.push(cluster as u32);
        filled += volume;
    }
    merged_to
}
