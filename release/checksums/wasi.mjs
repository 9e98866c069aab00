// Runs a program of WebAssembly that may read one folder: wasi.mjs PROGRAM [FOLDER]
import { readFile } from "node:fs/promises";
import { argv, exit } from "node:process";
import { WASI } from "node:wasi";

const [program, folder] = argv.slice(2);
const wasi = new WASI({
    version: "preview1",
    args: folder ? [program, "/data"] : [program],
    preopens: folder ? { "/data": folder } : {},
});
const module = await WebAssembly.compile(await readFile(program));
exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
