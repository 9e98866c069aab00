//! Label propagation with bounded groups, over all shards: the first step down.
//!
//! As in `hierarchy/propagation.rs`, every node joins the group it is most linked to, as long as that has room. A group is named by the number of
//! one node, and the shard of that node keeps its mass. Before every sweep a shard asks how much room there is in the groups it
//! knows; the room is divided among those who ask, so that no group ever exceeds the bound.

use std::collections::HashMap;

use super::Shard;
use crate::error::{Error, Result};
use crate::graph::{NodeId, RowSums};
use crate::random::mixed;

/// Groups on their way.
pub struct Propagation {
    /// No group exceeds this mass, unless it is a single node.
    max_mass: f64,
    /// Whether the mass is the size, not the volume.
    by_size: bool,
    seed: u64,
    n_sweeps: u64,
    /// The groups of local nodes and ghosts, by their places in `names`.
    groups: Vec<u32>,
    /// The names of the groups: first those of local nodes and ghosts, then others as they came.
    names: Vec<u64>,
    /// Where those others are.
    others: HashMap<u64, u32>,
    /// How much this shard may add to each group.
    rooms: Vec<f64>,
    /// How much it has added since it told.
    added: Vec<f64>,
    /// Masses of groups that are named by local nodes.
    masses: Vec<f64>,
    is_changed: Vec<bool>,
    asked: Vec<Vec<u64>>,
}

/// What one shard tells another about groups.
#[derive(Clone, Debug, Default)]
pub struct GroupNews {
    /// Ghosts there whose group has changed, by position.
    pub positions: Vec<u32>,
    /// The groups they are in now.
    pub groups: Vec<u64>,
    /// Groups of which the other keeps the mass.
    pub grown: Vec<u64>,
    /// What was added to them.
    pub added: Vec<f64>,
}

impl Propagation {
    /// Every node in a group of its own.
    pub fn new(shard: &Shard, max_mass: f64, by_size: bool, seed: u64) -> Self {
        let n_known = shard.n_known();
        let mass = |node: NodeId| if by_size { shard.size(node) } else { shard.degree(node) };
        Self {
            max_mass,
            by_size,
            seed,
            n_sweeps: 0,
            groups: (0..n_known as u32).collect(),
            names: (0..n_known).map(|known| shard.number(known)).collect(),
            others: HashMap::new(),
            rooms: vec![0.0; n_known],
            added: vec![0.0; n_known],
            masses: (0..shard.n_local() as NodeId).map(mass).collect(),
            is_changed: vec![false; shard.n_local()],
            asked: Vec::new(),
        }
    }

    /// Visits every local node once; tells how many moved.
    pub fn sweep(&mut self, shard: &Shard) -> usize {
        let mut sums = RowSums::new(self.names.len());
        let mut n_moves = 0;
        for node in 0..shard.n_local() as NodeId {
            let own = self.groups[node as usize];
            let mass = self.mass(shard, node);
            let mut own_link = 0.0;
            sums.expect(|| shard.entries(node).len());
            shard.for_each_entry(node, |other, weight| {
                let group = self.groups[other as usize];
                if group != own {
                    sums.add(group, weight);
                } else if other != node {
                    own_link += weight;
                }
            });
            let salt = mixed(self.seed ^ shard.number(node as usize) << 8 ^ self.n_sweeps);
            let tie = |group: u32| mixed(salt ^ self.names[group as usize]);
            let mut best = (own_link, own);
            sums.for_each(|group, link| {
                let is_better =
                    link > best.0 || (link == best.0 && best.1 != own && tie(group) < tie(best.1));
                if is_better && self.rooms[group as usize] >= mass {
                    best = (link, group);
                }
            });
            sums.clear();
            if best.1 != own {
                self.join(node, best.1, mass);
                n_moves += 1;
            }
        }
        self.n_sweeps += 1;
        n_moves
    }

    fn mass(&self, shard: &Shard, node: NodeId) -> f64 {
        if self.by_size { shard.size(node) } else { shard.degree(node) }
    }

    fn join(&mut self, node: NodeId, group: u32, mass: f64) {
        let own = std::mem::replace(&mut self.groups[node as usize], group);
        self.is_changed[node as usize] = true;
        for (group, mass) in [(own, -mass), (group, mass)] {
            self.rooms[group as usize] -= mass;
            self.added[group as usize] += mass;
        }
    }

    /// What every shard, this one included, is to hear after a sweep.
    pub fn news(&mut self, shard: &Shard) -> Vec<GroupNews> {
        let Self { groups, names, is_changed, added, .. } = self;
        let told = shard.told(|node| is_changed[node as usize]);
        let group_of = |node: NodeId| names[groups[node as usize] as usize];
        let news = told.into_iter().map(|(positions, nodes)| GroupNews {
            positions,
            groups: nodes.into_iter().map(group_of).collect(),
            ..GroupNews::default()
        });
        let mut news: Vec<GroupNews> = news.collect();
        for (added, &name) in added.iter_mut().zip(&*names).filter(|(added, _)| **added != 0.0) {
            let news = &mut news[shard.owner(name)];
            news.grown.push(name);
            news.added.push(std::mem::take(added));
        }
        is_changed.fill(false);
        news
    }

    /// Takes in what a shard tells.
    ///
    /// # Errors
    /// When it tells of nodes that are not known here.
    pub fn hear(&mut self, shard: &Shard, from: usize, news: &GroupNews) -> Result<()> {
        for (&position, &name) in news.positions.iter().zip(&news.groups) {
            let ghost = shard.ghost(from, position)?;
            self.groups[ghost] = self.place(shard, name);
        }
        for (&name, &added) in news.grown.iter().zip(&news.added) {
            *self.mass_of(shard, name)? += added;
        }
        Ok(())
    }

    fn mass_of(&mut self, shard: &Shard, name: u64) -> Result<&mut f64> {
        let place = name.wrapping_sub(shard.first()) as usize;
        let problem = || Error::shape(format!("group {name} is not kept by shard {}", shard.index()));
        self.masses.get_mut(place).ok_or_else(problem)
    }

    /// The place of a group, a new one if it was not known.
    fn place(&mut self, shard: &Shard, name: u64) -> u32 {
        let local = name.wrapping_sub(shard.first());
        if local < shard.n_local() as u64 {
            return local as u32;
        }
        if let Ok(ghost) = shard.arrays().ghosts.binary_search(&name) {
            return (shard.n_local() + ghost) as u32;
        }
        let Self { names, others, rooms, added, .. } = self;
        *others.entry(name).or_insert_with(|| {
            names.push(name);
            rooms.push(0.0);
            added.push(0.0);
            names.len() as u32 - 1
        })
    }

    /// The groups whose room this shard has to know, for each shard that keeps their masses.
    pub fn questions(&mut self, shard: &Shard) -> &[Vec<u64>] {
        let mut is_used = vec![false; self.names.len()];
        for &group in &self.groups {
            is_used[group as usize] = true;
        }
        self.asked = vec![Vec::new(); shard.n_shards()];
        for (&name, _) in self.names.iter().zip(&is_used).filter(|&(_, &is_used)| is_used) {
            self.asked[shard.owner(name)].push(name);
        }
        &self.asked
    }

    /// The rooms of the groups that each shard asks for, divided among those who ask.
    ///
    /// # Errors
    /// When a group is not kept here.
    pub fn answers(&mut self, shard: &Shard, questions: &[&[u64]]) -> Result<Vec<Vec<f64>>> {
        let mut n_askers = vec![0u32; shard.n_local()];
        for &name in questions.iter().copied().flatten() {
            self.mass_of(shard, name)?;
            n_askers[(name - shard.first()) as usize] += 1;
        }
        let room = |&name: &u64| {
            let place = (name - shard.first()) as usize;
            (self.max_mass - self.masses[place]).max(0.0) / f64::from(n_askers[place])
        };
        Ok(questions.iter().map(|names| names.iter().map(room).collect()).collect())
    }

    /// Takes in the answers to the last questions, from every shard.
    ///
    /// # Errors
    /// When they are not as many as there were questions.
    pub fn learn(&mut self, shard: &Shard, answers: &[&[f64]]) -> Result<()> {
        self.rooms.fill(0.0);
        let asked = std::mem::take(&mut self.asked);
        for (names, rooms) in asked.iter().zip(answers) {
            if names.len() != rooms.len() {
                return Err(Error::shape(format!(
                    "{} answers came to {} questions",
                    rooms.len(),
                    names.len()
                )));
            }
            for (&name, &room) in names.iter().zip(*rooms) {
                let place = self.place(shard, name);
                self.rooms[place as usize] = room;
            }
        }
        Ok(())
    }

    /// The groups of local nodes and ghosts: equal numbers for equal groups.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }
}
