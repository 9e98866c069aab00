//! Label propagation with bounded groups, over all shards: the first step down.
//!
//! As in `hierarchy/propagation.rs`, every node joins the group it is most linked to, as long as that has room. A group is named by the number of
//! one node, and the shard of that node keeps its mass. Before every sweep a shard asks how much room there is in the groups it
//! knows; the room is divided among those who ask, so that no group ever exceeds the bound.
//!
//! In a graph without locality a shard knows nearly all nodes: what is kept of each decides how much memory a worker takes. It is
//! a group, and while a sweep goes on a room. Messages are made and heard one shard at a time.

use std::collections::HashMap;

use super::{Numbers, Shard};
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
    /// The groups of local nodes and ghosts. A group that is named by a node known here has the place of that node; the others
    /// follow as they came.
    groups: Vec<u32>,
    /// The names of those others.
    others: Numbers,
    /// Where they are.
    places: HashMap<u64, u32>,
    /// Which groups the shard has asked for.
    is_asked: Vec<bool>,
    /// How much this shard may add to each group; after a sweep, how much it has added; after that nothing.
    rooms: Vec<f64>,
    /// Masses of groups that are named by local nodes.
    masses: Vec<f64>,
    /// How many shards ask for the room of each of these.
    n_askers: Vec<u32>,
    /// The groups of local nodes before the last sweep.
    before: Vec<u32>,
}

/// What one shard tells another about groups.
#[derive(Clone, Debug)]
pub struct GroupNews {
    /// Ghosts there whose group has changed, by position.
    pub positions: Vec<u32>,
    /// The groups they are in now.
    pub groups: Numbers,
    /// Groups of which the other keeps the mass, by place among its nodes.
    pub grown: Vec<u32>,
    /// What was added to them.
    pub added: Vec<f64>,
}

impl Propagation {
    /// Every node in a group of its own.
    pub fn new(shard: &Shard, max_mass: f64, by_size: bool, seed: u64) -> Self {
        let mass = |node: NodeId| if by_size { shard.size(node) } else { shard.degree(node) };
        Self {
            max_mass,
            by_size,
            seed,
            n_sweeps: 0,
            groups: (0..shard.n_known() as u32).collect(),
            others: Numbers::new(shard.n_nodes(), std::iter::empty()),
            places: HashMap::new(),
            is_asked: Vec::new(),
            rooms: Vec::new(),
            masses: (0..shard.n_local() as NodeId).map(mass).collect(),
            n_askers: Vec::new(),
            before: Vec::new(),
        }
    }

    fn n_groups(&self) -> usize {
        self.groups.len() + self.others.len()
    }

    fn name(&self, shard: &Shard, group: u32) -> u64 {
        match (group as usize).checked_sub(self.groups.len()) {
            None => shard.number(group as usize),
            Some(other) => self.others.at(other),
        }
    }

    fn mass(&self, shard: &Shard, node: NodeId) -> f64 {
        if self.by_size { shard.size(node) } else { shard.degree(node) }
    }

    /// Finds out of which groups the room has to be known; the [questions](Self::questions) ask for it.
    pub fn ask(&mut self) {
        self.rooms = Vec::new();
        self.before = Vec::new();
        self.is_asked = vec![false; self.n_groups()];
        for &group in &self.groups {
            self.is_asked[group as usize] = true;
        }
    }

    /// The groups that are asked for, of those that a shard keeps the masses of: in the order of the questions.
    fn asked<'a>(&'a self, shard: &'a Shard, owner: usize) -> impl Iterator<Item = u32> + 'a {
        self.kept_by(shard, owner).filter(|&group| self.is_asked.get(group as usize) == Some(&true))
    }

    /// The groups known here of which a shard keeps the masses.
    fn kept_by<'a>(&'a self, shard: &'a Shard, owner: usize) -> impl Iterator<Item = u32> + 'a {
        let others = (0..self.others.len()).filter(move |&other| shard.owner(self.others.at(other)) == owner);
        let others = others.map(|other| (self.groups.len() + other) as u32);
        shard.places_of(owner).map(|place| place as u32).chain(others)
    }

    /// What a shard is asked: the room of these groups, by place among its nodes.
    pub fn questions(&self, shard: &Shard, owner: usize) -> Vec<u32> {
        let first = shard.arrays().bounds[owner];
        self.asked(shard, owner).map(|group| (self.name(shard, group) - first) as u32).collect()
    }

    /// Counts who asks for each group, by the questions of all shards.
    ///
    /// # Errors
    /// When a group is not kept here.
    pub fn count_askers(&mut self, shard: &Shard, questions: &[u32]) -> Result<()> {
        self.n_askers.resize(shard.n_local(), 0);
        for &place in questions {
            let problem = || not_kept(shard, u64::from(place));
            *self.n_askers.get_mut(place as usize).ok_or_else(problem)? += 1;
        }
        Ok(())
    }

    /// The rooms of groups that a shard asks for, divided among [those who ask](Self::count_askers).
    ///
    /// # Errors
    /// When a group is not kept here.
    pub fn answers(&self, shard: &Shard, questions: &[u32]) -> Result<Vec<f64>> {
        let room = |&place: &u32| {
            let n_askers = self.n_askers.get(place as usize).filter(|&&n_askers| n_askers > 0);
            let n_askers = *n_askers.ok_or_else(|| not_kept(shard, u64::from(place)))?;
            Ok((self.max_mass - self.masses[place as usize]).max(0.0) / f64::from(n_askers))
        };
        questions.iter().map(room).collect()
    }

    /// Takes in what a shard answers to the last questions.
    ///
    /// # Errors
    /// When the answers are not as many as the questions.
    pub fn learn(&mut self, shard: &Shard, owner: usize, answers: &[f64]) -> Result<()> {
        self.n_askers = Vec::new();
        let mut rooms = std::mem::take(&mut self.rooms);
        rooms.resize(self.n_groups(), 0.0);
        let mut n_asked = 0;
        for group in self.asked(shard, owner) {
            rooms[group as usize] = answers.get(n_asked).copied().unwrap_or(0.0);
            n_asked += 1;
        }
        self.rooms = rooms;
        if n_asked == answers.len() {
            return Ok(());
        }
        Err(Error::shape(format!("{} answers came to {n_asked} questions", answers.len())))
    }

    /// Visits every local node once; tells how many moved.
    pub fn sweep(&mut self, shard: &Shard) -> usize {
        self.rooms.resize(self.n_groups(), 0.0);
        self.before = self.groups[..shard.n_local()].to_vec();
        let mut sums = RowSums::new(self.n_groups());
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
            let tie = |group: u32| mixed(salt ^ self.name(shard, group));
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
                self.groups[node as usize] = best.1;
                self.rooms[own as usize] += mass;
                self.rooms[best.1 as usize] -= mass;
                n_moves += 1;
            }
        }
        self.n_sweeps += 1;
        self.add_up(shard);
        n_moves
    }

    /// What the moves of the sweep have added to every group takes the place of the rooms, which are of no more use.
    fn add_up(&mut self, shard: &Shard) {
        let mut added = std::mem::take(&mut self.rooms);
        added.fill(0.0);
        for (node, (&from, &to)) in self.before.iter().zip(&self.groups).enumerate() {
            if from != to {
                let mass = self.mass(shard, node as NodeId);
                added[from as usize] -= mass;
                added[to as usize] += mass;
            }
        }
        self.rooms = added;
    }

    /// What a shard, maybe this one, is to hear after a sweep.
    pub fn news(&self, shard: &Shard, to: usize) -> GroupNews {
        let (positions, nodes) =
            shard.told(to, |node| self.before[node as usize] != self.groups[node as usize]);
        let group_of = |node: NodeId| self.name(shard, self.groups[node as usize]);
        let first = shard.arrays().bounds[to];
        let grown = self.kept_by(shard, to).filter(|&group| self.rooms[group as usize] != 0.0);
        let (grown, added) =
            grown.map(|group| ((self.name(shard, group) - first) as u32, self.rooms[group as usize])).unzip();
        GroupNews {
            positions,
            groups: Numbers::new(shard.n_nodes(), nodes.into_iter().map(group_of)),
            grown,
            added,
        }
    }

    /// Takes in what a shard tells.
    ///
    /// # Errors
    /// When it tells of nodes that are not known here.
    pub fn hear(&mut self, shard: &Shard, from: usize, news: &GroupNews) -> Result<()> {
        self.rooms = Vec::new();
        for (&position, name) in news.positions.iter().zip(news.groups.iter()) {
            let ghost = shard.ghost(from, position)?;
            self.groups[ghost] = self.place(shard, name);
        }
        for (&place, &added) in news.grown.iter().zip(&news.added) {
            let problem = || not_kept(shard, u64::from(place));
            *self.masses.get_mut(place as usize).ok_or_else(problem)? += added;
        }
        Ok(())
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
        let next = self.n_groups() as u32;
        let Self { others, places, .. } = self;
        *places.entry(name).or_insert_with(|| {
            others.push(name);
            next
        })
    }

    /// The groups of local nodes and ghosts: equal numbers for equal groups.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The same, at the end of all sweeps.
    pub fn into_groups(self) -> Vec<u32> {
        self.groups
    }
}

fn not_kept(shard: &Shard, place: u64) -> Error {
    Error::shape(format!("group {place} of shard {} is asked for, which it does not keep", shard.index()))
}
