// The worker that does the work. One is made ahead; a stop ends it, and another is made for the next work.

const engine = { worker: null, ready: null, module: null, flag: null, finish: null };

/** The module of WebAssembly: it stands in the page, packed. */
async function moduleBytes() {
  const text = element("module").textContent;
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer();
}

/** Makes the worker, unless there is one. */
function startEngine() {
  engine.ready ??= (async () => {
    engine.module ??= await moduleBytes();
    const url = URL.createObjectURL(new Blob([element("worker").textContent], { type: "text/javascript" }));
    const worker = new Worker(url);
    engine.worker = worker;
    try {
      const ready = nextMessage(worker);
      worker.postMessage({ module: engine.module });
      const { problem } = await ready;
      if (problem) throw new Error(problem);
    } finally {
      URL.revokeObjectURL(url);
    }
    return worker;
  })();
  engine.ready.catch(() => endEngine());
  return engine.ready;
}

function nextMessage(worker) {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message || "the worker could not be started"));
  });
}

function endEngine() {
  engine.worker?.terminate();
  Object.assign(engine, { worker: null, ready: null });
}

/** Does the work; null when it was stopped with nothing to show. */
async function runEngine(task, onProgress) {
  const stopped = new Promise((resolve) => (engine.finish = () => resolve(null)));
  const worker = await Promise.race([startEngine(), stopped]);
  if (!worker) return null;
  const shared = globalThis.crossOriginIsolated ? new SharedArrayBuffer(4) : null;
  engine.flag = shared && new Int32Array(shared);
  const done = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.progress) onProgress(data.progress);
      else if (data.problem !== undefined) reject(new Error(data.problem));
      else resolve(data.found);
    };
    worker.onerror = (event) => reject(new Error(event.message || "the worker failed"));
  });
  worker.postMessage({ ...task, stopped: shared });
  try {
    return await Promise.race([done, stopped]);
  } catch (error) {
    // What is left of a module after a bug is not to be used again.
    endEngine();
    throw error;
  } finally {
    engine.finish = engine.flag = null;
  }
}

/** Asks for the best so far where memory is shared; else ends the work, of which nothing is left then. */
function stopEngine() {
  if (engine.flag) {
    Atomics.store(engine.flag, 0, 1);
    return;
  }
  const finish = engine.finish;
  endEngine();
  finish?.();
}
