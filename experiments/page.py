"""The page: each function writes one section as Markdown, the paper's printed numbers beside ours."""

from collections import Counter

import printed
from markdown import table
from measure import (
    AFFINITIES,
    BEST_SECONDS,
    CLR_NEIGHBORS,
    CONTEST,
    LEARNED,
    LEARNED_NEIGHBORS,
    N_SEEDS,
    N_TIMED,
    NEIGHBORS,
    NOISES,
    SOLVERS,
)

PRESETS = {"paper": "Fast-CD", "fast": "preset fast", "default": "preset default", "best": "preset best"}


def introduction(sets, coins):
    graphs = [*sets.values(), coins]
    same = [measured for data_set, measured in sets.items() if data_set.is_same]
    others = {data_set.name: measured for data_set, measured in sets.items() if not data_set.is_same}
    beaten = [name for name, measured in others.items() if not measured.is_highest("Fast-CD", SOLVERS)]
    n_default = sum(measured.is_highest("preset default", CONTEST) for measured in graphs)
    return f"""# The paper's experiments, repeated

Nie, Lu, Wu, Wang and Li, *A Novel Normalized-Cut Solver with Nearest Neighbor Hierarchical Initialization*, TPAMI
2023, call their solver Fast-CD and its start N2HI. This page repeats their experiments and sets the numbers they
print beside ours. It is written by one command, `experiments/run DATA`; all but the times, and what preset `best`
finds within its time, comes out the same on every run.

Of the paper's eight data sets three are at hand as the authors used them: German, Segment and UMist. For MNIST10,
MSRA50 and Waveform-21 there are relatives: other samples (`mnist10_like`: another tenth of MNIST, `waveform21_5000`:
all 5000 points instead of 2746) or another resolution (`msra25`: 16 x 16 pixels instead of 32 x 32). GTdb and STL-10
(features of a neural network) are not available. `digits` and `keel_letter` are additions. What the paper names for
very many points is measured on [a page of its own](large.md).

The graphs are the paper's: self-tuning, 25 neighbours. The *objective* is maximised; NMI is divided by the larger
entropy. **≠** marks a number that differs from the printed one, *italics* a set that is not the paper's.

In short:

- Fast-CD is reproduced to the last printed digit on all {len(same)} sets of the paper at hand and on the coins;
  EVD+KM and ISR on German and Segment.
- EVD+KM differs on UMist and on the coins, ISR a little on UMist. Their recipes leave room; what was tried is listed.
- That Fast-CD always has the highest objective does not carry over: it has not on {listed(beaten)} ({len(beaten)} of
  {len(others)} sets that are not the paper's), nor always on two circles in noise.
- Of table 5, CLR is reproduced on German and Segment to the last digit and within 0.02 on UMist, SBMC within 0.02 on
  all three; of EBMC no formulas were to be had.
- The graph that CLR begins with is worth having, `--affinity adaptive`; what its iteration adds is not.
- Preset `default`, for plain N-Cut, is at least EVD+KM, ISR and Fast-CD on {n_default} of {len(graphs)} graphs of
  this page; for the noisy circles see figure 3."""


def listed(names):
    return ", ".join(f"`{name}`" for name in names)


def title_of(data_set):
    return data_set.name if data_set.is_same else f"*{data_set.name}*"


def beside(ours, theirs, digits=4):
    """Two cells: our number, marked if it differs from the printed one, and that one."""
    text, other = f"{ours:.{digits}f}", f"{theirs:.{digits}f}"
    return [text if text == other else f"**≠** {text}", other]


def metrics_of(row):
    return row["objective"], row["accuracy"], row["nmi"], row["ari"]


def scores(sets, variants):
    header = ["set, solver"] + [cell for metric in printed.METRICS for cell in (metric, "paper")]
    same, other, added = [], [], []
    for data_set, measured in sets.items():
        for solver in SOLVERS:
            ours = metrics_of(measured.solvers[solver])
            title = f"{title_of(data_set)}, {solver}"
            if data_set.printed is None:
                added.append([title] + [f"{value:.4f}" for value in ours])
                continue
            theirs = printed.SCORES[data_set.printed][solver]
            if data_set.is_same:
                same.append([title] + [cell for pair in zip(ours, theirs, strict=True) for cell in beside(*pair)])
            else:
                other.append([title] + [f"{value:.4f}" for pair in zip(ours, theirs, strict=True) for value in pair])
    n_cells = len(printed.METRICS) * len(same)
    n_different = sum("≠" in cell for row in same for cell in row)
    tried = [[name, f"{row['objective']:.4f}", f"{row['accuracy']:.4f}"] for name, row in variants.items()]
    highest = [data_set.name for data_set, row in sets.items() if row.is_highest("Fast-CD", SOLVERS)]
    beaten = [data_set.name for data_set in sets if data_set.name not in highest]
    return f"""## Table 2: objective and agreement with the classes

The paper's own data. {n_cells - n_different} of {n_cells} numbers agree to the last printed digit:

{table(header, same)}

Everything of Fast-CD agrees, and so does everything on German and Segment. What differs are the two spectral solvers
on UMist. Here EVD+KM scales the rows of the eigenvectors to length 1 and runs Lloyd's iterations from the means of
N2HI's clusters; ISR turns the eigenvectors, then sweeps over the nodes until none moves, then turns again. The paper
does not say it in such detail. Other readings, on UMist (printed: EVD+KM 12.4520 with ACC 0.4191, ISR 12.4131):

{table(["reading", "obj", "ACC"], tried)}

None gives 12.4520 or 12.4131. First means from the unscaled eigenvectors give the printed ACC of EVD+KM but another
objective.

Other samples than the paper's; the numbers need not agree:

{table(header, other)}

Not in the paper:

{table(["set, solver", *printed.METRICS], added)}

The paper finds Fast-CD highest in objective on all of its sets. Here it is on {listed(highest)}, but not on
{listed(beaten)}. On `keel_letter` the solver with by far the highest objective, ISR, has the lowest ACC."""


def times(sets):
    rows = []
    for data_set, measured in sets.items():
        seconds, theirs = measured.seconds, printed.TIMES.get(data_set.printed)
        cells = [title_of(data_set), measured.report["n_nodes"], f"{1000 * seconds['Fast-CD']:.1f}"]
        cells.append(f"{1000 * theirs[0]:.0f}" if theirs else "")
        for place, solver in enumerate(("EVD+KM", "ISR"), start=1):
            ratio = seconds[solver] / seconds["Fast-CD"]
            cells += [f"{ratio:.0f}", f"{theirs[place]:.1f}" if theirs else ""]
        rows.append([*cells, f"{100 * seconds['eigenvectors'] / seconds['EVD+KM']:.0f} %"])
    header = ["set", "nodes", "Fast-CD, ms", "paper, ms", "EVD+KM / Fast-CD", "paper", "ISR / Fast-CD", "paper"]
    return f"""## Table 3: time

Without the start, as in the paper; one thread, the best of {N_TIMED} runs. The ratios are the paper's "Accel". The
last column is the share of the eigenvectors in the time of EVD+KM.

{table([*header, "eigenvectors"], rows)}

As in the paper Fast-CD is the fastest everywhere. The paper ran MATLAB on an i7-7700K, so compare ratios rather than
milliseconds; and the ratios depend on the eigensolver, which takes nearly all of the time of EVD+KM. Ours computes
pairs precise enough to prove an upper bound. ISR mostly takes little
longer than its eigenvectors here, whereas in the paper it takes 3 to 18 times as long as EVD+KM."""


def refined(sets):
    rows = []
    for data_set, measured in sets.items():
        before, after = measured.solvers["EVD+KM"], measured.solvers["EVD+KM + Fast-CD"]
        ours = (before["objective"], after["objective"], before["nmi"], after["nmi"])
        theirs = printed.REFINED.get(data_set.printed)
        cells = [title_of(data_set)]
        for value, other, digits in zip(ours, theirs or (None,) * 4, (6, 6, 4, 4), strict=True):
            if data_set.is_same:
                cells += beside(value, other, digits)
            else:
                cells += [f"{value:.{digits}f}", "" if other is None else f"{other:.{digits}f}"]
        rows.append(cells)
    header = ["set", "obj, start", "paper", "obj, end", "paper", "NMI, start", "paper", "NMI, end", "paper"]
    return f"""## Table 4: Fast-CD started from EVD+KM

{table(header, rows)}

The objective rises on every set, as the paper says. UMist starts elsewhere
(table 2) and so ends elsewhere, 0.03 lower than printed; the NMI falls a little there, where the paper's rises."""


OTHER_MODELS = ("CLR-l1", "CLR-l2", "SBMC")


def other_models(sets):
    rows, endings = [], []
    for data_set, found in sets.items():
        theirs = printed.OTHER_MODELS[data_set.printed]
        for name in OTHER_MODELS:
            row, (nmi, ratio) = found.tuned[name], theirs[name]
            adaptive = found.adaptive.get(name)
            ours = row["seconds"] / found.seconds
            cells = beside(row["nmi"], nmi) if data_set.is_same else [f"{row['nmi']:.4f}", f"{nmi:.4f}"]
            cells += [f"{ours:.1f}", "> 500" if ratio == 500 else f"{ratio:.1f}"]
            cells += [f"{adaptive['nmi']:.4f}" if adaptive else "none", row["iteration"]["rounds"]]
            rows.append([f"{title_of(data_set)}, {name}", *cells])
            endings.append(row["iteration"])
            endings += [adaptive["iteration"]] if adaptive else []
    same = {data_set: found for data_set, found in sets.items() if data_set.is_same}
    far = [
        abs(found.tuned[name]["nmi"] - printed.OTHER_MODELS[data_set.printed][name][0])
        for data_set, found in same.items()
        for name in OTHER_MODELS
    ]
    names = list(next(iter(same.values())).readings)
    readings = [[name, *(f"{found.readings[name]:.4f}" for found in same.values())] for name in names]
    for name in ("SBMC", "EBMC"):
        values = [f"{printed.OTHER_MODELS[data_set.printed][name][0]:.4f}" for data_set in same]
        readings.insert(0 if name == "SBMC" else 1, [f"*{name} as printed*", *values])
    header = [
        "set, model",
        "NMI",
        "paper",
        "time / Fast-CD",
        "paper",
        f"NMI, adaptive graph, {CLR_NEIGHBORS}",
        "rounds",
    ]
    residual = max(ending["residual"] for ending in endings if "residual" in ending)
    return f"""## Table 5: other models of clustering

CLR (constrained Laplacian rank; Nie, Wang, Jordan and Huang, AAAI 2016) learns a graph near the given one that falls
into exactly k components; CLR-l1 and CLR-l2 measure what is near by absolute values and by squares. SBMC
(self-balanced min-cut; Chen, Huang, Nie, Chen and Wu, ICCV 2017) looks for labels whose indicators, times one number,
are nearest to the matrix. `ncut compare --all` runs them. All on the paper's self-tuning graph but for the last
column of NMIs, on the graph of adaptive neighbours that CLR begins with in its own paper; *none* where that graph has
more than k components already, which CLR cannot join. Times without the start and without the graph, over that of
Fast-CD; one run each, on a machine that does other work.

{table(header, rows)}

On German, Segment and UMist no NMI is farther than {max(far):.4f} from the printed one. Every CLR above ended with
exactly k components; every SBMC ended with its two halves at most {residual:.0e} apart (the tolerance is 1e-6).

**CLR.** That German and Segment agree says that the paper ran CLR on the self-tuning graph, its rows not scaled to
add up to 1, and that lambda was doubled and halved from a small number on; 0.1 is that of the authors' code. Tried by
hand, not by this command: with rows scaled to 1 German gives 0.0077, UMist 0.44 by l1 and 0.65 by l2; with a first
lambda of 1 German and Segment give the same, UMist 0.8303 by l1 and 0.8157 by l2 (printed 0.8411 and 0.8332). On
UMist many paths end near each other. Eigenvectors here are those of the same Laplacian, by other means; its zero
eigenvalues are counted as connected components, not compared with 1e-10.

**SBMC.** The paper gives no settings. The penalty begins at the mean degree of the graph and grows by 1.5 a step, in
the middle of the interval that the authors of EBMC name for it; the start is N2HI. That the NMIs are near the printed
ones says little: N2HI's own are, too. Other readings, NMI:

{table(["reading", *(data_set.name for data_set in same)], readings)}

Small penalties leave the start behind and find nothing, large ones leave the labels as they are. The model itself,
taken down by moves of single nodes, gives the printed 0.0074 on German, which speaks for the model; how the authors'
steps went on Segment and UMist, the table does not tell.

**EBMC** (enhanced balanced min-cut; Chen, Hong, Nie, Huang and Shen, IJCV 2020) is left out: its formulas are behind
the publisher's door, and neither an open copy nor code was found (searched: the abstract, papers that compare with
it, public repositories). The abstract tells of "a set of balance parameters" learned for the clusters. One reading of
that is SBMC's model with a number for every cluster instead of one for all; it comes to within 0.004 of the three
printed numbers, see the table. It is a guess, and not in the library."""


def affinities(found, learned):
    """ACC and NMI by affinity and neighbours, means over all sets; NMI of every set."""
    n_sets = len(found)
    rows = []
    for affinity in AFFINITIES:
        values = [[found[data_set][affinity, neighbors] for data_set in found] for neighbors in NEIGHBORS]
        means = [[sum(pair[metric] for pair in column) / n_sets for column in values] for metric in (0, 1)]
        for metric in means:
            metric.append(sum(metric) / len(metric))
        rows.append([affinity, *(f"{value:.4f}" for metric in means for value in metric)])
    best = [max(float(row[place]) for row in rows) for place in range(1, len(rows[0]))]
    rows = [
        [row[0], *(f"**{cell}**" if float(cell) == most else cell for cell, most in zip(row[1:], best, strict=True))]
        for row in rows
    ]
    titles = [f"{metric}, {neighbors}" for metric in ("ACC", "NMI") for neighbors in (*NEIGHBORS, "mean")]
    chosen = [
        ("self-tuning", 10),
        ("self-tuning", 25),
        ("adaptive", 5),
        ("adaptive", 10),
        ("adaptive", 15),
        ("adaptive", 25),
    ]
    by_set = [
        [title_of(data_set)] + [f"{values[pair][1]:.4f}" for pair in chosen] for data_set, values in found.items()
    ]
    complete = {data_set: values for data_set, values in learned.items() if len(values) == 1 + len(LEARNED)}
    others = [data_set.name for data_set in learned if data_set not in complete]
    columns = ["adaptive", *LEARNED]
    of_learned = []
    for name in columns:
        means = [sum(values[name][metric] for values in complete.values()) / len(complete) for metric in (0, 1)]
        of_learned.append([name.replace("adaptive", "the adaptive graph + search"), *(f"{mean:.4f}" for mean in means)])
    missing = f" (without {listed(others)}, where CLR gave nothing in time)" if others else ""
    return f"""## Which graph for points

CLR learns its graph. What it begins with has a closed form: each point shares a weight of 1 among its neighbours, in
proportion to how much nearer they are (squared) than the next one; an edge weighs the mean of what both ends give it.
That is `--affinity adaptive`. Preset `default` on all {n_sets} labelled sets at hand (the seven of the data folder,
and of scikit-learn digits, iris, wine and breast cancer, the last two standardized), means of ACC and NMI by the
number of neighbours:

{table(["affinity", *titles], rows)}

NMI set by set:

{table(["set", *(f"{affinity}, {neighbors}" for affinity, neighbors in chosen)], by_set)}

Averaged over the numbers of neighbours, adaptive weights agree a little better with the classes than self-tuning
ones, and they depend less on that number. At 25, the default, self-tuning ones are ahead. The differences come from a
few sets (UMist, MNIST and digits gain, wine loses), so they are no law. A mutual graph of few neighbours falls into
pieces. **Recommendation**: the default stays, the paper's graph with 25 neighbours; where groups are small or lie on
thin shapes (faces, digits), or where you do not know how many neighbours suit, take
`--affinity adaptive --neighbors 15`.

The graph after CLR's iteration, with {LEARNED_NEIGHBORS} neighbours, means over {len(complete)} sets{missing}:

{table(["labels", "ACC", "NMI"], of_learned)}

CLR's own components are often slivers. The ordinary search on the learned graph (with its share of 0.25) mends that,
but gives no more than on the adaptive graph itself, and CLR takes several times as long as that search. So there is
no `--affinity clr`; `ncut compare --all` has both."""


def blocks(found):
    def often(numbers):
        return ", ".join(f"{k} ({times} times)" for k, times in sorted(Counter(numbers).items()))

    rows = [
        ["`ncut choose --from 1 --to 10`", often(found.suggested)],
        ["sharpest turn of the objectives of Fast-CD", often(found.by_paper)],
        ["largest eigengap, the first left out", often(found.by_eigengap)],
    ]
    return f"""## Figure 1: how many clusters?

500 nodes in 5 blocks of 100, weights uniform in 0..1 inside a block and in 0..0.5 between blocks (the paper does not
give its noise). The paper reads 5 off the curve. Suggestions for {N_SEEDS} seeds:

{table(["by", "suggested"], rows).replace("---:", "---")}

![five blocks, and the objective over the number of clusters](blocks.svg)

The first of the seeds. Up to 5 clusters both curves are the same; beyond, the search behind `choose` finds a little
more."""


def circles(found, seed, difference):
    rows = []
    for noise in NOISES:
        for name in CONTEST:
            among_three = found.count_best(noise, name, SOLVERS) if name in SOLVERS else ""
            among_all = found.count_best(noise, name, CONTEST)
            rows.append([f"{noise}, {name}", among_three, among_all, found.count_separated(noise, name)])
    violations, missed = found.violations(), found.missed()
    n_runs = len(NOISES) * N_SEEDS
    if violations:
        where = f"{len(violations)} of {n_runs} graphs{places_of(violations)}"
        verdict = f"**Violation: preset `default` is below a rival on {where}.**"
    else:
        verdict = f"Preset `default` is at least every rival on all {n_runs} graphs."
    header = ["noise points, solver", "highest of the paper's three", "highest of all four", "circles separated"]
    fast_cd = [found.count_best(noise, "Fast-CD", SOLVERS) for noise in NOISES]
    separated = {name: [found.count_separated(noise, name) for noise in NOISES] for name in CONTEST}
    return f"""## Figure 3: two circles in noise

200 points on each of two circles (radii 0.5 and 1, jitter 0.02) and uniform noise; self-tuning graph with 10
neighbours (the paper names neither). {N_SEEDS} seeds for each amount of noise; *highest* means within 1e-9 of the
highest objective, *separated* that at most 2 % of the points on the circles are wrong. Preset `default` stands for
plain N-Cut (`--min-share 0`).

{table(header, rows)}

{verdict} **The paper's claim is stronger than what we see**: it reports, from one sample each, that Fast-CD had the
largest objective at every amount of noise. Over {N_SEEDS} samples Fast-CD is the highest of the three
{counted(fast_cd)} times, more often than the others, but not always; and it separates the circles
{counted(separated["Fast-CD"])} times, EVD+KM {counted(separated["EVD+KM"])}. It is a local method and depends on its
start. Preset `default` separates
them {counted(separated["preset default"])} times. Where it does not, the reason is mostly the objective, which asks
for something else, as in the paper's last row; but on {len(missed)} of {n_runs} graphs{places_of(missed)} Fast-CD
started from the circles themselves ends higher than `default`: there the search misses a better solution.

![two circles in noise, by four solvers](circles.svg)

Seed {seed}, the first that shows what the paper's middle row shows: with 100 noise points only Fast-CD, of the three,
separates the circles. Behind the name stands the objective. The labels of EVD+KM and ISR are those of `rivals.py`;
the objectives agree with `ncut compare` to {magnitude(difference)}."""


def places_of(places):
    """In brackets, if there are any."""
    return f" ({'; '.join(f'{noise} noise points, seed {seed}' for noise, seed in places)})" if places else ""


def counted(numbers):
    """For the amounts of noise in turn."""
    *first, last = numbers
    return f"{', '.join(map(str, first))} and {last}"


def magnitude(difference):
    """The next power of ten."""
    exponent = -15
    while 10.0**exponent < difference:
        exponent += 1
    return f"1e{exponent}"


def coins(measured, difference, variants):
    rows = []
    for solver in SOLVERS:
        value, seconds = printed.COINS[solver]
        ours = measured.solvers[solver]["objective"]
        rows.append([solver, *beside(ours, value), f"{measured.seconds[solver]:.4f}", f"{seconds:.4f}"])
    for preset in ("fast", "default", "best"):
        row = measured.solvers[f"preset {preset}"]
        rows.append([f"preset {preset}", f"{row['objective']:.4f}", "", f"{row['seconds']:.4f}", ""])
    tried = "; ".join(f"{name}, {row['objective']:.4f}" for name, row in variants.items() if name.startswith("EVD+KM"))
    return f"""## Figure 4: the coins

scikit-learn's example: 4 697 pixels, 25 clusters; `ncut segment coins.png -k 25 --blur 2 --scale 0.2`.

{table(["solver", "obj", "paper", "seconds", "paper"], rows)}

EVD+KM differs by 0.0004; other readings (see table 2) do not give the printed number either: {tried}. The 25
eigenvalues are at most 1 and sum to {measured.report["upper_bound"]:.4f}: so close together that small differences
between eigensolvers may decide where k-means ends.

![the coins by four solvers](coins.svg)

Behind the name stands the objective; labels of EVD+KM and ISR by `rivals.py`, objectives equal to those of `ncut
compare` to {magnitude(difference)}. As in the paper, Fast-CD gives every coin a cluster of its own and the two
spectral solvers break up the background. Preset `default` has the higher objective, but leaves two coins to the
background: the highest objective is not the best picture."""


def curves(found):
    rows = []
    for name, starts in found.items():
        for start, (objectives, agreements) in starts.items():
            ends = [f"{objectives[0]:.4f}", f"{objectives[-1]:.4f}", f"{agreements[0]:.4f}", f"{agreements[-1]:.4f}"]
            rows.append([f"{name}, from {start}", len(objectives) - 1, *ends])
    header = ["set, start", "sweeps", "obj, start", "obj, end", "NMI, start", "NMI, end"]
    return f"""## Figure 5: sweep by sweep

The paper draws objective and NMI of Fast-CD started from EVD+KM on MNIST10 and STL-10, where it ends after 6 sweeps.
Here `mnist10_like` and `umist`, with both starts:

![objective and NMI over sweeps](curves.svg)

{table(header, rows)}

The objective never falls, and nearly all is gained in the first sweeps. NMI mostly follows the objective, but not on
UMist: there N2HI's own labels agree best with the classes. The paper's insets, the rise within the first sweep, are
not drawn: `ncut` reports whole sweeps."""


def gaps(contest):
    return {name: {preset: row.gap(solver) for preset, solver in PRESETS.items()} for name, row in contest.items()}


def beyond(contest, agreement):
    rows = []
    for name, measured in contest.items():
        values = {preset: measured.solvers[solver]["objective"] for preset, solver in PRESETS.items()}
        most = max(values.values())
        cells = [f"**{value:.5f}**" if value >= most - 1e-6 else f"{value:.5f}" for value in values.values()]
        sign = "" if measured.report["bound_status"] == "verified" else "~ "
        gap = [f"{measured.gap(PRESETS[preset]):.5f}" for preset in ("paper", "best")]
        rows.append([name, measured.k, *cells, f"{sign}{measured.report['upper_bound']:.5f}", *gap])
    header = ["set", "k", *PRESETS, "at most", "gap, paper", "gap, best"]
    use, columns = [], list(next(iter(agreement.values())))
    for name, reports in agreement.items():
        use.append([name] + [f"{reports[column][key]:.4f}" for key in ("accuracy", "nmi") for column in columns])
    means = [sum(float(row[place]) for row in use) / len(use) for place in range(1, len(use[0]))]
    use.append(["mean"] + [f"{value:.4f}" for value in means])
    titles = ["set"] + [f"{metric}: {column}" for metric in ("ACC", "NMI") for column in columns]
    return f"""## Beyond the paper

Objectives of the presets, all for plain N-Cut (`--min-share 0`), and the upper bound, the sum of the k largest
eigenvalues (*~*: estimated). Preset `best` had {BEST_SECONDS} seconds on one thread.

{table(header, rows)}

![gaps to the upper bound, as shares of the gap of the paper's solver](gaps.svg)

The bound cannot be reached in general: what is left of a gap is partly the bound's. A higher objective is not always
a better clustering. Agreement with the classes of the paper's labels, of preset `default` as it comes (no cluster
under a quarter of the mean volume), and of it without that share:

{table(titles, use)}"""


def differences():
    return """## Where we differ and why

- **UMist, EVD+KM and what follows from it** (tables 2 and 4): four readings of the recipe give four results, none the
  printed one. Fast-CD, on the same graph, agrees in every digit, so the graph, N2HI and the metrics are the same and
  the difference lies in k-means or the eigenvectors.
- **UMist, ISR**: 0.0014 lower; the paper leaves open how long its inner iterations run.
- **Coins, EVD+KM**: 0.0004 higher; see there. ISR and Fast-CD agree.
- **Times**: other language, other machine, and other implementations of the rivals.
- **Which solver is highest**: Fast-CD is on the paper's own sets, but not on most of the others, nor always on two
  circles, whose points, noise and graph the paper does not give. It is a local method; what it finds depends on its
  start.
- **Other samples** of MNIST, MSRA and Waveform cannot agree in digits.
- **Left out**: GTdb and STL-10 (no data), EBMC (no formulas), the insets of figure 5."""
