//! The nodes' own ids, numbered by first appearance.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::error::{Error, Result};
use crate::graph::{Array, NodeId};

/// Stands where a damaged file holds no text.
const NO_TEXT: &str = "\u{fffd}";

/// The ids of all nodes: `get` tells a node's id, `find` the node of an id.
///
/// Whole numbers are kept as such and all others in one string, so a million ids take eight megabytes and their letters.
#[derive(Clone, Debug, Default)]
pub struct Names {
    ids: Ids,
    /// The nodes by their ids, made when the first is looked for.
    numbers: OnceLock<HashTable<NodeId>>,
    hasher: DefaultHashBuilder,
    /// What is yet to be compared, for the names of a mapped file.
    checksums: Option<NameChecksums>,
}

#[derive(Clone, Debug)]
enum Ids {
    Written(Written),
    Numbered(Numbered),
}

impl Default for Ids {
    fn default() -> Self {
        Self::Numbered(Numbered::default())
    }
}

/// Ids that stand in one text, one after the other.
#[derive(Clone, Debug)]
struct Written {
    text: Array<'static, u8>,
    /// Where each id ends in `text`.
    ends: Array<'static, u64>,
}

/// Ids that are whole numbers, most of them.
#[derive(Clone, Debug, Default)]
struct Numbered {
    /// Whole numbers as they are; of other ids [`IS_WORD`] and their place among the words.
    ids: Vec<u64>,
    word_text: Vec<u8>,
    /// Where each word ends in `word_text`.
    word_ends: Vec<u64>,
}

/// Marks an id that is no whole number: the other bits are its place among the words.
pub(super) const IS_WORD: u64 = 1 << 63;

impl Numbered {
    /// The letters of a node's id; those of a number are put into `digits`.
    #[inline]
    fn letters<'t>(&'t self, node: NodeId, digits: &'t mut Digits) -> &'t [u8] {
        match self.ids[node as usize] {
            number if number & IS_WORD == 0 => digits_of(number, digits),
            _ => self.word(node),
        }
    }

    /// The letters of a node's id that is no whole number.
    fn word(&self, node: NodeId) -> &[u8] {
        name(&self.word_text, &self.word_ends, (self.ids[node as usize] & !IS_WORD) as usize)
    }
}

/// Ids whose letters are written out at a time.
const IDS_PER_PIECE: usize = 1 << 14;

/// CRC-32 of the arrays of names.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameChecksums {
    pub(super) text: u32,
    pub(super) ends: u32,
}

impl Names {
    /// Ids of a mapped file, which [`verify`](Self::verify) compares with their checksums.
    pub(super) fn sealed(
        text: Array<'static, u8>,
        ends: Array<'static, u64>,
        checksums: Option<NameChecksums>,
    ) -> Self {
        Self { ids: Ids::Written(Written { text, ends }), checksums, ..Self::default() }
    }

    /// Makes sure that the ids are what was written.
    pub(super) fn verify(&self) -> Result<()> {
        let (Some(checksums), Ids::Written(Written { text, ends })) = (self.checksums, &self.ids) else {
            return Ok(());
        };
        if crc32fast::hash(text) != checksums.text {
            return Err(Error::damaged("the checksum of its names is wrong"));
        }
        if crc32fast::hash(bytemuck::cast_slice(ends)) != checksums.ends {
            return Err(Error::damaged("the checksum of the ends of its names is wrong"));
        }
        let text = str::from_utf8(text).map_err(|_| Error::damaged("its names are not UTF-8 text"))?;
        let mut start = 0;
        for &end in ends.iter() {
            if end < start || !text.is_char_boundary(end as usize) {
                return Err(Error::damaged("the ends of its names are not in order"));
            }
            start = end;
        }
        Ok(())
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match &self.ids {
            Ids::Written(written) => written.ends.len(),
            Ids::Numbered(numbered) => numbered.ids.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of a node. (An id that a damaged file does not hold as text is `�`.)
    ///
    /// # Panics
    /// When there is no such node.
    pub fn get(&self, node: NodeId) -> Cow<'_, str> {
        let letters = match &self.ids {
            Ids::Written(written) => name(&written.text, &written.ends, node as usize),
            Ids::Numbered(numbered) => match numbered.ids[node as usize] {
                number if number & IS_WORD == 0 => return Cow::Owned(number.to_string()),
                _ => numbered.word(node),
            },
        };
        Cow::Borrowed(str::from_utf8(letters).unwrap_or(NO_TEXT))
    }

    /// All ids in node order.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len() as NodeId).map(|node| self.get(node))
    }

    /// The node with this id. The first call takes time for all ids.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        let hash = |node: NodeId| self.hasher.hash_one(self.letters(node, &mut Digits::default()));
        let numbers = self.numbers.get_or_init(|| {
            let mut numbers = HashTable::with_capacity(self.len());
            for node in 0..self.len() as NodeId {
                numbers.insert_unique(hash(node), node, |&other| hash(other));
            }
            numbers
        });
        let is_it = |&node: &NodeId| self.letters(node, &mut Digits::default()) == id.as_bytes();
        numbers.find(self.hasher.hash_one(id.as_bytes()), is_it).copied()
    }

    /// The letters of a node's id; those of a number are put into `digits`.
    fn letters<'t>(&'t self, node: NodeId, digits: &'t mut Digits) -> &'t [u8] {
        match &self.ids {
            Ids::Written(written) => name(&written.text, &written.ends, node as usize),
            Ids::Numbered(numbered) => numbered.letters(node, digits),
        }
    }

    /// Calls `take` with where each id ends when they stand one after the other, piece by piece; tells where the last does.
    pub(super) fn write_ends(&self, mut take: impl FnMut(&[u64]) -> io::Result<()>) -> io::Result<u64> {
        let mut digits = Digits::default();
        let (mut ends, mut end) = (Vec::with_capacity(IDS_PER_PIECE), 0);
        for nodes in self.pieces() {
            ends.clear();
            ends.extend(nodes.map(|node| {
                end += self.letters(node, &mut digits).len() as u64;
                end
            }));
            take(&ends)?;
        }
        Ok(end)
    }

    /// Calls `take` with the letters of all ids, one after the other, piece by piece.
    pub(super) fn write_text(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut digits = Digits::default();
        let mut text = Vec::new();
        for nodes in self.pieces() {
            text.clear();
            nodes.for_each(|node| text.extend_from_slice(self.letters(node, &mut digits)));
            take(&text)?;
        }
        Ok(())
    }

    fn pieces(&self) -> impl Iterator<Item = Range<NodeId>> {
        let n_ids = self.len();
        (0..n_ids)
            .step_by(IDS_PER_PIECE)
            .map(move |start| start as NodeId..n_ids.min(start + IDS_PER_PIECE) as NodeId)
    }
}

/// Numbers ids as they appear.
///
/// Whole numbers, the common case, need neither hash nor letters: a table answers for those that are small against the
/// number of nodes.
#[derive(Default)]
pub(super) struct Numbering {
    numbered: Numbered,
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
const MIN_TABLE: u64 = 1 << 20;
/// Places in the table for every node, at most.
const PLACES_PER_NODE: u64 = 8;

impl Numbering {
    /// Number of ids so far.
    pub(super) fn len(&self) -> usize {
        self.numbered.ids.len()
    }

    /// Bytes of memory, about.
    pub(super) fn n_bytes(&self) -> u64 {
        let Numbered { ids, word_text, word_ends } = &self.numbered;
        let tables = 4 * self.table.capacity() + 24 * self.integers.capacity() + 8 * self.words.capacity();
        (8 * ids.capacity() + word_text.capacity() + 8 * word_ends.capacity() + tables) as u64
    }

    pub(super) fn finish(self) -> Names {
        Names { ids: Ids::Numbered(self.numbered), ..Names::default() }
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
        let found = self.words.find(hash, |&node| self.numbered.word(node) == id.as_bytes());
        found.copied().unwrap_or(UNSEEN)
    }

    /// The node whose id is a whole number, the next free number if it is new.
    ///
    /// # Errors
    /// When there are more ids than node numbers.
    #[inline]
    pub(super) fn integer(&mut self, id: u64) -> Result<NodeId> {
        let next = self.next()?;
        if let Some(place) = self.table.get_mut(id as usize) {
            // Whether it is new is what a processor would guess wrong: it is added in any case, and maybe taken back.
            let is_new = *place == UNSEEN;
            let node = if is_new { next } else { *place };
            *place = node;
            self.numbered.ids.push(id);
            self.numbered.ids.truncate(next as usize + usize::from(is_new));
            return Ok(node);
        }
        self.distant_integer(id, next)
    }

    /// As [`integer`](Self::integer), beyond the table.
    fn distant_integer(&mut self, id: u64, next: NodeId) -> Result<NodeId> {
        if let Some(&node) = self.integers.get(&id) {
            return Ok(node);
        }
        if id < MIN_TABLE.max(self.len() as u64 * PLACES_PER_NODE) {
            self.widen_table(id);
            self.table[id as usize] = next;
        } else {
            self.integers.insert(id, next);
        }
        self.numbered.ids.push(id);
        Ok(next)
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
        let node = self.next()?;
        let Self { numbered, words, hasher, .. } = self;
        numbered.ids.push(numbered.word_ends.len() as u64 | IS_WORD);
        numbered.word_text.extend_from_slice(id.as_bytes());
        numbered.word_ends.push(numbered.word_text.len() as u64);
        words.insert_unique(hasher.hash_one(id.as_bytes()), node, |&other| {
            hasher.hash_one(numbered.word(other))
        });
        Ok(node)
    }

    /// The number of the next new id.
    #[inline]
    fn next(&self) -> Result<NodeId> {
        match self.len() as NodeId {
            NodeId::MAX => Err(Error::TooManyNodes { n_nodes: u64::from(NodeId::MAX) + 1 }),
            next => Ok(next),
        }
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

/// Room for the digits of any number.
type Digits = [u8; 20];

fn digits_of(mut number: u64, digits: &mut Digits) -> &[u8] {
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
fn name<'t>(text: &'t [u8], ends: &[u64], place: usize) -> &'t [u8] {
    let start = place.checked_sub(1).map_or(0, |before| ends[before]);
    text.get(start as usize..ends[place] as usize).unwrap_or_default()
}
