//! How good a clustering can be at most.

use super::inertia::Plan;
use super::{Spectrum, SpectrumSettings};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Subgraph, Symmetrize};
use crate::objective::ObjectiveKind;
use crate::progress::Clock;

/// What no clustering of a graph can exceed: the sum of the k largest eigenvalues of `D^-1/2 A D^-1/2`.
///
/// For every division into k clusters the objective is the trace of `Q^T S Q` for some orthonormal `Q` of k columns, and
/// that is at most the sum of the k largest eigenvalues (Ky Fan).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpperBound {
    /// The bound, residuals included.
    pub value: f64,
    /// How sure it is.
    pub status: BoundStatus,
}

/// How sure a bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundStatus {
    /// No eigenvalue can have been missed: all were computed, or a factorisation counted them.
    Verified,
    /// The eigenvalues found have converged, but that there are no others among the largest was not confirmed.
    Estimated,
}

impl BoundStatus {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Estimated => "estimated",
        }
    }
}

impl UpperBound {
    /// The bound for `n_clusters`.
    ///
    /// # Errors
    /// When there are fewer nodes than clusters, no cluster is asked for, or the clock says stop before the eigenvalues
    /// have converged.
    ///
    /// ```
    /// use ncut::{Graph, Ncut, spectral::UpperBound};
    /// let graph = Graph::from_edges(4, [(0, 1, 5.0), (1, 2, 0.1), (2, 3, 5.0)])?;
    /// let bound = UpperBound::of(&graph, 2, &Default::default(), &ncut::Clock::new())?;
    /// assert!(bound.value >= Ncut::new(2).solve(&graph)?.objective && bound.value < 1.9903);
    /// # Ok::<(), ncut::Error>(())
    /// ```
    pub fn of(
        graph: &Graph<'_>,
        n_clusters: usize,
        settings: &SpectrumSettings,
        clock: &Clock<'_>,
    ) -> Result<Self> {
        let spectrum = Spectrum::of(graph, n_clusters, settings, clock)?;
        if !spectrum.is_converged {
            return Err(Error::NotConverged { what: "eigenvalues" });
        }
        Self::from_spectrum(graph, &spectrum, clock)
    }

    /// The bound for another objective, in its own terms: no labelling has a higher one.
    ///
    /// Ratio-Cut is `c` times the N-Cut of a graph with self-loops that make every degree `c n_i`, `c` being the largest
    /// degree a node has for its size; so the bound comes from the eigenvalues of that graph, which are those of the
    /// Laplacian, turned round.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn by(
        kind: ObjectiveKind,
        graph: &Graph<'_>,
        n_clusters: usize,
        settings: &SpectrumSettings,
        clock: &Clock<'_>,
    ) -> Result<Self> {
        match kind {
            ObjectiveKind::NormalizedCut => Self::of(graph, n_clusters, settings, clock),
            ObjectiveKind::Modularity => {
                let (value, expected) =
                    (kind.name().to_owned(), "`ncut` or `ratio-cut` where a bound is asked for");
                Err(Error::BadSetting { name: "objective", value, expected })
            }
            ObjectiveKind::RatioCut => {
                let (regular, scale) = regular(graph)?;
                let bound = Self::of(&regular, n_clusters, settings, clock)?;
                Ok(Self { value: scale * (bound.value - n_clusters as f64), ..bound })
            }
        }
    }

    /// The bound for as many clusters as `spectrum`, which is that of `graph`, has pairs.
    ///
    /// # Errors
    /// When the graph is not that of the spectrum.
    pub fn from_spectrum(graph: &Graph<'_>, spectrum: &Spectrum, clock: &Clock<'_>) -> Result<Self> {
        let k = spectrum.count();
        let most: f64 =
            spectrum.values.iter().zip(&spectrum.residuals).map(|(value, residual)| value + residual).sum();
        let bound = |value: f64, status| Ok(Self { value: value.min(k as f64), status });
        if spectrum.is_complete || spectrum.values.last().is_none_or(|&last| last == 1.0) {
            return bound(most, BoundStatus::Verified);
        }
        match confirmed(graph, spectrum, clock)? {
            Some(value) => bound(value.max(most), BoundStatus::Verified),
            None => bound(most, BoundStatus::Estimated),
        }
    }
}

/// The bound when a factorisation says how many eigenvalues there are above the last one found, and there is time for it.
fn confirmed(graph: &Graph<'_>, spectrum: &Spectrum, clock: &Clock<'_>) -> Result<Option<f64>> {
    // How close to the last value is tried; where rounding is larger than that, once more beyond it.
    const MARGINS: [f64; 3] = [1e-10, 1e-9, 1e-8];
    const MAX_ALLOWANCE: f64 = 5e-8;
    let k = spectrum.count();
    let (Some(&last), Some(&residual)) = (spectrum.values.last(), spectrum.residuals.last()) else {
        return Ok(None);
    };
    let n_isolated = graph.n_isolated();
    let part = Subgraph::without_isolated(graph)?;
    let Ok(Some(plan)) = Plan::new(part.graph(), clock) else { return Ok(None) };
    for margin in MARGINS {
        let shift = last + residual + margin;
        let Ok(Some(count)) = plan.count_above(shift, clock) else { return Ok(None) };
        let sure = shift + count.uncertainty;
        let is_above = |&place: &usize| spectrum.values[place] - spectrum.residuals[place] > sure;
        let found: Vec<usize> = (0..k).filter(is_above).collect();
        // Isolated nodes have the value 0, which the factorisation does not see.
        let n_above = count.above + if shift < 0.0 { n_isolated } else { 0 };
        let allowance = (k - found.len()) as f64 * (sure - last);
        if n_above == found.len() && allowance < MAX_ALLOWANCE {
            let value: f64 =
                found.iter().map(|&place| spectrum.values[place] + spectrum.residuals[place]).sum();
            return Ok(Some(value + (k - found.len()) as f64 * sure));
        }
        if count.uncertainty < margin {
            break;
        }
    }
    Ok(None)
}

/// The graph with self-loops that make the degree of every node `c` times its size, and `c`.
fn regular(graph: &Graph<'_>) -> Result<(Graph<'static>, f64)> {
    let nodes = || 0..graph.n_nodes() as NodeId;
    let scale = nodes().map(|node| graph.degree(node) / graph.size(node)).fold(0.0, f64::max);
    let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
    for node in nodes() {
        let own = scale * graph.size(node) - graph.degree(node) + graph.self_loop(node);
        let start = columns.len();
        graph.for_each_neighbor(node, |neighbor, weight| {
            columns.push(neighbor);
            weights.push(weight);
        });
        let place = start + columns[start..].partition_point(|&neighbor| neighbor < node);
        columns.insert(place, node);
        weights.insert(place, own.max(0.0));
        offsets.push(columns.len() as u64);
    }
    Ok((Graph::from_csr(offsets, columns, weights.into(), Symmetrize::Refuse)?, scale))
}
