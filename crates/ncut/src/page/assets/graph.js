// The graph of clusters: as large as their volumes, links as wide as the weight between them.

function drawGraph() {
  const { groups } = view.cut;
  const host = byId("graph");
  byId("graph-panel").hidden = groups.length < 2;
  if (groups.length < 2) return host.replaceChildren();
  const { list, aspect } = discs(view.cut, groups.map((group) => group.volume || 1e-9));
  const tall = 68, scale = Math.min(92, (tall - 4) / Math.max(aspect, 1e-9));
  const place = (i) => [50 + (list[i].x - 0.5) * scale, tall / 2 + (list[i].y - aspect / 2) * scale, Math.max(0.8, list[i].r * scale * 0.86)];
  const links = [];
  groups.forEach((group, a) => group.neighbours.forEach(([b, weight], rank) => {
    if (a < b || rank < 3) links.push({ a: Math.min(a, b), b: Math.max(a, b), weight, rank });
  }));
  const seen = new Set();
  const kept = links
    .sort((one, other) => other.weight - one.weight || one.a - other.a || one.b - other.b)
    .filter(({ a, b }) => !seen.has(`${a} ${b}`) && seen.add(`${a} ${b}`))
    .slice(0, Math.max(60, 3 * groups.length));
  const heaviest = kept.length ? kept[0].weight : 1;
  const widest = Math.min(2.6, Math.max(0.5, 45 / kept.length));
  const lines = kept.map(({ a, b, weight }) => {
    const [x1, y1] = place(a), [x2, y2] = place(b);
    const part = weight / heaviest;
    return element("line", { x1, y1, x2, y2, class: "link", "stroke-width": (0.12 + widest * Math.sqrt(part)).toFixed(2), "data-a": a, "data-b": b, "data-part": part });
  });
  const knots = groups.map((group, i) => {
    const [x, y, r] = place(i);
    const rgb = rgbOf(group);
    const size = Math.min(5, Math.max(2.4, (r * 1.7) / Math.max(1.6, group.brief.length * 0.62)));
    const hasRoom = group.brief.length * size * 0.56 < 2 * r || groups.length <= 40;
    return element("g", {
      class: "knot", role: "option", "data-group": i, tabindex: i === 0 ? 0 : -1,
      "aria-label": `${group.title}: ${counted(group.size, noun.node, noun.nodes)}, ${percent(group.inside)} of its weight inside`,
      onpointerenter: () => hover(i), onpointerleave: () => hover(-1), onclick: () => choose(i),
    },
    element("title", {}, `${group.title}: ${counted(group.size, noun.node, noun.nodes)}`),
    element("circle", { cx: x, cy: y, r, fill: css(rgb) }),
    hasRoom && element("text", { x, y, "font-size": size.toFixed(2), fill: inkOn(rgb) }, group.brief));
  });
  const svg = element("svg", { viewBox: `0 0 100 ${tall.toFixed(1)}`, role: "listbox", "aria-label": `Graph of ${noun.clusters}. Arrow keys go from one to the next, Enter selects.` }, ...lines, ...knots);
  svg.addEventListener("keydown", (event) => stepThrough(event, knots, (i) => choose(i)));
  host.replaceChildren(svg);
  const left = seen.size > kept.length ? ` The ${kept.length} strongest of ${seen.size} links are drawn.` : "";
  byId("graph-note").textContent = `Each ${noun.cluster} is as large as its volume, each link as wide as the weight between both.${left}`;
  lightGraph();
}

function lightGraph() {
  const group = lit();
  const near = group >= 0 ? new Set([group, ...view.cut.groups[group].links.keys()]) : null;
  for (const knot of document.querySelectorAll("#graph .knot")) {
    const own = Number(knot.dataset.group);
    knot.setAttribute("aria-selected", own === chosen());
    knot.classList.toggle("is-dim", near !== null && !near.has(own));
  }
  for (const line of document.querySelectorAll("#graph .link")) {
    const isOwn = group >= 0 && (Number(line.dataset.a) === group || Number(line.dataset.b) === group);
    const usual = 0.16 + 0.4 * Math.sqrt(line.dataset.part);
    line.setAttribute("stroke-opacity", (group < 0 ? usual : isOwn ? 0.75 : 0.06).toFixed(2));
  }
}

/** Arrow keys, Home and End go through a list of which one can have the focus; Enter and blank select. */
function stepThrough(event, items, select) {
  const now = items.indexOf(document.activeElement);
  if (now < 0) return;
  const wanted = {
    ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1, Home: 0, End: items.length - 1,
  }[event.key];
  if (wanted !== undefined) {
    const next = items[Math.min(items.length - 1, Math.max(0, wanted))];
    items[now].setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  } else if (event.key === "Enter" || event.key === " ") select(now);
  else if (event.key === "Escape") choose(-1);
  else return;
  event.preventDefault();
}
