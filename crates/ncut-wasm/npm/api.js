// The functions of the package. The module of WebAssembly is loaded once, when it is first needed.

import init, { cluster as work, version as versionOf } from "./ncut.js";

let find = null;
let loading = null;

/** Where the module is found unless `load` is given one. */
export function findModule(source) {
  find = source;
}

export function load(module) {
  loading ??= Promise.resolve(module ?? find()).then((source) => init({ module_or_path: source }));
  return loading.then(() => undefined);
}

export async function version() {
  await load();
  return versionOf();
}

export function cluster(input, settings) {
  return run("graph", "graph.txt", input, settings);
}

export function points(input, settings) {
  return run("points", "table.csv", input, settings);
}

export function segment(input, settings) {
  return run("picture", "picture.png", input, settings);
}

async function run(kind, usualName, input, settings = {}) {
  const { name = usualName, onProgress, ...asked } = settings;
  await load();
  const observer = onProgress && {
    observe: (stage, done, total, best) => onProgress({ stage, done, total, best }) === true,
  };
  return new Clustering(work(kind, name, bytesOf(input), JSON.stringify(asked), observer));
}

/** Texts and rows as the bytes that a file of them would have. */
function bytesOf(input) {
  if (input instanceof Uint8Array) return input;
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  const text = typeof input === "string" ? input : Array.from(input, (row) => `${row.join(",")}\n`).join("");
  return new TextEncoder().encode(text);
}

export class Clustering {
  #outcome;

  constructor(outcome) {
    this.#outcome = outcome;
    this.labels = outcome.labels();
    this.nodes = outcome.nodes();
    const size = outcome.size();
    this.size = size && { height: size[0], width: size[1] };
    this.summary = JSON.parse(outcome.summary());
  }

  text(separator = "\t") {
    return this.#outcome.labelsText(separator);
  }

  page() {
    return this.#outcome.page();
  }

  drawing(style = "boundaries") {
    return this.#outcome.drawing(style === "flat");
  }

  free() {
    this.#outcome.free();
  }
}
