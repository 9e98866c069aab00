// The page: takes what is dropped, runs it, shows what came out.

const PHASES = {
  reading: "Reading",
  "finding neighbours": "Finding neighbours",
  "preparing the picture": "Preparing the picture",
  "computing the spectrum": "Computing the spectrum",
  "making the report": "Making the report",
};
/** Phases whose steps are counted once. */
const COUNTED = new Set(["reading", "finding neighbours"]);

const shown = { urls: [], height: null };

function showTheme() {
  const isDark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  return isDark ? "dark" : "light";
}

element("theme").addEventListener("click", () => {
  const theme = showTheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  const report = element("report").contentDocument;
  if (report) report.documentElement.dataset.theme = theme;
});

for (const example of EXAMPLES) {
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-pressed", "false");
  button.append(example.title, " ");
  const hint = document.createElement("i");
  hint.textContent = example.hint;
  button.append(hint);
  button.addEventListener("click", () => takeExample(example, button));
  element("examples").append(button);
}

function markExample(button) {
  for (const other of element("examples").children) other.setAttribute("aria-pressed", String(other === button));
}

function takeExample(example, button) {
  if (isRunning()) return;
  const made = example.make();
  if (typeof made === "string") takeText(example.name, made, example.kind);
  else takeBytes(example.name, made, example.kind);
  setCount(example.clusters);
  element("truth").value = example.classes ?? "";
  element("min-share").value = example.share ?? "";
  markExample(button);
  changed();
  element("form").requestSubmit();
}

function setCount(clusters) {
  const way = clusters === "auto" ? "auto" : "exactly";
  document.querySelector(`input[name=count][value=${way}]`).checked = true;
  if (way === "exactly") element("clusters").value = clusters;
}

element("file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  event.target.value = "";
  if (file) await choose(file);
});

async function choose(file) {
  markExample(null);
  element("truth").value = "";
  await takeFile(file);
  if (kind() === "picture" && count() === "auto") setCount(12);
  changed();
}

for (const type of ["dragenter", "dragover"]) {
  addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    element("drop").classList.add("is-over");
  });
}
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) element("drop").classList.remove("is-over");
});
addEventListener("drop", async (event) => {
  element("drop").classList.remove("is-over");
  const [file] = event.dataTransfer?.files ?? [];
  if (!file) return;
  event.preventDefault();
  if (!isRunning()) await choose(file);
});

element("text").addEventListener("input", () => {
  Object.assign(input, { name: "", bytes: null });
  element("chosen").hidden = true;
  markExample(null);
  changed();
});
for (const choice of document.querySelectorAll("input[name=kind]")) {
  choice.addEventListener("change", () => {
    if (!input.bytes) input.name = "";
    showKind();
  });
}
element("clusters").addEventListener("input", () => setCount(element("clusters").value));
element("form").addEventListener("input", changed);
element("form").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  // Otherwise the same key would press Stop, which has the focus then.
  event.preventDefault();
  element("form").requestSubmit();
});
element("form").noValidate = true;
element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!isRunning()) run();
});
element("stop").addEventListener("click", stopEngine);

function isRunning() {
  return element("run").disabled;
}

function tell(problem) {
  element("problem").textContent = problem;
  element("problem").hidden = problem === "";
  if (problem) element("problem").scrollIntoView({ block: "nearest" });
}

async function run() {
  tell("");
  let task;
  try {
    const bytes = inputBytes();
    if (!bytes) throw new Error("There is nothing to cluster yet: choose a file, write something, or take an example.");
    task = { kind: kind(), name: inputName(), bytes, settings: settings(), flat: false };
  } catch (error) {
    tell(error.message);
    return;
  }
  const clock = startStatus();
  try {
    const found = await runEngine(task, (progress) => showProgress(progress));
    endStatus(clock);
    if (found) show(found, task, clock);
    else showStop(clock);
  } catch (error) {
    endStatus(clock);
    tell(error.message);
  }
}

function seconds(clock) {
  return (performance.now() - clock.started) / 1000;
}

function startStatus() {
  const clock = { started: performance.now(), timer: 0 };
  const tick = () => (element("elapsed").textContent = `${seconds(clock).toFixed(1)} s`);
  clock.timer = setInterval(tick, 100);
  tick();
  element("stage").textContent = "Starting";
  element("bar").removeAttribute("value");
  element("status").hidden = false;
  element("result").hidden = true;
  element("live").textContent = "Clustering";
  element("run").disabled = true;
  element("stop").hidden = false;
  element("stop").focus();
  return clock;
}

function endStatus(clock) {
  clearInterval(clock.timer);
  clock.seconds = seconds(clock);
  element("status").hidden = true;
  const hadFocus = document.activeElement === element("stop");
  element("run").disabled = false;
  element("stop").hidden = true;
  if (hadFocus) element("run").focus();
}

function showProgress({ stage, done, total, best }) {
  let text = PHASES[stage] ?? "Clustering";
  if (COUNTED.has(stage) && total > 0) {
    element("bar").max = total;
    element("bar").value = Math.min(done, total);
  } else {
    element("bar").removeAttribute("value");
  }
  if (best !== undefined) text += `, best objective ${best.toFixed(4)}`;
  element("stage").textContent = `${text},`;
}

function showStop(clock) {
  const text = `Stopped after ${clock.seconds.toFixed(1)} s. Nothing is kept of it; a limit of seconds (under More) keeps the best so far.`;
  element("live").textContent = text;
  tell(text);
}

function show(found, task, clock) {
  const { summary } = found;
  const noun = task.kind === "picture" ? "region" : "cluster";
  const title = summary.n_clusters === 1 ? `One ${noun}` : `${grouped(summary.n_clusters)} ${noun}s`;
  element("result-title").textContent = `${title} in ${clock.seconds.toFixed(1)} s`;
  element("result-note").textContent = noteOf(summary, task);
  showDownloads(found, task);
  element("result").hidden = false;
  showReport(found.page);
  element("live").textContent = element("result-title").textContent;
  element("result-title").focus({ preventScroll: true });
  element("result").scrollIntoView({ block: "start", behavior: "smooth" });
  shown.found = found;
}

function noteOf(summary, task) {
  const counted = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
  const size = `${counted(summary.n_nodes, task.kind === "picture" ? "pixel" : "node")}, ${counted(summary.n_edges, "edge")}`;
  const cut = {
    ncut: `N-Cut ${summary.ncut.toFixed(4)}`,
    "ratio-cut": `Ratio-Cut ${summary.ratio_cut.toFixed(4)}`,
    modularity: `modularity ${summary.modularity.toFixed(4)}`,
  }[summary.objective_name];
  const agreement = summary.ari === undefined ? "" : `; adjusted Rand index ${summary.ari.toFixed(4)} with the known classes`;
  return `${size}; ${cut}${agreement}. ${summary.notes.join(" ")}`;
}

function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function showDownloads(found, task) {
  shown.urls.forEach((url) => URL.revokeObjectURL(url));
  shown.urls = [];
  element("downloads").replaceChildren();
  const stem = task.name.replace(/\.(gz)$/i, "").replace(/\.[^.]*$/, "");
  const add = (title, name, content, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    shown.urls.push(link.href);
    Object.assign(link, { download: name, textContent: title });
    element("downloads").append(link);
  };
  if (found.drawing) add("picture with regions", `${stem}-regions.png`, found.drawing, "image/png");
  add("labels .txt", `${stem}-labels.txt`, found.text, "text/plain");
  if (task.kind !== "picture") add("labels .csv", `${stem}-labels.csv`, found.csv, "text/csv");
  else add("labels .csv, row by row", `${stem}-labels.csv`, grid(found), "text/csv");
  add("report .html", `${stem}-report.html`, found.page, "text/html");
}

/** Labels of a picture as a table of its rows and columns. */
function grid({ labels, size: [height, width] }) {
  const rows = [];
  for (let row = 0; row < height; row++) rows.push(labels.subarray(row * width, (row + 1) * width).join(","));
  return `${rows.join("\n")}\n`;
}

/** The report in a frame as high as it is, so that there is one thing to scroll. */
function showReport(html) {
  const frame = element("report");
  shown.height?.disconnect();
  frame.onload = () => {
    const root = frame.contentDocument.documentElement;
    const fit = () => (frame.style.height = `${Math.ceil(frame.contentDocument.body.getBoundingClientRect().height) + 4}px`);
    shown.height = new ResizeObserver(fit);
    shown.height.observe(frame.contentDocument.body);
    root.dataset.theme = showTheme();
    root.style.overflowY = "hidden";
  };
  frame.srcdoc = html;
}

showKind();
changed();
startEngine().then(
  () => (document.documentElement.dataset.ready = ""),
  (error) => tell(`The module cannot be loaded: ${error.message}`),
);
