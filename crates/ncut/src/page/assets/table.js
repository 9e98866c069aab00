// The table of clusters.

/** Rows shown before somebody asks for all. */
const FIRST_ROWS = matchMedia("(max-width: 640px)").matches ? 20 : 200;
const sorting = { column: "name", isDescending: false };
let showsAll = false;

const columns = [
  { key: "name", title: noun && noun.Cluster, value: (group) => (page.curve ? group.number : base.label[group.lead]), show: (group) => [badge(group)] },
  { key: "size", title: noun && noun.Nodes, isNumber: true, value: (group) => group.size, show: (group) => [grouped(group.size)] },
  { key: "volume", title: "Volume", isNumber: true, isMinor: true, hint: "sum of the degrees", value: (group) => group.volume, show: (group) => [short(group.volume)] },
  {
    key: "inside", title: "Inside", hint: "share of its weight that stays inside", value: (group) => group.inside,
    show: (group) => [barOf(group.inside, css(rgbOf(group))), percent(group.inside)],
  },
  { key: "conductance", title: "Conductance", isNumber: true, isMinor: true, hint: "weight that leads out over the volume of the smaller side", value: (group) => group.conductance, show: (group) => [short(group.conductance)] },
  { key: "pieces", title: "Pieces", isNumber: true, isMinor: true, hint: "connected pieces", value: (group) => group.pieces ?? 0, show: (group) => [group.pieces === undefined ? "–" : String(group.pieces)] },
  { key: "confidence", title: "Confidence", isNumber: true, hint: "mean over its members, from 0 to 1", value: (group) => group.confidence, isLeftOut: () => view.cut.k < 2 || view.cut.groups[0].confidence === undefined, show: (group) => [group.confidence.toFixed(2)] },
  {
    key: "classes", title: "Mostly", hint: "the known class that most of it has, and its share", isText: true, isLeftOut: () => !truth,
    value: (group) => (group.classes.length ? group.classes[0][1] / group.size : 0),
    show: (group) => [group.classes.length ? `${truth.names[group.classes[0][0]]}, ${percent(group.classes[0][1] / group.size)}` : "–"],
  },
  {
    key: "typical", title: "Typical members", isText: true, isLeftOut: () => !nodeMap || !view.cut.sure, value: (group) => group.typical.map(shortName).join(", "),
    show: (group) => [group.typical.slice(0, 4).map(shortName).join(", ")],
  },
  {
    key: "features", title: "Sets it apart", isText: true, isLeftOut: () => !page.features,
    value: (group) => Math.abs(featuresOf(group, 1)[0]?.apart ?? 0),
    show: (group) => [featuresOf(group, 3).map((one) => `${one.name} ${one.apart > 0 ? "high" : "low"}`).join(", ") || "nothing"],
  },
  {
    key: "neighbour", title: "Strongest neighbour", value: (group) => group.neighbours[0]?.[1] ?? 0,
    show: (group) => {
      const [first] = group.neighbours;
      return first ? [badge(view.cut.groups[first[0]]), ` ${percent(first[1] / group.outside)}`] : ["none"];
    },
  },
  {
    key: "odd", title: "Odd", hint: ODD_RULES, isText: true, value: severityOf, isLeftOut: () => !view.cut.groups.some((group) => group.odd.length),
    show: (group) => group.odd.flatMap(({ text }, i) => [i ? " " : "", element("span", { class: "odd-mark" }, text)]),
  },
];

/** Where a row is a card, minor columns are left out. */
const classOf = (column) => [column.isNumber && "number", column.isText && "text", column.isMinor && "minor"].filter(Boolean).join(" ") || undefined;

function drawTable() {
  const shown = columns.filter((column) => !column.isLeftOut?.());
  const head = element("tr", {}, ...shown.map((column) => element("th", {
    scope: "col", class: column.isText ? undefined : classOf(column), title: column.hint,
    "aria-sort": sorting.column === column.key ? (sorting.isDescending ? "descending" : "ascending") : undefined,
  }, element("button", { type: "button", "data-column": column.key, onclick: () => sortBy(column) }, column.title))));
  const by = shown.find((column) => column.key === sorting.column) ?? columns[0];
  const sign = sorting.isDescending ? -1 : 1;
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const sorted = [...view.cut.groups].sort((a, b) => sign * compare(by.value(a), by.value(b)) || a.number - b.number);
  const listed = showsAll ? sorted : sorted.slice(0, FIRST_ROWS);
  const rows = listed.map((group, i) => element("tr", {
    "data-group": group.number, tabindex: i === 0 ? 0 : -1,
    onpointerenter: () => hover(group.number), onpointerleave: () => hover(-1), onclick: () => choose(group.number),
  }, ...shown.map((column) => element("td", { class: classOf(column), "data-title": column.title }, ...column.show(group)))));
  const [thead, tbody] = [document.querySelector("#table thead"), document.querySelector("#table tbody")];
  thead.replaceChildren(head);
  tbody.replaceChildren(...rows);
  tbody.onkeydown = (event) => stepThrough(event, rows, (row) => choose(Number(rows[row].dataset.group)));
  const whose = page.best ? ` of ${page.best}` : "";
  byId("table-title").textContent = `The ${counted(view.cut.groups.length, noun.cluster, noun.clusters)}${whose}`;
  const rest = sorted.length - listed.length;
  byId("table-note").replaceChildren(
    "Select a column to sort by it. In the rows arrow keys go up and down, Enter selects. ",
    shown.some((column) => column.key === "odd") ? `${ODD_RULES} ` : "",
    rest > 0 ? element("button", { type: "button", class: "more", onclick: () => { showsAll = true; drawTable(); } }, `Show ${grouped(rest)} more`) : "",
  );
  lightTable();
}

/** Once more turns the order round; numbers begin with the largest. */
function sortBy(column) {
  const isAgain = sorting.column === column.key;
  sorting.isDescending = isAgain ? !sorting.isDescending : column.key !== "name";
  sorting.column = column.key;
  drawTable();
  document.querySelector(`#table th button[data-column="${column.key}"]`).focus();
}

function lightTable() {
  for (const row of document.querySelectorAll("#table tbody tr")) {
    const own = Number(row.dataset.group);
    row.classList.toggle("is-lit", own === lit());
    row.classList.toggle("is-chosen", own === chosen());
    row.setAttribute("aria-current", own === chosen());
  }
}

/** Clusters and classes in the cross table at most. */
const CROSSED = 40;

/** How many nodes each cluster has of each known class. */
function drawCross() {
  const { groups } = view.cut;
  const isShown = Boolean(truth) && groups.length <= CROSSED && truth.names.length <= CROSSED;
  byId("cross-panel").hidden = !isShown;
  if (!isShown) return;
  byId("cross-title").textContent = `${noun.Clusters} and known classes`;
  const head = element("tr", {}, element("th", { scope: "col" }, noun.Cluster),
    ...truth.names.map((name) => element("th", { scope: "col", class: "number" }, name)));
  const rows = groups.map((group) => {
    const counts = new Map(group.classes);
    return element("tr", {}, element("th", { scope: "row" }, badge(group)), ...truth.names.map((_, kind) => {
      const count = counts.get(kind) ?? 0, part = Math.round((70 * count) / group.size);
      const style = count ? `background:color-mix(in srgb, ${css(classColours[kind])} ${part}%, transparent)` : undefined;
      return element("td", { class: "number", style }, count ? grouped(count) : "·");
    }));
  });
  document.querySelector("#cross thead").replaceChildren(head);
  document.querySelector("#cross tbody").replaceChildren(...rows);
}
