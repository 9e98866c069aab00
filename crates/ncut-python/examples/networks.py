"""Les Misérables
==============

Characters who meet often, in seven clusters, and how these come together.

On the left the graph of networkx, a node as large as its degree and an edge as wide as its weight; on the right the
merge tree of the clustering, first inside the clusters, then of the clusters, with all the names.

``python networks.py [picture.png]``
"""

import sys

import matplotlib.pyplot as plt
import ncut
import networkx as nx
from scipy.cluster.hierarchy import dendrogram

COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f6000"]


def main(path="networks.png"):
    graph = nx.les_miserables_graph()
    found = ncut.cluster(graph, len(COLORS))
    print(f"N-Cut {found.ncut:.3f}; the smallest cluster has {found.smallest_share:.2f} of the mean volume")
    for members in found.communities():
        print(f"  {len(members):2}: {', '.join(members)}")

    plt.switch_backend("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 8.6), width_ratios=[2.2, 1], layout="constrained")
    draw_network(left, graph, found)
    draw_tree(right, found)
    left.set_title(f"Les Misérables in {found.n_clusters} clusters: N-Cut {found.ncut:.3f}")
    right.set_title("The merge tree, found.hierarchy")
    figure.savefig(path, dpi=100)


def draw_network(axes, graph, found):
    degree = dict(graph.degree(weight="weight"))
    places = nx.spring_layout(graph, k=0.35, iterations=200, seed=3)
    widths = [0.4 * weight**0.6 for _, _, weight in graph.edges(data="weight")]
    sizes = [30 + 5 * degree[node] for node in found.nodes]
    colors = [COLORS[label] for label in found.labels]
    nx.draw_networkx_edges(graph, places, ax=axes, width=widths, edge_color="#cccccc")
    nx.draw_networkx_nodes(graph, places, found.nodes, ax=axes, node_size=sizes, node_color=colors, edgecolors="white")
    central = [max(members, key=degree.get) for members in found.communities()]
    above = {node: places[node] + [0, 0.06] for node in central}
    nx.draw_networkx_labels(graph, above, {node: node for node in central}, ax=axes, font_size=11)
    axes.set_axis_off()


def draw_tree(axes, found):
    tree = found.hierarchy
    names = [found.nodes[leaf] for leaf in tree.leaves]
    # The colour of every leaf and of every merge: that of its cluster, or grey where clusters come together.
    colors = [COLORS[found.labels[leaf]] for leaf in tree.leaves]
    for first, second in tree.children:
        colors.append(colors[first] if colors[first] == colors[second] else "#999999")
    style = {"orientation": "left", "leaf_font_size": 7}
    dendrogram(tree.linkage(), labels=names, link_color_func=colors.__getitem__, ax=axes, **style)
    axes.set_xticks([])
    axes.spines[:].set_visible(False)


if __name__ == "__main__":
    main(*sys.argv[1:])
