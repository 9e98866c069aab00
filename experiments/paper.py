"""Every experiment of Nie et al., TPAMI 2023, on the data at hand: paper.py PROGRAM DATA FOLDER writes a page."""

import os
import sys
import tempfile
import time

import data
import measure
import page
from figures import Album
from markdown import wrapped
from program import Ncut

COINS_SHAPE = (61, 77)


def main(program, data_folder, folder):
    started = time.perf_counter()
    os.makedirs(folder, exist_ok=True)
    album = Album(folder)
    with tempfile.TemporaryDirectory() as scratch:
        ncut = Ncut(os.path.abspath(program), scratch)
        sections = list(run(ncut, data_folder, album))
    text = wrapped("\n\n".join(sections)) + f"\n\nAll of this took {time.perf_counter() - started:.0f} seconds.\n"
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(text)


def run(ncut, data_folder, album):
    """The sections of the page, one after the other."""
    sets = {}
    for data_set in data.SETS:
        note(data_set.name)
        sets[data_set] = measure.measure_set(ncut, data_set, data_folder)
    by_name = {data_set.name: measured for data_set, measured in sets.items()}
    note("coins")
    coins = measure.measure_coins(ncut)

    yield page.introduction(sets, coins)
    yield page.scores(sets, measure.variants(ncut, by_name["umist"]))
    yield page.times(sets)
    yield page.refined(sets)

    models = {}
    for data_set in filter(lambda data_set: data_set.printed, sets):
        note(f"{data_set.name}: other models")
        models[data_set] = measure.other_models(ncut, data_set, sets[data_set], data_folder, data_set.is_same)
    yield page.other_models(models)

    note("five blocks")
    blocks = measure.five_blocks(ncut)
    album.blocks(blocks.matrix, blocks.curves, 5)
    yield page.blocks(blocks)

    note("two circles")
    circles = measure.two_circles(ncut)
    seed = circles.seed_as_printed()
    rows, difference = measure.circle_rows(ncut, seed)
    album.circles(rows)
    yield page.circles(circles, seed, difference)

    note("figures")
    found = measure.all_labels(ncut, coins.graph, coins.k)
    album.coins(data.coins(), COINS_SHAPE, found)
    yield page.coins(coins, measure.largest_difference(found, coins.solvers), measure.variants(ncut, coins))

    curves = {name: measure.sweep_curves(ncut, by_name[name]) for name in measure.CURVE_SETS}
    album.curves(curves)
    yield page.curves(curves)

    agreement = {name: measure.agreement_by_preset(ncut, measured) for name, measured in by_name.items()}
    contest = by_name | {"coins": coins}
    album.gaps(page.gaps(contest))
    yield page.beyond(contest, agreement)

    found, learned = {}, {}
    for data_set in data.LABELLED:
        note(f"{data_set.name}: affinities")
        found[data_set] = measure.by_affinity(ncut, data_set, data_folder)
        learned[data_set] = measure.learned(ncut, data_set, data_folder)
    yield page.affinities(found, learned)
    yield page.differences()


def note(what):
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
