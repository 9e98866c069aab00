//! The work itself, as the commands `cluster`, `points` and `segment` do it between reading and writing.

use std::borrow::Cow;
use std::path::Path;

use ncut::image::{Picture, PictureFormat, boundaries, flat, resize_labels};
use ncut::io::{
    Classes, GraphFile, Names, Table, TableFile, parse_graph_file, parse_table_file, write_labels_text,
};
use ncut::spectral::{BoundStatus, SpectrumSettings, UpperBound};
use ncut::{Agreement, Clock, Clustering, ComponentChoice, Error, Graph, Label, NodeId, Page, StopReason};

use crate::settings::Settings;
use crate::summary::Summary;

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Graph,
    Points,
    Picture,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "graph" => Some(Self::Graph),
            "points" => Some(Self::Points),
            "picture" => Some(Self::Picture),
            _ => None,
        }
    }

    /// The command that does this work.
    fn command(self) -> &'static str {
        match self {
            Self::Graph => "ncut cluster",
            Self::Points => "ncut points",
            Self::Picture => "ncut segment",
        }
    }
}

/// A file that was read and clustered.
pub(crate) struct Work {
    name: String,
    kind: Kind,
    settings: Settings,
    graph: Graph<'static>,
    names: Option<Names>,
    table: Option<Table>,
    /// The picture and the region of each of its pixels.
    picture: Option<(Picture, Vec<Label>)>,
    found: Clustering,
    bound: Option<UpperBound>,
    agreement: Option<(Agreement, String)>,
    classes: Option<Classes>,
    notes: Vec<String>,
}

/// A file as it was read, and its graph.
struct Input {
    graph: Graph<'static>,
    names: Option<Names>,
    table: Option<Table>,
    /// The picture, and rows and columns of the one that the graph was made of.
    picture: Option<(Picture, (usize, usize))>,
    classes: Option<Classes>,
    notes: Vec<String>,
}

impl Input {
    fn of_graph(file: GraphFile) -> Self {
        let mut notes = Vec::new();
        if let Some(line) = &file.header {
            notes.push(format!("The first line, `{line}`, is taken for a header."));
        }
        match &file.ignored_columns[..] {
            [] => {}
            [column] => notes.push(format!("Column `{column}` is not read.")),
            columns => notes.push(format!("Columns `{}` are not read.", columns.join("`, `"))),
        }
        Self { graph: file.graph, names: file.names, table: None, picture: None, classes: None, notes }
    }

    fn read(
        kind: Kind,
        name: &Path,
        bytes: &[u8],
        settings: &Settings,
        clock: &Clock<'_>,
    ) -> ncut::Result<Self> {
        match kind {
            Kind::Graph => {
                let file = parse_graph_file(bytes, name, &settings.reading(), clock)?;
                file.verify(clock)?;
                Ok(Self::of_graph(file))
            }
            Kind::Points => {
                let file = parse_table_file(bytes, name, &settings.describing(), clock)?;
                let TableFile { mut table, names, classes } = file;
                if settings.standardize {
                    table.standardize();
                }
                let graph = settings.point_graph().build(table.points(), clock)?;
                Ok(Self { graph, names, table: Some(table), picture: None, classes, notes: Vec::new() })
            }
            Kind::Picture => {
                let picture = Picture::decode_by(bytes, name, clock)?;
                let prepared = picture.prepare(settings.blur, settings.scale, clock)?;
                let graph = settings.picture_graph().build(&prepared, clock)?;
                let size = (prepared.height(), prepared.width());
                drop(prepared);
                let picture = Some((picture, size));
                Ok(Self { graph, names: None, table: None, picture, classes: None, notes: Vec::new() })
            }
        }
    }
}

impl Work {
    /// Reads a file of this kind and name, and clusters what is in it.
    ///
    /// # Errors
    /// What was refused, with its place and the remedy.
    pub(crate) fn run(
        kind: Kind,
        name: &str,
        bytes: &[u8],
        settings: Settings,
        clock: &Clock<'_>,
    ) -> Result<Self, String> {
        let limit = settings.time_limit()?;
        let path = Path::new(name);
        let told = |error: Error| error.at(path).to_string();
        let input = Input::read(kind, path, bytes, &settings, clock).map_err(told)?;
        if let Some(limit) = limit {
            clock.limit(limit);
        }
        let Input { graph, names, table, picture, classes, notes } = input;
        let found = settings.ncut().solve_by(&graph, clock).map_err(told)?;
        let bound = match settings.bound {
            true => upper_bound(&graph, &found, &settings, clock).map_err(told)?,
            false => None,
        };
        let agreement = match &classes {
            Some(classes) => {
                let column = format!("column {}", settings.truth_column.as_deref().unwrap_or_default());
                Some((Agreement::new(&found.labels, &classes.labels).map_err(told)?, column))
            }
            None => None,
        };
        let picture = match picture {
            Some((picture, size)) => {
                let whole = (picture.height(), picture.width());
                let regions = resize_labels(&found.labels, size, whole).map_err(told)?;
                Some((picture, regions))
            }
            None => None,
        };
        let name = name.to_owned();
        Ok(Self {
            name,
            kind,
            settings,
            graph,
            names,
            table,
            picture,
            found,
            bound,
            agreement,
            classes,
            notes,
        })
    }

    /// Labels of nodes, of points, or of the pixels of a picture row after row.
    pub(crate) fn labels(&self) -> &[Label] {
        self.picture.as_ref().map_or(&self.found.labels, |(_, regions)| regions)
    }

    /// The nodes' ids, where the file has them.
    pub(crate) fn nodes(&self) -> Option<Vec<String>> {
        self.names.as_ref().map(|names| names.iter().map(Cow::into_owned).collect())
    }

    /// Rows and columns of the labels of a picture.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        self.picture.as_ref().map(|(picture, _)| (picture.height(), picture.width()))
    }

    /// The labels as the command line writes them.
    pub(crate) fn labels_text(&self, separator: char) -> String {
        let mut text = Vec::new();
        write_labels_text(&mut text, self.labels(), self.names.as_ref(), separator)
            .expect("memory takes what is written");
        String::from_utf8(text).expect("ids are text")
    }

    pub(crate) fn summary(&self) -> Summary {
        let agreement = self.agreement.as_ref().map(|(agreement, _)| *agreement);
        Summary::new(&self.graph, &self.settings, &self.found, self.bound, agreement, self.notes.clone())
    }

    /// The page to look at.
    ///
    /// # Errors
    /// When the clock says stop.
    pub(crate) fn page(&self, clock: &Clock<'_>) -> Result<String, String> {
        let name =
            |node: NodeId| self.names.as_ref().map_or_else(String::new, |names| names.get(node).into_owned());
        let mut page = Page::new(self.name.clone(), &self.graph, &self.found.labels);
        page.objective = self.found.objective_kind;
        page.name = if self.names.is_some() { Some(&name) } else { None };
        page.points = self.table.as_ref().map(|table| (table.points(), table.column_names()));
        page.picture = self.picture.as_ref().map(|(picture, regions)| (picture, &regions[..]));
        page.bound = self.bound.map(|bound| (bound.value, bound.status == BoundStatus::Verified));
        page.agreement = self.agreement.clone();
        page.truth = self.classes.as_ref().map(|classes| (&classes.labels[..], &classes.names[..]));
        page.reason = self.found.count.as_ref().map(|count| count.reason.to_string());
        page.asked = self.asked();
        match self.found.stop_reason {
            StopReason::TimeLimit => {
                page.remarks.push("Stopped by the time limit: this is the best so far.".into());
            }
            StopReason::Cancelled => page.remarks.push("Stopped: this is the best so far.".into()),
            _ => {}
        }
        page.html(clock).map_err(|error| error.to_string())
    }

    /// What was asked for.
    fn asked(&self) -> Vec<(String, String)> {
        let settings = &self.settings;
        let pairs = [
            ("Command", self.kind.command().to_owned()),
            ("Preset", settings.preset.preset().name().to_owned()),
            ("Objective", settings.objective.kind().name().to_owned()),
            ("Smallest share", settings.min_share().to_string()),
            ("Connected", if settings.is_connected() { "yes" } else { "no" }.to_owned()),
            ("Seed", settings.seed.to_string()),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The picture with its regions as a PNG: their borders drawn over it, or each in a colour of its own.
    ///
    /// # Errors
    /// When this is no picture, or PNG cannot hold it.
    pub(crate) fn drawing(&self, is_flat: bool) -> Result<Vec<u8>, String> {
        let Some((picture, regions)) = &self.picture else {
            return Err("there is no picture to draw regions on".into());
        };
        let drawn = match is_flat {
            true => flat(picture.height(), picture.width(), regions),
            false => boundaries(picture, regions),
        };
        let format = PictureFormat::of(Path::new("regions.png"));
        let encode = |drawing: Picture| drawing.encode(format?);
        drawn.and_then(encode).map_err(|error| error.to_string())
    }
}

/// How good any clustering can be at most; none where there was no time for it.
fn upper_bound(
    graph: &Graph<'_>,
    found: &Clustering,
    settings: &Settings,
    clock: &Clock<'_>,
) -> ncut::Result<Option<UpperBound>> {
    let part = match settings.components() {
        ComponentChoice::All => None,
        ComponentChoice::Largest => Some(graph.induced(&graph.components().largest())?),
    };
    let spectrum = SpectrumSettings { seed: settings.seed, ..SpectrumSettings::default() };
    let (graph, kind) = (part.as_ref().unwrap_or(graph), settings.objective.kind());
    match UpperBound::by(kind, graph, found.clusters.len(), &spectrum, clock) {
        Ok(bound) => Ok(Some(bound)),
        Err(Error::Stopped { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
