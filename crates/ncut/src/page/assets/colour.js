// Colours that can be told apart: chosen one after the other, each far from those in use, most of all from those of
// neighbours, as seen with full colour vision and by people who do not see red or green.

function linear(lightness, chroma, hue) {
  const a = chroma * Math.cos(hue), b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function oklab([r, g, b]) {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

// How linear red, green and blue look without the cones for red, or for green (Machado and others, 2009).
const WITHOUT_RED = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];
const WITHOUT_GREEN = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]];

const clamped = (rgb) => rgb.map((value) => Math.min(1, Math.max(0, value)));
const seenBy = (matrix, rgb) => clamped(matrix.map((row) => row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]));
const gamma = (value) => Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));

/** Colours to choose from: hues at three lightnesses, all readable on light and on dark ground. */
const candidates = [];
for (const [lightness, chroma] of [[0.62, 0.15], [0.5, 0.13], [0.75, 0.12]]) {
  for (let step = 0; step < 20; step++) {
    const rgb = clamped(linear(lightness, chroma, ((255 + step * 18) * Math.PI) / 180));
    candidates.push({
      rgb: rgb.map(gamma),
      looks: [rgb, seenBy(WITHOUT_RED, rgb), seenBy(WITHOUT_GREEN, rgb)].map(oklab),
    });
  }
}

function apart(a, b) {
  const between = (i) => Math.hypot(a.looks[i][0] - b.looks[i][0], a.looks[i][1] - b.looks[i][1], a.looks[i][2] - b.looks[i][2]);
  return 0.5 * between(0) + 0.5 * Math.min(between(1), between(2));
}

/** A colour for each cluster, the largest first. */
function chooseColours() {
  const distance = candidates.map((a) => candidates.map((b) => apart(a, b)));
  const linked = Array.from({ length: nBase }, () => new Map());
  for (const [a, b, weight] of page.links) {
    linked[a].set(b, weight);
    linked[b].set(a, weight);
  }
  const order = Array.from({ length: nBase }, (_, row) => row).sort((a, b) => base.volume[b] - base.volume[a] || a - b);
  const chosen = new Int16Array(nBase).fill(-1);
  const used = new Int32Array(candidates.length);
  for (const row of order) {
    let best = 0, bestScore = -Infinity;
    for (let colour = 0; colour < candidates.length; colour++) {
      let nearest = 0.5;
      for (let other = 0; other < candidates.length; other++) {
        if (used[other]) nearest = Math.min(nearest, distance[colour][other]);
      }
      let nearestLinked = 0.5;
      for (const other of linked[row].keys()) {
        if (chosen[other] >= 0) nearestLinked = Math.min(nearestLinked, distance[colour][chosen[other]]);
      }
      const score = nearest + 0.5 * nearestLinked - used[colour] - 1e-6 * colour;
      if (score > bestScore) [best, bestScore] = [colour, score];
    }
    chosen[row] = best;
    used[best]++;
  }
  return Array.from(chosen, (colour) => candidates[colour].rgb);
}

const colours = nBase ? chooseColours() : [];

/** A class has the colour of the cluster that shares most nodes with it, each given once; other classes have what is left. */
function chooseClassColours() {
  const found = new Array(truth.names.length), taken = new Set();
  for (const [row, kind] of [...truth.shared].sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1])) {
    if (found[kind] || taken.has(row)) continue;
    found[kind] = colours[row];
    taken.add(row);
  }
  const used = new Set(found.filter(Boolean).map(String));
  const free = candidates.map((one) => one.rgb).filter((rgb) => !used.has(String(rgb)));
  let next = 0;
  return Array.from(found, (rgb) => rgb ?? free[(next++ * 7) % free.length]);
}

const classColours = truth && nBase ? chooseClassColours() : [];
const rgbOf = (group) => colours[group.lead];
const css = (rgb, alpha = 1) => (alpha === 1 ? `rgb(${rgb.join(",")})` : `rgba(${rgb.join(",")},${alpha})`);
const inkOn = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 150 ? "#111" : "#fff");

let isPrinted = false;

function isDark() {
  const theme = document.documentElement.dataset.theme;
  if (isPrinted) return false;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function badge(group) {
  return element("span", { class: "badge", style: `background:${css(rgbOf(group))};color:${inkOn(rgbOf(group))}` }, group.name);
}
