//! Communities taken apart into groups that hold together: what coarsening makes one node of.

use crate::error::Result;
use crate::graph::{Graph, Members, NodeId};
use crate::objective::Modularity;
use crate::parallel::prelude::*;
use crate::partition::ClusterId;
use crate::random::{Random, mix};

/// Groups of nodes, numbered by first appearance.
pub(super) struct Groups {
    pub(super) of_node: Vec<u32>,
    pub(super) count: usize,
}

/// Leiden's refinement: within every community nodes start alone, and each that still is joins the group that draws it
/// most, if both are well connected to the rest of the community. Every group is connected.
///
/// Communities do not know of each other, so that each is refined by itself, on all threads.
pub(super) fn refined(
    graph: &Graph<'_>,
    modularity: Modularity,
    labels: &[ClusterId],
    n_labels: usize,
    seed: u64,
) -> Result<Groups> {
    let members = Members::new(labels, n_labels, graph)?;
    let mut place: Vec<u32> = vec![0; graph.n_nodes()];
    for cluster in 0..n_labels {
        for (number, &node) in members.of(cluster).iter().enumerate() {
            place[node as usize] = number as u32;
        }
    }
    let refinement = Refinement { graph, modularity, labels, place: &place, seed };
    let tasks = tasks(&members, n_labels);
    let refined = tasks.par_iter().with_max_len(1).map(|&(first, end)| {
        let mut space = Space::default();
        (first..end).map(|cluster| refinement.of_community(members.of(cluster), &mut space)).collect()
    });
    let refined: Vec<Vec<Vec<u32>>> = refined.collect();
    let mut of_node = vec![0; graph.n_nodes()];
    let mut n_before = 0;
    for (cluster, groups) in refined.iter().flatten().enumerate() {
        for (&node, &group) in members.of(cluster).iter().zip(groups) {
            of_node[node as usize] = n_before + group;
        }
        n_before += groups.iter().max().map_or(0, |&last| last + 1);
    }
    Ok(Groups { of_node, count: n_before as usize })
}

/// Ranges of communities with some thousand nodes each.
fn tasks(members: &Members, n_labels: usize) -> Vec<(usize, usize)> {
    const NODES_PER_TASK: usize = 1 << 12;
    let mut tasks = Vec::new();
    let (mut first, mut n_nodes) = (0, 0);
    for cluster in 0..n_labels {
        n_nodes += members.size(cluster);
        if n_nodes >= NODES_PER_TASK || cluster + 1 == n_labels {
            tasks.push((first, cluster + 1));
            (first, n_nodes) = (cluster + 1, 0);
        }
    }
    tasks
}

struct Refinement<'r> {
    graph: &'r Graph<'r>,
    modularity: Modularity,
    labels: &'r [ClusterId],
    /// Place of every node among those of its community.
    place: &'r [u32],
    seed: u64,
}

/// Work space: one number for every node of a community.
#[derive(Default)]
struct Space {
    order: Vec<u32>,
    /// Weight between a node and the rest of its community.
    inside: Vec<f64>,
    group: Vec<u32>,
    sizes: Vec<u32>,
    volumes: Vec<f64>,
    /// Weight between a group and the rest of the community.
    outward: Vec<f64>,
    links: Vec<f64>,
    adjacent: Vec<u32>,
}

impl Refinement<'_> {
    /// The group of every node of a community, numbered by first appearance.
    fn of_community(&self, nodes: &[NodeId], space: &mut Space) -> Vec<u32> {
        let Some((&first, [_, ..])) = nodes.split_first() else { return vec![0; nodes.len()] };
        let (graph, own) = (self.graph, self.labels[first as usize]);
        let n_nodes = nodes.len();
        let Space { order, inside, group, sizes, volumes, outward, links, adjacent } = space;
        let total: f64 = nodes.iter().map(|&node| graph.degree(node)).sum();
        inside.clear();
        inside.extend(nodes.iter().map(|&node| {
            let mut inside = 0.0;
            graph.for_each_neighbor(node, |neighbor, weight| {
                inside += if self.labels[neighbor as usize] == own { weight } else { 0.0 };
            });
            inside
        }));
        order.clear();
        order.extend(0..n_nodes as u32);
        group.clone_from(order);
        let mut random = Random::new(mix(self.seed, u64::from(first)));
        for place in (1..n_nodes).rev() {
            order.swap(place, random.below(place as u32 + 1) as usize);
        }
        sizes.clear();
        sizes.resize(n_nodes, 1);
        volumes.clear();
        volumes.extend(nodes.iter().map(|&node| graph.degree(node)));
        outward.clone_from(inside);
        links.clear();
        links.resize(n_nodes, 0.0);
        let is_well_connected =
            |link: f64, volume: f64| self.modularity.pull_on(volume).of(link, total - volume) >= 0.0;
        for &number in order.iter() {
            let place = number as usize;
            let (node, degree) = (nodes[place], graph.degree(nodes[place]));
            if sizes[group[place] as usize] != 1 || !is_well_connected(inside[place], degree) {
                continue;
            }
            graph.for_each_neighbor(node, |neighbor, weight| {
                if self.labels[neighbor as usize] == own {
                    let near = group[self.place[neighbor as usize] as usize];
                    let link = &mut links[near as usize];
                    if *link == 0.0 {
                        adjacent.push(near);
                    }
                    *link += weight;
                }
            });
            let pull = self.modularity.pull_on(degree);
            let mut best = (0.0, None);
            for near in adjacent.drain(..) {
                let link = std::mem::take(&mut links[near as usize]);
                let drawn = pull.of(link, volumes[near as usize]);
                let is_better = drawn > best.0 || (drawn == best.0 && best.1.is_none());
                if is_better && is_well_connected(outward[near as usize], volumes[near as usize]) {
                    best = (drawn, Some((near, link)));
                }
            }
            if let (_, Some((to, link))) = best {
                let from = group[place] as usize;
                sizes[from] = 0;
                group[place] = to;
                let to = to as usize;
                sizes[to] += 1;
                volumes[to] += degree;
                outward[to] += inside[place] - 2.0 * link;
            }
        }
        // The sums are no longer needed: their place is taken by the numbers of groups.
        let numbers = sizes;
        numbers.fill(u32::MAX);
        let mut count = 0;
        let number_of = |&group: &u32| {
            let number = &mut numbers[group as usize];
            if *number == u32::MAX {
                *number = count;
                count += 1;
            }
            *number
        };
        group.iter().map(number_of).collect()
    }
}
