// Examples: two small networks that everybody knows, and others that are made here, the same every time.

/** Zachary's karate club (1977): 34 members and who meets whom outside of the club. */
const KARATE = `1 2 3 4 5 6 7 8 9 11 12 13 14 18 20 22 32|2 3 4 8 14 18 20 22 31|3 4 8 9 10 14 28 29 33|4 8 13 14|5 7 11|
6 7 11 17|7 17|9 31 33 34|10 34|14 34|15 33 34|16 33 34|19 33 34|20 34|21 33 34|23 33 34|24 26 28 30 33 34|25 26 28 32|26 32|
27 30 34|28 34|29 32 34|30 33 34|31 33 34|32 33 34|33 34`;

const EXAMPLES = [
  {
    title: "Les Misérables",
    hint: "who meets whom",
    kind: "graph",
    name: "miserables.csv",
    clusters: 6,
    make: () => document.getElementById("miserables").textContent.trimStart(),
  },
  { title: "A karate club", hint: "34 members", kind: "graph", name: "karate.txt", clusters: 2, make: karate },
  { title: "Hidden groups", hint: "1 000 nodes", kind: "graph", name: "groups.txt", clusters: "auto", make: groups },
  { title: "Two moons", hint: "600 points", kind: "points", name: "moons.csv", clusters: 2, make: moons },
  {
    title: "Seven kinds",
    hint: "900 rows, 8 columns",
    kind: "points",
    name: "kinds.csv",
    clusters: "auto",
    classes: "kind",
    make: kinds,
  },
  {
    title: "Marbles",
    hint: "a picture",
    kind: "picture",
    name: "marbles.ppm",
    clusters: 13,
    share: 0.1,
    make: marbles,
  },
];

/** Numbers from 0 to 1, the same every time (mulberry32). */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  };
}

/** About normal, without functions whose last digits differ between browsers. */
function bell(random) {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random();
  return sum;
}

function karate() {
  const lines = [];
  for (const row of KARATE.split("|")) {
    const [from, ...to] = row.trim().split(" ");
    for (const other of to) lines.push(`${from} ${other}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Eight groups of unlike sizes; four of five links stay inside. */
function groups() {
  const random = numbers(8);
  const first = [0, 60, 140, 240, 350, 480, 630, 800, 1000];
  const groupOf = (node) => first.findIndex((start) => start > node) - 1;
  const lines = new Set();
  while (lines.size < 8000) {
    const from = Math.floor(random() * 1000);
    const group = groupOf(from);
    const isInside = random() < 0.8;
    const to = isInside
      ? first[group] + Math.floor(random() * (first[group + 1] - first[group]))
      : Math.floor(random() * 1000);
    if (from !== to) lines.add(`${Math.min(from, to)} ${Math.max(from, to)}`);
  }
  return `${[...lines].join("\n")}\n`;
}

/** Two half circles, one in the other. A circle by rational points, so that no browser rounds it otherwise. */
function moons() {
  const random = numbers(2);
  const lines = ["x,y"];
  for (let i = 0; i < 600; i++) {
    const t = (i % 300) / 299;
    const [x, y] = [(1 - t * t) / (1 + t * t), (2 * t) / (1 + t * t)];
    const side = random() < 0.5 ? 1 : -1;
    const [dx, dy] = [0.08 * bell(random), 0.08 * bell(random)];
    lines.push(
      i < 300
        ? `${(side * x + dx).toFixed(4)},${(y + dy).toFixed(4)}`
        : `${(1 - side * x + dx).toFixed(4)},${(0.5 - y + dy).toFixed(4)}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

function kinds() {
  const random = numbers(7);
  const names = ["length", "width", "height", "mass", "legs", "wings", "speed", "age"];
  const centres = Array.from({ length: 7 }, () => names.map(() => 3.2 * bell(random)));
  const lines = [`kind,${names.join(",")}`];
  for (let i = 0; i < 900; i++) {
    const kind = Math.floor(random() * 7);
    const values = centres[kind].map((centre) => (centre + 0.9 * bell(random)).toFixed(3));
    lines.push(`${"ABCDEFG"[kind]},${values.join(",")}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Eleven lit balls on a table, as a PPM. */
function marbles() {
  const [width, height] = [420, 280];
  const random = numbers(11);
  const colours = [[196, 64, 52], [52, 110, 176], [222, 168, 46], [70, 140, 84], [134, 84, 158], [58, 60, 68]];
  const balls = [[70, 74, 42], [168, 58, 33], [252, 92, 46], [356, 66, 38], [112, 176, 48], [206, 182, 30],
    [290, 202, 44], [374, 170, 33], [44, 236, 28], [196, 246, 25], [352, 246, 24]];
  const pixels = new Uint8ClampedArray(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let colour = [150 - 0.12 * y, 138 - 0.1 * y, 124 - 0.06 * x * 0.2].map((value) => value + 5 * bell(random));
      balls.forEach(([cx, cy, radius], ball) => {
        const [dx, dy] = [(x - cx) / radius, (y - cy) / radius];
        const shadow = (dx - 0.25) ** 2 + ((dy - 0.3) * 1.05) ** 2;
        if (dx * dx + dy * dy > 1 && shadow < 1) colour = colour.map((value) => value * (0.62 + 0.38 * shadow));
      });
      balls.forEach(([cx, cy, radius], ball) => {
        const [dx, dy] = [(x - cx) / radius, (y - cy) / radius];
        const inside = 1 - dx * dx - dy * dy;
        if (inside <= 0) return;
        const light = 0.5 + 0.5 * (0.75 * Math.sqrt(inside) - 0.42 * dx - 0.5 * dy);
        const shine = Math.max(0, 1 - ((dx + 0.36) ** 2 + (dy + 0.4) ** 2) * 22);
        colour = colours[ball % colours.length].map((value) => value * light + 150 * shine * shine + 2 * bell(random));
      });
      pixels.set(colour, (y * width + x) * 3);
    }
  }
  const header = new TextEncoder().encode(`P6\n${width} ${height}\n255\n`);
  const bytes = new Uint8Array(header.length + pixels.length);
  bytes.set(header);
  bytes.set(pixels, header.length);
  return bytes;
}
