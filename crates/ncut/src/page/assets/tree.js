// The number of clusters: a slider, the merge tree it cuts, and the curves of `choose`.

const curve = page.curve;

function startCut() {
  const first = curve ? curve.rows[0].k : 1;
  if (merges.length === 0 && !curve) return;
  byId("cut-panel").hidden = false;
  byId("cut-panel").classList.toggle("leads", Boolean(curve));
  const slider = byId("cut");
  byId("cut-label").textContent = `${noun.Clusters} shown`;
  byId("cut-title").textContent = curve ? `How many ${noun.clusters}` : `How the ${noun.clusters} come together`;
  [slider.min, slider.max, slider.value] = [Math.max(1, Math.min(first, nBase)), nBase, page.start || nBase];
  slider.addEventListener("input", () => setCut(Number(slider.value)));
  slider.disabled = merges.length === 0;
  if (curve) drawCurves();
  if (merges.length) {
    drawTree();
    let width = byId("cut-panel").clientWidth;
    addEventListener("resize", () => {
      if (byId("cut-panel").clientWidth === width) return;
      width = byId("cut-panel").clientWidth;
      byId("tree").hidden = false;
      drawTree();
      lightTree();
    });
  }
  byId("cut-note").textContent = merges.length
    ? `The slider joins ${noun.clusters} in the order of the merge tree: whatever costs least of the objective first. ${curve ? "" : "The figures above, "}${curve ? "The" : "the"} table, the graph and the map follow.`
    : "";
}

function showCut() {
  const k = view.cut.k;
  byId("cut").value = k;
  byId("cut-value").textContent = k;
  byId("cut").setAttribute("aria-valuetext", counted(k, noun.cluster, noun.clusters));
  for (const mark of document.querySelectorAll("[data-k]")) mark.classList.toggle("is-now", Number(mark.dataset.k) === k);
  lightTree();
}

function ticksOf(from, to, count) {
  const rough = (to - from) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to + 1e-9 * step; tick += step) ticks.push(Number(tick.toPrecision(6)));
  return ticks;
}

function drawCurves() {
  const { rows } = curve;
  const panels = [
    { title: `Objective: larger is better, but only beside the same number of ${noun.clusters}`, value: (row) => row.objective, isLine: true },
    { title: "What the last cluster gained: where it falls off, clusters end", value: (row) => row.gap },
    { title: "Fall of the eigenvalues after k: the suggestion of spectral clustering", value: (row) => row.eigengap },
  ];
  byId("curves").replaceChildren(...panels.flatMap(({ title, value, isLine }) => {
    const known = rows.filter((row) => Number.isFinite(value(row)) && value(row) !== null);
    return known.length < 2 ? [] : [element("figure", {}, element("figcaption", {}, title), plotOf(known, value, isLine))];
  }));
}

function plotOf(rows, value, isLine) {
  const [w, h, left, bottom] = [360, 170, 38, 22];
  const first = curve.rows[0].k, last = curve.rows[curve.rows.length - 1].k;
  const most = Math.max(...rows.map(value)), least = Math.min(0, ...rows.map(value));
  const x = (k) => left + ((k - first + 0.5) / (last - first + 1)) * (w - left);
  const y = (one) => h - bottom - ((one - least) / (most - least || 1)) * (h - bottom - 8);
  const parts = ticksOf(least, most, 4).flatMap((tick) => [
    element("line", { class: "axis", x1: left, x2: w, y1: y(tick), y2: y(tick) }),
    element("text", { class: "tick", x: left - 6, y: y(tick) + 3.5, "text-anchor": "end" }, String(tick)),
  ]);
  for (const tick of ticksOf(first, last, 8).filter(Number.isInteger)) {
    parts.push(element("text", { class: "tick", x: x(tick), y: h - 6, "text-anchor": "middle" }, String(tick)));
  }
  const wide = Math.min(22, ((w - left) / (last - first + 1)) * 0.66);
  if (isLine) parts.push(element("polyline", { class: "curve-line", points: rows.map((row) => `${x(row.k).toFixed(1)},${y(value(row)).toFixed(1)}`).join(" ") }));
  for (const row of rows) {
    const mark = row.k === curve.suggested ? " is-suggested" : "";
    const common = { "data-k": row.k, onclick: () => row.k <= nBase && merges.length && setCut(row.k) };
    const title = element("title", {}, `k = ${row.k}: ${value(row).toFixed(4)}`);
    parts.push(isLine
      ? element("circle", { class: `curve-dot${mark}`, cx: x(row.k), cy: y(value(row)), r: 4.2, ...common }, title)
      : element("rect", { class: `curve-bar${mark}`, x: x(row.k) - wide / 2, width: wide, y: Math.min(y(value(row)), y(0)), height: Math.max(0.5, Math.abs(y(0) - y(value(row)))), rx: 2, ...common }, title));
  }
  return element("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Curve from ${first} to ${last} clusters` }, ...parts);
}

const branches = [];

/** Room that a leaf's number needs. */
const LEAF_ROOM = 17;

function drawTree() {
  // As wide as it is shown, so that the numbers stay readable; on a telephone a large tree would be a grey patch.
  const w = Math.min(1240, Math.max(280, byId("tree").clientWidth || 1000));
  byId("tree").hidden = nBase > 60 && w < 500;
  const h = nBase > 60 ? 200 : 150, top = 8, foot = 20;
  const children = (node) => merges[node - nBase].slice(0, 2);
  const order = [], stack = [nBase + merges.length - 1];
  while (stack.length) {
    const node = stack.pop();
    if (node < nBase) order.push(node);
    else stack.push(...children(node).toReversed());
  }
  // Heights are what the merges so far cost, so that a cut lies between two of them.
  const costs = [];
  merges.forEach(([, , cost], i) => costs.push((costs[i - 1] || 0) + Math.max(cost, 0)));
  const most = costs[costs.length - 1] || 1;
  const even = (i) => (i + 1) / merges.length;
  const height = (i) => h - foot - (0.75 * Math.sqrt(costs[i] / most) + 0.25 * even(i)) * (h - foot - top);
  const x = new Float64Array(2 * nBase - 1), y = new Float64Array(2 * nBase - 1).fill(h - foot);
  order.forEach((row, i) => (x[row] = ((i + 0.5) / nBase) * w));
  const parts = [];
  branches.length = 0;
  merges.forEach(([first, second], i) => {
    const node = nBase + i;
    [x[node], y[node]] = [(x[first] + x[second]) / 2, height(i)];
    const path = element("path", { class: "branch", d: `M${x[first]} ${y[first]}V${y[node]}H${x[second]}V${y[second]}` },
      element("title", {}, `${nBase - i} become ${nBase - i - 1}: the objective changes by ${(-merges[i][2]).toFixed(4)}`));
    branches.push(path);
    parts.push(path);
  });
  const cut = element("line", { class: "cut-line", id: "cut-line", x1: 0, x2: w });
  const leaves = order.map((row) => element("g", {
    class: "leaf", "data-row": row, onclick: () => choose(view.cut.groupOf[row]),
    onpointerenter: () => hover(view.cut.groupOf[row]), onpointerleave: () => hover(-1),
  },
  element("circle", { cx: x[row], cy: h - foot, r: Math.max(2, Math.min(5, (w / nBase) * 0.35)), fill: css(colours[row]) }),
  w / nBase >= LEAF_ROOM && !curve && element("text", { x: x[row], y: h - 3 }, String(base.label[row]))));
  byId("tree").replaceChildren(element("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Merge tree of ${noun.clusters}` }, ...parts, cut, ...leaves));
  drawTree.levelOf = (k) => {
    const done = nBase - k;
    const above = done < merges.length ? height(done) : 0, below = done > 0 ? height(done - 1) : h - foot;
    return (above + below) / 2;
  };
}

function lightTree() {
  const line = byId("cut-line");
  if (!line) return;
  const level = drawTree.levelOf(view.cut.k);
  line.setAttribute("y1", level);
  line.setAttribute("y2", level);
  const leads = new Map();
  merges.forEach(([first, second], i) => {
    const row = [first, second].map((part) => (part < nBase ? part : leads.get(part)));
    leads.set(nBase + i, row[0]);
    const isDone = i < nBase - view.cut.k;
    const group = view.cut.groups[view.cut.groupOf[row[0]]];
    branches[i].setAttribute("stroke", isDone ? css(rgbOf(group)) : "var(--soft)");
    branches[i].setAttribute("opacity", lit() >= 0 && !(isDone && group.number === lit()) ? 0.3 : 1);
  });
  for (const leaf of document.querySelectorAll(".leaf")) {
    const group = view.cut.groupOf[Number(leaf.dataset.row)];
    leaf.setAttribute("opacity", lit() >= 0 && group !== lit() ? 0.25 : 1);
    leaf.querySelector("circle").setAttribute("fill", css(rgbOf(view.cut.groups[group])));
  }
}
