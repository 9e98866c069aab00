"""The figures of the page, as SVG; large layers are pixels inside."""

import os

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt

# The same bytes on every run.
plt.rcParams.update(
    {
        "svg.hashsalt": "ncut",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial", "sans-serif"],
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
    }
)
BLUE, ORANGE, GREY = "#1f6fb4", "#d9661f", "#9a9a9a"
GREY_LEVELS = 12


class Album:
    """The folder of the figures."""

    def __init__(self, folder):
        self.folder = folder

    def save(self, figure, name, dpi=110):
        path = os.path.join(self.folder, name)
        figure.savefig(path, dpi=dpi, bbox_inches="tight", facecolor="white", metadata={"Date": None, "Creator": None})
        plt.close(figure)

    def blocks(self, matrix, curves, suggested):
        """A matrix of five blocks, and objectives over the number of clusters by name of the solver."""
        figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), width_ratios=(1, 1.35), layout="constrained")
        # Every second node and few greys: noise does not compress.
        few = np.floor(matrix[::2, ::2] * GREY_LEVELS) / GREY_LEVELS
        left.imshow(few, cmap="Blues", extent=(0, 500, 500, 0), interpolation="none")
        left.set(title="weights", xticks=range(0, 501, 100), yticks=range(0, 501, 100))
        right.axvline(suggested, color=GREY, linestyle=":", linewidth=1)
        styles = zip((BLUE, ORANGE), ("o-", "x--"), curves.items(), strict=False)
        for color, style, (name, curve) in styles:
            right.plot(list(curve), list(curve.values()), style, color=color, markersize=4, linewidth=1.2, label=name)
        right.set(xlabel="number of clusters", ylabel="objective", xticks=range(1, 11), title="objective")
        right.legend(loc="lower right")
        self.save(figure, "blocks.svg")

    def circles(self, rows):
        """Rows of (title, points, labels and objective by name of the solver)."""
        names = list(rows[0][2])
        figure, axes = plt.subplots(len(rows), len(names), figsize=(8.4, 6.5), layout="constrained")
        for line, (title, points, found) in zip(axes, rows, strict=True):
            line[0].set_ylabel(title)
            for axis, name in zip(line, names, strict=True):
                labels, value = found[name]
                # The cluster with more of the inner circle has the same colour everywhere.
                is_inner = labels == np.bincount(labels[:200]).argmax()
                colors = np.where(is_inner, ORANGE, BLUE)
                axis.scatter(*points.T, s=3, c=colors, linewidths=0, antialiased=False, rasterized=True)
                axis.set(title=f"{name}  {value:.6f}", aspect="equal", xticks=[], yticks=[])
                axis.spines[:].set_visible(False)
        self.save(figure, "circles.svg", dpi=150)

    def coins(self, picture, shape, found):
        """The picture, and labels and objective by name of the solver."""
        figure, axes = plt.subplots(1, 1 + len(found), figsize=(10, 2.1), layout="constrained")
        axes[0].imshow(picture[::2, ::2], cmap="gray")
        axes[0].set_title("input\n")
        for axis, (name, (labels, value)) in zip(axes[1:], found.items(), strict=True):
            axis.imshow(distinct_colors(labels)[labels].reshape(*shape, 3), interpolation="nearest")
            axis.set_title(f"{name}\n{value:.6f}")
        for axis in axes:
            axis.set_axis_off()
        self.save(figure, "coins.svg")

    def curves(self, panels):
        """Objective and NMI over sweeps: name of the set -> name of the start -> (objectives, NMIs)."""
        figure, axes = plt.subplots(2, len(panels), figsize=(8.4, 4.6), sharex="col", layout="constrained")
        for (upper, lower), (name, starts) in zip(axes.T, panels.items(), strict=True):
            for color, (start, measured) in zip((BLUE, ORANGE), starts.items(), strict=True):
                for axis, values in zip((upper, lower), measured, strict=True):
                    axis.plot(values, "o-", color=color, markersize=3, linewidth=1.2, label=f"from {start}")
            upper.set_title(name)
            lower.set_xlabel("sweeps")
            lower.xaxis.get_major_locator().set_params(integer=True)
        axes[0, 0].set_ylabel("objective")
        axes[1, 0].set_ylabel("NMI")
        axes[0, 0].legend(loc="lower right")
        self.save(figure, "curves.svg")

    def gaps(self, gaps):
        """What is missing to the upper bound, as a share of what the paper's solver misses: set -> preset -> gap."""
        figure, axis = plt.subplots(figsize=(8.4, 2.8), layout="constrained")
        axis.axhline(1, color=GREY, linestyle=":", linewidth=1)
        for place, (preset, color) in enumerate({"fast": "#a9cbe8", "default": BLUE, "best": "#0b3d6b"}.items()):
            heights = [row[preset] / row["paper"] for row in gaps.values()]
            axis.bar(np.arange(len(gaps)) + 0.25 * (place - 1), heights, 0.23, color=color, label=f"preset {preset}")
        axis.set(ylabel="gap / gap of paper", xticks=range(len(gaps)), xticklabels=list(gaps))
        axis.tick_params(axis="x", length=0, labelsize=7)
        axis.legend(ncols=3, loc="lower right", bbox_to_anchor=(1, 1))
        self.save(figure, "gaps.svg")


def distinct_colors(labels):
    """Colours by label: hues far apart, the largest cluster dark."""
    k = labels.max() + 1
    hues = (np.arange(k) * 0.618034) % 1
    colors = matplotlib.colors.hsv_to_rgb(np.column_stack([hues, np.full(k, 0.55), 0.75 + 0.2 * (np.arange(k) % 2)]))
    colors[np.bincount(labels).argmax()] = 0.2
    return colors
