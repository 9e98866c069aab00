// The map of the nodes, on a canvas.

/** Nodes up to which each is a smooth dot; more are written pixel by pixel. */
const SMOOTH_NODES = 6000;
/** Names drawn on the map at most. */
const DRAWN_NAMES = 150;
/** Nodes up to which names keep clear of all of them. */
const COVERED_NODES = 500;
/** Pixels around the map. */
const MARGIN = 22;
/** Nodes below this confidence are unsure. */
const UNSURE = page.unsure;

const nodeMap = nodes && page.kind !== "picture" ? makeNodeMap() : null;

function makeNodeMap() {
  const canvas = byId("map"), context = canvas.getContext("2d", { willReadFrequently: nodes.count > SMOOTH_NODES });
  const edges = decode(page.edges, Uint32Array);
  const choices = [
    ...(page.views || []).map((one) => ({ name: one.name, note: one.note, make: () => placesOfView(one) })),
    { name: "By cluster", note: `Every ${noun.cluster} is a disc of its ${noun.nodes}, the surest in the middle.`, make: placesInDiscs, followsCut: true },
  ];
  let isByClass = false;
  const grey = [140, 140, 140];
  /** What colours a node: its cluster, or its known class; -1 for none. */
  const kindOf = (node) => (!isByClass ? groupOfNode(node) : truth.class[node] === NO_CLUSTER ? -1 : truth.class[node]);
  const rgbOfKind = (kind) => (kind < 0 ? grey : isByClass ? classColours[kind] : rgbOf(view.cut.groups[kind]));
  let current = 0, places, grid, zoom = 1, panX = 0, panY = 0, width = 0, height = 0, unit = 1, marks = [];
  let isDrawn = false;

  function select(place) {
    current = place;
    places = choices[place].make();
    grid = new Grid(places);
    fitAll();
    [...byId("views").children].forEach((button, i) => button.setAttribute("aria-pressed", i === place));
    describe();
  }

  function describe() {
    const left = nodes.all > nodes.count ? ` ${grouped(nodes.count)} of ${grouped(nodes.all)} ${noun.nodes} are drawn, evenly chosen.` : "";
    const keys = " Drag to move, double-click or + and − to zoom, arrow keys to move when the map has the focus.";
    const drawing = page.no_drawing && !choices[current].followsCut ? ` ${page.no_drawing}` : "";
    byId("map-note").textContent = choices[current].note + drawing + left + keys;
    byId("map-legend").replaceChildren(...legend());
  }

  /** What dots mean, as far as they are there; on a map by classes, the classes. */
  function legend() {
    const entry = (style, text) => element("span", { class: "entry" }, element("span", { class: "dot", style }), text);
    const found = [];
    if (isByClass) truth.names.slice(0, 20).forEach((name, kind) => found.push(entry(`background:${css(classColours[kind])}`, name)));
    if (isByClass && truth.names.length > 20) found.push(element("span", { class: "entry" }, `and ${truth.names.length - 20} more`));
    if (nodes.count <= SMOOTH_NODES && view.cut.sure && view.cut.k > 1) {
      found.push(entry("border:2.5px solid currentColor", `unsure: another ${noun.cluster} pulls nearly as much`));
    }
    const kinds = isByClass ? truth.class : nodes.label;
    if (kinds.includes(NO_CLUSTER)) found.push(entry(`background:${css(grey)}`, isByClass ? "no known class" : `in no ${noun.cluster}`));
    return found;
  }

  function colourBy(byClass) {
    isByClass = byClass;
    [...byId("colouring").children].forEach((button, i) => button.setAttribute("aria-pressed", (i === 1) === byClass));
    describe();
    schedule();
  }

  /** Whether a node is of the cluster that stands out. */
  const isLit = (node, group) => group < 0 || groupOfNode(node) === group;

  function fitAll() {
    [zoom, panX, panY] = [1, 0, 0];
    resize();
  }

  function resize() {
    const ratio = Math.min(2, devicePixelRatio || 1);
    width = canvas.clientWidth || 600;
    height = canvas.clientHeight || 400;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [left, right] = [MARGIN, nodes.names && nodes.count <= SMOOTH_NODES ? Math.min(90, width / 6) : MARGIN];
    unit = Math.min(width - left - right, (height - 2 * MARGIN) / Math.max(places.aspect, 1e-6));
    placeMarks();
    schedule();
  }

  // The map in the middle; names stand right of their nodes or left of them.
  const screenX = (x) => (x - 0.5) * unit * zoom + width / 2 + panX;
  const screenY = (y) => (y - places.aspect / 2) * unit * zoom + height / 2 + panY;
  const placeX = (x) => (x - width / 2 - panX) / (unit * zoom) + 0.5;
  const placeY = (y) => (y - height / 2 - panY) / (unit * zoom) + places.aspect / 2;

  function radius() {
    const even = Math.sqrt((unit * unit * Math.max(0.2, places.aspect) * 0.16) / (Math.PI * nodes.count));
    return Math.min(9, Math.max(0.9, Math.min(even, 6) * zoom ** 0.6));
  }

  /** A place for the name of every cluster: the node nearest to the middle. */
  function placeMarks() {
    const members = view.cut.groups.map(() => []);
    const step = Math.max(1, Math.floor(nodes.count / 40000));
    for (let node = 0; node < nodes.count; node += step) {
      const group = groupOfNode(node);
      if (group >= 0) members[group].push(node);
    }
    marks = members.flatMap((some, group) => {
      if (!some.length) return [];
      const x = median(some.map((node) => places.x[node])), y = median(some.map((node) => places.y[node]));
      let best = some[0], nearest = Infinity;
      for (const node of some) {
        const distance = (places.x[node] - x) ** 2 + (places.y[node] - y) ** 2;
        if (distance < nearest) [best, nearest] = [node, distance];
      }
      return [{ group, x: places.x[best], y: places.y[best], size: view.cut.groups[group].size }];
    });
    marks.sort((a, b) => b.size - a.size);
  }

  function schedule() {
    if (isDrawn) requestAnimationFrame(draw);
    isDrawn = false;
  }

  function draw() {
    isDrawn = true;
    const dark = isDark(), group = lit(), r = radius();
    context.clearRect(0, 0, width, height);
    if (edges.length) drawEdges(dark, group);
    if (nodes.count <= SMOOTH_NODES) drawSmooth(dark, group, r);
    else drawPixels(dark, group, r);
    const taken = [];
    drawMarks(dark, group, taken);
    drawNames(dark, group, r, taken);
    drawNode(dark, r);
  }

  function drawEdges(dark, group) {
    const density = Math.min(1, 900 / (edges.length / 2));
    const strokes = (alpha, wanted) => {
      context.strokeStyle = dark ? `rgba(210,214,222,${alpha})` : `rgba(40,44,52,${alpha})`;
      context.lineWidth = 0.7;
      context.beginPath();
      for (let i = 0; i < edges.length; i += 2) {
        const [a, b] = [edges[i], edges[i + 1]];
        if (!wanted(a, b)) continue;
        context.moveTo(screenX(places.x[a]), screenY(places.y[a]));
        context.lineTo(screenX(places.x[b]), screenY(places.y[b]));
      }
      context.stroke();
    };
    const own = (a, b) => groupOfNode(a) === group || groupOfNode(b) === group;
    const strength = 0.05 + 0.2 * density;
    if (group < 0) strokes(strength, () => true);
    else {
      strokes(strength * 0.25, (a, b) => !own(a, b));
      strokes(Math.min(0.5, strength * 2), own);
    }
    if (view.node >= 0) strokes(0.75, (a, b) => a === view.node || b === view.node);
  }

  function drawSmooth(dark, group, r) {
    const batches = new Map(), isSoleCluster = view.cut.k < 2;
    for (let node = 0; node < nodes.count; node++) {
      const isHollow = groupOfNode(node) >= 0 && !isSoleCluster && nodeConfidence(node) < UNSURE;
      const key = 4 * kindOf(node) + (isLit(node, group) ? 2 : 0) + (isHollow ? 1 : 0);
      if (!batches.has(key)) batches.set(key, []);
      batches.get(key).push(node);
    }
    const order = [...batches.keys()].sort((a, b) => (a & 2) - (b & 2) || a - b);
    for (const key of order) {
      const isHollow = key & 1, isDim = !(key & 2);
      const rgb = rgbOfKind(key >> 2);
      context.globalAlpha = isDim ? 0.13 : 1;
      context.beginPath();
      for (const node of batches.get(key)) {
        const [x, y] = [screenX(places.x[node]), screenY(places.y[node])];
        context.moveTo(x + r, y);
        context.arc(x, y, r, 0, 2 * Math.PI);
      }
      if (isHollow && r > 1.6) {
        context.fillStyle = dark ? "#1b1d20" : "#fff";
        context.fill();
        context.lineWidth = Math.max(1, r * 0.42);
        context.strokeStyle = css(rgb);
        context.stroke();
      } else {
        context.fillStyle = css(rgb);
        context.fill();
        if (r > 2.2) {
          context.lineWidth = 0.6;
          context.strokeStyle = dark ? "rgba(0,0,0,0.5)" : "rgba(255,255,255,0.75)";
          context.stroke();
        }
      }
    }
    context.globalAlpha = 1;
  }

  function drawPixels(dark, group, r) {
    const ratio = canvas.width / width;
    const image = context.getImageData(0, 0, canvas.width, canvas.height);
    const out = new Uint32Array(image.data.buffer);
    const ground = dark ? [27, 29, 32] : [255, 255, 255];
    const mixed = (rgb, part) => rgb.map((value, i) => Math.round(value * part + ground[i] * (1 - part)));
    const packed = (rgb) => ((255 << 24) | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0]) >>> 0;
    const kinds = Array.from({ length: (isByClass ? truth.names : view.cut.groups).length + 1 }, (_, i) => rgbOfKind(i - 1));
    const paint = kinds.map(packed), faint = kinds.map((rgb) => packed(mixed(rgb, 0.16)));
    const reach = Math.max(0.75, r * ratio), rows = Math.ceil(reach - 0.5), stamp = [];
    for (let dy = -rows; dy <= rows; dy++) {
      for (let dx = -rows; dx <= rows; dx++) if (dx * dx + dy * dy <= reach * reach) stamp.push([dx, dy]);
    }
    const [w, h] = [canvas.width, canvas.height];
    const pass = (wanted) => {
      for (let node = 0; node < nodes.count; node++) {
        const isOwn = isLit(node, group);
        if (isOwn !== wanted) continue;
        const x = Math.round(screenX(places.x[node]) * ratio), y = Math.round(screenY(places.y[node]) * ratio);
        if (x < -rows || y < -rows || x >= w + rows || y >= h + rows) continue;
        const colour = (isOwn ? paint : faint)[kindOf(node) + 1];
        for (const [dx, dy] of stamp) {
          const [px, py] = [x + dx, y + dy];
          if (px >= 0 && py >= 0 && px < w && py < h) out[py * w + px] = colour;
        }
      }
    };
    if (group >= 0) pass(false);
    pass(true);
    context.putImageData(image, 0, 0);
  }

  function writeText(text, x, y, dark) {
    context.lineWidth = 3.5;
    context.lineJoin = "round";
    context.strokeStyle = dark ? "rgba(27,29,32,0.85)" : "rgba(255,255,255,0.88)";
    context.strokeText(text, x, y);
    context.fillStyle = dark ? "#f2f1ed" : "#16171a";
    context.fillText(text, x, y);
  }

  /** Whether a text fits there: inside the canvas, over no other text. It has the place then. */
  function takes(taken, x, y, wide, tall, gap) {
    const box = { left: x - gap, right: x + wide + gap, top: y - tall / 2, bottom: y + tall / 2 };
    if (box.left < 0 || box.right > width || box.top < 0 || box.bottom > height) return false;
    if (taken.some((one) => one.left < box.right && box.left < one.right && one.top < box.bottom && box.top < one.bottom)) return false;
    taken.push(box);
    return true;
  }

  function drawMarks(dark, group, taken) {
    if (view.cut.groups.length < 2 || isByClass) return;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const all = group < 0 ? marks : [...marks.filter((mark) => mark.group === group), ...marks.filter((mark) => mark.group !== group)];
    for (const mark of all) {
      context.font = `650 ${mark.group === group ? 17 : 13}px system-ui, sans-serif`;
      const name = view.cut.groups[mark.group].name, wide = context.measureText(name).width;
      const [x, y] = [screenX(mark.x) - wide / 2, screenY(mark.y)];
      if (!takes(taken, x, y, wide, 16, 3)) continue;
      context.globalAlpha = group >= 0 && mark.group !== group ? 0.35 : 1;
      writeText(name, x, y, dark);
    }
    context.globalAlpha = 1;
  }

  /** Names where there are few nodes: of those in sight, of the typical members of the cluster that is lit. */
  function drawNames(dark, group, r, taken) {
    if (!nodes.names) return;
    const most = Math.min(DRAWN_NAMES, (width * height) / 2500);
    let named = [];
    for (let node = 0; node < nodes.count && named.length <= most; node++) {
      const [x, y] = [screenX(places.x[node]), screenY(places.y[node])];
      if (x > 0 && y > 0 && x < width && y < height && (group < 0 || groupOfNode(node) === group)) named.push(node);
    }
    if (named.length > most) named = group < 0 ? [] : view.cut.groups[group].typical;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "middle";
    // Names cover no node either.
    for (const node of nodes.count <= COVERED_NODES ? nodes.label.keys() : named) {
      const [x, y] = [screenX(places.x[node]), screenY(places.y[node])];
      taken.push({ left: x - r, right: x + r, top: y - r, bottom: y + r });
    }
    for (const node of named) {
      const [x, y] = [screenX(places.x[node]), screenY(places.y[node])];
      const whole = nodeName(node), name = whole.length > 24 ? `${whole.slice(0, 23)}…` : whole;
      const wide = context.measureText(name).width;
      const start = [x + r + 3, x - r - 3 - wide].find((start) => takes(taken, start, y, wide, 12, 1));
      if (start !== undefined) writeText(name, start, y, dark);
    }
  }

  function drawNode(dark, r) {
    if (view.node < 0) return;
    const [x, y] = [screenX(places.x[view.node]), screenY(places.y[view.node])];
    context.beginPath();
    context.arc(x, y, r + 5, 0, 2 * Math.PI);
    context.lineWidth = 2.5;
    context.strokeStyle = dark ? "#fff" : "#000";
    context.stroke();
    showTip(nodeTip(view.node), x, y);
  }

  function nodeAt(event) {
    const box = canvas.getBoundingClientRect();
    const reach = Math.max(radius() + 3, 9) / (unit * zoom);
    return grid.nearest(placeX(event.clientX - box.left), placeY(event.clientY - box.top), reach);
  }

  function zoomBy(factor, x = width / 2, y = height / 2) {
    const wanted = Math.min(60, Math.max(1, zoom * factor)), part = wanted / zoom;
    panX = (x - width / 2) * (1 - part) + panX * part;
    panY = (y - height / 2) * (1 - part) + panY * part;
    zoom = wanted;
    if (zoom === 1) [panX, panY] = [0, 0];
    schedule();
  }

  function centreOn(node) {
    const [x, y] = [screenX(places.x[node]), screenY(places.y[node])];
    if (x < 20 || y < 20 || x > width - 20 || y > height - 20) {
      panX += width / 2 - x;
      panY += height / 2 - y;
    }
    schedule();
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, panX, panY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      drag.moved ||= Math.hypot(dx, dy) > 4;
      if (drag.moved) {
        [panX, panY] = [drag.panX + dx, drag.panY + dy];
        schedule();
      }
      return;
    }
    const node = nodeAt(event);
    const box = canvas.getBoundingClientRect();
    if (node < 0) {
      if (view.node < 0) hideTip();
      hover(-1);
      return;
    }
    hover(groupOfNode(node));
    if (view.node < 0) showTip(nodeTip(node), event.clientX - box.left, event.clientY - box.top);
  });
  canvas.addEventListener("pointerup", (event) => {
    const wasDrag = drag?.moved;
    drag = null;
    if (wasDrag) return;
    const node = nodeAt(event);
    if (node >= 0) pointTo(node === view.node ? -1 : node);
    else {
      hideTip();
      view.node = -1;
      choose(-1);
    }
  });
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("pointerleave", () => {
    hover(-1);
    if (view.node < 0) hideTip();
  });
  canvas.addEventListener("dblclick", (event) => {
    const box = canvas.getBoundingClientRect();
    zoomBy(event.shiftKey ? 0.5 : 2, event.clientX - box.left, event.clientY - box.top);
  });
  canvas.addEventListener("wheel", (event) => {
    // The page scrolls under the pointer unless the map was chosen, or Ctrl says zoom.
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoomBy(Math.exp(-event.deltaY * 0.0022), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 50;
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (moves[event.key]) [panX, panY] = [panX + moves[event.key][0], panY + moves[event.key][1]];
    else if (event.key === "+" || event.key === "=") zoomBy(1.5);
    else if (event.key === "-") zoomBy(1 / 1.5);
    else if (event.key === "0") fitAll();
    else return;
    event.preventDefault();
    schedule();
  });
  byId("zoom-in").addEventListener("click", () => zoomBy(1.6));
  byId("zoom-out").addEventListener("click", () => zoomBy(1 / 1.6));
  byId("zoom-fit").addEventListener("click", fitAll);

  return {
    start() {
      byId("views").append(...choices.map((one, place) => element("button", { type: "button", onclick: () => select(place) }, one.name)));
      // Eigenvectors of some graphs put nearly everything in one place: that is no map to begin with.
      // So do those of most large graphs, which no other view shows.
      const isHeap = (choice) => page.no_drawing && nodes.count > SMOOTH_NODES && !page.features && !choice.followsCut;
      const filled = choices.findIndex((choice) => choice.followsCut || (!isHeap(choice) && fills(choice.make())));
      if (truth) {
        byId("colouring").hidden = false;
        byId("colouring").append(...[`Colours by ${noun.cluster}`, "by known class"].map((name, place) =>
          element("button", { type: "button", "aria-pressed": String(place === 0), onclick: () => colourBy(place === 1) }, name)));
      }
      canvas.setAttribute("aria-label", `Map of ${counted(nodes.count, noun.node, noun.nodes)}, coloured by ${noun.cluster}. The table below says the same in words.`);
      isDrawn = true;
      select(filled);
      listeners.light.push(() => {
        if (view.node < 0) hideTip();
        schedule();
      });
      // At once: nothing is drawn any more once the page is being printed.
      listeners.theme.push(draw);
      listeners.cut.push(() => {
        if (choices[current].followsCut) select(current);
        else describe();
        placeMarks();
        schedule();
      });
      new ResizeObserver(resize).observe(canvas);
    },
    centreOn,
    places: () => places,
    /** Where a node is on the canvas. */
    screenOf: (node) => [screenX(places.x[node]), screenY(places.y[node])],
  };
}

/** Whether nodes are spread over the map. */
function fills({ x, y, aspect }) {
  const side = 24, taken = new Set();
  for (let i = 0; i < x.length; i++) taken.add(Math.floor(x[i] * (side - 1)) * side + Math.floor((y[i] / aspect) * (side - 1)));
  return taken.size >= 0.15 * Math.min(side * side, x.length);
}

function nodeTip(node) {
  const group = groupOfNode(node);
  const parts = [element("b", {}, nodeName(node))];
  if (group < 0) parts.push(element("span", {}, `in no ${noun.cluster}`));
  else {
    const sure = view.cut.k < 2 ? undefined : nodeConfidence(node), second = secondOfNode(node);
    parts.push(element("span", {}, view.cut.groups[group].title + (sure === undefined ? "" : `, confidence ${sure.toFixed(2)}`)));
    if (second >= 0 && second !== group) parts.push(element("span", {}, `leans to ${view.cut.groups[second].title.toLowerCase()}`));
  }
  if (className(node) !== undefined) parts.push(element("span", {}, `class ${className(node)}`));
  return parts;
}

function showTip(parts, x, y) {
  const tip = byId("tip"), box = byId("map-box");
  tip.replaceChildren(...parts);
  tip.hidden = false;
  const left = Math.min(Math.max(6, x + 14), box.clientWidth - tip.offsetWidth - 6);
  const top = y + tip.offsetHeight + 20 > box.clientHeight ? y - tip.offsetHeight - 12 : y + 14;
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(4, top))}px)`;
}

function hideTip() {
  byId("tip").hidden = true;
}
