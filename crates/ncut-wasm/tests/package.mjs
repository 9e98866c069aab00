// The npm package beside the command line: the same labels, byte for byte, and the same words when input is refused.
//
// node --test crates/ncut-wasm/tests/package.mjs, with NCUT_COMMAND; the package stands in target/npm.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const command = process.env.NCUT_COMMAND ?? join(root, "target/debug/ncut");
const ncut = await import(join(root, "target/npm/node.js"));
const folder = mkdtempSync(join(tmpdir(), "ncut-wasm-"));
after(() => rmSync(folder, { recursive: true }));

const file = (name) => join(folder, name);

function run(...words) {
  execFileSync(command, [...words.map(String), "--quiet"], { cwd: folder });
}

/** What the command line writes for the same file and options. */
function written(subcommand, name, options, output = "labels.txt") {
  run(subcommand, name, ...options, "-o", output);
  return readFileSync(file(output));
}

/** Numbers from 0 to 1, the same every time. */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  };
}

/** A graph with groups, as an edge list with names and weights. */
function planted(nNodes, nGroups, nEdges, share, seed) {
  const random = numbers(seed);
  const lines = new Set();
  while (lines.size < nEdges) {
    const from = Math.floor(random() * nNodes);
    const inside = from % nGroups + nGroups * Math.floor((random() * nNodes) / nGroups);
    const to = random() < share ? Math.min(inside, nNodes - 1) : Math.floor(random() * nNodes);
    if (from !== to) lines.add(`n${from},n${to},${1 + Math.floor(random() * 9)}`);
  }
  return `a,b,weight\n${[...lines].join("\n")}\n`;
}

function table(nRows, nColumns, nGroups, seed) {
  const random = numbers(seed);
  const centres = Array.from({ length: nGroups * nColumns }, () => 8 * random());
  const rows = [Array.from({ length: nColumns }, (_, column) => `x${column}`).join(",")];
  for (let row = 0; row < nRows; row++) {
    const group = Math.floor(random() * nGroups);
    const cells = Array.from({ length: nColumns }, (_, column) => {
      const noise = random() + random() + random() + random() - 2;
      return (centres[group * nColumns + column] + 1.5 * noise).toFixed(5);
    });
    rows.push(cells.join(","));
  }
  return `${rows.join("\n")}\n`;
}

writeFileSync(file("small.csv"), planted(300, 5, 1200, 0.75, 1));
writeFileSync(file("middle.csv"), planted(6000, 12, 40000, 0.7, 2));
writeFileSync(file("table.csv"), table(1500, 6, 8, 3));
writeFileSync(file("wide.csv"), table(900, 90, 5, 4));
for (const name of ["chelsea.jpg", "coffee.jpg", "coins.png"]) {
  writeFileSync(file(name), readFileSync(join(root, "docs", name)));
}
run("convert", "middle.csv", "middle.mtx");
run("convert", "middle.csv", "middle.npz");
run("convert", "middle.csv", "middle.ncut");
run("convert", "small.csv", "small.graphml");
run("convert", "small.csv", "small.gml");
run("convert", "small.csv", "small.json");
run("convert", "small.csv", "small.net");
run("convert", "small.csv", "small.graph");
writeFileSync(file("small.csv.gz"), gzipSync(readFileSync(file("small.csv"))));

const GRAPHS = [
  ["small.csv", ["-k", 5], { clusters: 5 }],
  ...["paper", "fast", "best"].map((preset) => [
    "small.csv", ["-k", 6, "--preset", preset], { clusters: 6, preset },
  ]),
  ...["paper", "fast", "default"].map((preset) => [
    "middle.csv", ["-k", 12, "--preset", preset], { clusters: 12, preset },
  ]),
  ["middle.csv", ["-k", "auto"], { clusters: "auto" }],
  ["small.csv", ["-k", 7, "--min-share", 0], { clusters: 7, minShare: 0 }],
  ["small.csv", ["-k", 5, "--seed", 5], { clusters: 5, seed: 5 }],
  ["small.csv", ["-k", 5, "--max-share", 1.05], { clusters: 5, maxShare: 1.05 }],
  ["small.csv", ["-k", 5, "--objective", "ratio-cut"], { clusters: 5, objective: "ratio-cut" }],
  ["middle.csv", ["--objective", "modularity"], { objective: "modularity" }],
  ["middle.csv", ["-k", 7, "--objective", "modularity"], { clusters: 7, objective: "modularity" }],
  ...["mtx", "npz", "ncut"].map((ending) => [`middle.${ending}`, ["-k", 12, "--preset", "fast"], { clusters: 12, preset: "fast" }]),
  ...["graphml", "gml", "json", "net", "graph", "csv.gz"].map((ending) => [`small.${ending}`, ["-k", 5], { clusters: 5 }]),
];
for (const [name, options, settings] of GRAPHS) {
  test(`ncut cluster ${name} ${options.join(" ")}`, async () => {
    const found = await ncut.cluster(readFileSync(file(name)), { name, ...settings });
    assert.equal(found.text(), written("cluster", name, options).toString());
    assert.equal(found.labels.length, found.summary.n_nodes);
    found.free();
  });
}

const POINTS = [
  ...["paper", "fast", "default", "best"].map((preset) => ["table.csv", ["-k", 8, "--preset", preset], { clusters: 8, preset }]),
  ...["self-tuning", "knn", "rbf", "cosine", "adaptive"].map((affinity) => [
    "table.csv", ["-k", 8, "--affinity", affinity, "--neighbors", 12], { clusters: 8, affinity, neighbors: 12 },
  ]),
  ["table.csv", ["-k", "auto", "--standardize"], { clusters: "auto", standardize: true }],
  ["table.csv", ["-k", 8, "--mutual"], { clusters: 8, mutual: true }],
  ["wide.csv", ["-k", 5], { clusters: 5 }],
];
for (const [name, options, settings] of POINTS) {
  test(`ncut points ${name} ${options.join(" ")}`, async () => {
    const found = await ncut.points(readFileSync(file(name)), { name, ...settings });
    assert.equal(found.text(), written("points", name, options).toString());
    found.free();
  });
}

const PICTURES = [
  ...["paper", "fast", "default"].map((preset) => ["chelsea.jpg", ["-k", 9, "--preset", preset], { clusters: 9, preset }]),
  ["coffee.jpg", ["-k", 6, "--blur", 1.5, "--scale", 0.5], { clusters: 6, blur: 1.5, scale: 0.5 }],
  ["coins.png", ["-k", 25, "--graph", "grid8", "--scale", 0.4], { clusters: 25, graph: "grid8", scale: 0.4 }],
  ["coins.png", ["-k", 8, "--graph", "radius", "--radius", 3, "--scale", 0.3], { clusters: 8, graph: "radius", radius: 3, scale: 0.3 }],
];
for (const [name, options, settings] of PICTURES) {
  test(`ncut segment ${name} ${options.join(" ")}`, async () => {
    const found = await ncut.segment(readFileSync(file(name)), { name, ...settings });
    const array = written("segment", name, options, "regions.npy");
    const labels = new Int32Array(array.buffer.slice(array.byteOffset + array.length - 4 * found.labels.length, array.byteOffset + array.length));
    assert.deepEqual(found.labels, labels);
    assert.equal(found.labels.length, found.size.height * found.size.width);
    assert.deepEqual(Buffer.from(found.drawing()), written("segment", name, options, "regions.png"));
    found.free();
  });
}

test("figures are those of the command line's report", async () => {
  run("cluster", "small.csv", "-k", 5, "--bound", "--json", "report.json");
  const report = JSON.parse(readFileSync(file("report.json")));
  const { summary } = await ncut.cluster(readFileSync(file("small.csv")), { name: "small.csv", clusters: 5, bound: true });
  for (const name of ["n_nodes", "n_edges", "n_components", "objective", "ncut", "ratio_cut", "modularity", "preset", "min_share", "connected"]) {
    assert.equal(summary[name], report[name], name);
  }
  assert.ok(Math.abs(summary.upper_bound - report.upper_bound) < 1e-9);
  assert.deepEqual(summary.sizes, report.clusters.map((cluster) => cluster.size));
});

test("known classes are compared with", async () => {
  const text = "kind,x,y\na,0,0\na,0,1\na,1,0\nb,9,9\nb,9,8\nb,8,9\n";
  const { summary } = await ncut.points(text, { clusters: 2, neighbors: 2, truthColumn: "kind" });
  assert.equal(summary.ari, 1);
});

test("what is refused is refused in the same words", async () => {
  const refused = async (name, text, settings, ...options) => {
    writeFileSync(file(name), text);
    const { stderr } = spawnSync(command, ["cluster", name, ...options], { cwd: folder, encoding: "utf8" });
    await assert.rejects(ncut.cluster(text, { name, ...settings }), (error) => {
      // The command line calls settings as they are typed there.
      const message = error.message.replace("(`symmetrize`: ", "(--symmetrize ");
      assert.ok(stderr.includes(message), `${stderr} has ${message}`);
      return true;
    });
  };
  await refused("bad.txt", "1 2\n2 x y z\n3 1 -4\n", { clusters: 2 }, "-k", "2");
  await refused("few.txt", "1 2\n2 3\n", { clusters: 9 }, "-k", "9");
  await refused("graph.xyz", "1 2\n", { clusters: 2 }, "-k", "2");
  await refused("one.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n", { clusters: 2 }, "-k", "2");
});

test("settings that are wrong are named", async () => {
  const refused = (settings, words) => assert.rejects(ncut.cluster("a b\nb c\n", settings), words);
  await refused({}, /the number of clusters is missing/);
  await refused({ clusters: "many" }, /`clusters` is a number, or "auto"/);
  await refused({ clusters: 2, preset: "quick" }, /unknown variant `quick`, expected one of `paper`, `fast`, `default`, `best`/);
  await refused({ clusters: 2, cluster: 3 }, /unknown field `cluster`/);
  await refused({ clusters: 2, minShare: 3 }, /min_share|share/);
  await refused({ clusters: 2, timeLimit: -1 }, /`timeLimit` is -1/);
});

test("zstd is refused with what else there is", async () => {
  await assert.rejects(ncut.cluster(new Uint8Array([1, 2, 3]), { name: "graph.txt.zst", clusters: 2 }), /pack it by gzip/);
});

test("who is told how it goes can stop it, and the best so far comes back", async () => {
  const text = readFileSync(file("middle.csv"));
  let best = 0;
  const onProgress = (progress) => {
    assert.ok(progress.done >= 0 && typeof progress.stage === "string");
    best = progress.best ?? best;
    return best > 0;
  };
  const found = await ncut.cluster(text, { name: "middle.csv", clusters: 12, preset: "best", onProgress });
  assert.equal(found.summary.stop_reason, "cancelled");
  assert.equal(found.summary.n_clusters, 12);
  assert.ok(found.summary.objective >= best);
  assert.ok(found.page().includes("this is the best so far"));
});

test("a time limit holds", async () => {
  const started = performance.now();
  const found = await ncut.cluster(readFileSync(file("middle.csv")), { name: "middle.csv", clusters: 12, preset: "best", timeLimit: 0.5 });
  assert.equal(found.summary.stop_reason, "time-limit");
  assert.ok(performance.now() - started < 10_000);
});

test("the examples of the README give what they say", async () => {
  const text = readFileSync(join(root, "target/npm/README.md"), "utf8");
  const [, example] = /## Node\n\n```js\n([\s\S]*?)```/.exec(text);
  const wanted = example.match(/(?<=^\/\/ ).*$/gm);
  writeFileSync(file("example.mjs"), example.replace('"ncut"', JSON.stringify(join(root, "target/npm/node.js"))));
  const printed = execFileSync(process.execPath, [file("example.mjs")], { encoding: "utf8" });
  assert.deepEqual(printed.trim().split("\n"), wanted);
});

test("the version is that of the repository", async () => {
  const wanted = /^version = "(.*)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
  assert.equal(await ncut.version(), wanted);
  assert.equal(JSON.parse(readFileSync(join(root, "target/npm/package.json"))).version, wanted);
});
