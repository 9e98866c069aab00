// What is looked at, and who is told when that changes.

const view = {
  cut: null,
  /** A cluster of the beginning that stands for the one selected, so that the choice survives another cut. */
  chosenRow: -1,
  hovered: -1,
  node: -1,
};
const listeners = { cut: [], light: [], theme: [] };
const tell = (what) => listeners[what].forEach((listener) => listener());

const chosen = () => (view.chosenRow < 0 ? -1 : view.cut.groupOf[view.chosenRow]);
/** The cluster that stands out: the one under the pointer, else the one selected; -1 for none. */
const lit = () => (view.hovered >= 0 ? view.hovered : chosen());

function hover(group) {
  if (view.hovered === group) return;
  view.hovered = group;
  tell("light");
}

/** Selects a cluster; once more lets it go. */
function choose(group) {
  view.chosenRow = group < 0 || group === chosen() ? -1 : view.cut.groups[group].lead;
  view.hovered = -1;
  tell("light");
}

function pointTo(node) {
  view.node = node;
  if (node >= 0 && nodes.label[node] !== NO_CLUSTER) view.chosenRow = nodes.label[node];
  view.hovered = -1;
  tell("light");
}

function setCut(k) {
  view.cut = cutAt(k);
  view.hovered = -1;
  tell("cut");
}

/** How sure a node is of its cluster as shown; undefined where that is not known. */
const nodeConfidence = (node) => (view.cut.sure ? view.cut.sure[node] / 255 : undefined);
/** The other cluster that pulls most on a node, or -1. */
const secondOfNode = (node) => (!view.cut.second || view.cut.second[node] === NO_CLUSTER ? -1 : view.cut.second[node]);
const groupOfNode = (node) => (nodes.label[node] === NO_CLUSTER ? -1 : view.cut.groupOf[nodes.label[node]]);
