//! Wishes that contradict each other, found before any work.

use std::collections::{HashMap, VecDeque};

use super::Constraints;
use crate::error::Error;
use crate::graph::NodeId;
use crate::metrics::{Label, UNLABELLED};

/// Pairs of a chain that are told, at most.
const MAX_TOLD: usize = 12;

/// What is linked by "in the same cluster": nodes, and the known labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Item {
    Node(NodeId),
    Label(Label),
}

/// A shortest chain of wishes that puts two items into the same cluster.
pub(super) struct Chain(Vec<Item>);

impl Constraints {
    /// The chain between two nodes; `None` where nothing puts them together.
    fn chain(&self, from: Item, to: Item) -> Option<Chain> {
        let mut next_to: HashMap<Item, Vec<Item>> = HashMap::new();
        let mut link = |a: Item, b: Item| {
            next_to.entry(a).or_default().push(b);
            next_to.entry(b).or_default().push(a);
        };
        for &(a, b) in &self.must_link {
            link(Item::Node(a), Item::Node(b));
        }
        for (node, &label) in (0..).zip(self.fixed.iter().flatten()) {
            if label != UNLABELLED {
                link(Item::Node(node), Item::Label(label));
            }
        }
        let mut came_from: HashMap<Item, Item> = HashMap::from([(from, from)]);
        let mut queue = VecDeque::from([from]);
        while let Some(item) = queue.pop_front() {
            if item == to {
                let mut chain = vec![to];
                while let Some(&before) =
                    chain.last().and_then(|last| came_from.get(last)).filter(|_| chain.last() != Some(&from))
                {
                    chain.push(before);
                }
                chain.reverse();
                return Some(Chain(chain));
            }
            for &other in next_to.get(&item).into_iter().flatten() {
                came_from.entry(other).or_insert_with(|| {
                    queue.push_back(other);
                    item
                });
            }
        }
        None
    }

    /// Refuses a node that is to be apart from one it is to be with.
    pub(super) fn refuse_apart(&self, a: NodeId, b: NodeId) -> Error {
        if a == b {
            let problem = "node {0} is to be apart from itself; leave the pair out".to_owned();
            return Error::Contradiction { problem, nodes: vec![a] };
        }
        let mut told = Told::default();
        let (first, second) = (told.node(a), told.node(b));
        let chain =
            self.chain(Item::Node(a), Item::Node(b)).map_or(String::new(), |chain| told.chain(&chain));
        let problem = format!("{first} and {second} are to be apart, but {chain}; leave one of these out");
        Error::Contradiction { problem, nodes: told.nodes }
    }

    /// Refuses two known labels that a chain of pairs makes one.
    pub(super) fn refuse_labels(&self, a: Label, b: Label) -> Error {
        let mut told = Told::default();
        let chain =
            self.chain(Item::Label(a), Item::Label(b)).map_or(String::new(), |chain| told.chain(&chain));
        let problem =
            format!("the known labels {a} and {b} contradict the pairs: {chain}; leave one of these out");
        Error::Contradiction { problem, nodes: told.nodes }
    }

    /// Refuses more nodes that are all apart from each other than there are clusters.
    pub(super) fn refuse_crowd(&self, nodes: Vec<NodeId>, n_clusters: usize) -> Error {
        let places: Vec<String> =
            (0..nodes.len().min(MAX_TOLD)).map(|place| format!("{{{place}}}")).collect();
        let more = if nodes.len() > MAX_TOLD { ", …" } else { "" };
        let problem = format!(
            "the nodes {}{more} are all to be apart from each other, which takes {} clusters, but {n_clusters} were asked for",
            places.join(", "),
            nodes.len()
        );
        Error::Contradiction { problem, nodes }
    }
}

/// Nodes in the order in which a message tells them, and the message's places for them.
#[derive(Default)]
struct Told {
    nodes: Vec<NodeId>,
}

impl Told {
    fn node(&mut self, node: NodeId) -> String {
        let place = self.nodes.iter().position(|&told| told == node).unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        });
        format!("{{{place}}}")
    }

    fn chain(&mut self, Chain(items): &Chain) -> String {
        let steps: Vec<String> = items
            .windows(2)
            .take(MAX_TOLD)
            .map(|pair| match (pair[0], pair[1]) {
                (Item::Node(a), Item::Node(b)) => format!("{} is to be with {}", self.node(a), self.node(b)),
                (Item::Node(node), Item::Label(label)) | (Item::Label(label), Item::Node(node)) => {
                    format!("{} has the known label {label}", self.node(node))
                }
                (Item::Label(a), Item::Label(b)) => format!("{a} is {b}"),
            })
            .collect();
        let more = if items.len() > MAX_TOLD + 1 { ", and so on" } else { "" };
        format!("{}{more}", steps.join(", "))
    }
}

/// Nodes that are all apart from each other, found greedily from every node on: a lower bound for the number of clusters.
/// `partners` are those of each node, ascending.
pub(super) fn crowd(
    bound: &[NodeId],
    partners: &dyn Fn(NodeId) -> Vec<NodeId>,
    enough: usize,
) -> Option<Vec<NodeId>> {
    /// Nodes that are looked at, those with the most partners first.
    const MAX_SEEDS: usize = 64;
    let mut by_count: Vec<(usize, NodeId)> = bound.iter().map(|&node| (partners(node).len(), node)).collect();
    by_count.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(count, seed) in by_count.iter().take(MAX_SEEDS) {
        if count < enough {
            return None;
        }
        let mut together = vec![seed];
        let mut possible = partners(seed);
        possible.sort_by_key(|&node| (std::cmp::Reverse(partners(node).len()), node));
        for node in possible {
            let of_node = partners(node);
            if together.iter().all(|other| of_node.contains(other)) {
                together.push(node);
            }
            if together.len() > enough {
                return Some(together);
            }
        }
    }
    None
}
