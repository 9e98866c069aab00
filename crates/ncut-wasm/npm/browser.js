import { findModule } from "./api.js";

findModule(() => new URL("ncut_bg.wasm", import.meta.url));

export { Clustering, cluster, load, points, segment, version } from "./api.js";
