// Solvers side by side: a table, and a small map of each, coloured like the best one.

const solvers = page.solvers;
const solverSorting = { key: "objective", isDescending: true };

const solverColumns = [
  { key: "name", title: "Solver", isText: true },
  { key: "objective", title: "Objective", digits: 4, hint: "larger is better" },
  { key: "gap", title: "Missing to the bound", digits: 4, hint: "how far a better clustering can be above, at most" },
  { key: "ncut", title: "N-Cut", digits: 4, hint: "smaller is better" },
  { key: "smallest_share", title: "Smallest share", digits: 3, hint: "volume of the smallest cluster over the mean" },
  { key: "accuracy", title: "Accuracy", digits: 3 },
  { key: "nmi", title: "NMI", digits: 3 },
  { key: "ari", title: "ARI", digits: 3 },
  { key: "seconds", title: "Seconds", digits: 2 },
  { key: "remark", title: "Remark", isText: true },
];

function startSolvers() {
  if (!solvers) return;
  byId("solvers-panel").hidden = false;
  byId("solvers-note").textContent = page.solvers_note || "";
  drawSolvers();
  if (nodeMap) drawSmallMaps();
}

function drawSolvers() {
  const isKnown = (value) => value !== undefined && value !== null && value !== "";
  const shown = solverColumns.filter(({ key }) => solvers.some((solver) => isKnown(solver[key])));
  const best = Math.max(...solvers.map((solver) => solver.objective)), least = Math.min(...solvers.map((solver) => solver.objective));
  const { key, isDescending } = solverSorting;
  const compare = (a, b) => {
    if (!isKnown(a[key]) || !isKnown(b[key])) return isKnown(b[key]) - isKnown(a[key]);
    return (isDescending ? -1 : 1) * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0);
  };
  const head = element("tr", {}, ...shown.map((column) => element("th", {
    scope: "col", class: column.isText ? undefined : "number", title: column.hint,
    "aria-sort": column.key === key ? (isDescending ? "descending" : "ascending") : undefined,
  }, element("button", {
    type: "button", "data-column": column.key,
    onclick: () => {
      solverSorting.isDescending = column.key === key ? !isDescending : !column.isText && !["gap", "ncut", "seconds"].includes(column.key);
      solverSorting.key = column.key;
      drawSolvers();
      document.querySelector(`#solvers th button[data-column="${column.key}"]`).focus();
    },
  }, column.title))));
  const cell = (solver, column) => {
    const value = solver[column.key];
    const text = !isKnown(value) ? "–" : column.isText ? value : value.toFixed(column.digits);
    if (column.key !== "objective") return element("td", { class: column.isText && column.key !== "name" ? "text" : column.isText ? undefined : "number", "data-title": column.title }, column.key === "remark" && !isKnown(value) ? "" : text);
    return element("td", { class: "number", "data-title": column.title }, barOf(best > least ? (value - least) / (best - least) : 1, "var(--accent)"), text);
  };
  const rows = [...solvers].sort(compare).map((solver) => element("tr", { class: solver.objective === best ? "is-best" : undefined }, ...shown.map((column) => cell(solver, column))));
  document.querySelector("#solvers thead").replaceChildren(head);
  document.querySelector("#solvers tbody").replaceChildren(...rows);
}

/** The clusters of another labelling by those of the best they share most nodes with, each given once. */
function matched(labels) {
  const shared = new Map();
  for (let node = 0; node < nodes.count; node++) {
    if (labels[node] === NO_CLUSTER || nodes.label[node] === NO_CLUSTER) continue;
    const key = labels[node] * 65536 + nodes.label[node];
    shared.set(key, (shared.get(key) || 0) + 1);
  }
  const found = new Map(), taken = new Set();
  for (const [key] of [...shared].sort((a, b) => b[1] - a[1] || a[0] - b[0])) {
    const [own, other] = [Math.floor(key / 65536), key % 65536];
    if (found.has(own) || taken.has(other)) continue;
    found.set(own, other);
    taken.add(other);
  }
  return found;
}

function drawSmallMaps() {
  const best = Math.max(...solvers.map((solver) => solver.objective));
  const figures = solvers.filter((solver) => solver.labels).map((solver) => {
    const canvas = element("canvas", { role: "img", "aria-label": `Clusters of ${solver.name} on the map` });
    const labels = decode(solver.labels, Uint16Array), like = matched(labels);
    let same = 0;
    for (let node = 0; node < nodes.count; node++) if (like.get(labels[node]) === nodes.label[node]) same++;
    return {
      canvas, labels, like,
      figure: element("figure", { class: solver.objective === best ? "is-best" : undefined }, canvas,
        element("figcaption", {}, solver.name, element("span", {}, `objective ${solver.objective.toFixed(4)}`), element("span", {}, `${percent(same / nodes.count)} as in the best`))),
    };
  });
  byId("small-maps").replaceChildren(...figures.map(({ figure }) => figure));
  const paint = () => {
    const places = nodeMap.places();
    for (const { canvas, labels, like } of figures) {
      const side = Math.round((canvas.clientWidth || 170) * Math.min(2, devicePixelRatio || 1));
      canvas.width = canvas.height = side;
      const context = canvas.getContext("2d"), unit = Math.min(side * 0.94, (side * 0.94) / places.aspect);
      const r = Math.max(0.8, Math.min(side / 60, Math.sqrt((side * side * 0.12) / (Math.PI * nodes.count))));
      const batches = new Map();
      for (let node = 0; node < nodes.count; node++) {
        const row = like.get(labels[node]) ?? -1;
        if (!batches.has(row)) batches.set(row, []);
        batches.get(row).push(node);
      }
      for (const [row, some] of batches) {
        const isDim = lit() >= 0 && (row < 0 || view.cut.groupOf[row] !== lit());
        context.fillStyle = css(row < 0 ? [140, 140, 140] : colours[row], isDim ? 0.15 : 1);
        for (const node of some) {
          const x = (places.x[node] - 0.5) * unit + side / 2, y = (places.y[node] - places.aspect / 2) * unit + side / 2;
          context.fillRect(x - r, y - r, 2 * r, 2 * r);
        }
      }
    }
  };
  paint();
  listeners.light.push(paint);
  listeners.theme.push(paint);
}
