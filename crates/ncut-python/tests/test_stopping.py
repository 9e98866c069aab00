"""Progress, and how long work is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import ncut
import numpy as np
import pytest
from conftest import planted

GRAPH, _ = planted(40, 100, 0, between=3)


def test_a_callback_is_told_how_it_goes():
    told = []
    found = ncut.cluster(GRAPH, 40, on_progress=told.append)
    assert all(isinstance(progress, ncut.Progress) for progress in told)
    assert {"coarsening", "searching"} & {progress.stage for progress in told}
    assert told[-1].stage == "done" and told[-1].objective == found.objective
    assert threading.current_thread() is threading.main_thread()
    # So is one whose work is over in no time.
    told.clear()
    ncut.cluster(np.ones((4, 4)), 2, on_progress=told.append)
    assert told


def test_a_callback_runs_where_it_was_called():
    threads = set()
    ncut.cluster(GRAPH, 40, on_progress=lambda progress: threads.add(threading.get_ident()) is not None)
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_stops_and_the_best_so_far_is_kept(n_jobs):
    found = ncut.cluster(GRAPH, 40, preset="best", on_progress=lambda progress: True, n_jobs=n_jobs)
    assert found.stop_reason == "cancelled" and len(set(found.labels)) == 40

    def stop(progress):
        if progress.objective is not None:
            raise StopIteration

    found = ncut.cluster(GRAPH, 40, preset="best", on_progress=stop, n_jobs=n_jobs)
    assert found.stop_reason == "cancelled" and len(set(found.labels)) == 40
    full = ncut.cluster(GRAPH, 40)
    assert full.stop_reason != "cancelled" and full.objective >= found.objective


def test_what_a_callback_raises_comes_through():
    def fail(progress):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        ncut.cluster(GRAPH, 40, on_progress=fail)


def test_half_a_graph_is_none():
    X = np.random.default_rng(0).normal(size=(3000, 20))
    with pytest.raises(RuntimeError, match="stopped before there was a result"):
        ncut.neighbor_graph(X, on_progress=lambda progress: True)


def test_verbose_shows_a_bar_or_lines(capfd, monkeypatch):
    ncut.cluster(GRAPH, 40, verbose=True)
    assert "objective" in capfd.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ncut.cluster(GRAPH, 40, verbose=True)
    shown = capfd.readouterr().err
    assert shown.startswith("ncut: ") and "objective" in shown
    ncut.cluster(GRAPH, 40)
    output = capfd.readouterr()
    assert output.out == output.err == ""


PROGRAMS = {
    "neighbours": "X = points(); start(); NormalizedCut(9).fit(X)",
    "clustering": "start(); NormalizedCut(300, affinity='precomputed', preset='best', time_limit=60).fit(graph())",
    "function": "g = graph(); start(); ncut.cluster(g, 300, preset='best', time_limit=60)",
    "paper": "g = graph(60000); start(); [ncut.cluster(g, 300, preset='paper') for _ in range(1000)]",
    "picture": "start(); ncut.segment(np.random.default_rng(0).random((1500, 1500)), 50)",
    "bound": "g = graph(90000); start(); [ncut.upper_bound(g, k) for k in [20] * 1000]",
    "bound of a mesh": "g = mesh(); start(); [ncut.upper_bound(g, k) for k in [2] * 1000]",
    "bound for many clusters": "g = graph(9000); start(); [ncut.upper_bound(g, k) for k in [2500] * 1000]",
    "two threads": "g = graph(); start(); ncut.cluster(g, 300, n_jobs=2, preset='best', time_limit=60)",
}
# A shell that starts tests in the background has SIGINT ignored, and Python then leaves it so.
PRELUDE = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
import numpy as np
import ncut
from ncut import NormalizedCut
from conftest import planted
def graph(n=200000): return planted(300, n // 300, 0, between=3)[0]
def mesh(side=500):
    from sklearn.feature_extraction.image import grid_to_graph
    return grid_to_graph(side, side).astype(float)
def points(): return np.random.default_rng(0).random((60000, 200), dtype=np.float32)
def start(): print("started", flush=True)
try:
    {program}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on Unix")
@pytest.mark.parametrize("stage", PROGRAMS)
@pytest.mark.parametrize("after", [0.3, 1.1])
def test_ctrl_c_is_heard_within_a_second(stage, after):
    program = PRELUDE.format(tests=os.path.dirname(__file__), program=PROGRAMS[stage])
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        time.sleep(after)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        heard = time.monotonic() - sent
        assert process.wait(10) == 7
    assert heard < (0.5 if stage.startswith("bound") else 1.0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on Unix")
def test_ctrl_c_is_heard_where_it_was_ignored_before():
    # As in the background of a script.
    program = f"""
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
test = "test_ctrl_c_is_heard_within_a_second[0.3-function]"
command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", {__file__!r} + "::" + test]
sys.exit(subprocess.run(command).returncode)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0 and "1 passed" in ran.stdout, ran.stdout


def narrow(matrix):
    """With 32-bit numbers, which are used in place."""
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def test_an_array_that_changes_meanwhile_raises_an_exception_that_can_be_caught():
    matrix = narrow(planted(40, 500, 1, between=3)[0])

    def spoil(progress):
        # The work waits for the callback: nothing else uses the array at this moment.
        matrix.indices[:] = 2**31 - 1

    with pytest.raises(ncut.InternalError, match="unless an array was changed") as raised:
        ncut.cluster(matrix, 40, on_progress=spoil)
    assert isinstance(raised.value, Exception) and isinstance(raised.value, RuntimeError)
    # What comes after is not touched by it.
    assert len(set(ncut.cluster(GRAPH, 40).labels)) == 40


def test_arrays_that_another_thread_changes_give_a_result_or_an_exception():
    rng = np.random.default_rng(0)
    outcomes = []
    for _ in range(5):
        matrix = narrow(planted(40, 500, 2, between=3)[0])
        done = threading.Event()

        def spoil(matrix=matrix, done=done):
            while not done.is_set():
                matrix.indices[rng.integers(len(matrix.indices), size=100)] = rng.integers(2**31 - 1, size=100)
                matrix.data[rng.integers(len(matrix.data), size=100)] = np.nan
                time.sleep(0.001)

        spoiler = threading.Thread(target=spoil)
        spoiler.start()
        try:
            outcomes.append(ncut.NormalizedCut(40, affinity="precomputed").fit(matrix))
        except Exception as error:
            outcomes.append(error)
        finally:
            done.set()
            spoiler.join()
    assert len(outcomes) == 5


def test_the_interpreter_is_free_meanwhile():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    clock = threading.Thread(target=tick)
    clock.start()
    started = time.monotonic()
    ncut.cluster(GRAPH, 40)
    seconds = time.monotonic() - started
    done.set()
    clock.join()
    during = [moment for moment in ticks if started < moment < started + seconds]
    assert len(during) > 20 * seconds
