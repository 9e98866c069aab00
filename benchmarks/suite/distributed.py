"""`ncut.distributed` beside `ncut cluster` on one machine: objective, time, memory, faults.

A Ray cluster of four nodes, in a network namespace of its own; every node has one processor. `benchmarks/run --only distributed`.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_NODES_OF_RAY = 4
OBJECT_STORE = 512 << 20
PHASES = ("reading", "coarsening", "solving", "refining")


def say(line):
    print(line, file=sys.stderr, flush=True)


def planted(n_nodes, k, n_edges, seed, mixing=0.3):
    """Source and target of edges, this share of them between any nodes, the others inside clusters."""
    random = np.random.default_rng(seed)
    labels = random.integers(k, size=n_nodes, dtype=np.int32)
    members = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[members], np.arange(k + 1))
    source = random.integers(n_nodes, size=n_edges)
    own = labels[source]
    target = members[starts[own] + (random.random(n_edges) * (starts[own + 1] - starts[own])).astype(np.int64)]
    noise = random.random(n_edges) < mixing
    target[noise] = random.integers(n_nodes, size=int(noise.sum()))
    return source, target


def mesh(side):
    """A square of triangles: about three edges for each node."""
    node = np.arange(side * side, dtype=np.int64).reshape(side, side)
    pairs = [(node[:, :-1], node[:, 1:]), (node[:-1], node[1:]), (node[:-1, :-1], node[1:, 1:])]
    return tuple(np.concatenate([pair[place].ravel() for pair in pairs]) for place in (0, 1))


def network(folder, name):
    from scipy import sparse

    matrix = sparse.triu(sparse.load_npz(Path(folder) / "graphs" / f"{name}.npz")).tocoo()
    return matrix.row.astype(np.int64), matrix.col.astype(np.int64)


def written(folder, source, target, n_parts):
    """The edges as Parquet parts and as text."""
    if (folder / "complete").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "parts").mkdir(parents=True)
    table = pa.table({"source": source, "target": target})
    for part, rows in enumerate(np.array_split(np.arange(len(source)), n_parts)):
        pq.write_table(table.slice(int(rows[0]), len(rows)), folder / "parts" / f"part-{part}.parquet")
    from pyarrow import csv

    options = csv.WriteOptions(include_header=False, delimiter=" ")
    csv.write_csv(table, folder / "edges.txt", options)
    (folder / "complete").touch()


def one_machine(ncut, folder, k):
    """`ncut cluster --threads 2` on the text."""
    report = folder / "one.json"
    command = [ncut, "cluster", folder / "edges.txt", "-k", str(k), "--threads", "2", "--quiet", "--json", report]
    began = time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - began
    found = json.loads(report.read_text())
    return {
        "objective": found["objective"],
        "seconds": seconds,
        "parts": found["seconds"],
        "memory": found["peak_memory_bytes"],
    }


def checked(folder, labels, k, objective):
    """Scores the written labels by numpy and scipy alone; tells pieces and the objective."""
    from scipy import sparse

    table = pq.read_table(folder / "parts")
    source, target = (np.asarray(table.column(name)) for name in ("source", "target"))
    ids, values = np.asarray(labels.column("id")), np.asarray(labels.column("label"))
    of = np.full(int(ids.max()) + 1, -1, np.int64)
    of[ids] = values
    one, other = of[source], of[target]
    assert (one >= 0).all() and (other >= 0).all()
    volume = np.bincount(one, minlength=k) + np.bincount(other[source != target], minlength=k)
    inside = one == other
    association = np.bincount(one[inside], np.where(source == target, 1.0, 2.0)[inside], k)
    again = float((association / volume).sum())
    assert abs(again - objective) < 1e-6 * max(1, k), (again, objective)
    matrix = sparse.coo_array(
        (np.ones(int(inside.sum()), np.int8), (source[inside], target[inside])), shape=(len(of),) * 2
    )
    n_pieces = sparse.csgraph.connected_components(matrix, directed=False)[0] - int((of < 0).sum())
    return {"objective": again, "n_clusters": len(np.unique(values)), "n_pieces": int(n_pieces)}


def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024


def workers():
    own = os.readlink("/proc/self/ns/net")
    found = []
    for process in Path("/proc").iterdir():
        try:
            if (process / "cmdline").read_bytes().startswith(b"ray::Worker") and os.readlink(
                process / "ns" / "net"
            ) == own:
                found.append(int(process.name))
        except OSError:
            continue
    return sorted(found)


class Bench:
    def __init__(self, options):
        from ray.cluster_utils import Cluster

        import ray

        self.ncut, self.folder, self.quick = options.ncut, Path(options.folder), options.quick
        self.folder.mkdir(parents=True, exist_ok=True)
        head = {
            "num_cpus": 1,
            "node_ip_address": "127.0.0.2",
            "object_store_memory": OBJECT_STORE,
            "include_dashboard": False,
        }
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        for number in range(1, N_NODES_OF_RAY):
            self.add_node(number)
        ray.init(address=self.cluster.address, log_to_driver=False)

    def add_node(self, number):
        address = f"127.0.0.{2 + number}"
        return self.cluster.add_node(num_cpus=1, node_ip_address=address, object_store_memory=OBJECT_STORE)

    def edges(self, name):
        folder = self.folder / name
        if not (folder / "complete").exists():
            say(f"making {name}")
            tenth = 10 if self.quick else 1
            if name == "planted10":
                written(folder, *planted(1_000_000 // tenth, 1000 // tenth, 10_000_000 // tenth, 1), 8)
            elif name == "planted30":
                written(folder, *planted(3_000_000 // tenth, 1000 // tenth, 30_000_000 // tenth, 2), 8)
            elif name == "mesh":
                written(folder, *mesh(1000 if tenth == 1 else 300), 8)
            else:
                written(folder, *network(os.environ["NCUT_DATA"], name), 8)
        return folder

    def run(self, name, k, n_shards, **more):
        from ncut import distributed

        folder = self.edges(name)
        storage = self.folder / "storage"
        shutil.rmtree(storage, ignore_errors=True)
        before = resident()
        began = time.perf_counter()
        found = distributed.cluster(folder / "parts", k, n_shards=n_shards, storage=storage, **more)
        seconds = time.perf_counter() - began
        report = found.report
        idle = report["idle_memory_bytes"]
        case = {
            "graph": name,
            "k": k,
            "n_shards": n_shards,
            "seconds": seconds,
            "phases": report["seconds"],
            "objective": found.objective,
            "levels": report["levels"],
            "rounds": len(report["rounds"]),
            "repair": report["repair"],
            "sent": report["n_bytes_sent"],
            "peak": [peak - base for peak, base in zip(report["peak_memory_bytes"], idle)],
            "peak_by_stage": report["peak_memory_bytes_by_stage"],
            "idle": max(idle),
            "driver": resident() - before,
            "n_faults": report["n_faults"],
        }
        stages = {stage: round((peak - case["idle"]) / 1e6) for stage, peak in case["peak_by_stage"].items()}
        rows = round(max(case["levels"][0]["n_bytes"]) / 1e6)
        say(
            f"{name} in {n_shards} shards: {seconds:.1f} s, objective {found.objective:.4f}; MB up to each stage {stages}, rows {rows}, "
            f"driver {case['driver'] / 1e6:.0f}"
        )
        return case, found

    def quality(self, name, k):
        folder = self.edges(name)
        one = one_machine(self.ncut, folder, k)
        case, found = self.run(name, k, 4)
        case["checked"] = checked(folder, found.labels, k, found.objective)
        return {"one": one, "distributed": case, "share": found.objective / one["objective"]}

    def memory(self):
        k = 1000 // (10 if self.quick else 1)
        return [self.run("planted30", k, n_shards)[0] for n_shards in (2, 4, 8)]

    def faults(self):
        name, k = "planted10", 1000 // (10 if self.quick else 1)
        undisturbed, first = self.run(name, k, 4)
        again, second = self.run(name, k, 4)
        rows = [{"fault": "none, again", "seconds": again["seconds"], "same": second.labels.equals(first.labels)}]
        for kind in ("worker", "node"):
            for phase in PHASES:
                done = []

                def strike(step, phase=phase, done=done, kind=kind):
                    if step.phase == phase and not done:
                        done.append(kind)
                        # In the middle of what comes next.
                        threading.Timer(0.1, self.strike, [kind]).start()

                case, found = self.run(name, k, 4, on_progress=strike)
                same = found.labels.equals(first.labels)
                rows.append(
                    {
                        "fault": f"{kind}, {phase}",
                        "seconds": case["seconds"],
                        "same": same,
                        "n_faults": case["n_faults"],
                    }
                )
                say(
                    f"{kind} lost while {phase}: {case['seconds']:.1f} s, same labels: {same}, {case['n_faults']} faults"
                )
                if kind == "node":
                    self.add_node(self.number)
        rows.append(self.driver_death(name, k, first))
        return {"undisturbed": undisturbed["seconds"], "rows": rows}

    def strike(self, kind):
        if kind == "worker":
            os.kill(workers()[-1], signal.SIGKILL)
        else:
            self.number = getattr(self, "number", 10) + 1
            # Any but the head, without which there is no cluster.
            self.cluster.remove_node(self.cluster.list_all_nodes()[-1], allow_graceful=False)

    def driver_death(self, name, k, first):
        output = self.folder / "output"
        shutil.rmtree(output, ignore_errors=True)
        command = [
            sys.executable,
            "-m",
            "ncut.distributed",
            str(self.edges(name) / "parts"),
            "-k",
            str(k),
            "-o",
            str(output),
        ]
        command += ["--shards", "4", "--address", self.cluster.address]
        began = time.perf_counter()
        driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in driver.stderr:
            if "refining" in line:
                driver.kill()
                break
        driver.wait()
        subprocess.run([*command, "--quiet"], check=True)
        seconds = time.perf_counter() - began
        labels = pa.concat_tables([pq.read_table(path) for path in sorted(output.glob("labels-*"))])
        return {"fault": "driver, refining", "seconds": seconds, "same": labels.equals(first.labels)}


def page(found):
    """The page."""
    lines = [
        "# Beyond one machine",
        "",
        "Written by `benchmarks/run --only distributed`: a Ray cluster of four nodes of one processor each, all on one machine of "
        f"{os.cpu_count()} cores, in a network namespace; `ncut cluster --threads 2` beside it on the same edges as text.",
        "",
    ]
    if "quality" in found:
        lines += [
            "| graph, k | one machine | s | 4 shards | s | share | clusters / pieces |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for row in found["quality"]:
            one, ours = row["one"], row["distributed"]
            seen = ours["checked"]
            lines.append(
                f"| {ours['graph']}, {ours['k']} | {one['objective']:.4f} | {one['seconds']:.1f} | {ours['objective']:.4f} | "
                f"{ours['seconds']:.1f} | {row['share']:.5f} | {seen['n_clusters']} / {seen['n_pieces']} |"
            )
        lines += [
            "",
            "Seconds by phase:",
            "",
            "| graph | " + " | ".join(STAGES) + " |",
            "| --- " * (1 + len(STAGES)) + "|",
        ]
        for row in found["quality"]:
            phases = row["distributed"]["phases"]
            lines.append(
                f"| {row['distributed']['graph']} | "
                + " | ".join(f"{phases.get(stage, 0):.1f}" for stage in STAGES)
                + " |"
            )
    if "memory" in found:
        lines += [
            "",
            "| shards | largest worker, MB | its rows, MB | times | driver, MB | s |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for row in found["memory"]:
            peak, own = max(row["peak"]), max(row["levels"][0]["n_bytes"])
            lines.append(
                f"| {row['n_shards']} | {peak / 1e6:.0f} | {own / 1e6:.0f} | {peak / own:.2f} | {row['driver'] / 1e6:.0f} | {row['seconds']:.1f} |"
            )
    if "faults" in found:
        lines += [
            "",
            f"Without a fault: {found['faults']['undisturbed']:.1f} s.",
            "",
            "| lost | s | same labels |",
            "| --- | --- | --- |",
        ]
        lines += [
            f"| {row['fault']} | {row['seconds']:.1f} | {'yes' if row['same'] else 'NO'} |"
            for row in found["faults"]["rows"]
        ]
    return "\n".join(lines) + "\n"


STAGES = ("read", "coarsen", "solve", "project", "refine", "polish", "connect")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ncut", required=True, help="the command line")
    parser.add_argument("--folder", required=True, help="where graphs are made")
    parser.add_argument("--page", required=True, help="the page to write")
    parser.add_argument("--quick", action="store_true", help="graphs of a tenth of the size")
    parser.add_argument("--parts", nargs="+", default=["quality", "memory", "faults"])
    parser.add_argument("--graphs", nargs="+", help="of the part quality")
    options = parser.parse_args()
    bench = Bench(options)
    results = Path(options.folder) / "distributed.json"
    found = json.loads(results.read_text()) if results.exists() else {}
    if "quality" in options.parts:
        tenth = 10 if options.quick else 1
        graphs = {"planted10": 1000 // tenth, "mesh": 100}
        if os.environ.get("NCUT_DATA"):
            graphs["cnr-2000"] = 100
        rows = {row["distributed"]["graph"]: row for row in found.get("quality", [])}
        for name, k in graphs.items():
            if not options.graphs or name in options.graphs:
                rows[name] = bench.quality(name, k)
                say(
                    json.dumps(
                        {
                            key: rows[name]["distributed"][key]
                            for key in ("phases", "levels", "rounds", "repair", "sent", "peak", "driver", "checked")
                        }
                    )
                )
                say(
                    f"share {rows[name]['share']:.5f}; one machine {rows[name]['one']['seconds']:.1f} s {rows[name]['one']['parts']}"
                )
        found["quality"] = list(rows.values())
    for part in ("memory", "faults"):
        if part in options.parts:
            found[part] = getattr(bench, part)()
    results.write_text(json.dumps(found, indent=1))
    Path(options.page).write_text(page(found))
    say(page(found))


if __name__ == "__main__":
    main()
