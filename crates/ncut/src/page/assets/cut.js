// Clusters when the merge tree is cut: their numbers follow from those of the clusters it begins with.

const base = page.clusters;
const nBase = base ? base.label.length : 0;
const merges = (page.merges || []).length === nBase - 1 ? page.merges : [];
const total = base ? base.volume.reduce((sum, volume) => sum + volume, 0) : 0;

/** What is known of the nodes where the tree is cut at k, beside the sums. */
const toldCuts = new Map((page.cuts || []).map((one) => [one.k, one]));

/** Which group every cluster is in when there are k. */
function groupOfClusters(k) {
  const parent = Int32Array.from({ length: 2 * nBase }, (_, i) => i);
  const find = (i) => {
    while (parent[i] !== i) i = parent[i] = parent[parent[i]];
    return i;
  };
  merges.slice(0, Math.max(0, nBase - k)).forEach(([first, second], place) => {
    parent[find(first)] = nBase + place;
    parent[find(second)] = nBase + place;
  });
  const numbers = new Map();
  return Array.from({ length: nBase }, (_, row) => {
    const root = find(row);
    if (!numbers.has(root)) numbers.set(root, numbers.size);
    return numbers.get(root);
  });
}

/** Known classes in every cluster of the beginning. */
const sharedOfRow = [];
for (const [row, kind, count] of truth?.shared ?? []) (sharedOfRow[row] ??= []).push([kind, count]);

/** The clusters at k, with sums and links. */
function cutAt(k) {
  const groupOf = groupOfClusters(k);
  const groups = [];
  for (let row = 0; row < nBase; row++) {
    const group = (groups[groupOf[row]] ??= {
      number: groupOf[row], rows: [], size: 0, volume: 0, association: 0, links: new Map(),
    });
    group.rows.push(row);
    group.size += base.size[row];
    group.volume += base.volume[row];
    group.association += base.association[row];
  }
  for (const [first, second, weight] of page.links) {
    const [a, b] = [groups[groupOf[first]], groups[groupOf[second]]];
    if (a === b) {
      a.association += 2 * weight;
      continue;
    }
    a.links.set(b.number, (a.links.get(b.number) || 0) + weight);
    b.links.set(a.number, (b.links.get(a.number) || 0) + weight);
  }
  const told = groups.length === nBase ? base : toldCuts.get(groups.length);
  for (const group of groups) describeGroup(group, groups.length, told);
  const usual = median(groups.map((group) => group.confidence ?? 0));
  for (const group of groups) group.odd = oddities(group, groups, usual);
  const isBase = told === base;
  return {
    k: groups.length, groupOf, groups,
    sure: nodes && told && (isBase ? nodes.confidence : decode(told.sure, Uint8Array)),
    second: nodes && told && (isBase ? nodes.second : decode(told.second, Uint16Array)),
  };
}

function describeGroup(group, nGroups, told) {
  const { rows, volume } = group;
  group.lead = rows.reduce((best, row) => (base.volume[row] > base.volume[best] ? row : best));
  const labels = rows.map((row) => base.label[row]);
  if (page.curve) {
    // Nobody has seen the numbers of the largest cut: each cut has its own, by first appearance.
    group.name = String(group.number);
    group.title = `${noun.Cluster} ${group.name}`;
  } else {
    group.name = labels.length === 1 ? String(labels[0]) : labels.length === 2 ? labels.join(" and ") : `${base.label[group.lead]} and ${labels.length - 1} more`;
    group.title = rows.length === 1 ? `${noun.Cluster} ${group.name}` : `${noun.Clusters} ${labels.slice(0, -1).join(", ")} and ${labels.at(-1)}`;
  }
  group.brief = rows.length === 1 || page.curve ? group.name : `${base.label[group.lead]} …`;
  group.outside = Math.max(0, volume - group.association);
  if (group.outside < 1e-9 * volume) group.outside = 0;
  group.inside = volume > 0 ? group.association / volume : 0;
  const smaller = Math.min(volume, total - volume);
  group.conductance = group.outside === 0 ? 0 : group.outside / (smaller > 0 ? smaller : volume);
  group.share = total > 0 ? (volume * nGroups) / total : 1;
  // What depends on single nodes is known for some cuts only.
  group.confidence = told?.confidence[group.number];
  group.pieces = told ? told.pieces[group.number] : rows.length === 1 ? base.pieces[rows[0]] : undefined;
  group.neighbours = [...group.links].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  group.typical = told?.typical[group.number] ?? [];
  group.classes = classesOf(rows);
}

/** Known classes of the nodes of some clusters: class and number, the most frequent first. */
function classesOf(rows) {
  const found = new Map();
  for (const row of rows) for (const [kind, count] of sharedOfRow[row] ?? []) found.set(kind, (found.get(kind) ?? 0) + count);
  return [...found].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/** What is odd about a cluster, the worst first; `usual` is the confidence of an ordinary one. */
function oddities(group, groups, usual) {
  const found = [];
  const say = (severity, text) => found.push({ severity, text });
  if (groups.length < 2 || group.volume === 0) return found;
  if (group.pieces > 1) say(5, `In ${group.pieces} pieces that are not linked`);
  if (group.inside < 0.5) say(4 + (0.5 - group.inside), `Loose: ${percent(1 - group.inside)} of its weight leads out`);
  if (group.share < 0.2) say(3 + (0.2 - group.share), `Small: ${short(group.share)} times the mean volume`);
  if (group.share > 4) say(3 + group.share / 1e6, `Large: ${short(group.share)} times the mean volume`);
  if (group.confidence < 0.6 * usual && nodes) say(2, `Unsure: mean confidence ${group.confidence.toFixed(2)}, usual is ${usual.toFixed(2)}`);
  const [first] = group.neighbours;
  if (first && groups.length > 3 && group.neighbours.length > 1 && group.inside < 0.65 && first[1] > 0.75 * group.outside) {
    say(1, `Near ${groups[first[0]].name}: ${percent(first[1] / group.outside)} of what leads out goes there`);
  }
  return found.sort((a, b) => b.severity - a.severity);
}

/** The rules, for the reader. */
const ODD_RULES = "Odd are: pieces that are not linked; loose, less than half of the weight inside; small or large, below a fifth or above four " +
  "times the mean volume; unsure, a confidence below 0.6 of the usual; near another, more than three quarters of what leads out goes to one " +
  "other and more than a third leads out.";
const severityOf = (group) => group.odd[0]?.severity ?? 0;

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? sorted[sorted.length >> 1] : 0;
}

/** Whether features were standardized: their means 0, their deviations 1, whatever their units were. */
const isStandardized = Boolean(page.features) && page.features.mean.length > 0 &&
  page.features.mean.every((mean) => Math.abs(mean) < 0.02) &&
  page.features.deviation.every((deviation) => deviation === 0 || Math.abs(deviation - 1) < 0.02);

/** Features in which a cluster differs most from all others, by the deviation of all. */
function featuresOf(group, count) {
  const table = page.features;
  if (!table) return [];
  const all = base.size.reduce((sum, size) => sum + size, 0), nOthers = all - group.size;
  const found = table.names.map((name, feature) => {
    let sum = 0;
    for (const row of group.rows) sum += table.of[row][feature] * base.size[row];
    const mean = sum / group.size, spread = table.deviation[feature];
    const others = nOthers > 0 ? (table.mean[feature] * all - sum) / nOthers : mean;
    // Standardized values have no unit any more.
    const shown = isStandardized ? name.replace(/\s*[([][^)\]]*[)\]]$/, "") : name;
    return { name: shown, mean, others, spread, apart: spread > 0 ? (mean - others) / spread : 0 };
  });
  return found.sort((a, b) => Math.abs(b.apart) - Math.abs(a.apart)).slice(0, count).filter((one) => Math.abs(one.apart) > 0.1);
}

/** A value of a feature, to a hundredth of its spread or so: what is smaller is rounding. */
function ofFeature(value, spread) {
  const digits = Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(spread || 1))));
  const text = value.toFixed(Math.abs(value) >= 1e4 ? 0 : digits);
  const size = text.replace(/^-/, "");
  return (Number(text) < 0 ? "\u2212" : "") + (size.length > 6 && digits === 0 ? grouped(Number(size)) : size);
}
