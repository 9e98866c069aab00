//! Known classes of the nodes beside the clusters.

use std::collections::BTreeMap;

use super::NO_ROW;
use super::clusters::Clusters;
use super::json::{Value, packed_u16};
use crate::graph::NodeId;
use crate::metrics::Label;

/// Classes that a page can tell apart; of more it tells nothing.
const MAX_CLASSES: usize = 1_000;
/// Pairs of a cluster and a class told at most.
const MAX_PAIRS: usize = 100_000;

/// Known classes, and how many nodes each cluster has of each.
pub(super) struct KnownClasses {
    names: Vec<String>,
    class_of: Vec<Option<u16>>,
    /// A row, a class and a number of nodes.
    shared: Vec<(u16, u16, usize)>,
}

impl KnownClasses {
    /// `None` where there are no classes, or too many.
    pub(super) fn of(classes: &[Label], names: &[String], clusters: &Clusters) -> Option<Self> {
        let mut known: Vec<Label> = classes.iter().copied().filter(|&class| class >= 0).collect();
        known.sort_unstable();
        known.dedup();
        if known.is_empty() || known.len() > MAX_CLASSES {
            return None;
        }
        let number = |class: &Label| known.binary_search(class).ok().map(|class| class as u16);
        let class_of: Vec<Option<u16>> = classes.iter().map(number).collect();
        let mut shared: BTreeMap<(u16, u16), usize> = BTreeMap::new();
        for (row, class) in clusters.row_of.iter().zip(&class_of) {
            if let (Some(row), Some(class)) = (row, class) {
                *shared.entry((*row, *class)).or_insert(0) += 1;
            }
        }
        if shared.len() > MAX_PAIRS {
            return None;
        }
        let name = |&class: &Label| names.get(class as usize).cloned().unwrap_or_else(|| class.to_string());
        let shared = shared.into_iter().map(|((row, class), count)| (row, class, count)).collect();
        Some(Self { names: known.iter().map(name).collect(), class_of, shared })
    }

    /// The classes of the nodes that are shown.
    pub(super) fn value(&self, shown: &[NodeId]) -> Value {
        let pair = |&(row, class, count): &(u16, u16, usize)| {
            Value::List(vec![usize::from(row).into(), usize::from(class).into(), count.into()])
        };
        Value::Object(vec![
            ("names", Value::list(self.names.iter().map(String::as_str))),
            ("shared", Value::list(self.shared.iter().map(pair))),
            ("class", packed_u16(shown.iter().map(|&node| self.class_of[node as usize].unwrap_or(NO_ROW)))),
        ])
    }
}
