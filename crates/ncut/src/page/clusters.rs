//! The clusters of a page: their sums, the links between them, how they merge, who is typical of them.

use std::collections::BTreeMap;

use super::NO_ROW;
use super::json::{Value, base64, packed_u16};
use super::layout::{Place, circle, spiral, spring};
use super::verdict::Verdict;
use crate::confidence::Confidence;
use crate::error::Result;
use crate::graph::{Graph, NodeId};
use crate::hierarchy::{Merge, MergeTree};
use crate::metrics::{ClusterSummary, CutScore, Label, UNLABELLED};
use crate::objective::{ObjectiveKind, with_objective};
use crate::progress::Clock;

/// Clusters that a page can hold; what lies beyond is left out, the smallest first.
pub(super) const MAX_CLUSTERS: usize = 5_000;
/// Clusters whose links are drawn as springs have them; more lie on a spiral.
const MAX_SPRINGS: usize = 400;
/// Clusters up to which their merge tree is told: a slider with more steps helps nobody.
const MAX_MERGED: usize = 400;
/// Typical members told for each.
const TYPICAL: usize = 6;
/// Clusters that each node leans to: its own and another.
const LEANINGS: usize = 2;
/// Nodes times cuts of the tree up to which the confidence of the nodes is told for every cut: a megabyte.
const MAX_CUT_NODES: usize = 200_000;

/// What is known about the clusters.
pub(super) struct Clusters {
    pub(super) score: CutScore,
    /// The clusters shown, by label.
    pub(super) rows: Vec<ClusterSummary>,
    /// The row of every node's cluster.
    pub(super) row_of: Vec<Option<u16>>,
    pub(super) confidence: Confidence,
    /// Mean confidence of each.
    pub(super) means: Vec<f64>,
    pub(super) typical: Vec<Vec<NodeId>>,
    /// Two rows and the weight between them, in one direction.
    links: Vec<(usize, usize, f64)>,
    merges: Vec<Merge>,
    places: Vec<Place>,
    /// What the clusters are beside other ways to cut the graph, once somebody looked.
    pub(super) verdict: Verdict,
}

impl Clusters {
    pub(super) fn of(
        graph: &Graph<'_>,
        labels: &[Label],
        kind: ObjectiveKind,
        clock: &Clock<'_>,
    ) -> Result<Self> {
        let score = CutScore::by(kind, graph, labels)?;
        let confidence = Confidence::of(graph, labels, kind, LEANINGS)?;
        let rows = largest(&score.clusters);
        let row_of: Vec<Option<u16>> = labels.iter().map(|&label| row_of_label(&rows, label)).collect();
        let means = means(&row_of, &confidence.values, rows.len());
        let typical = typical(graph, &row_of, &confidence.values, rows.len());
        let links = links(graph, &row_of);
        let merges = if rows.len() <= MAX_MERGED { merges(&rows, &links, kind, clock)? } else { Vec::new() };
        let places = places(&rows, &links, &merges);
        let verdict = Verdict::Unknown;
        Ok(Self { score, rows, row_of, confidence, means, typical, links, merges, places, verdict })
    }

    /// The row of a cluster.
    pub(super) fn row(&self, label: Label) -> Option<u16> {
        row_of_label(&self.rows, label)
    }

    /// Nodes in an order that keeps clusters together, and clusters that merge early next to each other.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut rank = vec![0; self.rows.len()];
        leaves(self.rows.len(), &self.merges)
            .into_iter()
            .enumerate()
            .for_each(|(place, row)| rank[row] = place);
        let mut order: Vec<usize> = (0..self.row_of.len()).collect();
        order.sort_by_key(|&node| (self.row_of[node].map_or(usize::MAX, |row| rank[usize::from(row)]), node));
        order
    }

    /// The columns of the table. `place_of` is where a shown node stands.
    pub(super) fn table(&self, place_of: impl Fn(NodeId) -> Option<usize>) -> Value {
        let column = |value: fn(&ClusterSummary) -> Value| Value::list(self.rows.iter().map(value));
        let members = |nodes: &Vec<NodeId>| {
            Value::list(nodes.iter().filter_map(|&node| place_of(node)).collect::<Vec<_>>())
        };
        Value::Object(vec![
            ("label", column(|row| f64::from(row.label).into())),
            ("size", column(|row| row.size.into())),
            ("volume", column(|row| row.volume.into())),
            ("association", column(|row| row.association.into())),
            ("pieces", column(|row| row.n_pieces.into())),
            ("confidence", Value::list(self.means.iter().map(|&mean| Value::short(mean)))),
            ("typical", Value::list(self.typical.iter().map(members))),
        ])
    }

    pub(super) fn links(&self) -> Value {
        let link =
            |&(a, b, weight): &(usize, usize, f64)| Value::List(vec![a.into(), b.into(), weight.into()]);
        Value::list(self.links.iter().map(link))
    }

    /// Every merge: both parts as scipy numbers them, and what it costs.
    pub(super) fn merges(&self) -> Value {
        let merge = |merge: &Merge| {
            let parts = [merge.first, merge.second].map(|part| Value::from(part as usize));
            let [first, second] = parts;
            Value::List(vec![first, second, Value::short(-merge.gain)])
        };
        Value::list(self.merges.iter().map(merge))
    }

    /// How sure the nodes are where the tree is cut: at `start`, and elsewhere as far as there is room.
    pub(super) fn cuts(
        &self,
        graph: &Graph<'_>,
        kind: ObjectiveKind,
        start: Option<usize>,
        shown: &[NodeId],
    ) -> Result<Value> {
        let n_rows = self.rows.len();
        let most = MAX_CUT_NODES / graph.n_nodes().max(1);
        let is_cut = |&number: &usize| (2..n_rows).contains(&number) && self.merges.len() + 1 == n_rows;
        let others = (2..n_rows).rev().filter(|&number| Some(number) != start);
        let numbers = start.into_iter().chain(others.take(most)).filter(is_cut);
        Ok(Value::List(numbers.map(|number| self.cut(number, graph, kind, shown)).collect::<Result<_>>()?))
    }

    /// The clusters when so many are left.
    fn cut(
        &self,
        n_clusters: usize,
        graph: &Graph<'_>,
        kind: ObjectiveKind,
        shown: &[NodeId],
    ) -> Result<Value> {
        let group_of = groups(self.rows.len(), &self.merges, n_clusters);
        let row_of: Vec<Option<u16>> =
            self.row_of.iter().map(|row| row.map(|row| group_of[usize::from(row)])).collect();
        let labels: Vec<Label> = row_of.iter().map(|row| row.map_or(UNLABELLED, Label::from)).collect();
        let sure = Confidence::of(graph, &labels, kind, LEANINGS)?;
        let pieces = CutScore::by(kind, graph, &labels)?.clusters;
        let second = |&node: &NodeId| {
            let own = labels[node as usize];
            let other = sure.best(node as usize).iter().find(|(label, _)| *label != own);
            other.and_then(|&(label, _)| u16::try_from(label).ok()).unwrap_or(NO_ROW)
        };
        let typical = typical(graph, &row_of, &sure.values, n_clusters);
        let members = |nodes: &Vec<NodeId>| {
            Value::list(nodes.iter().filter_map(|node| shown.binary_search(node).ok()).collect::<Vec<_>>())
        };
        let means = means(&row_of, &sure.values, n_clusters);
        let of_nodes: Vec<u8> = shown.iter().map(|&node| byte(sure.values[node as usize])).collect();
        Ok(Value::Object(vec![
            ("k", n_clusters.into()),
            ("confidence", Value::list(means.into_iter().map(Value::short))),
            ("pieces", Value::list(pieces.iter().map(|cluster| cluster.n_pieces))),
            ("typical", Value::list(typical.iter().map(members))),
            ("second", packed_u16(shown.iter().map(second))),
            ("sure", base64(&of_nodes).into()),
        ]))
    }

    pub(super) fn places(&self) -> Value {
        let place = |&(x, y): &Place| Value::List(vec![Value::short(x), Value::short(y)]);
        Value::list(self.places.iter().map(place))
    }
}

/// A confidence as a page holds it.
pub(super) fn byte(confidence: f64) -> u8 {
    (confidence * 255.0).round() as u8
}

/// Mean confidence of every row.
fn means(row_of: &[Option<u16>], sure: &[f64], n_rows: usize) -> Vec<f64> {
    let (mut sums, mut sizes) = (vec![0.0; n_rows], vec![0.0; n_rows]);
    for (row, sure) in row_of.iter().zip(sure) {
        if let Some(row) = row.map(usize::from) {
            sums[row] += sure;
            sizes[row] += 1.0;
        }
    }
    sums.iter().zip(&sizes).map(|(sum, size)| sum / f64::max(*size, 1.0)).collect()
}

/// The group of every row when merges have left `n_clusters`, numbered by first appearance.
fn groups(n_rows: usize, merges: &[Merge], n_clusters: usize) -> Vec<u16> {
    let mut group: Vec<usize> = (0..n_rows).collect();
    for (place, merge) in merges.iter().take(n_rows - n_clusters).enumerate() {
        let parts = [merge.first as usize, merge.second as usize];
        group.iter_mut().filter(|part| parts.contains(*part)).for_each(|part| *part = n_rows + place);
    }
    let mut numbers: BTreeMap<usize, u16> = BTreeMap::new();
    let number = |part: usize| {
        let next = numbers.len() as u16;
        *numbers.entry(part).or_insert(next)
    };
    group.into_iter().map(number).collect()
}

fn largest(clusters: &[ClusterSummary]) -> Vec<ClusterSummary> {
    let mut rows = clusters.to_vec();
    if rows.len() > MAX_CLUSTERS {
        rows.sort_by(|a, b| b.volume.total_cmp(&a.volume).then(a.label.cmp(&b.label)));
        rows.truncate(MAX_CLUSTERS);
        rows.sort_by_key(|row| row.label);
    }
    rows
}

fn row_of_label(rows: &[ClusterSummary], label: Label) -> Option<u16> {
    rows.binary_search_by_key(&label, |row| row.label).ok().map(|row| row as u16)
}

/// The surest members of every cluster, of equals those of the highest degree.
fn typical(graph: &Graph<'_>, row_of: &[Option<u16>], sure: &[f64], n_rows: usize) -> Vec<Vec<NodeId>> {
    let mut best: Vec<Vec<NodeId>> = vec![Vec::with_capacity(TYPICAL + 1); n_rows];
    let before = |a: NodeId, b: NodeId| {
        let by_confidence = sure[b as usize].total_cmp(&sure[a as usize]);
        by_confidence.then(graph.degree(b).total_cmp(&graph.degree(a))).then(a.cmp(&b)).is_lt()
    };
    for (node, row) in (0..).zip(row_of) {
        let Some(row) = row else { continue };
        let known = &mut best[usize::from(*row)];
        let place = known.iter().position(|&other| before(node, other)).unwrap_or(known.len());
        if place < TYPICAL {
            known.insert(place, node);
            known.truncate(TYPICAL);
        }
    }
    best
}

fn links(graph: &Graph<'_>, row_of: &[Option<u16>]) -> Vec<(usize, usize, f64)> {
    let mut weights: BTreeMap<(u16, u16), f64> = BTreeMap::new();
    for (node, row) in (0..).zip(row_of) {
        let Some(row) = *row else { continue };
        graph.for_each_neighbor(node, |neighbor, weight| {
            if let Some(other) = row_of[neighbor as usize].filter(|&other| other > row) {
                *weights.entry((row, other)).or_insert(0.0) += weight;
            }
        });
    }
    weights.into_iter().map(|((a, b), weight)| (usize::from(a), usize::from(b), weight)).collect()
}

/// How the clusters merge, by the gain of the objective; not at all where the clock says stop.
fn merges(
    rows: &[ClusterSummary],
    links: &[(usize, usize, f64)],
    kind: ObjectiveKind,
    clock: &Clock<'_>,
) -> Result<Vec<Merge>> {
    let inside = rows.iter().enumerate().map(|(row, cluster)| (row, row, cluster.association));
    let edges = inside.chain(links.iter().copied()).filter(|edge| edge.2 > 0.0);
    let edges = edges.map(|(a, b, weight)| (a as NodeId, b as NodeId, weight));
    let quotient = Graph::from_edges(rows.len(), edges)?;
    let quotient = quotient.with_sizes(rows.iter().map(|row| row.weight).collect())?;
    let labels: Vec<Label> = (0..rows.len() as Label).collect();
    let tree = with_objective!(kind, quotient, |objective| {
        MergeTree::build(&quotient, &labels, objective, clock)
    });
    match tree {
        Ok(tree) => Ok(tree.merges().to_vec()),
        Err(crate::Error::Stopped { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The rows in the order of the tree's leaves; by number without a tree.
fn leaves(n_rows: usize, merges: &[Merge]) -> Vec<usize> {
    if merges.len() + 1 != n_rows {
        return (0..n_rows).collect();
    }
    let mut order = Vec::with_capacity(n_rows);
    let mut stack = vec![n_rows + merges.len() - 1];
    while let Some(part) = stack.pop() {
        match part.checked_sub(n_rows) {
            None => order.push(part),
            Some(merge) => {
                stack.push(merges[merge].second as usize);
                stack.push(merges[merge].first as usize);
            }
        }
    }
    order
}

/// Where the clusters are drawn: by springs whose strength is the weight between two over the root of their volumes.
fn places(rows: &[ClusterSummary], links: &[(usize, usize, f64)], merges: &[Merge]) -> Vec<Place> {
    let order = leaves(rows.len(), merges);
    if rows.len() > MAX_SPRINGS {
        return spiral(&order);
    }
    let mut places = circle(&order);
    let strength = |&(a, b, weight): &(usize, usize, f64)| {
        let both = (rows[a].volume * rows[b].volume).sqrt();
        (a, b, if both > 0.0 { weight / both } else { 0.0 })
    };
    let links: Vec<_> = links.iter().map(strength).filter(|link| link.2 > 0.0).collect();
    spring(&mut places, &links);
    places
}
