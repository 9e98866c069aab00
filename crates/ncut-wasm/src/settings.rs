//! What may be asked for: the options of the command line under the same names, as JSON.

use std::time::Duration;

use ncut::image::{PictureGraph, PixelLinks};
use ncut::io::{EdgeColumns, Header, ReadOptions, TableOptions};
use ncut::neighbors::{Affinity, Linking, PointGraph};
use ncut::{ComponentChoice, Constraints, Ncut, ObjectiveKind, Preset, Symmetrize};
use serde::Deserialize;

/// Everything has the default of the command line.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Settings {
    clusters: Option<Count>,
    pub(crate) preset: PresetName,
    pub(crate) objective: ObjectiveName,
    resolution: Option<f64>,
    min_share: Option<f64>,
    max_share: Option<f64>,
    connected: Option<bool>,
    components: Components,
    pub(crate) bound: bool,
    pub(crate) seed: u64,
    time_limit: Option<f64>,
    /// The ending that tells the format, in place of that of the file's name.
    format: Option<String>,
    header: Option<bool>,
    columns: Option<Columns>,
    symmetrize: Option<SymmetrizeName>,
    pub(crate) standardize: bool,
    id_column: Option<String>,
    pub(crate) truth_column: Option<String>,
    affinity: AffinityName,
    neighbors: Option<usize>,
    gamma: Option<f64>,
    mutual: bool,
    pub(crate) blur: f64,
    pub(crate) scale: Option<f64>,
    graph: LinksName,
    beta: Option<f64>,
    radius: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "`clusters` is a number, or \"auto\"")]
enum Count {
    Exactly(usize),
    Named(Auto),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Auto {
    Auto,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PresetName {
    Paper,
    Fast,
    #[default]
    Default,
    Best,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ObjectiveName {
    #[default]
    Ncut,
    RatioCut,
    Modularity,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Components {
    #[default]
    All,
    Largest,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SymmetrizeName {
    Average,
    Max,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AffinityName {
    #[default]
    SelfTuning,
    Knn,
    Rbf,
    Cosine,
    Adaptive,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LinksName {
    #[default]
    Grid4,
    Grid8,
    Radius,
}

/// As the command line takes them: `a,b,weight`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Columns(EdgeColumns);

impl TryFrom<String> for Columns {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl Settings {
    /// The settings that a text in JSON holds.
    ///
    /// # Errors
    /// A sentence, when a name is not known, a value is of the wrong kind, or they make no sense together.
    pub(crate) fn parse(json: &str) -> Result<Self, String> {
        let settings: Self =
            serde_json::from_str(json).map_err(|error| format!("the settings are wrong: {error}"))?;
        let is_modularity = settings.objective == ObjectiveName::Modularity;
        if settings.clusters.is_none() && !is_modularity {
            return Err("the number of clusters is missing; only modularity can do without".into());
        }
        if settings.resolution.is_some() && !is_modularity {
            return Err("the resolution is for modularity; choose that objective, or leave it out".into());
        }
        if settings.bound && is_modularity {
            return Err(
                "there is no upper bound for modularity; do without, or choose another objective".into()
            );
        }
        Ok(settings)
    }

    pub(crate) fn ncut(&self) -> Ncut {
        let mut ncut = match self.clusters {
            Some(Count::Exactly(n_clusters)) => Ncut::new(n_clusters),
            Some(Count::Named(Auto::Auto)) => Ncut::auto(),
            None => Ncut::communities(1.0),
        };
        if let Some(resolution) = self.resolution {
            ncut = ncut.resolution(resolution);
        }
        ncut = ncut.preset(self.preset.preset()).objective(self.objective.kind()).seed(self.seed);
        if let Some(min_share) = self.min_share {
            ncut = ncut.min_share(min_share);
        }
        if let Some(connected) = self.connected {
            ncut = ncut.connected(connected);
        }
        if let Some(max_share) = self.max_share {
            ncut = ncut.constraints(Constraints::new().max_share(max_share));
        }
        ncut.components(self.components())
    }

    pub(crate) fn components(&self) -> ComponentChoice {
        match self.components {
            Components::All => ComponentChoice::All,
            Components::Largest => ComponentChoice::Largest,
        }
    }

    pub(crate) fn time_limit(&self) -> Result<Option<Duration>, String> {
        let limit = |seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| format!("`timeLimit` is {seconds}; it must be a number of seconds, from 0 up"))
        };
        self.time_limit.map(limit).transpose()
    }

    pub(crate) fn reading(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.clone(),
            symmetrize: match self.symmetrize {
                None => Symmetrize::Refuse,
                Some(SymmetrizeName::Average) => Symmetrize::Average,
                Some(SymmetrizeName::Max) => Symmetrize::Max,
            },
            header: match self.header {
                None => Header::Detect,
                Some(true) => Header::Yes,
                Some(false) => Header::No,
            },
            columns: self.columns.clone().map(|columns| columns.0),
            ..ReadOptions::default()
        }
    }

    pub(crate) fn describing(&self) -> TableOptions {
        TableOptions {
            format: self.format.clone(),
            id_column: self.id_column.clone(),
            truth_column: self.truth_column.clone(),
        }
    }

    pub(crate) fn point_graph(&self) -> PointGraph {
        let usual = PointGraph::default();
        PointGraph {
            affinity: match self.affinity {
                AffinityName::SelfTuning => Affinity::SelfTuning,
                AffinityName::Knn => Affinity::Knn,
                AffinityName::Rbf => Affinity::Rbf { gamma: self.gamma },
                AffinityName::Cosine => Affinity::Cosine,
                AffinityName::Adaptive => Affinity::Adaptive,
            },
            n_neighbors: self.neighbors.unwrap_or(usual.n_neighbors),
            linking: if self.mutual { Linking::Mutual } else { Linking::Union },
            seed: self.seed,
            ..usual
        }
    }

    pub(crate) fn picture_graph(&self) -> PictureGraph {
        let usual = PictureGraph::default();
        PictureGraph {
            links: match self.graph {
                LinksName::Grid4 => PixelLinks::Grid4,
                LinksName::Grid8 => PixelLinks::Grid8,
                LinksName::Radius => PixelLinks::Radius(self.radius.unwrap_or(PictureGraph::RADIUS)),
            },
            beta: self.beta.unwrap_or(usual.beta),
            ..usual
        }
    }

    /// The share that holds.
    pub(crate) fn min_share(&self) -> f64 {
        let usual = match self.objective {
            ObjectiveName::Modularity => 0.0,
            _ => self.preset.preset().min_share(),
        };
        self.min_share.unwrap_or(usual)
    }

    /// Whether clusters are to be connected.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected.unwrap_or(!matches!(self.preset, PresetName::Paper))
    }
}

impl PresetName {
    pub(crate) fn preset(self) -> Preset {
        match self {
            Self::Paper => Preset::Paper,
            Self::Fast => Preset::Fast,
            Self::Default => Preset::Default,
            Self::Best => Preset::Best,
        }
    }
}

impl ObjectiveName {
    pub(crate) fn kind(self) -> ObjectiveKind {
        match self {
            Self::Ncut => ObjectiveKind::NormalizedCut,
            Self::RatioCut => ObjectiveKind::RatioCut,
            Self::Modularity => ObjectiveKind::Modularity,
        }
    }
}
