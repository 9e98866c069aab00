//! Constraints as the search sees them: a contracted graph, nodes that are apart, a ceiling, and numbers for clusters.

use std::collections::HashMap;

use super::Constraints;
use super::contradictions::crowd;
use crate::disjoint::DisjointSets;
use crate::error::{Error, Result};
use crate::graph::{Apart, Graph, NodeId};
use crate::metrics::{Label, UNLABELLED};
use crate::objective::Objective;

/// Masses may be so much above the ceiling, relatively, by rounding.
const ROUNDING: f64 = 1e-9;
/// Above this sums of whole numbers need not be whole.
const MAX_WHOLE: f64 = 9e15;

/// Checked constraints.
pub(crate) struct Steering {
    /// The group of every node: nodes that are to be together are one.
    group_of: Vec<u32>,
    n_groups: usize,
    /// Groups that are apart.
    apart: Option<Apart>,
    /// The groups of known labels.
    named: Vec<(u32, Label)>,
    max_share: f64,
}

impl Steering {
    /// Checks constraints against a graph and a number of clusters.
    ///
    /// # Errors
    /// When they contradict each other, naming the nodes.
    pub(crate) fn new(constraints: &Constraints, n_nodes: usize, n_clusters: usize) -> Result<Self> {
        constraints.check_shape(n_nodes)?;
        let fixed =
            || (0..).zip(constraints.fixed.iter().flatten()).filter(|(_, label)| **label != UNLABELLED);
        let labels: Vec<(NodeId, Label)> = fixed().map(|(node, &label)| (node, label)).collect();
        if let Some(&(node, label)) = labels.iter().find(|(_, label)| *label as usize >= n_clusters) {
            let problem = format!(
                "node {{0}} has the known label {label}, but the clusters are 0 to {}; ask for more clusters, or change the label",
                n_clusters.saturating_sub(1)
            );
            return Err(Error::Contradiction { problem, nodes: vec![node] });
        }
        if constraints.fixed.is_some() && labels.is_empty() {
            return Err(Error::labels(
                "the known labels are all -1, so there is nothing to keep; leave them out",
            ));
        }
        let mut sets = DisjointSets::new(n_nodes);
        for &(a, b) in &constraints.must_link {
            sets.join(a as usize, b as usize);
        }
        let mut first: HashMap<Label, NodeId> = HashMap::new();
        let mut label_of: HashMap<usize, Label> = HashMap::new();
        for &(node, label) in &labels {
            let known = *label_of.entry(sets.find(node as usize)).or_insert(label);
            if known != label {
                return Err(constraints.refuse_labels(known, label));
            }
        }
        for &(node, label) in &labels {
            let first = *first.entry(label).or_insert(node);
            sets.join(first as usize, node as usize);
        }
        for &(a, b) in &constraints.cannot_link {
            if sets.find(a as usize) == sets.find(b as usize) {
                return Err(constraints.refuse_apart(a, b));
            }
        }
        let (group_of, n_groups) = sets.numbered();
        if n_groups < n_clusters {
            return Err(Error::labels(format!(
                "{n_clusters} clusters were asked for, but the nodes that are to be together leave only {n_groups} groups; ask for \
                 fewer clusters, or leave pairs out"
            )));
        }
        let mut named: Vec<(u32, Label)> =
            first.iter().map(|(&label, &node)| (group_of[node as usize], label)).collect();
        named.sort_unstable_by_key(|&(_, label)| label);
        let pairs =
            constraints.cannot_link.iter().map(|&(a, b)| (group_of[a as usize], group_of[b as usize]));
        let apart = Apart::new(n_groups, pairs, named.iter().map(|&(group, _)| group).collect());
        let max_share = constraints.max_share.unwrap_or(f64::INFINITY);
        let steering = Self { group_of, n_groups, apart, named, max_share };
        if !constraints.cannot_link.is_empty() {
            steering.refuse_crowds(constraints, n_clusters)?;
        }
        Ok(steering)
    }

    /// Refuses more groups that are all apart from each other than there are clusters, where they are found quickly.
    fn refuse_crowds(&self, constraints: &Constraints, n_clusters: usize) -> Result<()> {
        /// Pairs that are looked at.
        const MAX_PAIRS: usize = 1 << 16;
        let Some(apart) = &self.apart else { return Ok(()) };
        if apart.bound().len() > MAX_PAIRS
            || self.named.len() > MAX_PAIRS / apart.bound().len().max(1) + n_clusters
        {
            return Ok(());
        }
        let partners = |group: NodeId| apart.partners(group).collect();
        let Some(groups) = crowd(apart.bound(), &partners, n_clusters) else { return Ok(()) };
        let mut first = vec![NodeId::MAX; self.n_groups];
        for (node, &group) in (0..).zip(&self.group_of) {
            first[group as usize] = first[group as usize].min(node);
        }
        Err(constraints.refuse_crowd(groups.iter().map(|&group| first[group as usize]).collect(), n_clusters))
    }

    /// The graph of the groups, which knows who is apart. `graph` has sizes where the objective uses them.
    pub(crate) fn contracted<'g>(&self, graph: &'g Graph<'_>) -> Result<Graph<'g>> {
        let contracted = match self.n_groups == graph.n_nodes() {
            true => graph.borrowed(),
            false => graph.contract(&self.group_of, self.n_groups)?,
        };
        Ok(contracted.with_apart(self.apart.clone()))
    }

    /// The mass that no cluster may exceed: infinite without a largest share.
    ///
    /// # Errors
    /// When a group is heavier than that, or what the clusters may hold is less than all there is.
    pub(crate) fn ceiling<O: Objective>(
        &self,
        contracted: &Graph<'_>,
        n_clusters: usize,
        objective: O,
    ) -> Result<f64> {
        if self.max_share == f64::INFINITY {
            return Ok(f64::INFINITY);
        }
        let mass = |group: NodeId| objective.mass(&contracted.node_sums::<O>(group));
        let masses: Vec<f64> = (0..contracted.n_nodes() as NodeId).map(mass).collect();
        let total: f64 = masses.iter().sum();
        let exact = self.max_share * total / n_clusters as f64;
        let ceiling = exact * (1.0 + ROUNDING);
        if let Some(heavy) = masses.iter().position(|&mass| mass > ceiling) {
            let mut nodes: Vec<NodeId> = (0..)
                .zip(&self.group_of)
                .filter(|(_, group)| **group as usize == heavy)
                .map(|(node, _)| node)
                .collect();
            let n_nodes = nodes.len();
            nodes.truncate(1);
            let others = match n_nodes {
                1 => String::new(),
                _ => format!(" and the {} that are to be with it", n_nodes - 1),
            };
            let problem = format!(
                "node {{0}}{others} weighs {}, but `max_share` {} allows a cluster {exact}; ask for a larger share, or fewer clusters",
                masses[heavy], self.max_share
            );
            return Err(Error::Contradiction { problem, nodes });
        }
        let are_whole = masses.iter().all(|mass| mass.fract() == 0.0) && total < MAX_WHOLE;
        if are_whole && ceiling.floor() * (n_clusters as f64) < total {
            return Err(Error::labels(format!(
                "`max_share` {} allows {n_clusters} clusters of at most {} each, which together hold {} of {total}; ask for a larger \
                 share",
                self.max_share,
                ceiling.floor(),
                ceiling.floor() * n_clusters as f64
            )));
        }
        Ok(ceiling)
    }

    /// Labels of the nodes as labels of the groups: that of the node with the largest degree.
    pub(crate) fn restrict(&self, graph: &Graph<'_>, labels: &[Label]) -> Vec<Label> {
        let mut heaviest = vec![(f64::NEG_INFINITY, UNLABELLED); self.n_groups];
        for (node, (&group, &label)) in (0..).zip(self.group_of.iter().zip(labels)) {
            let known = &mut heaviest[group as usize];
            if label != UNLABELLED && graph.degree(node) > known.0 {
                *known = (graph.degree(node), label);
            }
        }
        heaviest.into_iter().map(|(_, label)| label).collect()
    }

    /// Labels of the groups as labels of the nodes.
    pub(crate) fn project(&self, labels: &[Label]) -> Vec<Label> {
        self.group_of.iter().map(|&group| labels[group as usize]).collect()
    }

    /// Numbers the clusters: those of known labels have these, the others the numbers that are free, by first appearance.
    pub(crate) fn number(&self, labels: &mut [Label], n_clusters: usize) {
        const UNSEEN: Label = -2;
        let mut name = vec![UNSEEN; n_clusters];
        let mut is_taken = vec![false; n_clusters];
        for &(group, label) in &self.named {
            name[labels[group as usize] as usize] = label;
            is_taken[label as usize] = true;
        }
        let mut free = (0..n_clusters).filter(|&number| !is_taken[number]).collect::<Vec<_>>().into_iter();
        for &group in &self.group_of {
            let name = &mut name[labels[group as usize] as usize];
            if *name == UNSEEN {
                *name = free.next().map_or(UNSEEN, |number| number as Label);
            }
        }
        for label in labels.iter_mut() {
            *label = name[*label as usize];
        }
    }
}
