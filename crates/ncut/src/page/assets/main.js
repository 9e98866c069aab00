// Everything put together.

function showFacts() {
  writeFacts(page.facts);
  byId("remarks").append(...page.remarks.map((remark) => element("li", {}, remark)));
  const pairs = (list) => list.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]);
  byId("asked").append(...pairs(page.asked));
  byId("words").append(...pairs(page.words));
}

function writeFacts(facts) {
  byId("facts").replaceChildren(...facts.map(({ name, value, meaning }) => element("div", {},
    element("dt", {}, name), element("dd", {}, element("span", { class: "value" }, value), element("span", { class: "meaning" }, meaning)))));
}

const found = { headline: document.querySelector("h1").textContent, lead: document.querySelector(".lead").textContent };

/** Headline and figures of what is shown. What the page cannot know of joined clusters is said to be of all. */
function followCut() {
  if (curve || solvers) return;
  const { k, groups } = view.cut, isAll = k === nBase;
  const sum = (value) => groups.reduce((sum, group) => sum + value(group), 0);
  const inside = total > 0 ? sum((group) => group.association) / total : 0;
  const joined = `${counted(k, noun.cluster, noun.clusters)}, joined from ${nBase}`;
  document.querySelector("h1").textContent = isAll ? found.headline : k === 1 || page.kind === "picture" ? joined : `${joined}: ${percent(inside)} of the weight stays inside`;
  document.querySelector(".lead").textContent = isAll ? found.lead : `The slider joins the ${noun.clusters} that were found; at ${nBase} they are all shown as they are.`;
  if (isAll) return writeFacts(page.facts);
  const sizes = groups.map((group) => group.size), shares = groups.map((group) => group.share);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const now = {
    clusters: [String(k), least === most ? `of ${counted(most, noun.node, noun.nodes)} each` : `from ${grouped(least)} to ${counted(most, noun.node, noun.nodes)}`],
    inside: [percent(inside), `of the weight joins ${noun.nodes} of one ${noun.cluster}`],
    ncut: [sum((group) => (group.volume > 0 ? group.outside / group.volume : 1)).toFixed(4), `smaller is better, from 0 to ${k}`],
    modularity: [sum((group) => group.association / total - (group.volume / total) ** 2).toFixed(3), "larger is better, up to 1"],
    balance: [Math.min(...shares).toFixed(2), `times the mean: the smallest ${noun.cluster}, and ${Math.max(...shares).toFixed(2)} the largest`],
  };
  if (page.facts.some((one) => one.key === "ratio")) delete now.balance;
  if (total === 0) delete now.modularity;
  writeFacts(page.facts.map((fact) => (now[fact.key] ? { name: fact.name, value: now[fact.key][0], meaning: now[fact.key][1] } :
    { ...fact, meaning: `of all ${nBase} ${noun.clusters}: ${fact.meaning}` })));
}

function changeTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  tell("theme");
}

function start() {
  showFacts();
  byId("theme").addEventListener("click", changeTheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => tell("theme"));
  for (const [name, value] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(name, () => {
      isPrinted = value;
      tell("theme");
    });
  }
  if (!nBase) {
    for (const id of ["stage", "table-panel"]) byId(id).hidden = true;
    view.cut = { k: 0, groupOf: [], groups: [] };
    startCut();
    startSolvers();
    return;
  }
  view.cut = cutAt(page.start || nBase);
  byId("map-title").textContent = page.kind === "picture" ? "The picture" : `The ${noun.nodes}`;
  byId("graph-title").textContent = `The ${noun.clusters} and what links them`;
  startCut();
  (pictureMap || nodeMap)?.start();
  if (!pictureMap && !nodeMap) byId("map-panel").hidden = true;
  startSolvers();
  startSearch();
  listeners.cut.push(followCut, drawGraph, drawTable, drawCross, showDetail, showCut);
  listeners.light.push(lightGraph, lightTable, showDetail, lightTree);
  listeners.theme.push(drawGraph, drawTable);
  drawGraph();
  drawTable();
  drawCross();
  showDetail();
  showCut();
}

const began = performance.now();
start();
document.documentElement.dataset.ready = Math.round(performance.now() - began);
