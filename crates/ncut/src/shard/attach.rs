//! Pieces that came off their cluster join others.

use super::refine::with_aim;
use super::{Aim, NO_LABEL, Shard};
use crate::error::Result;
use crate::graph::NodeId;
use crate::objective::{Objective, Sums};
use crate::partition::{ClusterId, ClusterTable};

/// What a shard knows of pieces that are to move.
#[derive(Clone, Debug, Default)]
pub struct PieceLinks {
    /// The sums of each over the local rows.
    pub sums: Vec<Sums>,
    /// Links: which piece, which cluster, what weight.
    pub links: Vec<(u32, ClusterId, f64)>,
}

impl PieceLinks {
    /// Of the pieces `moving`, ascending; links to nodes of other moving pieces do not count. `labels` and `pieces` are those
    /// of local nodes and ghosts.
    ///
    /// # Errors
    /// When there is not one of each.
    pub fn new(shard: &Shard, labels: &[u32], pieces: &[u64], moving: &[u64]) -> Result<Self> {
        shard.check_known("labels", labels.len())?;
        shard.check_known("pieces", pieces.len())?;
        let place: Vec<u32> = pieces
            .iter()
            .map(|piece| moving.binary_search(piece).map_or(NO_LABEL, |place| place as u32))
            .collect();
        let mut found = Self { sums: vec![Sums::default(); moving.len()], links: Vec::new() };
        for node in 0..shard.n_local() as NodeId {
            let piece = place[node as usize];
            if piece == NO_LABEL || labels[node as usize] == NO_LABEL {
                continue;
            }
            let own = shard.sums(node);
            let sums = &mut found.sums[piece as usize];
            sums.volume += own.volume;
            sums.size += own.size;
            shard.for_each_entry(node, |other, weight| {
                if place[other as usize] == piece {
                    sums.association += weight;
                } else if place[other as usize] == NO_LABEL {
                    found.links.push((piece, labels[other as usize], weight));
                }
            });
        }
        found.links.sort_by_key(|link| (link.0, link.1));
        found.links.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 += if is_same { next.2 } else { 0.0 };
            is_same
        });
        Ok(found)
    }
}

/// A piece that is to join another cluster.
#[derive(Clone, Debug)]
pub struct LinkedPiece {
    /// The cluster it is in.
    pub from: ClusterId,
    /// Its sums.
    pub sums: Sums,
    /// Clusters it is linked to, and by how much.
    pub links: Vec<(ClusterId, f64)>,
}

/// The cluster that each piece joins, one after the other: of those it is linked to, the one that gains most. `None` where it is
/// linked to no other.
pub fn attach(aim: &Aim, clusters: &[(Sums, usize)], pieces: &[LinkedPiece]) -> Vec<Option<ClusterId>> {
    with_aim!(aim, |objective| {
        let mut table = ClusterTable::new(objective, clusters.iter().copied());
        pieces.iter().map(|piece| join(&mut table, piece)).collect()
    })
}

fn join<O: Objective>(table: &mut ClusterTable<O>, piece: &LinkedPiece) -> Option<ClusterId> {
    let mut best: Option<(f64, ClusterId, f64)> = None;
    for &(to, link) in piece.links.iter().filter(|link| link.0 != piece.from) {
        let gain = table.joining(&piece.sums, to, link);
        if best.is_none_or(|best| gain > best.0) {
            best = Some((gain, to, link));
        }
    }
    let (_, to, link) = best?;
    // A piece has no link to the rest of its own cluster.
    table.apply(&piece.sums, (piece.from, to), (0.0, link));
    Some(to)
}
