//! Sets that only ever join.

/// Numbers `0..n`, each in one set.
#[derive(Clone, Debug)]
pub(crate) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// `n` sets of one number each; `n` fits 32 bits, as node numbers do.
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect() }
    }

    /// The lowest number in the set of `item`.
    pub(crate) fn find(&mut self, item: usize) -> usize {
        let mut item = item as u32;
        while self.parent[item as usize] != item {
            let grandparent = self.parent[self.parent[item as usize] as usize];
            self.parent[item as usize] = grandparent;
            item = grandparent;
        }
        item as usize
    }

    /// Makes one set of two.
    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }

    /// The lowest number in the set of every number.
    pub(crate) fn into_lowest(mut self) -> Vec<u32> {
        // The parent of a number is never higher: what it points at is known already.
        for item in 0..self.parent.len() {
            self.parent[item] = self.parent[self.parent[item] as usize];
        }
        self.parent
    }

    /// The set of every number, numbered by first appearance, and how many sets there are.
    pub(crate) fn numbered(&mut self) -> (Vec<u32>, usize) {
        let mut count = 0;
        let mut number = vec![0; self.parent.len()];
        for item in 0..self.parent.len() {
            let lowest = self.find(item);
            number[item] = if lowest == item {
                count += 1;
                count - 1
            } else {
                number[lowest]
            };
        }
        (number, count as usize)
    }
}
