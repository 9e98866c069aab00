//! Groups of nodes: what the nodes of a coarser level stand for.

/// Groups of nodes, numbered from 0.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    pub(crate) of_node: Vec<u32>,
    pub(crate) count: usize,
}

impl Groups {
    /// Every node in a group of its own.
    pub(crate) fn singletons(n_nodes: usize) -> Self {
        Self { of_node: (0..n_nodes as u32).collect(), count: n_nodes }
    }

    /// Groups by labels below the number of nodes, numbered by first appearance.
    pub(crate) fn numbered(mut of_node: Vec<u32>) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let mut number = vec![UNSEEN; of_node.len()];
        let mut count = 0;
        for label in &mut of_node {
            let number = &mut number[*label as usize];
            if *number == UNSEEN {
                *number = count;
                count += 1;
            }
            *label = *number;
        }
        Self { of_node, count: count as usize }
    }

    /// The groups that these groups are in.
    pub(crate) fn compose(&mut self, coarser: &Self) {
        for group in &mut self.of_node {
            *group = coarser.of_node[*group as usize];
        }
        self.count = coarser.count;
    }

    /// A value of every node, which the nodes of a group share, as a value of every group: restriction to the coarser
    /// level.
    pub(crate) fn restrict(&self, values: &[u32]) -> Vec<u32> {
        let mut of_group = vec![0; self.count];
        for (&group, &value) in self.of_node.iter().zip(values) {
            of_group[group as usize] = value;
        }
        of_group
    }

    /// A value of every group as a value of every node: projection to the finer level.
    pub(crate) fn project(&self, values: &[u32]) -> Vec<u32> {
        self.of_node.iter().map(|&group| values[group as usize]).collect()
    }
}
