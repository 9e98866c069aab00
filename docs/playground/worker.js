// The worker: it loads the module, does one piece of work after the other, and posts what comes out. The functions that
// wasm-bindgen made stand above.

onmessage = async ({ data }) => {
  try {
    if (data.module) {
      await __wbg_init({ module_or_path: data.module });
      postMessage({ ready: true });
    } else {
      postMessage({ found: work(data) });
    }
  } catch (error) {
    postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
};

/** `stopped` is memory that the page shares where it may: anything but 0 says stop. */
function work({ kind, name, bytes, settings, flat, stopped }) {
  const flag = stopped && new Int32Array(stopped);
  const observer = {
    observe(stage, done, total, best) {
      postMessage({ progress: { stage, done, total, best } });
      return flag ? Atomics.load(flag, 0) !== 0 : false;
    },
  };
  const outcome = cluster(kind, name, bytes, JSON.stringify(settings), observer);
  try {
    postMessage({ progress: { stage: "making the report", done: 0, total: 0 } });
    return {
      labels: outcome.labels(),
      size: outcome.size(),
      summary: JSON.parse(outcome.summary()),
      text: outcome.labelsText("\t"),
      csv: outcome.labelsText(","),
      page: outcome.page(),
      drawing: kind === "picture" ? outcome.drawing(flat) : undefined,
    };
  } finally {
    outcome.free();
  }
}
