//! What clusters must obey, read from files.

use anyhow::Result;
use ncut::io::{Names, read_node_weights, read_pairs, read_some_labels};
use ncut::{Constraints, Error, Violations};
use serde::Serialize;

use crate::args::SteeringArgs;
use crate::report::counted;

/// Reads the files and makes constraints of them.
pub(super) fn constraints(args: &SteeringArgs, n_nodes: usize, names: Option<&Names>) -> Result<Constraints> {
    let mut constraints = Constraints::new();
    if let Some(path) = &args.fix {
        constraints = constraints.fixed(read_some_labels(path, n_nodes, names)?);
    }
    if let Some(path) = &args.must_link {
        constraints = constraints.must_link(read_pairs(path, n_nodes, names)?);
    }
    if let Some(path) = &args.cannot_link {
        constraints = constraints.cannot_link(read_pairs(path, n_nodes, names)?);
    }
    if let Some(max_share) = args.max_share {
        constraints = constraints.max_share(max_share);
    }
    if let Some(path) = &args.node_weights {
        constraints = constraints.node_weights(read_node_weights(path, n_nodes, names)?);
    }
    Ok(constraints)
}

/// An error that tells nodes by their ids.
pub(super) fn named(error: Error, names: Option<&Names>) -> Error {
    error.with_names(|node| match names {
        Some(names) => format!("`{}`", names.get(node)),
        None => node.to_string(),
    })
}

/// What labels do not keep.
#[derive(Serialize)]
pub(super) struct ViolationReport {
    n_violations: usize,
    n_known_labels_changed: usize,
    n_pairs_parted: usize,
    n_pairs_together: usize,
    clusters_too_large: Vec<i32>,
}

impl ViolationReport {
    pub(super) fn new(violations: &Violations) -> Self {
        Self {
            n_violations: violations.count(),
            n_known_labels_changed: violations.fixed.len(),
            n_pairs_parted: violations.parted.len(),
            n_pairs_together: violations.together.len(),
            clusters_too_large: violations.too_large.clone(),
        }
    }

    /// `everything that was asked for is kept`, or what is not.
    pub(super) fn sentence(&self) -> String {
        if self.n_violations == 0 {
            return "everything that was asked for is kept".to_owned();
        }
        let kinds = [
            (self.n_known_labels_changed, "known label"),
            (self.n_pairs_parted, "pair to be together"),
            (self.n_pairs_together, "pair to be apart"),
            (self.clusters_too_large.len(), "largest share"),
        ];
        let phrase = |&(count, noun): &(usize, &str)| match noun {
            "largest share" => counted(count, "cluster above the largest share").replace("shares", "share"),
            noun => {
                let (first, rest) = noun.split_once(' ').unwrap_or((noun, ""));
                match first {
                    "known" => counted(count, noun),
                    _ => format!("{} {rest}", counted(count, first)),
                }
            }
        };
        let told: Vec<String> = kinds.iter().filter(|kind| kind.0 > 0).map(phrase).collect();
        format!("not kept: {}", told.join(", "))
    }
}
