// What is to be clustered: a file, text, or an example. `input` holds its name and its bytes or text.

const PICTURES = /\.(png|jpe?g|gif|bmp|webp|tiff?|ppm|pgm|pbm|pnm|qoi|tga)$/i;
const GRAPHS = /\.(edges|mtx|graph|metis|graphml|gexf|gml|net|json|ncut)(\.gz)?$/i;
const ARRAYS = /\.np[yz]$/i;

const FORMATS = {
  graph: "Edge list (.txt .csv .tsv), .mtx, METIS, GraphML, GEXF, GML, Pajek, JSON, .npz, .ncut; text also as .gz",
  points: "A row a point: .csv, .tsv, .txt (also as .gz), .npy, .npz",
  picture: "PNG, JPEG, WebP, TIFF, GIF, BMP and others",
};
const PLACEHOLDERS = {
  graph: "one edge a line, with a weight or without:\n\nann bob 2\nbob eve\neve ann",
  points: "one point a line, with names of the columns or without:\n\nlength,width\n5.1,3.5\n4.9,3.0",
};
const PASTED = { graph: "graph.txt", points: "table.csv" };
/** A text longer than this is not shown for editing. */
const MAX_SHOWN = 200_000;

const input = { name: "", bytes: null, preview: "" };

function element(id) {
  return document.getElementById(id);
}

function kind() {
  return document.querySelector("input[name=kind]:checked").value;
}

function setKind(name) {
  document.querySelector(`input[name=kind][value=${name}]`).checked = true;
  showKind();
}

/** What a file holds, by its name and, where that tells nothing, by its first lines. */
function guessedKind(name, bytes) {
  if (PICTURES.test(name)) return "picture";
  if (GRAPHS.test(name)) return "graph";
  if (ARRAYS.test(name)) return /\.npy$/i.test(name) ? "points" : kind() === "picture" ? "points" : kind();
  if (/\.gz$/i.test(name)) return kind() === "picture" ? "graph" : kind();
  const lines = new TextDecoder().decode(bytes.subarray(0, 4000)).split("\n").filter((line) => /^[^#%]/.test(line));
  const columns = (lines[1] ?? lines[0] ?? "").trim().split(/[,;\t ]+/);
  const isWhole = (text) => /^"?\w[^.]*$/.test(text);
  return columns.length <= 3 && columns.slice(0, 2).every(isWhole) ? "graph" : "points";
}

async function takeFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  takeBytes(file.name, bytes, guessedKind(file.name, bytes));
}

function takeBytes(name, bytes, kindOfFile) {
  Object.assign(input, { name, bytes });
  setKind(kindOfFile);
  element("text").value = "";
  element("chosen-name").textContent = name;
  element("chosen-size").textContent = sizeText(bytes.length);
  element("chosen").hidden = false;
  showPreview(kindOfFile === "picture");
  changed();
}

function takeText(name, text, kindOfText) {
  Object.assign(input, { name, bytes: null });
  setKind(kindOfText);
  element("text").value = text;
  element("chosen").hidden = true;
  changed();
}

/** The bytes to be clustered; null where there is nothing. */
function inputBytes() {
  if (input.bytes) return input.bytes;
  const text = element("text").value;
  return text.trim() === "" ? null : new TextEncoder().encode(text);
}

function inputName() {
  return input.name || PASTED[kind()] || "picture.png";
}

function sizeText(n_bytes) {
  if (n_bytes < 1000) return `${n_bytes} bytes`;
  return n_bytes < 1e6 ? `${(n_bytes / 1e3).toFixed(1)} kB` : `${(n_bytes / 1e6).toFixed(1)} MB`;
}

/** Browsers show no PPM: its pixels are drawn. Others are shown as they are. */
function showPreview(isPicture) {
  const shown = element("chosen-picture");
  URL.revokeObjectURL(input.preview);
  input.preview = "";
  shown.hidden = !isPicture;
  if (!isPicture) return;
  const canvas = drawnPpm(input.bytes);
  if (canvas) {
    shown.src = canvas.toDataURL();
  } else {
    input.preview = URL.createObjectURL(new Blob([input.bytes]));
    shown.onerror = () => (shown.hidden = true);
    shown.src = input.preview;
  }
}

function drawnPpm(bytes) {
  const header = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(new TextDecoder("latin1").decode(bytes.subarray(0, 40)));
  if (!header) return null;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Number(header[1]), Number(header[2])];
  const context = canvas.getContext("2d");
  const picture = context.createImageData(canvas.width, canvas.height);
  const pixels = bytes.subarray(header[0].length);
  for (let from = 0, to = 0; from < pixels.length; from += 3, to += 4) {
    picture.data.set([pixels[from], pixels[from + 1], pixels[from + 2], 255], to);
  }
  context.putImageData(picture, 0, 0);
  return canvas;
}

/** Shows what belongs to the kind that is chosen. */
function showKind() {
  const name = kind();
  for (const field of document.querySelectorAll("[data-kind]")) field.hidden = !field.dataset.kind.split(" ").includes(name);
  element("formats").textContent = FORMATS[name];
  element("paste").hidden = name === "picture";
  element("text").placeholder = PLACEHOLDERS[name] ?? "";
  if (input.bytes) showPreview(name === "picture");
}
