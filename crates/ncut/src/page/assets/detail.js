// One cluster in full; without one, those that are odd.

function barOf(part, colour, from = 0) {
  const fill = element("i", { style: `left:${(100 * from).toFixed(1)}%;width:${(100 * Math.min(1, part)).toFixed(1)}%;background:${colour}` });
  return element("span", { class: "bar", "aria-hidden": true }, fill);
}

function chip(node) {
  const name = nodeName(node);
  return element("button", {
    type: "button", class: "chip", title: `Show ${name} on the map`,
    onclick: () => {
      pointTo(node);
      nodeMap?.centreOn(node);
    },
  }, element("span", {}, shortName(node)));
}

function showDetail() {
  const host = byId("detail"), place = lit();
  if (place < 0) return fill(host, overview());
  const group = view.cut.groups[place], rgb = css(rgbOf(group));
  const parts = [element("div", { class: "title" }, badge(group), element("h2", {}, group.title))];
  const smaller = total - group.volume < group.volume ? "the rest" : "it";
  parts.push(element("p", {},
    `${counted(group.size, noun.node, noun.nodes)}, ${short(group.share)} times the mean volume. ` +
    (group.outside === 0 ? "All of its weight stays inside." :
      `${percent(group.inside)} of its weight stays inside; conductance ${short(group.conductance)}${smaller === "the rest" ? " (more than half of everything)" : ""}.`)));
  for (const { text } of group.odd) parts.push(element("p", {}, element("span", { class: "odd-mark" }, text)));
  if (group.classes.length) {
    parts.push(element("h3", {}, "Known classes"));
    parts.push(element("div", { class: "bars" }, ...group.classes.slice(0, 5).flatMap(([kind, count]) => [
      element("span", { class: "name", title: truth.names[kind] }, truth.names[kind]),
      barOf(count / group.size, css(classColours[kind])),
      element("span", { class: "number" }, `${grouped(count)}, ${percent(count / group.size)}`),
    ])));
  }
  if (nodeMap && group.typical.length) {
    parts.push(element("h3", {}, "Typical members"), element("div", { class: "chips" }, ...group.typical.map(chip)));
    const doubtful = doubtfulOf(place);
    if (doubtful.length) parts.push(element("h3", {}, "Least sure"), element("div", { class: "chips" }, ...doubtful.map(chip)));
  }
  const features = featuresOf(group, 6);
  if (features.length) {
    parts.push(element("h3", {}, "Sets it apart"));
    parts.push(element("p", { class: "note" }, `Means: here / all others${isStandardized ? ", in standard deviations" : ""}`));
    const widest = Math.max(...features.map((one) => Math.abs(one.apart)), 1);
    parts.push(element("div", { class: "bars" }, ...features.flatMap(({ name, mean, others, spread, apart: distance }) => {
      const half = Math.abs(distance) / widest / 2;
      return [
        element("span", { class: "name", title: name }, name),
        barOf(half, rgb, distance < 0 ? 0.5 - half : 0.5),
        element("span", { class: "number" }, `${ofFeature(mean, spread)} / ${ofFeature(others, spread)}`),
      ];
    })));
  }
  if (group.neighbours.length) {
    parts.push(element("h3", {}, "Strongest neighbours"));
    parts.push(element("div", { class: "bars" }, ...group.neighbours.slice(0, 5).flatMap(([other, weight]) => {
      const one = view.cut.groups[other];
      return [
        element("button", { type: "button", class: "name", onclick: () => choose(other) }, badge(one)),
        barOf(weight / group.neighbours[0][1], css(rgbOf(one))),
        element("span", { class: "number" }, `${percent(weight / group.outside)} of what leads out`),
      ];
    })));
  }
  fill(host, parts);
}

/** What is below does not jump while the pointer goes from one cluster to the next: the panel only grows. */
function fill(host, parts) {
  host.replaceChildren(...parts);
  const isBeside = matchMedia("(min-width: 861px)").matches;
  host.style.minHeight = isBeside ? `${Math.max(host.offsetHeight, parseFloat(host.style.minHeight) || 0)}px` : "";
}

function doubtfulOf(place) {
  const found = [];
  for (let node = 0; node < nodes.count; node++) {
    if (groupOfNode(node) === place && nodeConfidence(node) < UNSURE && secondOfNode(node) >= 0) found.push(node);
  }
  return found.sort((a, b) => nodeConfidence(a) - nodeConfidence(b) || a - b).slice(0, 5);
}

function overview() {
  const odd = view.cut.groups.filter((group) => group.odd.length);
  const parts = [element("h2", {}, odd.length ? `Odd ${noun.clusters}` : view.cut.k < 2 ? `One ${noun.cluster}` : "Nothing odd")];
  if (!odd.length) parts.push(element("p", { class: "note" }, view.cut.k < 2 ? "There is nothing to compare it with." : `No ${noun.cluster} is loose, in pieces, very small, very large or unsure.`));
  const worst = odd.sort((a, b) => severityOf(b) - severityOf(a) || a.number - b.number).slice(0, 5);
  for (const group of worst) {
    const reasons = group.odd.map((one) => element("span", { class: "odd-mark" }, one.text));
    const name = element("button", { type: "button", class: "name", "aria-label": group.title, onclick: () => choose(group.number) }, badge(group));
    parts.push(element("div", { class: "odd-one" }, name, element("div", {}, ...reasons)));
  }
  if (odd.length > worst.length) parts.push(element("p", { class: "note" }, `And ${odd.length - worst.length} more; the table below sorts by what is odd.`));
  if (view.cut.k > 1) {
    const ranked = [...view.cut.groups].sort((a, b) => b.inside - a.inside || a.number - b.number);
    const shown = ranked.length <= 10 ? ranked : [...ranked.slice(0, 4), ...ranked.slice(-4)];
    parts.push(element("h3", {}, ranked.length <= 10 ? "From the clearest to the loosest" : "The four clearest and the four loosest"));
    parts.push(element("div", { class: "bars" }, ...shown.flatMap((group) => [
      element("button", { type: "button", class: "name", "aria-label": group.title, onclick: () => choose(group.number) }, badge(group)),
      barOf(group.inside, css(rgbOf(group))),
      element("span", { class: "number" }, `${percent(group.inside)} inside`),
    ])));
  }
  parts.push(element("p", { class: "note" }, `Point at a ${noun.cluster} to see what is in it; select it to keep it.`));
  return parts;
}
