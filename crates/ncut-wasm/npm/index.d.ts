/** A file as text or bytes, or rows: an edge list's `[from, to, weight]`, a table's numbers. */
export type Input = string | Uint8Array | ArrayBuffer | Iterable<readonly (number | string)[]>;

/** How the work goes. */
export interface Progress {
  /** What is being done. */
  stage: string;
  /** Steps of the stage that are behind us. */
  done: number;
  /** Steps of the stage in all; 0 when unknown. */
  total: number;
  /** The best objective so far, once there is an answer. */
  best: number | undefined;
}

/** The options of the command line, with the same names and defaults. */
export interface Settings {
  /** What the file is called: its ending tells the format, and errors name it. */
  name?: string;
  /** How many; `"auto"` finds out. Only modularity can do without. */
  clusters?: number | "auto";
  preset?: "paper" | "fast" | "default" | "best";
  objective?: "ncut" | "ratio-cut" | "modularity";
  /** Of modularity: the higher, the more clusters. */
  resolution?: number;
  /** No cluster's volume below this share of the mean. */
  minShare?: number;
  /** No cluster's volume above so many times the mean; at least 1. */
  maxShare?: number;
  /** Whether every cluster is to be connected. */
  connected?: boolean;
  /** Which part of a disconnected graph is clustered; the rest is labelled -1. */
  components?: "all" | "largest";
  /** Computes how good any clustering can be at most. */
  bound?: boolean;
  seed?: number;
  /** Seconds after which the best so far comes back. */
  timeLimit?: number;
  /** The ending that tells the format, in place of that of the name. */
  format?: string;
  /** Called some twenty times a second; where it returns true the work stops, and the best so far comes back. */
  onProgress?: (progress: Progress) => boolean | void;
}

export interface GraphSettings extends Settings {
  /** Whether the first line of an edge list names its columns; without it that is found out. */
  header?: boolean;
  /** Columns of an edge list: both ends and the weight, by name or by number from 1: `"a,b,w"`. */
  columns?: string;
  /** What becomes of a matrix that is not symmetric; without it that is refused. */
  symmetrize?: "average" | "max";
}

export interface PointSettings extends Settings {
  affinity?: "self-tuning" | "knn" | "rbf" | "cosine" | "adaptive";
  /** Neighbours of each point; 25 by default. */
  neighbors?: number;
  /** Falloff of the affinity `rbf`. */
  gamma?: number;
  /** Links two points only if each is a neighbour of the other. */
  mutual?: boolean;
  /** Brings every column to mean 0 and standard deviation 1 first. */
  standardize?: boolean;
  /** Column of the points' ids, by name or by number from 1. */
  idColumn?: string;
  /** Column of known classes to compare with. */
  truthColumn?: string;
}

export interface PictureSettings extends Settings {
  /** Blurs the picture first, by a Gaussian of so many pixels. */
  blur?: number;
  /** Then scales it by this factor; labels have the size of the picture all the same. */
  scale?: number;
  /** Which pixels are linked. */
  graph?: "grid4" | "grid8" | "radius";
  /** How fast the weight falls with the difference of two pixels. */
  beta?: number;
  /** How far linked pixels are apart at most, with `graph: "radius"`. */
  radius?: number;
}

/** Figures under the names of the command line's report. */
export interface Summary {
  n_nodes: number;
  n_edges: number;
  n_components: number;
  n_isolated: number;
  preset: string;
  objective_name: string;
  resolution?: number;
  min_share: number;
  connected: boolean;
  seed: number;
  n_clusters: number;
  objective: number;
  ncut: number;
  ratio_cut: number;
  modularity: number;
  smallest_share: number;
  largest_share: number;
  n_disconnected_clusters: number;
  /** The clusters' numbers of nodes. */
  sizes: number[];
  upper_bound?: number;
  accuracy?: number;
  nmi?: number;
  ari?: number;
  /** Why so many clusters, where the number was to be found out. */
  count_reason?: string;
  stop_reason: string;
  /** What should be known about the file: a header that was taken for one, columns that were not read. */
  notes: string[];
}

/** What came out. */
export class Clustering {
  private constructor();
  /** The cluster of every node, point or pixel (row after row), numbered by first appearance; -1 for none. */
  readonly labels: Int32Array;
  /** The nodes' ids in the order of the labels, where the file has them. */
  readonly nodes: string[] | undefined;
  /** Of a picture. */
  readonly size: { height: number; width: number } | undefined;
  readonly summary: Summary;
  /** The labels as the command line writes them: one a line, after the node's id and the separator where nodes have ids. */
  text(separator?: string): string;
  /** A page to look at: one text of HTML that needs nothing else. */
  page(): string;
  /** The picture with its regions, as a PNG: their borders, or each in a colour of its own. */
  drawing(style?: "boundaries" | "flat"): Uint8Array;
  /** Gives the memory back now, and not some time later. */
  free(): void;
}

/** Clusters the nodes of a graph: any text format of the command line, `.npz` or `.ncut`, also packed as `.gz`. */
export function cluster(input: Input, settings: GraphSettings): Promise<Clustering>;
/** Clusters the rows of a table: `.csv`, `.tsv`, `.txt`, `.npy`, `.npz`. */
export function points(input: Input, settings: PointSettings): Promise<Clustering>;
/** Divides a picture into regions: PNG, JPEG, WebP, TIFF, GIF, BMP and others. */
export function segment(input: Uint8Array | ArrayBuffer, settings: PictureSettings): Promise<Clustering>;
/** Loads the module, from where it is or as given. The functions do it by themselves. */
export function load(module?: URL | Response | BufferSource | WebAssembly.Module): Promise<void>;
export function version(): Promise<string>;
