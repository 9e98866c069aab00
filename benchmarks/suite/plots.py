"""The pictures of the page, in the style of the experiments' figures."""

import numpy as np
from figures import BLUE, GREY, Album, plt

# Colour and marker by method; whoever is not named is grey.
STYLES = {
    "ncut fast": ("#7fb2de", "o"),
    "ncut default": (BLUE, "o"),
    "KaMinPar": ("#d9661f", "s"),
    "networkit ParallelLeiden": ("#4f9d4f", "^"),
    "METIS": ("#b8433f", "D"),
    "igraph Leiden": ("#7b5ea7", "v"),
    "scikit-network Louvain": ("#8c6d4f", "x"),
}


def style(method):
    return STYLES.get(method.removesuffix(", 1 thread"), (GREY, "."))


class Plots(Album):
    """The folder of the pictures."""

    def contest(self, name, contest):
        """Objective, seconds and memory as bars, one line a method."""
        rows = [row for row in contest["rows"] if "seconds" in row]
        names = [row["method"] for row in rows]
        panels = {
            "objective": [row["objective"] for row in rows],
            "seconds": [row["seconds"] for row in rows],
            "peak memory, MB": [row["peak_bytes"] / 1e6 for row in rows],
        }
        figure, axes = plt.subplots(1, 3, figsize=(9.6, 0.5 + 0.29 * len(rows)), sharey=True, layout="constrained")
        for axis, (title, values) in zip(axes, panels.items(), strict=True):
            bars = axis.barh(names, values, 0.7, color=[style(name)[0] for name in names])
            labels = [f"{value:.0f}" if value >= 100 else f"{value:.3g}" for value in values]
            if title == "objective":
                labels = [f"{label} of {row['clusters']}" for label, row in zip(labels, rows, strict=True)]
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            axis.bar_label(bars, labels, padding=3, fontsize=7, bbox=box)
            axis.set(title=title, xticks=[], xlim=(0, 1.3 * max(values)))
            axis.spines["bottom"].set_visible(False)
            axis.tick_params(axis="y", length=0)
        axes[0].invert_yaxis()
        if "truth" in contest:
            axes[0].axvline(contest["truth"], color=GREY, linestyle=":", linewidth=1, zorder=0)
        self.save(figure, name)

    def growth(self, name, found):
        """Seconds and memory over edges, both axes logarithmic: kind of the graph -> one column."""
        kinds = list(dict.fromkeys(graph["kind"] for graph in found))
        figure, axes = plt.subplots(2, len(kinds), figsize=(8.8, 6.4), sharex=True, sharey="row", layout="constrained")
        axes = np.reshape(axes, (2, len(kinds)))
        for (upper, lower), kind in zip(axes.T, kinds, strict=True):
            graphs = [graph for graph in found if graph["kind"] == kind]
            edges = np.array([graph["edges"] for graph in graphs])
            for method in dict.fromkeys(row["method"] for graph in graphs for row in graph["rows"]):
                points = [
                    (graph["edges"], row["seconds"], row["peak_bytes"] / 1e9)
                    for graph in graphs
                    for row in graph["rows"]
                    if row["method"] == method and "seconds" in row
                ]
                if not points:
                    continue
                x, seconds, memory = zip(*points, strict=True)
                color, marker = style(method)
                look = {"color": color, "marker": marker, "markersize": 4, "linewidth": 1.3, "label": method}
                upper.plot(x, seconds, **look)
                lower.plot(x, memory, **look)
            lower.plot(edges, [graph["csr_bytes"] / 1e9 for graph in graphs], ":", color=GREY, label="the graph")
            for axis in (upper, lower):
                axis.set(xscale="log", yscale="log")
                axis.grid(True, color="#eeeeee", linewidth=0.8)
            upper.set_title("planted clusters" if kind == "planted" else "meshes")
            lower.set_xlabel("edges")
        axes[0, 0].set_ylabel("seconds")
        axes[1, 0].set_ylabel("peak memory, GB")
        handles, labels = axes[1, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
        self.save(figure, name)
