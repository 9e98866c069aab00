//! The coins of the paper, end to end: the picture of 24 coins that comes with scikit-image, in the file that
//! `NCUT_COINS` names.
//!
//! Without it every test here is reported as ignored, never as passed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use ncut::hierarchy::n2hi;
use ncut::image::{Picture, PictureGraph};
use ncut::io::read_bytes;
use ncut::spectral::{Rival, Spectrum, SpectrumSettings};
use ncut::{Clock, CutScore, Graph, Label, Ncut, Preset};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let coins = std::env::var_os("NCUT_COINS").map(PathBuf::from);
    let ignored = coins.is_none();
    if ignored {
        eprintln!("NCUT_COINS is not set: the tests on the picture of the coins are ignored");
    }
    let coins = coins.unwrap_or_default();
    let trial = |name: &str, check: fn(&Path) -> Result<(), Failed>| {
        let coins = coins.clone();
        Trial::test(name, move || check(&coins)).with_ignored_flag(ignored)
    };
    let trials = vec![
        trial("the_graph_of_the_coins_is_scikit_learns", the_graph_of_the_coins_is_scikit_learns),
        trial("the_papers_objective_on_the_coins", the_papers_objective_on_the_coins),
        trial("the_papers_rivals_on_the_coins", the_papers_rivals_on_the_coins),
        trial("better_optima_on_the_coins", better_optima_on_the_coins),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The graph of the recipe: blur 2, scale 0.2, four neighbours.
fn recipe(coins: &Path) -> Result<Graph<'static>, Failed> {
    let picture = Picture::decode(&read_bytes(coins, &Clock::new())?, coins)?;
    let blurred = picture.blur(2.0, &Clock::new())?;
    let small = blurred.rescale(0.2, &Clock::new())?;
    Ok(PictureGraph::default().build(&small, &Clock::new())?)
}

/// Sums over all entries of the matrix that scikit-learn 1.9.1, scikit-image 0.26.0 and scipy 1.17.1 give for
/// `plot_coin_segmentation`, beta 10, epsilon 1e-6, diagonal dropped, rows sorted: of the weights, of their
/// squares, and of each weight times its place (from 1) over the number of entries, which notices any two
/// that are exchanged.
fn the_graph_of_the_coins_is_scikit_learns(coins: &Path) -> Result<(), Failed> {
    const N_ENTRIES: usize = 18_512;
    let graph = recipe(coins)?;
    check(graph.n_nodes() == 4_697, || format!("{} nodes", graph.n_nodes()))?;
    check(graph.columns().len() == N_ENTRIES, || format!("{} entries", graph.columns().len()))?;
    let sum = |term: &dyn Fn(usize, f64) -> f64| -> f64 {
        (0..N_ENTRIES).map(|entry| term(entry, graph.weights().at(entry))).sum()
    };
    for (found, expected) in [
        (sum(&|_, weight| weight), 7_431.952_831_598_764_5),
        (sum(&|_, weight| weight * weight), 4_932.168_779_593_003),
        (sum(&|entry, weight| (entry + 1) as f64 * weight / N_ENTRIES as f64), 3_560.267_020_824_034),
    ] {
        check((found - expected).abs() <= 1e-12 * expected, || format!("{found} instead of {expected}"))?;
    }
    Ok(())
}

fn the_papers_objective_on_the_coins(coins: &Path) -> Result<(), Failed> {
    let found = Ncut::new(25).preset(Preset::Paper).solve(&recipe(coins)?)?;
    check((found.objective - 24.9969).abs() < 5e-5, || format!("objective {}", found.objective))
}

/// As printed: ISR to the last digit; the recipe of EVD+KM leaves room for 0.001.
fn the_papers_rivals_on_the_coins(coins: &Path) -> Result<(), Failed> {
    let graph = recipe(coins)?;
    let spectrum = Spectrum::of(&graph, 25, &SpectrumSettings::default(), &Clock::new())?;
    let start = n2hi(&graph, 25, &Clock::new())?.labels;
    for (rival, printed, tolerance) in
        [(Rival::ImprovedRotation, 24.9888, 5e-5), (Rival::NgJordanWeiss, 24.9698, 1e-3)]
    {
        let labels = rival
            .solve(&graph, &spectrum, &start, &Clock::new())?
            .iter()
            .map(|&label| label as Label)
            .collect::<Vec<Label>>();
        let objective = CutScore::new(&graph, &labels)?.objective;
        check((objective - printed).abs() < tolerance, || format!("{} {objective}", rival.name()))?;
    }
    Ok(())
}

/// The higher rungs, plain N-Cut: preset `default`, and `best` in 20 seconds.
fn better_optima_on_the_coins(coins: &Path) -> Result<(), Failed> {
    let graph = recipe(coins)?;
    let found = Ncut::new(25).min_share(0.0).solve(&graph)?;
    check(found.objective >= 24.998_233 - 1e-6, || format!("default {}", found.objective))?;
    let limit = Duration::from_secs(20);
    let found = Ncut::new(25).preset(Preset::Best).min_share(0.0).time_limit(limit).solve(&graph)?;
    check(found.objective >= 24.998_254_7, || format!("best {}", found.objective))
}

fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(message().into()) }
}
