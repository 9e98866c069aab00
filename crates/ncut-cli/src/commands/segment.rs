//! `ncut segment`: a picture in, its regions out.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use ncut::image::{Mask, Picture, PictureFormat, Scribbles, boundaries, flat, resize_labels};
use ncut::io::{GraphFormat, read_bytes, write_graph, write_label_grid, write_whole};
use ncut::{Clustering, ComponentChoice, Constraints, Graph, Label, NodeId, Page, UNLABELLED};
use serde::Serialize;

use super::{check_bound, check_outputs, upper_bound};
use crate::args::{Count, SegmentArgs, StyleArg};
use crate::page::{asked, check_page, title, write_page};
use crate::report::{BoundReport, ClusteringReport, Seconds, Summary, is_stdout, stop_remark, write_json};
use crate::signals::uninterrupted;
use crate::watch::{OnInterrupt, Watch};

#[derive(Serialize)]
struct Report {
    height: usize,
    width: usize,
    #[serde(flatten)]
    clustering: ClusteringReport,
}

/// How the regions are written.
#[derive(Clone, Copy)]
enum Output {
    Labels,
    Drawing(PictureFormat),
}

impl Output {
    fn of(path: &Path) -> ncut::Result<Self> {
        match path.extension() {
            Some(ending) if ending.eq_ignore_ascii_case("npy") => Ok(Self::Labels),
            _ => PictureFormat::of(path).map(Self::Drawing),
        }
    }
}

pub(crate) fn run(args: &SegmentArgs) -> Result<()> {
    let started = Instant::now();
    check_page(&args.page)?;
    let page = args.page.report.as_deref();
    let outputs =
        [Some(args.output.as_path()), args.graph_out.as_deref(), args.reporting.json.as_deref(), page];
    let summary = Summary::new(args.reporting.quiet, &outputs);
    args.solving.check()?;
    let output = Output::of(&args.output)?;
    args.graph_out.as_deref().map(GraphFormat::of).transpose()?;
    check_outputs(&[Some(&args.image), args.seeds.as_deref(), args.mask.as_deref()], &outputs)?;

    let watch = Watch::start(args.reporting.quiet, OnInterrupt::Keep);
    let refused = |error: ncut::Error| error.at(&args.image);
    let limit_memory = || watch.limit_memory(args.memory.memory_limit);
    limit_memory();
    let bytes = read_bytes(&args.image, watch.clock())?;
    let picture = Picture::decode_by(&bytes, &args.image, watch.clock()).map_err(refused)?;
    drop(bytes);
    if let Output::Drawing(format) = output {
        format.check_size(picture.height(), picture.width()).map_err(|error| error.at(&args.output))?;
    }
    watch.check()?;
    let guides = Guides::read(args, &picture, &watch)?;
    let read = started.elapsed().as_secs_f64();
    watch.limit(args.solving.time_limit);

    let building = Instant::now();
    limit_memory();
    let (graph, size) = build(args, &picture, &watch).map_err(refused)?;
    let build = building.elapsed().as_secs_f64();
    watch.check()?;

    let solving = Instant::now();
    limit_memory();
    check_bound(&graph, &args.solving, &watch).map_err(refused)?;
    let found = guides.solve(args, &graph, size, &watch);
    watch.finish();
    let found = found.map_err(refused)?;
    let solve = solving.elapsed().as_secs_f64();

    let bounding = Instant::now();
    let bound = upper_bound(&graph, found.clusters.len(), ComponentChoice::All, &args.solving, &watch)?;
    let bounded = bounding.elapsed().as_secs_f64();

    // Files first: what is printed may find nobody to read it.
    let writing = Instant::now();
    if let Some(path) = &args.graph_out {
        uninterrupted(|| write_graph(path, &graph, None))?;
    }
    let mut labels = resize_labels(&found.labels, size, (picture.height(), picture.width()))?;
    guides.draw_on(&mut labels);
    uninterrupted(|| write_regions(args, output, &picture, &labels))?;
    if let Some(path) = page {
        let mut page = Page::new(title(&args.image), &graph, &found.labels);
        page.objective = found.objective_kind;
        page.picture = Some((&picture, &labels));
        page.bound = bound.as_ref().and_then(BoundReport::value_and_certainty);
        page.asked = asked("segment", &args.solving, found.clusters.len(), args.pixels.described(size));
        page.remarks.extend(stop_remark(found.stop_reason).map(str::to_owned));
        write_page(path, &page, watch.clock().memory())?;
    }
    let write = writing.elapsed().as_secs_f64();
    let seconds = Seconds {
        read,
        build,
        solve,
        bound: bounded,
        write,
        total: started.elapsed().as_secs_f64(),
        ..Seconds::default()
    };
    let mut clustering = ClusteringReport::new(&graph, &args.solving, args.max_share, &found, seconds);
    clustering.bound = bound;
    let report = Report { height: picture.height(), width: picture.width(), clustering };
    if let Some(path) = &args.reporting.json {
        write_json(path, "segment", &args.image, &report)?;
    }
    print_summary(args, &summary, &report, size)?;
    if let Some(remark) = report.clustering.cut.disconnected() {
        summary.line(&remark)?;
    }
    if let Some(remark) = stop_remark(found.stop_reason) {
        summary.line(remark)?;
    }
    if let Some(remark) = report.clustering.bound.as_ref().and_then(BoundReport::stop_remark) {
        summary.line(&remark)?;
    }
    let written = [args.graph_out.as_deref(), Some(&args.output), page, args.reporting.json.as_deref()];
    for path in written.into_iter().flatten().filter(|path| !is_stdout(path)) {
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
}

/// Pictures that say which regions are known, and what is to be divided.
struct Guides {
    seeds: Option<Scribbles>,
    mask: Option<Mask>,
}

impl Guides {
    fn read(args: &SegmentArgs, picture: &Picture, watch: &Watch) -> Result<Self> {
        let size = (picture.height(), picture.width());
        let check_size = |path: &Path, own: (usize, usize)| match own == size {
            true => Ok(()),
            false => Err(ncut::Error::BadShape {
                problem: format!(
                    "has {} x {} pixels, but the picture has {} x {}; they must be as many",
                    own.1, own.0, size.1, size.0
                ),
            }
            .at(path)),
        };
        let seeds = match &args.seeds {
            None => None,
            Some(path) => {
                let bytes = read_bytes(path, watch.clock())?;
                let seeds = Scribbles::decode(&bytes, path, watch.clock()).map_err(|error| error.at(path))?;
                check_size(path, seeds.size())?;
                let n_colours = seeds.colours().len();
                if let Some(Count::Exactly(n_clusters)) = args.solving.n_clusters
                    && n_colours > n_clusters
                {
                    let problem = format!(
                        "has {n_colours} colours, each a region, but {n_clusters} regions were asked for; ask for more with -k, or \
                         paint with fewer colours"
                    );
                    return Err(ncut::Error::BadShape { problem }.at(path).into());
                }
                Some(seeds)
            }
        };
        let mask = match &args.mask {
            None => None,
            Some(path) => {
                let bytes = read_bytes(path, watch.clock())?;
                let mask = Mask::decode(&bytes, path, watch.clock()).map_err(|error| error.at(path))?;
                check_size(path, mask.size())?;
                Some(mask)
            }
        };
        Ok(Self { seeds, mask })
    }

    fn solve(
        &self,
        args: &SegmentArgs,
        graph: &Graph<'_>,
        (height, width): (usize, usize),
        watch: &Watch,
    ) -> ncut::Result<Clustering> {
        let mut constraints = Constraints::new();
        if let Some(max_share) = args.max_share {
            constraints = constraints.max_share(max_share);
        }
        let known = self.seeds.as_ref().map(|seeds| seeds.scaled_to(height, width)).transpose()?;
        let settings = args.solving.settings();
        let Some(mask) = &self.mask else {
            if let Some(known) = known {
                constraints = constraints.fixed(known);
            }
            return settings.constraints(constraints).solve_by(graph, watch.clock());
        };
        let inside: Vec<Label> = mask.is_inside().iter().map(|&is_inside| Label::from(is_inside)).collect();
        let inside = resize_labels(&inside, mask.size(), (height, width))?;
        let nodes: Vec<NodeId> =
            (0..).zip(&inside).filter(|(_, is_inside)| **is_inside == 1).map(|(node, _)| node).collect();
        if let Some(known) = known {
            constraints = constraints.fixed(nodes.iter().map(|&node| known[node as usize]).collect());
        }
        let part = graph.induced(&nodes)?;
        let mut found = settings.constraints(constraints).solve_by(&part, watch.clock())?;
        let mut labels = vec![UNLABELLED; graph.n_nodes()];
        for (&node, &label) in nodes.iter().zip(&found.labels) {
            labels[node as usize] = label;
        }
        found.labels = labels;
        Ok(found)
    }

    /// What is known holds for every pixel of the picture itself, whatever it was scaled to.
    fn draw_on(&self, labels: &mut [Label]) {
        for (label, &known) in labels.iter_mut().zip(self.seeds.iter().flat_map(Scribbles::labels)) {
            if known != UNLABELLED {
                *label = known;
            }
        }
        for (label, &is_inside) in labels.iter_mut().zip(self.mask.iter().flat_map(Mask::is_inside)) {
            if !is_inside {
                *label = UNLABELLED;
            }
        }
    }
}

/// The graph of the blurred and scaled picture, and that picture's rows and columns.
fn build(
    args: &SegmentArgs,
    picture: &Picture,
    watch: &Watch,
) -> ncut::Result<(Graph<'static>, (usize, usize))> {
    let prepared = picture.prepare(args.pixels.blur, args.pixels.scale, watch.clock())?;
    let graph = args.pixels.graph().build(&prepared, watch.clock())?;
    Ok((graph, (prepared.height(), prepared.width())))
}

fn print_summary(
    args: &SegmentArgs,
    summary: &Summary,
    report: &Report,
    (height, width): (usize, usize),
) -> Result<()> {
    let Report { clustering, .. } = report;
    let scaled = if (height, width) == (report.height, report.width) {
        String::new()
    } else {
        format!(", scaled to {width} x {height}")
    };
    summary.line(&format!(
        "{}: {} x {} pixels{scaled}; {}",
        args.image.display(),
        report.width,
        report.height,
        clustering.graph.sentence()
    ))?;
    summary.line(&clustering.sentence())
}

fn write_regions(args: &SegmentArgs, output: Output, picture: &Picture, labels: &[Label]) -> Result<()> {
    let (height, width) = (picture.height(), picture.width());
    let format = match output {
        Output::Labels => return Ok(write_label_grid(&args.output, labels, height, width)?),
        Output::Drawing(format) => format,
    };
    let drawing = match args.style {
        StyleArg::Boundaries => boundaries(picture, labels)?,
        StyleArg::Flat => flat(height, width, labels)?,
    };
    let bytes = drawing.encode(format).map_err(|error| error.at(&args.output))?;
    Ok(write_whole(&args.output, |file| file.write_all(&bytes))?)
}
