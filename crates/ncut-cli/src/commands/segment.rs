//! `ncut segment`: a picture in, its regions out.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use ncut::image::{Picture, PictureFormat, boundaries, flat, resize_labels};
use ncut::io::{GraphFormat, read_bytes, write_graph, write_label_grid, write_whole};
use ncut::{ComponentChoice, Graph, Label};
use serde::Serialize;

use super::{check_bound, check_outputs, upper_bound};
use crate::args::{SegmentArgs, StyleArg};
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
    let outputs = [Some(args.output.as_path()), args.graph_out.as_deref(), args.reporting.json.as_deref()];
    let summary = Summary::new(args.reporting.quiet, &outputs);
    args.solving.check()?;
    let output = Output::of(&args.output)?;
    args.graph_out.as_deref().map(GraphFormat::of).transpose()?;
    check_outputs(&[Some(&args.image)], &outputs)?;

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
    let found = args.solving.settings().solve_by(&graph, watch.clock());
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
    let labels = resize_labels(&found.labels, size, (picture.height(), picture.width()))?;
    uninterrupted(|| write_regions(args, output, &picture, &labels))?;
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
    let mut clustering = ClusteringReport::new(&graph, &args.solving, &found, seconds);
    clustering.bound = bound;
    let report = Report { height: picture.height(), width: picture.width(), clustering };
    if let Some(path) = &args.reporting.json {
        write_json(path, &report)?;
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
    let written = [args.graph_out.as_deref(), Some(&args.output), args.reporting.json.as_deref()];
    for path in written.into_iter().flatten().filter(|path| !is_stdout(path)) {
        summary.line(&format!("{} written", path.display()))?;
    }
    Ok(())
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
