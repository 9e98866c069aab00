// Where nodes are drawn: each view has a place for every shown node, in a box of width 1.

/** Positions of clusters as discs that do not overlap, near where the graph of clusters has them. */
function discs(cut, sizes) {
  const area = 0.42 / sizes.reduce((sum, size) => sum + size, 0);
  const list = cut.groups.map((group, i) => {
    let [x, y, weight] = [0, 0, 0];
    for (const row of group.rows) {
      const volume = Math.max(base.volume[row], 1e-9);
      x += page.positions[row][0] * volume;
      y += page.positions[row][1] * volume;
      weight += volume;
    }
    return { x: x / weight, y: y / weight, r: Math.sqrt((area * sizes[i]) / Math.PI) };
  });
  // Clusters far out come nearer, or all others would be small.
  const [left, top] = [median(list.map((one) => one.x)), median(list.map((one) => one.y))];
  const usual = median(list.map((one) => Math.hypot(one.x - left, one.y - top))) || 1;
  for (const one of list) {
    const far = Math.hypot(one.x - left, one.y - top) / usual;
    if (page.kind === "picture" || far <= 1) continue;
    one.x = left + ((one.x - left) / far) * Math.sqrt(far);
    one.y = top + ((one.y - top) / far) * Math.sqrt(far);
  }
  // So many that a page of thousands stays quick; these lie on a spiral, well apart.
  const rounds = list.length > 1000 ? 0 : list.length > 400 ? 20 : 120;
  const gap = 0.35 * Math.sqrt(area * 0.42 / list.length) + 0.006;
  for (let round = 0; round < rounds; round++) {
    let moved = false;
    for (let i = 0; i < list.length; i++) {
      for (let j = i + 1; j < list.length; j++) {
        const [a, b] = [list[i], list[j]];
        const [dx, dy] = [b.x - a.x || 1e-6 * (i + 1), b.y - a.y || 1e-6];
        const distance = Math.hypot(dx, dy), wanted = a.r + b.r + gap;
        if (distance >= wanted) continue;
        moved = true;
        const push = (wanted - distance) / distance, part = (b.r + 0.01) / (a.r + b.r + 0.02);
        a.x -= dx * push * part;
        a.y -= dy * push * part;
        b.x += dx * push * (1 - part);
        b.y += dy * push * (1 - part);
      }
    }
    if (!moved) break;
  }
  return boxed(list);
}

/** Moves and scales circles into a box of width 1. */
function boxed(list) {
  const left = Math.min(...list.map((one) => one.x - one.r)), right = Math.max(...list.map((one) => one.x + one.r));
  const top = Math.min(...list.map((one) => one.y - one.r)), bottom = Math.max(...list.map((one) => one.y + one.r));
  const scale = 1 / Math.max(right - left, 1e-9);
  for (const one of list) {
    one.x = (one.x - left) * scale;
    one.y = (one.y - top) * scale;
    one.r *= scale;
  }
  return { list, aspect: (bottom - top) * scale };
}

/** Every cluster a disc of its nodes, the surest in the middle. */
function placesInDiscs() {
  const cut = view.cut;
  const members = cut.groups.map(() => []);
  const alone = [];
  for (let node = 0; node < nodes.count; node++) {
    const group = groupOfNode(node);
    (group < 0 ? alone : members[group]).push(node);
  }
  const { list, aspect } = discs(cut, members.map((some) => some.length || 1));
  const x = new Float32Array(nodes.count), y = new Float32Array(nodes.count);
  const turn = Math.PI * (3 - Math.sqrt(5));
  members.forEach((some, group) => {
    const sure = cut.sure ?? nodes.confidence;
    some.sort((a, b) => sure[b] - sure[a] || a - b);
    some.forEach((node, place) => {
      const r = some.length === 1 ? 0 : list[group].r * Math.sqrt((place + 0.5) / some.length);
      x[node] = list[group].x + r * Math.cos(place * turn);
      y[node] = list[group].y + r * Math.sin(place * turn);
    });
  });
  alone.forEach((node, place) => {
    x[node] = (place + 0.5) / alone.length;
    y[node] = aspect + 0.05;
  });
  return { x, y, aspect: alone.length ? aspect + 0.08 : aspect };
}

function placesOfView(one) {
  const [rawX, rawY] = [decode(one.x, Uint16Array), decode(one.y, Uint16Array)];
  const x = new Float32Array(rawX.length), y = new Float32Array(rawY.length);
  for (let i = 0; i < x.length; i++) {
    x[i] = rawX[i] / 65535;
    y[i] = (1 - rawY[i] / 65535) * one.aspect;
  }
  return { x, y, aspect: one.aspect };
}

/** For each cell of a grid the nodes in it, so that the one under the pointer is found at once. */
class Grid {
  constructor({ x, y, aspect }) {
    this.x = x;
    this.y = y;
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(x.length / 2))));
    this.rows = Math.max(1, Math.ceil(this.side * aspect) + 1);
    const starts = new Uint32Array(this.side * this.rows + 1);
    const cellOf = new Uint32Array(x.length);
    for (let i = 0; i < x.length; i++) {
      cellOf[i] = this.cell(x[i], y[i]);
      starts[cellOf[i] + 1]++;
    }
    for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
    const next = starts.slice();
    this.members = new Uint32Array(x.length);
    for (let i = 0; i < x.length; i++) this.members[next[cellOf[i]]++] = i;
    this.starts = starts;
  }

  column(x) {
    return Math.min(this.side - 1, Math.max(0, Math.floor(x * this.side)));
  }

  row(y) {
    return Math.min(this.rows - 1, Math.max(0, Math.floor(y * this.side)));
  }

  cell(x, y) {
    return this.row(y) * this.side + this.column(x);
  }

  /** The nearest node within a distance, or -1. */
  nearest(x, y, reach) {
    let best = -1, bestDistance = reach * reach;
    for (let row = this.row(y - reach); row <= this.row(y + reach); row++) {
      for (let column = this.column(x - reach); column <= this.column(x + reach); column++) {
        const cell = row * this.side + column;
        for (let i = this.starts[cell]; i < this.starts[cell + 1]; i++) {
          const node = this.members[i];
          const distance = (this.x[node] - x) ** 2 + (this.y[node] - y) ** 2;
          if (distance <= bestDistance) [best, bestDistance] = [node, distance];
        }
      }
    }
    return best;
  }
}
