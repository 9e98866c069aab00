//! What may be typed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ncut::descent::StoppingRule;
use ncut::image::{PictureGraph, PixelLinks};
use ncut::io::{EdgeColumns, Header, ReadOptions, TableOptions, Verification};
use ncut::neighbors::{Affinity, Linking, PointGraph, SearchMethod};
use ncut::{ComponentChoice, CountRule, Ncut, ObjectiveKind, Preset, Symmetrize};

use crate::UsageError;

/// Normalized-Cut graph clustering: direct, fast, deterministic, exact in k
#[derive(Debug, Parser)]
#[command(name = "ncut", version, arg_required_else_help = true, after_help = flow(EXAMPLES))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ncut demo                                        see it work; no file needed
  ncut cluster roads.mtx -k 32 -o labels.txt       cluster a graph
  ncut points digits.npy -k 10 -o labels.txt       cluster the rows of a table
  ncut segment photo.jpg -k 12 -o regions.png      divide a picture into regions
  ncut score roads.mtx labels.txt                  score labels on a graph
  ncut choose roads.mtx --from 1 --to 20           how many clusters?
  ncut compare roads.mtx -k 32                     every solver side by side
  ncut update groups.txt friends.csv -o new.txt    clusters of a graph that has changed
  ncut convert friends.csv.gz friends.npz          change the format

`ncut COMMAND --help` tells more about a command.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Cluster a graph into k parts
    Cluster(ClusterArgs),
    /// Cluster the rows of a table, by way of a graph of nearest neighbours
    Points(PointsArgs),
    /// Divide a picture into k regions
    Segment(SegmentArgs),
    /// Score a labelling of a graph: N-Cut, and agreement with known labels
    Score(ScoreArgs),
    /// Suggest a number of clusters: objectives over a range of numbers
    Choose(ChooseArgs),
    /// Run every solver on one graph from the same start
    Compare(CompareArgs),
    /// Bring the clusters of a graph that has changed up to date: numbers stay, few nodes move
    Update(UpdateArgs),
    /// Read a graph in one format and write it in another
    Convert(ConvertArgs),
    /// Cluster two examples of the paper, made here, and draw them
    Demo(DemoArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write manual pages into a folder, one for each command
    Man(ManArgs),
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 input refused, or output not writable; 2 wrong usage; 70 a bug in ncut; 130 abandoned by Ctrl-C;
129 and 143 ended by SIGHUP and SIGTERM.";

const GRAPH_HELP: &str = "\
Graph files, by ending (text also with .gz or .zst):
  .txt .tsv .csv .edges   edge list: `from to [weight]` a line; ids are any words or numbers
  .mtx                    Matrix Market, coordinate
  .graph .metis           METIS
  .npz                    scipy.sparse.save_npz
  .graphml .gexf .gml     GraphML, GEXF, GML: networkx, igraph, Gephi
  .net .json              Pajek, node-link JSON (networkx, d3)
  .ncut                   our own, mapped and not read; `ncut convert` makes it
`-` is standard input; --format NAME tells the format where no name does.
Columns of an edge list are found by a header (source, target, weight and the
like, in any order) or told by --columns; without either they stand in this
order, separated by commas, tabs, blanks, semicolons or |.
An edge that a file holds twice, in either direction, counts twice.";

const LABEL_HELP: &str = "\
Labels: one integer a line in node order; where nodes have ids an id and a label,
in any order. -1 means none. Also .json, .npy arrays, .npz archives (array `y` or
`labels`), the attribute `cluster` of nodes in .graphml, .gexf and .gml and, if
built with it, .parquet. Known labels (--truth) may be names of classes.";

#[derive(Debug, Args)]
#[command(after_help = flow(&format!("{GRAPH_HELP}

{LABEL_HELP}

Examples:
  ncut cluster roads.mtx -k 32                       the summary only
  ncut cluster roads.mtx -k 32 -o labels.txt         and the labels
  ncut cluster friends.csv -k 8 -o - --quiet         labels to the terminal or a pipe
  ncut cluster friends.csv -k 8 -o friends.graphml   the graph with its clusters, for Gephi
  ncut cluster mail.csv -k 4 --columns from,to,n     columns of an edge list by name or number
  cat friends.csv | ncut cluster - --format csv -k 8   from a pipe
  ncut cluster mesh.graph -k 16 --json report.json   everything that was measured
  ncut cluster mail.npz -k 42 --truth known.txt      compare with known labels
  ncut cluster web.mtx -k 100 --preset best --time-limit 60   the best found within a minute
  ncut cluster web.mtx -k 100 --min-share 0          plain N-Cut, slivers and all
  ncut cluster roads.mtx -k 32 --bound               and how much better it could be at most
  ncut cluster roads.mtx -k 32 --objective ratio-cut   balance numbers of nodes instead of volumes
  ncut cluster friends.csv --objective modularity    communities, as many as there are
  ncut cluster friends.csv --objective modularity --resolution 2   more and smaller ones
  ncut cluster friends.csv --objective modularity -k 8   exactly 8 communities
  ncut cluster friends.csv -k 8 --fix fixed.txt      nodes with a known label keep it
  ncut cluster friends.csv -k 8 --must-link together.txt --cannot-link apart.txt
  ncut cluster mesh.graph -k 16 --max-share 1.05     no cluster above 1.05 times the mean
  ncut cluster roads.mtx -k 32 --node-weights people.txt --max-share 1.1   balance people, not degrees
  ncut cluster friends.csv -k 8 --confidence sure.txt   how sure every label is
  ncut cluster friends.csv -k 8 --report page.html   a page to look at, in a browser
  ncut cluster web.ncut -k 100                       a graph of `ncut convert`, mapped instead of read

Ctrl-C keeps the best so far; a second one abandons it.
{EXIT_CODES}")))]
pub(crate) struct ClusterArgs {
    /// The graph to cluster
    #[arg(value_parser = input_path())]
    pub(crate) graph: PathBuf,
    #[command(flatten)]
    pub(crate) solving: SolvingArgs,
    #[command(flatten)]
    pub(crate) steering: SteeringArgs,
    #[command(flatten)]
    pub(crate) labelling: LabellingArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
}

#[derive(Debug, Args)]
#[command(after_help = flow(&format!("\
Tables, by ending: .npy and .npz arrays (array `X` or the only one), .csv .tsv .txt with or without a header (also .gz
or .zst), .parquet if built with it. One point a row, one feature a column; all numbers.

{LABEL_HELP}

Each point is linked to its nearest neighbours, two points if either is a neighbour of the other. Features count as
they are: bring them to comparable scales first.

Examples:
  ncut points digits.npy -k 10 -o labels.txt             the paper's self-tuning graph, 25 neighbours
  ncut points iris.csv -k 3 --truth-column species --standardize
  ncut points rows.csv -k 3 --id-column name --truth-column 6 -o labels.csv
  ncut points words.npy -k 3 --truth kinds.txt           compare with known labels
  ncut points words.npy -k 50 --affinity cosine          neighbours by angle
  ncut points faces.npy -k 20 --affinity adaptive --neighbors 15   small groups, thin shapes
  ncut points digits.npy -k 10 --graph-out digits.npz    keep the graph for `ncut cluster`
  ncut points cells.npy --objective modularity --resolution 0.8   communities, as many as there are

Ctrl-C keeps the best so far; a second one abandons it.
{EXIT_CODES}")))]
pub(crate) struct PointsArgs {
    /// The table of points
    #[arg(value_parser = input_path())]
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) solving: SolvingArgs,
    #[command(flatten)]
    pub(crate) steering: SteeringArgs,
    #[command(flatten)]
    pub(crate) labelling: LabellingArgs,
    #[command(flatten)]
    pub(crate) describing: TableArgs,
    #[command(flatten)]
    pub(crate) neighbors: NeighborArgs,
    /// Write the graph, in any format `convert` knows
    #[arg(long, value_name = "FILE")]
    pub(crate) graph_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
}

#[derive(Debug, Args)]
#[command(after_help = flow(&format!("\
Pictures: PNG, JPEG, BMP, GIF, PNM, QOI, TGA, TIFF, WebP; grey or colour, 8 or 16 bits; what is transparent is seen
over white. The output is a picture by its ending (.png .jpg .bmp .gif .ppm .qoi .tga .tif .webp), or the labels as an
array of rows and columns (.npy).

By default the weights are those of scikit-learn's coins: exp(-beta * difference / std) + 1e-6.

Examples:
  ncut segment photo.jpg -k 12 -o regions.png                     borders drawn over the photograph
  ncut segment photo.jpg -k 12 -o regions.png --style flat        every region in a colour of its own
  ncut segment coins.png -k 25 --blur 2 --scale 0.2 -o coins.npy   the coins of the paper, as labels
  ncut segment cells.tif -k 40 --graph radius --radius 3 -o cells.png
  ncut segment photo.jpg -k 12 -o regions.png --graph-out photo.npz
  ncut segment photo.jpg -k 3 -o regions.png --seeds scribbles.png   every colour painted is a region
  ncut segment photo.jpg -k 12 -o regions.png --mask inside.png      only what the mask shows white

Scribbles: a picture of the same size, transparent but where it is painted. Each colour is a known region, numbered by the
first pixel that has it, row by row; -k may be larger than the number of colours. A mask: a picture of the same size; only
pixels that are lighter than middle grey are divided, the others get no region (-1).

Ctrl-C keeps the best so far; a second one abandons it.
{EXIT_CODES}")))]
pub(crate) struct SegmentArgs {
    /// The picture to divide
    pub(crate) image: PathBuf,
    #[command(flatten)]
    pub(crate) solving: SolvingArgs,
    /// Where to write the regions: a picture, or labels as .npy
    #[arg(short, long, value_name = "PICTURE")]
    pub(crate) output: PathBuf,
    /// What the picture shows
    #[arg(long, value_enum, default_value_t = StyleArg::Boundaries)]
    pub(crate) style: StyleArg,
    #[command(flatten)]
    pub(crate) pixels: PixelArgs,
    /// Painted pixels of this picture are known regions, one for each colour; transparent ones are free
    #[arg(long, value_name = "PICTURE")]
    pub(crate) seeds: Option<PathBuf>,
    /// Only pixels that are light in this picture are divided
    #[arg(long, value_name = "PICTURE")]
    pub(crate) mask: Option<PathBuf>,
    /// No region's volume above so many times the mean; at least 1
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) max_share: Option<f64>,
    /// Write the graph, in any format `convert` knows
    #[arg(long, value_name = "FILE")]
    pub(crate) graph_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
}

#[derive(Debug, Args)]
#[command(after_help = flow(&format!("{GRAPH_HELP}

{LABEL_HELP}

Examples:
  ncut score roads.mtx labels.txt
  ncut score mail.npz found.txt --truth known.txt --json -
  ncut score friends.csv groups.txt --fix fixed.txt --max-share 1.1   and what they do not keep
  ncut score friends.csv groups.txt --confidence sure.txt")))]
pub(crate) struct ScoreArgs {
    /// The graph
    #[arg(value_parser = input_path())]
    pub(crate) graph: PathBuf,
    /// The labels to score; -1 is left out
    #[arg(value_parser = input_path())]
    pub(crate) labels: PathBuf,
    /// Known labels to compare with; -1 is skipped
    #[arg(long, value_name = "LABELS", value_parser = input_path())]
    pub(crate) truth: Option<PathBuf>,
    /// Which objective the score names first
    #[arg(long, value_enum, default_value_t = ObjectiveArg::Ncut)]
    pub(crate) objective: ObjectiveArg,
    /// Write how sure every label is: label, confidence, and the clusters each node leans to
    #[arg(long, value_name = "FILE")]
    pub(crate) confidence: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) steering: SteeringArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
}

#[derive(Debug, Args)]
#[command(after_help = flow(&format!("{GRAPH_HELP}

Clusters are counted where the boundaries between them are clearly thinner than any cut through them. In networks whose
degrees differ much, communities are counted instead, if their modularity is clearly above that of chance. The answer does
not depend on the range; where nothing is apart it is 1. The table shows the objective over the range, and the
eigenvalues of the normalized matrix, whose largest gap is the suggestion of spectral clustering.

With --rule gap the number of the range is suggested after which the objective gains much less, as in the paper.

Examples:
  ncut choose roads.mtx                              numbers from 1 to 20
  ncut choose roads.mtx --from 5 --to 40 -o curve.svg
  ncut choose digits.npz --to 15 --json curve.json
  ncut choose digits.npz --rule gap")))]
pub(crate) struct ChooseArgs {
    /// The graph
    #[arg(value_parser = input_path())]
    pub(crate) graph: PathBuf,
    /// Smallest number of clusters
    #[arg(long, value_name = "K", default_value_t = 1, visible_alias = "least")]
    pub(crate) from: usize,
    /// Largest number of clusters
    #[arg(long, value_name = "K", default_value_t = 20, visible_alias = "most")]
    pub(crate) to: usize,
    /// How clusters are counted
    #[arg(long, value_enum, default_value_t = RuleArg::Boundaries)]
    pub(crate) rule: RuleArg,
    /// Draw the curve (SVG)
    #[arg(short, long, value_name = "PICTURE")]
    pub(crate) output: Option<PathBuf>,
    /// No cluster's volume below this share of the mean; 0 is plain N-Cut [default: 0.25]
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) min_share: Option<f64>,
    /// Stop this long after the graph is there; numbers not reached by then come from merging alone
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Seed of whatever is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads at most [default: one for each core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) steering: SteeringArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
}

#[derive(Debug, Args)]
#[command(after_help = flow(&format!("{GRAPH_HELP}

{LABEL_HELP}

The relaxed solvers and Fast-CD all start from the labels of N2HI. EVD+KM is Ng, Jordan and Weiss, ISR the improved
spectral rotation; the seconds of each include its eigenvectors. The presets stand for plain N-Cut (--min-share 0).
`gap` is what is missing to the upper bound, the sum of the k largest eigenvalues.

With --all also models that optimise something else: CLR-l1 and CLR-l2 (constrained Laplacian rank) learn a graph with k
connected components near the given one, whose clusters the ordinary search then looks for (`+ search`); SBMC (self-balanced
min-cut) starts from N2HI. They take long on graphs of more than some thousand nodes.

Examples:
  ncut compare roads.mtx -k 32
  ncut compare faces.npz -k 20 --all                 CLR and SBMC, too
  ncut compare mail.npz -k 42 --truth known.txt --json table.json
  ncut compare roads.mtx -k 32 --best 20             preset `best` too, for 20 seconds
  ncut compare web.mtx -k 32 --time-limit 60         what can be compared within a minute")))]
pub(crate) struct CompareArgs {
    /// The graph
    #[arg(value_parser = input_path())]
    pub(crate) graph: PathBuf,
    /// Number of clusters
    #[arg(short = 'k', long = "clusters", value_name = "K", allow_negative_numbers = true)]
    pub(crate) n_clusters: usize,
    /// Known labels to compare with; -1 is skipped
    #[arg(long, value_name = "LABELS", value_parser = input_path())]
    pub(crate) truth: Option<PathBuf>,
    /// Stop this long after the graph is there; solvers that had no time are left out
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Run preset `best` too, for this long
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) best: Option<Duration>,
    /// Run models other than N-Cut too: CLR and SBMC
    #[arg(long)]
    pub(crate) all: bool,
    /// Seed of whatever is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads at most [default: one for each core]; the labels do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) steering: SteeringArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
}

#[derive(Debug, Args)]
#[command(after_help = flow(&format!("{GRAPH_HELP}

{LABEL_HELP}

The old labels are found by id; where nodes have no ids, by their place. Nodes keep the numbers of their clusters, new nodes
join the clusters they are most linked to; then nodes next to another cluster move where that gains more than the price. A
cluster that is no more leaves its number unused; new clusters have numbers above all old ones.

Examples:
  ncut update groups.txt friends.csv -o new.txt             as many clusters as before
  ncut update groups.txt friends.csv -k 9 -o new.txt        and one more than that
  ncut update groups.txt friends.csv --stay 1 --json -      fewer moves; what moved, what is new, what is gone
{EXIT_CODES}")))]
pub(crate) struct UpdateArgs {
    /// The labels so far
    #[arg(value_parser = input_path())]
    pub(crate) old: PathBuf,
    /// The graph as it is now
    #[arg(value_parser = input_path())]
    pub(crate) graph: PathBuf,
    /// Where to write the labels; `-` for standard output [default: nowhere]
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// Number of clusters [default: as many as before]
    #[arg(short = 'k', long = "clusters", value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n_clusters: Option<u32>,
    /// What a move must gain, in means of what a node contributes to the objective; 0 for any gain
    #[arg(long, value_name = "F", default_value_t = Ncut::STAY, allow_negative_numbers = true)]
    pub(crate) stay: f64,
    /// What is optimised
    #[arg(long, value_enum, default_value_t = ObjectiveArg::Ncut)]
    pub(crate) objective: ObjectiveArg,
    /// Resolution of modularity [default: 1]
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub(crate) resolution: Option<f64>,
    /// No cluster's volume falls below this share of the mean by a move [default: 0.25; 0 for modularity]
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) min_share: Option<f64>,
    /// Whether every cluster is to be connected [default: yes]
    #[arg(long, value_name = "YES|NO", value_enum, hide_possible_values = true)]
    pub(crate) connected: Option<YesNoArg>,
    /// Known labels to compare with; -1 is skipped
    #[arg(long, value_name = "LABELS", value_parser = input_path())]
    pub(crate) truth: Option<PathBuf>,
    /// Stop this long after the input is read and keep the best so far
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Threads at most [default: one for each core]; the labels do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
}

impl UpdateArgs {
    pub(crate) fn settings(&self) -> Ncut {
        let settings = Ncut::new(self.n_clusters.unwrap_or(0) as usize).objective(self.objective.kind());
        let settings = match self.resolution {
            Some(resolution) => settings.resolution(resolution),
            None => settings,
        };
        let settings = match self.min_share {
            Some(min_share) => settings.min_share(min_share),
            None => settings,
        };
        match self.connected {
            Some(connected) => settings.connected(matches!(connected, YesNoArg::Yes)),
            None => settings,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = flow(&format!("{GRAPH_HELP}

Examples:
  ncut convert friends.csv.gz friends.npz
  ncut convert friends.csv.gz friends.graphml
  ncut convert directed.mtx undirected.mtx --symmetrize max
  ncut convert web.txt.zst web.ncut                  from now on, `ncut cluster web.ncut -k 100` reads nothing
  ncut convert web.txt.zst web.ncut --memory-limit 2G   edges that do not fit are sorted in files beside web.ncut

Matrix Market, METIS and .npz keep no ids: they number the nodes in the order
they first appear. All other formats keep them.
With --memory-limit, edge lists and symmetric Matrix Market files are sorted by way of temporary files; arrays over the
nodes come on top. Other files that need more are refused. Other commands put their temporary files beside the graph.")))]
pub(crate) struct ConvertArgs {
    /// The graph to read
    #[arg(value_parser = input_path())]
    pub(crate) input: PathBuf,
    /// The file to write
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Print no summary and no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = flow("\
Two examples of the paper are made from a fixed seed and clustered: two noisy circles (200 points each and 100
noise points) and five blocks of 100 nodes. A table is printed, a picture (SVG) is written.

Example:
  ncut demo -o picture.svg"))]
pub(crate) struct DemoArgs {
    /// Where to write the picture
    #[arg(short, long, value_name = "PICTURE", default_value = "ncut-demo.svg")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = flow("\
Examples:
  ncut completions bash > ~/.local/share/bash-completion/completions/ncut
  ncut completions zsh > ~/.zfunc/_ncut"))]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ncut man man1                                      then: man -l man1/ncut-cluster.1
  ncut man ~/.local/share/man/man1 --quiet           then: man ncut-cluster")]
pub(crate) struct ManArgs {
    /// The folder; it is made if it is not there
    pub(crate) folder: PathBuf,
    /// Say nothing
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Command {
    /// Whether a damaged file may be used.
    pub(crate) fn trusts_files(&self) -> bool {
        match self {
            Self::Cluster(args) => args.reading.trusts(),
            Self::Score(args) => args.reading.trusts(),
            Self::Choose(args) => args.reading.trusts(),
            Self::Compare(args) => args.reading.trusts(),
            Self::Update(args) => args.reading.trusts(),
            Self::Convert(args) => args.reading.trusts(),
            _ => false,
        }
    }

    /// Threads that are allowed.
    pub(crate) fn threads(&self) -> Option<u32> {
        match self {
            Self::Cluster(args) => args.solving.threads,
            Self::Points(args) => args.solving.threads,
            Self::Segment(args) => args.solving.threads,
            Self::Choose(args) => args.threads,
            Self::Compare(args) => args.threads,
            Self::Update(args) => args.threads,
            _ => None,
        }
    }
}

/// How a graph is clustered.
#[derive(Clone, Debug, Args)]
pub(crate) struct SolvingArgs {
    /// Number of clusters: exactly as many come back; `auto` finds out how many there are, as `ncut choose` does. Only
    /// modularity can do without: there are as many clusters as it makes then
    #[arg(short = 'k', long = "clusters", value_name = "K", allow_negative_numbers = true, value_parser = parse_count,
          required_unless_present_any = ["resolution", "objective"])]
    pub(crate) n_clusters: Option<Count>,
    /// How `-k auto` counts
    #[arg(long, value_enum, default_value_t = RuleArg::Boundaries)]
    pub(crate) rule: RuleArg,
    /// Which algorithms run
    #[arg(long, value_enum, default_value_t = PresetArg::Default)]
    pub(crate) preset: PresetArg,
    /// What is optimised
    #[arg(long, value_enum, default_value_t = ObjectiveArg::Ncut)]
    pub(crate) objective: ObjectiveArg,
    /// Resolution of modularity: the higher, the more clusters [default: 1; with -k the one that makes so many]
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub(crate) resolution: Option<f64>,
    /// Stop this long after the input is read and keep the best so far
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Sweeps at most of every descent; presets other than `paper` make many
    #[arg(long, value_name = "N", default_value_t = StoppingRule::default().max_sweeps)]
    pub(crate) max_sweeps: usize,
    /// No cluster's volume below this share of the mean; 0 is plain N-Cut [default: 0.25; 0 for modularity and
    /// for preset `paper`, which has none]
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) min_share: Option<f64>,
    /// Whether every cluster is to be connected, which goes before the share [default: yes; no for preset `paper`]
    #[arg(long, value_name = "YES|NO", value_enum, hide_possible_values = true)]
    pub(crate) connected: Option<YesNoArg>,
    /// Compute how good any clustering can be at most: the sum of the k largest eigenvalues
    #[arg(long)]
    pub(crate) bound: bool,
    /// Seed of whatever is random: ties between equals, variations (preset `paper`: nothing)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads at most [default: one for each core; preset `paper` has one]; the labels do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threads: Option<u32>,
}

impl SolvingArgs {
    /// Refuses what makes no sense together, whatever the input.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        let is_modularity = self.objective == ObjectiveArg::Modularity;
        let problem = if self.resolution.is_some() && !is_modularity {
            "--resolution is for modularity; add --objective modularity, or leave it out"
        } else if self.n_clusters.is_none() && !is_modularity {
            "the number of clusters is missing; give it with -k (only --objective modularity can do without)"
        } else if self.bound && is_modularity {
            "there is no upper bound for modularity; leave --bound out, or choose another objective"
        } else if matches!(self.preset, PresetArg::Paper) && is_modularity {
            "preset paper knows no modularity; choose another preset, or --objective ncut"
        } else {
            return Ok(());
        };
        Err(UsageError(problem.to_owned()))
    }

    pub(crate) fn settings(&self) -> Ncut {
        let settings = match self.n_clusters {
            Some(Count::Exactly(n_clusters)) => Ncut::new(n_clusters),
            Some(Count::Auto) => Ncut::auto(),
            None => Ncut::communities(1.0),
        };
        let settings = match self.resolution {
            Some(resolution) => settings.resolution(resolution),
            None => settings,
        };
        let settings = settings.count_rule(self.rule.rule());
        let settings = settings.preset(self.preset.preset()).max_sweeps(self.max_sweeps).seed(self.seed);
        let settings = match self.min_share {
            Some(min_share) => settings.min_share(min_share),
            None => settings,
        };
        let settings = match self.connected {
            Some(_) => settings.connected(self.is_connected()),
            None => settings,
        };
        settings.objective(self.objective.kind())
    }

    /// The share that holds.
    pub(crate) fn min_share(&self) -> f64 {
        let usual = match self.objective {
            ObjectiveArg::Modularity => 0.0,
            _ => self.preset.preset().min_share(),
        };
        self.min_share.unwrap_or(usual)
    }

    /// Whether clusters are to be connected.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected
            .map_or(!matches!(self.preset, PresetArg::Paper), |connected| matches!(connected, YesNoArg::Yes))
    }
}

/// What the clusters must obey.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SteeringArgs {
    /// Known labels, from 0 to K-1: nodes with one keep exactly that cluster; -1, and nodes left out of a file with ids, are free
    #[arg(long, value_name = "LABELS", value_parser = input_path())]
    pub(crate) fix: Option<PathBuf>,
    /// Pairs of nodes that are in the same cluster: two ids a line (numbers from 0 where nodes have no ids)
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    pub(crate) must_link: Option<PathBuf>,
    /// Pairs of nodes that are in different clusters: two ids a line
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    pub(crate) cannot_link: Option<PathBuf>,
    /// No cluster's volume above so many times the mean (Ratio-Cut: size; with --node-weights: weight); at least 1
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) max_share: Option<f64>,
    /// Measure shares, and Ratio-Cut's sizes, in these weights of the nodes: a number a line, or an id and a number
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    pub(crate) node_weights: Option<PathBuf>,
}

impl SteeringArgs {
    /// The files that are read.
    pub(crate) fn files(&self) -> [Option<&Path>; 4] {
        [&self.fix, &self.must_link, &self.cannot_link, &self.node_weights].map(|file| file.as_deref())
    }
}

/// What happens to the labels of nodes.
#[derive(Debug, Args)]
pub(crate) struct LabellingArgs {
    /// Where to write the labels; `-` for standard output [default: nowhere]
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// Start from these labels; -1 leaves a node to its neighbours
    #[arg(long, value_name = "LABELS", value_parser = input_path())]
    pub(crate) init: Option<PathBuf>,
    /// Known labels to compare with; -1 is skipped
    #[arg(long, value_name = "LABELS", value_parser = input_path())]
    pub(crate) truth: Option<PathBuf>,
    /// Write how sure every label is: label, confidence from 0 to 1, and the three clusters each node leans to with their shares
    #[arg(long, value_name = "FILE")]
    pub(crate) confidence: Option<PathBuf>,
    /// Which part of a disconnected graph to cluster; the rest is labelled -1
    #[arg(long, value_enum, default_value_t = ComponentsArg::All)]
    pub(crate) components: ComponentsArg,
}

/// What the columns of a table are.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Format of the table, by the ending a file of it has (csv, tsv.gz, npy); for `-` and pipes [default: by its name]
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Column of the points' ids, by name or number from 1, to be written beside the labels
    #[arg(long, value_name = "COLUMN")]
    id_column: Option<String>,
    /// Column of known classes to compare with, integers or names, by name or number from 1
    #[arg(long, value_name = "COLUMN", conflicts_with = "truth")]
    pub(crate) truth_column: Option<String>,
    /// Bring every column to mean 0 and standard deviation 1 first
    #[arg(long)]
    pub(crate) standardize: bool,
}

impl TableArgs {
    pub(crate) fn options(&self) -> TableOptions {
        TableOptions {
            format: self.format.clone(),
            id_column: self.id_column.clone(),
            truth_column: self.truth_column.clone(),
        }
    }
}

/// How points become a graph.
#[derive(Debug, Args)]
pub(crate) struct NeighborArgs {
    /// What an edge between neighbours weighs
    #[arg(long, value_enum, default_value_t = AffinityArg::SelfTuning)]
    affinity: AffinityArg,
    /// Neighbours of each point
    #[arg(long, value_name = "N", default_value_t = PointGraph::default().n_neighbors)]
    neighbors: usize,
    /// Falloff of `--affinity rbf`, exp(-gamma * length^2) [default: 1 / (2 * median length^2)]
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    gamma: Option<f64>,
    /// Link two points only if each is a neighbour of the other
    #[arg(long)]
    mutual: bool,
    /// How neighbours are found
    #[arg(long, value_enum, default_value_t = SearchArg::Auto)]
    search: SearchArg,
}

impl NeighborArgs {
    /// Neighbours of each point.
    pub(crate) fn count(&self) -> usize {
        self.neighbors
    }

    /// How a graph was made of points, for a page.
    pub(crate) fn described(&self) -> Vec<(&'static str, String)> {
        let affinity = self.affinity.to_possible_value().map(|value| value.get_name().to_owned());
        let mutual = if self.mutual { ", of each other" } else { "" };
        let mut described = vec![
            ("Neighbours", format!("{}{mutual}", self.neighbors)),
            ("Affinity", affinity.unwrap_or_default()),
        ];
        described.extend(self.gamma.map(|gamma| ("Gamma", gamma.to_string())));
        described
    }

    /// The settings, given the seed.
    pub(crate) fn graph(&self, seed: u64) -> PointGraph {
        PointGraph {
            affinity: match self.affinity {
                AffinityArg::SelfTuning => Affinity::SelfTuning,
                AffinityArg::Knn => Affinity::Knn,
                AffinityArg::Rbf => Affinity::Rbf { gamma: self.gamma },
                AffinityArg::Cosine => Affinity::Cosine,
                AffinityArg::Adaptive => Affinity::Adaptive,
            },
            n_neighbors: self.neighbors,
            linking: if self.mutual { Linking::Mutual } else { Linking::Union },
            method: match self.search {
                SearchArg::Auto => SearchMethod::Auto,
                SearchArg::Exact => SearchMethod::Exact,
                SearchArg::Approximate => SearchMethod::Approximate,
            },
            seed,
        }
    }
}

/// How a picture becomes a graph.
#[derive(Debug, Args)]
pub(crate) struct PixelArgs {
    /// Blur the picture first, by a Gaussian of so many pixels
    #[arg(long, value_name = "SIGMA", default_value_t = 0.0)]
    pub(crate) blur: f64,
    /// Then scale it by this factor; the output has the size of the input all the same [default: 1; a picture of more than
    /// two million pixels is scaled down to so many]
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) scale: Option<f64>,
    /// Which pixels are linked
    #[arg(long, value_enum, default_value_t = LinksArg::Grid4)]
    graph: LinksArg,
    /// How fast the weight falls with the difference of two pixels (grids)
    #[arg(long, value_name = "B", default_value_t = PictureGraph::default().beta)]
    beta: f64,
    /// How far linked pixels are apart at most (--graph radius)
    #[arg(long, value_name = "PIXELS", default_value_t = PictureGraph::RADIUS)]
    radius: f64,
    /// Difference at which the weight has fallen to 1/e, white being 1 (--graph radius)
    #[arg(long, value_name = "F", default_value_t = PictureGraph::default().sigma_value)]
    sigma_value: f64,
    /// Distance at which the weight has fallen to 1/e (--graph radius)
    #[arg(long, value_name = "PIXELS", default_value_t = PictureGraph::default().sigma_distance)]
    sigma_distance: f64,
}

impl PixelArgs {
    pub(crate) fn graph(&self) -> PictureGraph {
        PictureGraph {
            links: match self.graph {
                LinksArg::Grid4 => PixelLinks::Grid4,
                LinksArg::Grid8 => PixelLinks::Grid8,
                LinksArg::Radius => PixelLinks::Radius(self.radius),
            },
            beta: self.beta,
            sigma_value: self.sigma_value,
            sigma_distance: self.sigma_distance,
            ..PictureGraph::default()
        }
    }

    /// How a graph was made of a picture of so many rows and columns, for a page.
    pub(crate) fn described(&self, (height, width): (usize, usize)) -> Vec<(&'static str, String)> {
        let links = match self.graph {
            LinksArg::Grid4 => format!("4 neighbours, beta {}", self.beta),
            LinksArg::Grid8 => format!("8 neighbours, beta {}", self.beta),
            LinksArg::Radius => format!(
                "within {} pixels, sigma {} of the value and {} of the distance",
                self.radius, self.sigma_value, self.sigma_distance
            ),
        };
        let mut described =
            vec![("Pixels linked", links), ("Divided at", format!("{width} x {height} pixels"))];
        if self.blur > 0.0 {
            described.push(("Blur", format!("sigma {}", self.blur)));
        }
        described
    }
}

/// How graphs are read.
#[derive(Debug, Args)]
pub(crate) struct ReadingArgs {
    /// Make an asymmetric matrix, or a directed graph, symmetric instead of refusing it; the edges of an edge list lead one way
    /// then
    #[arg(long, value_enum, value_name = "HOW")]
    symmetrize: Option<SymmetrizeArg>,
    /// Whether the first line of an edge list names the columns [default: found out]
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true)]
    header: Option<YesNoArg>,
    /// Format of the graph, by the ending a file of it has (csv, tsv.gz, graphml); for `-` and pipes [default: by its name]
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Columns of an edge list: the two ends and the weight, by name or by number from 1; `source,target,NAME` tells which
    /// attribute of edges in GraphML, GEXF, GML or JSON is their weight [default: found out]
    #[arg(long, value_name = "A,B,W")]
    columns: Option<EdgeColumns>,
    /// Compare an .ncut file with its checksums before it is used [default: yes]
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true, require_equals = true, num_args = 0..=1,
          default_missing_value = "yes")]
    verify: Option<YesNoArg>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
}

/// How much memory may be taken.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Memory to take, such as 500M or 2G: edges of text files beyond it are sorted in temporary files, other work that
    /// needs more is refused [default: most of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory_limit: Option<u64>,
}

impl ReadingArgs {
    /// Whether files are used without a look at their checksums.
    pub(crate) fn trusts(&self) -> bool {
        matches!(self.verify, Some(YesNoArg::No))
    }

    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            symmetrize: match self.symmetrize {
                None => Symmetrize::Refuse,
                Some(SymmetrizeArg::Average) => Symmetrize::Average,
                Some(SymmetrizeArg::Max) => Symmetrize::Max,
            },
            header: match self.header {
                None => Header::Detect,
                Some(YesNoArg::Yes) => Header::Yes,
                Some(YesNoArg::No) => Header::No,
            },
            format: self.format.clone(),
            columns: self.columns.clone(),
            memory_limit: self.memory.memory_limit,
            verification: if self.trusts() { Verification::Never } else { Verification::BeforeUse },
        }
    }
}

/// What is told about the work.
#[derive(Debug, Args)]
pub(crate) struct ReportingArgs {
    /// Write a report as JSON; `-` for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Print no summary and no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// A page to look at.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Write a page to look at in a browser: maps, tables, what is odd; one file that needs no network
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

/// What is optimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectiveArg {
    /// Normalized Cut: the weight inside a cluster over its volume
    Ncut,
    /// Ratio-Cut: the weight cut from a cluster over its number of nodes
    RatioCut,
    /// Modularity: how much more of the weight is inside clusters than chance would put there
    Modularity,
}

impl ObjectiveArg {
    pub(crate) fn kind(self) -> ObjectiveKind {
        match self {
            Self::Ncut => ObjectiveKind::NormalizedCut,
            Self::RatioCut => ObjectiveKind::RatioCut,
            Self::Modularity => ObjectiveKind::Modularity,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PresetArg {
    /// The paper, to its printed digits: N2HI, then Fast-CD
    Paper,
    /// One multilevel pass, on small meshes and pictures a second
    Fast,
    /// Several starts and split-merge; the most useful of the results is kept
    Default,
    /// Looks longest for a high objective: until the time limit, or until nothing better turns up
    Best,
}

/// How clusters are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleArg {
    /// Those that are apart: the boundaries between them are clearly thinner than cuts through them
    Boundaries,
    /// The paper's: the number, of 1 to 20, after which the objective gains much less
    Gap,
}

impl RuleArg {
    pub(crate) fn rule(self) -> CountRule {
        match self {
            Self::Boundaries => CountRule::Boundaries,
            Self::Gap => CountRule::Gap,
        }
    }
}

impl PresetArg {
    /// Threads that run, of those allowed.
    pub(crate) fn threads(self) -> u32 {
        match self {
            // Sequential by definition.
            Self::Paper => 1,
            _ => rayon::current_num_threads() as u32,
        }
    }

    pub(crate) fn preset(self) -> Preset {
        match self {
            Self::Paper => Preset::Paper,
            Self::Fast => Preset::Fast,
            Self::Default => Preset::Default,
            Self::Best => Preset::Best,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StyleArg {
    /// The input with the borders of the regions drawn over it
    Boundaries,
    /// Every region in a flat colour
    Flat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LinksArg {
    /// The four pixels beside, above and below
    Grid4,
    /// The eight pixels around
    Grid8,
    /// All pixels within a radius (Shi and Malik)
    Radius,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ComponentsArg {
    /// All of it
    All,
    /// The largest connected component only
    Largest,
}

impl ComponentsArg {
    pub(crate) fn choice(self) -> ComponentChoice {
        match self {
            Self::All => ComponentChoice::All,
            Self::Largest => ComponentChoice::Largest,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AffinityArg {
    /// The paper's: lengths are measured against those around
    SelfTuning,
    /// 1 for every edge
    Knn,
    /// exp(-gamma * length^2)
    Rbf,
    /// The cosine of the angle; neighbours by angle
    Cosine,
    /// A weight of 1 that each point shares among its neighbours, more for the nearer ones (CLR)
    Adaptive,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SearchArg {
    /// Exactly while that takes seconds, approximately beyond
    Auto,
    /// All pairs are considered
    Exact,
    /// Nearly all true neighbours, in a fraction of the time
    Approximate,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SymmetrizeArg {
    /// The mean of both directions; a missing one counts as 0
    Average,
    /// The larger of both directions
    Max,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum YesNoArg {
    Yes,
    No,
}

/// How many clusters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Exactly(usize),
    Auto,
}

fn parse_count(text: &str) -> Result<Count, String> {
    match text {
        "auto" => Ok(Count::Auto),
        _ => match text.parse() {
            Ok(n_clusters) => Ok(Count::Exactly(n_clusters)),
            Err(_) => Err("it must be a whole number, or `auto`".to_owned()),
        },
    }
}

/// Help as the terminal is to wrap it: paragraphs in one line each, and what is said about an example that is too long below
/// it.
fn flow(text: &str) -> String {
    const WIDTH: usize = 80;
    let mut flowing = String::new();
    let mut is_paragraph = false;
    for line in text.lines() {
        let is_prose = !line.is_empty() && !line.starts_with(' ');
        if !flowing.is_empty() {
            flowing.push(if is_prose && is_paragraph { ' ' } else { '\n' });
        }
        is_paragraph = is_prose && !line.ends_with(':');
        match line.trim_start().split_once("   ") {
            Some((example, said)) if line.chars().count() > WIDTH && example.contains("ncut ") => {
                flowing.push_str(&format!("  {example}\n      {}", said.trim_start()));
            }
            _ => flowing.push_str(line),
        }
    }
    flowing
}

/// The name of a file to read; `-` is standard input.
fn input_path() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    use clap::builder::{PathBufValueParser, TypedValueParser};
    PathBufValueParser::new().map(|path| match path.to_str() {
        Some("-") => PathBuf::from(STANDARD_INPUT),
        _ => path,
    })
}

/// The name under which the system opens what is given to the program.
const STANDARD_INPUT: &str = "/dev/stdin";

/// A number of bytes, with K, M, G or T for powers of 1024.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((place, letter)) if letter.is_ascii_alphabetic() => {
            (&text[..place], letter.to_ascii_uppercase())
        }
        _ => (text, 'B'),
    };
    let power = match unit {
        'B' => 0,
        'K' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        _ => return Err("it must be a number of bytes, with K, M, G or T after it or without".into()),
    };
    let problem = || "it must be a number of bytes from 1M up, such as 500M or 2G".to_string();
    let bytes = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(1 << (10 * power)));
    bytes.filter(|&bytes| bytes >= 1 << 20).ok_or_else(problem)
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it must be a number of seconds".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "it must be a number of seconds from 0 up".to_string())
}
