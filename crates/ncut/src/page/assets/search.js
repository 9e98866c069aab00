// Looking for a node by name, or for a cluster by number.

/** Matches listed at most. */
const MATCHES = 12;

function startSearch() {
  const input = byId("search"), list = byId("matches");
  const kinds = nodeMap ? `${noun.node} or ${noun.cluster}` : noun.cluster;
  input.placeholder = `Find a ${kinds}`;
  input.setAttribute("aria-label", `Find a ${kinds}`);
  let found = [], now = -1;

  function look() {
    const wanted = input.value.trim().toLowerCase();
    found = wanted ? matching(wanted) : [];
    now = found.length ? 0 : -1;
    draw(wanted);
  }

  function draw(wanted) {
    const items = found.map((match, i) => element("li", {
      role: "option", id: `match-${i}`, "aria-selected": i === now, onpointerdown: (event) => { event.preventDefault(); take(i); },
    }, ...match.show()));
    if (wanted && !items.length) items.push(element("li", { class: "none" }, "Nothing of that name"));
    list.replaceChildren(...items);
    list.hidden = !wanted;
    input.setAttribute("aria-expanded", !list.hidden);
    if (now >= 0) input.setAttribute("aria-activedescendant", `match-${now}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[Math.max(0, now)]?.scrollIntoView({ block: "nearest" });
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", false);
  }

  function take(place) {
    found[place].take();
    input.value = found[place].text;
    close();
  }

  input.addEventListener("input", look);
  input.addEventListener("focus", () => input.value && look());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && now >= 0) take(now);
    else if (event.key === "Escape") {
      input.value = "";
      close();
      view.node = -1;
      hideTip();
      choose(-1);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length) {
      now = (now + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
      draw(input.value.trim().toLowerCase());
    } else return;
    event.preventDefault();
  });
}

/** Exact names first, then those that begin so, then those that hold it. */
function matching(wanted) {
  const ranks = [[], [], []];
  const add = (name, match) => {
    const rank = name === wanted ? 0 : name.startsWith(wanted) ? 1 : name.includes(wanted) ? 2 : 3;
    if (rank < 3 && ranks[rank].length < MATCHES) ranks[rank].push(match);
  };
  const dot = (rgb) => element("span", { class: "dot", style: `background:${css(rgb)}` });
  for (const group of view.cut.groups) {
    const match = {
      text: group.title, take: () => { if (chosen() !== group.number) choose(group.number); },
      show: () => [badge(group), element("span", { class: "name" }, group.title), element("span", { class: "where" }, counted(group.size, noun.node, noun.nodes))],
    };
    const number = wanted.replace(`${noun.cluster} `, "");
    if (group.name === number) ranks[0].push(match);
    else add(group.title.toLowerCase(), match);
  }
  for (let node = 0; nodeMap && node < nodes.count; node++) {
    const name = nodeName(node);
    add(name.toLowerCase(), {
      text: name,
      take: () => {
        pointTo(node);
        nodeMap.centreOn(node);
      },
      show: () => {
        const group = groupOfNode(node);
        return [dot(group < 0 ? [140, 140, 140] : rgbOf(view.cut.groups[group])), element("span", { class: "name" }, name),
          element("span", { class: "where" }, group < 0 ? `no ${noun.cluster}` : `${noun.cluster} ${view.cut.groups[group].name}`)];
      },
    });
    if (ranks[0].length >= MATCHES) break;
  }
  return ranks.flat().slice(0, MATCHES);
}
