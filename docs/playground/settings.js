// The form as settings of the module, and as options of the command line. What is left as it is, is left out.

const COMMANDS = { graph: "cluster", points: "points", picture: "segment" };
/** Settings that are options of the same name. */
const OPTIONS = {
  preset: "--preset", objective: "--objective", resolution: "--resolution", minShare: "--min-share", seed: "--seed",
  timeLimit: "--time-limit", components: "--components", symmetrize: "--symmetrize", affinity: "--affinity",
  neighbors: "--neighbors", truthColumn: "--truth-column", blur: "--blur", scale: "--scale",
};

function isShown(id) {
  return element(id).closest("[hidden]") === null;
}

/** The text of a field; nothing where it is left as it was, or belongs to another kind of file. */
function asked(id) {
  const field = element(id);
  const usual = field.querySelector?.("option[selected]")?.value ?? "";
  return isShown(id) && field.value !== usual ? field.value : "";
}

function count() {
  return document.querySelector("input[name=count]:checked").value;
}

function settings() {
  const chosen = {};
  const put = (name, value) => {
    if (value !== "") chosen[name] = value;
  };
  const number = (name, id) => {
    if (element(id).validity.badInput) throw new Error(`${element(id).labels[0].textContent}: this is not a number`);
    const text = asked(id);
    put(name, text === "" ? "" : Number(text));
  };
  if (count() === "auto") chosen.clusters = "auto";
  if (count() === "exactly") chosen.clusters = wholeNumber("clusters", "The number of clusters");
  put("preset", asked("preset"));
  put("objective", asked("objective"));
  number("resolution", "resolution");
  number("minShare", "min-share");
  number("timeLimit", "time-limit");
  number("seed", "seed");
  put("components", asked("components"));
  put("symmetrize", asked("symmetrize"));
  const connected = asked("connected");
  if (connected) chosen.connected = connected === "yes";
  if (isShown("bound") && element("bound").checked) chosen.bound = true;
  put("affinity", asked("affinity"));
  number("neighbors", "neighbors");
  if (isShown("standardize") && element("standardize").checked) chosen.standardize = true;
  put("truthColumn", asked("truth").trim());
  number("scale", "scale");
  number("blur", "blur");
  return chosen;
}

function wholeNumber(id, what) {
  const text = element(id).value.trim();
  if (!/^\d+$/.test(text)) throw new Error(`${what} is missing; write one, or let it be found out`);
  return Number(text);
}

/** The command that gives the same labels. */
function command() {
  const chosen = settings();
  const words = ["ncut", COMMANDS[kind()], quoted(inputName())];
  if (chosen.clusters !== undefined) words.push("-k", chosen.clusters);
  for (const [name, option] of Object.entries(OPTIONS)) {
    if (chosen[name] !== undefined) words.push(option, quoted(String(chosen[name])));
  }
  if (chosen.connected !== undefined) words.push("--connected", chosen.connected ? "yes" : "no");
  if (chosen.bound) words.push("--bound");
  if (chosen.standardize) words.push("--standardize");
  words.push("-o", kind() === "picture" ? "regions.png" : "labels.txt");
  return words.join(" ");
}

function quoted(word) {
  return /^[\w.,:/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Shows the fields that go with the objective, and the command. */
function changed() {
  const isModularity = element("objective").value === "modularity";
  element("free-label").hidden = !isModularity;
  element("resolution-field").hidden = !isModularity;
  element("bound-field").hidden = isModularity;
  if (!isModularity && count() === "free") document.querySelector("input[name=count][value=auto]").checked = true;
  try {
    element("command").textContent = command();
    element("same").hidden = false;
  } catch {
    element("same").hidden = true;
  }
}
