"use strict";

// What the page shows, and small things that all parts use.

const page = JSON.parse(document.getElementById("data").textContent);
const NO_CLUSTER = 65535;
const byId = (id) => document.getElementById(id);

/** An array of numbers from base64, in the byte order of the file. */
function decode(text, Type) {
  if (!text) return new Type(0);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Type(bytes.buffer);
}

/** An element with attributes and children; text is never read as markup. */
function element(tag, attributes = {}, ...children) {
  const isSvg = ["svg", "g", "path", "circle", "line", "text", "rect", "title", "polyline"].includes(tag);
  const made = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

/** 15 606, with narrow spaces. */
function grouped(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** Three or four leading digits. */
function short(number) {
  const size = Math.abs(number);
  if (!Number.isFinite(number)) return "–";
  if (size >= 1000) return grouped(number);
  if (size === 0) return "0";
  if (size >= 100) return number.toFixed(0);
  if (size >= 10) return number.toFixed(1);
  if (size >= 0.01) return number.toFixed(2);
  if (size >= 0.001) return number.toFixed(4);
  return number.toExponential(1);
}

/** 83 %, 99.7 %, and never 100 % or 0 % of what is not quite so. */
function percent(share) {
  const whole = Math.round(share * 100);
  if (share > 0.99 && share < 1 - 1e-9) return `${share < 0.9995 ? (share * 100).toFixed(1) : share < 0.99995 ? (share * 100).toFixed(2) : "99.99+"}\u202f%`;
  if (whole <= 0) return share > 1e-12 ? "<1\u202f%" : "0\u202f%";
  return `${whole}\u202f%`;
}

function counted(number, one, many = `${one}s`) {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

const noun = page.nouns;
const nodes = page.nodes && {
  count: page.nodes.shown,
  all: page.nodes.count,
  index: page.nodes.index && decode(page.nodes.index, Uint32Array),
  label: decode(page.nodes.label, Uint16Array),
  second: decode(page.nodes.second, Uint16Array),
  confidence: decode(page.nodes.confidence, Uint8Array),
  names: page.nodes.names,
};

/** What a shown node is called in a list: its name, or its number in the input, from 0. */
function shortName(node) {
  return nodes.names ? nodes.names[node] : String(nodes.index ? nodes.index[node] : node);
}

function nodeName(node) {
  return nodes.names ? nodes.names[node] : `${noun.node} ${shortName(node)}`;
}

/** Known classes: their names, how many nodes each cluster has of each, and the class of every shown node. */
const truth = page.truth && {
  names: page.truth.names,
  shared: page.truth.shared,
  class: nodes && decode(page.truth.class, Uint16Array),
};
const className = (node) => (truth && nodes && truth.class[node] !== NO_CLUSTER ? truth.names[truth.class[node]] : undefined);
