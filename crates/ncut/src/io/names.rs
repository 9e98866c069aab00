//! The nodes' own ids, numbered by first appearance.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::error::{Error, Result};
use crate::graph::{Array, NodeId};

/// Stands where a damaged file holds no text.
const NO_TEXT: &str = "\u{fffd}";

/// The ids of all nodes: `get` tells a node's id, `find` the node of an id.
///
/// All ids stand in one string, so a million of them take little more than their letters.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: Array<'static, u8>,
    /// Where each id ends in `text`.
    ends: Array<'static, u64>,
    /// The nodes by their ids, made when the first is looked for.
    numbers: OnceLock<HashTable<NodeId>>,
    hasher: DefaultHashBuilder,
    /// What is yet to be compared, for the names of a mapped file.
    checksums: Option<NameChecksums>,
}

/// CRC-32 of the arrays of names.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameChecksums {
    pub(super) text: u32,
    pub(super) ends: u32,
}

impl Names {
    /// Ids that stand in `text` one after the other.
    pub(super) fn new(text: impl Into<Array<'static, u8>>, ends: impl Into<Array<'static, u64>>) -> Self {
        Self { text: text.into(), ends: ends.into(), ..Self::default() }
    }

    /// Ids of a mapped file, which [`verify`](Self::verify) compares with their checksums.
    pub(super) fn sealed(
        text: Array<'static, u8>,
        ends: Array<'static, u64>,
        checksums: Option<NameChecksums>,
    ) -> Self {
        Self { checksums, ..Self::new(text, ends) }
    }

    /// Makes sure that the ids are what was written.
    pub(super) fn verify(&self) -> Result<()> {
        let Some(checksums) = self.checksums else { return Ok(()) };
        if crc32fast::hash(&self.text) != checksums.text {
            return Err(Error::damaged("the checksum of its names is wrong"));
        }
        if crc32fast::hash(bytemuck::cast_slice(&self.ends)) != checksums.ends {
            return Err(Error::damaged("the checksum of the ends of its names is wrong"));
        }
        let text = str::from_utf8(&self.text).map_err(|_| Error::damaged("its names are not UTF-8 text"))?;
        let mut start = 0;
        for &end in self.ends.iter() {
            if end < start || !text.is_char_boundary(end as usize) {
                return Err(Error::damaged("the ends of its names are not in order"));
            }
            start = end;
        }
        Ok(())
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of a node. (An id that a damaged file does not hold as text is `�`.)
    ///
    /// # Panics
    /// When there is no such node.
    pub fn get(&self, node: NodeId) -> &str {
        str::from_utf8(name(&self.text, &self.ends, node)).unwrap_or(NO_TEXT)
    }

    /// All ids in node order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as NodeId).map(|node| self.get(node))
    }

    /// The node with this id. The first call takes time for all ids.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        let hash = |id: &str| self.hasher.hash_one(id);
        let numbers = self.numbers.get_or_init(|| {
            let mut numbers = HashTable::with_capacity(self.len());
            for (node, id) in self.iter().enumerate() {
                numbers.insert_unique(hash(id), node as NodeId, |&other| hash(self.get(other)));
            }
            numbers
        });
        numbers.find(hash(id), |&node| self.get(node) == id).copied()
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn ends(&self) -> &[u64] {
        &self.ends
    }
}

/// Numbers ids as they appear.
///
/// Whole numbers, the common case, need neither hash nor letters: a table answers for those that are small against the
/// number of nodes.
#[derive(Default)]
pub(super) struct Numbering {
    text: Vec<u8>,
    ends: Vec<u64>,
    /// The nodes of small whole numbers; `UNSEEN` for those that did not appear.
    table: Vec<NodeId>,
    /// The nodes of whole numbers beyond the table.
    integers: HashMap<u64, NodeId>,
    /// The nodes of all other ids.
    words: HashTable<NodeId>,
    hasher: DefaultHashBuilder,
}

/// Stands for an id that did not appear yet.
pub(super) const UNSEEN: NodeId = NodeId::MAX;
/// The table reaches so far at least.
const LEAST_TABLE: u64 = 1 << 20;
/// Places in the table for every node, at most.
const PLACES_PER_NODE: u64 = 8;

impl Numbering {
    /// Number of ids so far.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn finish(self) -> Names {
        Names::new(self.text, self.ends)
    }

    /// The node whose id is a whole number as [`whole_number`] knows it; `UNSEEN` if it did not appear yet.
    #[inline]
    pub(super) fn known_integer(&self, id: u64) -> NodeId {
        match self.table.get(id as usize) {
            Some(&node) => node,
            None => self.integers.get(&id).copied().unwrap_or(UNSEEN),
        }
    }

    /// The node whose id is no whole number; `UNSEEN` if it did not appear yet.
    pub(super) fn known_word(&self, id: &str) -> NodeId {
        let hash = self.hasher.hash_one(id.as_bytes());
        let found = self.words.find(hash, |&node| name(&self.text, &self.ends, node) == id.as_bytes());
        found.copied().unwrap_or(UNSEEN)
    }

    /// The node whose id is a whole number, the next free number if it is new.
    ///
    /// # Errors
    /// When there are more ids than node numbers.
    pub(super) fn integer(&mut self, id: u64) -> Result<NodeId> {
        let node = self.known_integer(id);
        if node != UNSEEN {
            return Ok(node);
        }
        if id >= self.table.len() as u64 && id < LEAST_TABLE.max(self.len() as u64 * PLACES_PER_NODE) {
            self.widen_table(id);
        }
        let mut digits = [0; 20];
        let node = self.add(digits_of(id, &mut digits))?;
        match self.table.get_mut(id as usize) {
            Some(place) => *place = node,
            None => _ = self.integers.insert(id, node),
        }
        Ok(node)
    }

    /// Makes the table reach beyond `id`; what it reaches is in the map no longer.
    fn widen_table(&mut self, id: u64) {
        self.table.resize((id + 1).next_power_of_two() as usize, UNSEEN);
        let table = &mut self.table;
        self.integers.retain(|&id, &mut node| match table.get_mut(id as usize) {
            Some(place) => {
                *place = node;
                false
            }
            None => true,
        });
    }

    /// The node whose id is no whole number, the next free number if it is new.
    ///
    /// # Errors
    /// When there are more ids than node numbers.
    pub(super) fn word(&mut self, id: &str) -> Result<NodeId> {
        let node = self.known_word(id);
        if node != UNSEEN {
            return Ok(node);
        }
        let node = self.add(id.as_bytes())?;
        let Self { text, ends, words, hasher, .. } = self;
        words.insert_unique(hasher.hash_one(id.as_bytes()), node, |&other| {
            hasher.hash_one(name(text, ends, other))
        });
        Ok(node)
    }

    fn add(&mut self, id: &[u8]) -> Result<NodeId> {
        let node = self.len() as NodeId;
        if node == NodeId::MAX {
            return Err(Error::TooManyNodes { n_nodes: u64::from(node) + 1 });
        }
        self.text.extend_from_slice(id);
        self.ends.push(self.text.len() as u64);
        Ok(node)
    }
}

/// An id as a number where that tells it from all other ids: plain digits without a zero in front.
pub(super) fn whole_number(id: &[u8]) -> Option<u64> {
    // Eighteen digits leave some bits free.
    if id.is_empty() || id.len() > 18 || (id[0] == b'0' && id.len() > 1) {
        return None;
    }
    id.iter()
        .try_fold(0, |number, &digit| digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0')))
}

fn digits_of(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    while number >= 10 {
        start -= 2;
        let pair = (number % 100) as u8;
        (digits[start], digits[start + 1]) = (b'0' + pair / 10, b'0' + pair % 10);
        number /= 100;
    }
    if number > 0 || start == digits.len() {
        start -= 1;
        digits[start] = b'0' + number as u8;
    }
    &digits[start..]
}

/// The letters of an id; none where a damaged file tells no place in the text.
fn name<'t>(text: &'t [u8], ends: &[u64], node: NodeId) -> &'t [u8] {
    let start = (node as usize).checked_sub(1).map_or(0, |before| ends[before]);
    text.get(start as usize..ends[node as usize] as usize).unwrap_or_default()
}
