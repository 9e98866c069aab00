"""Makes the playground one file: the module, the worker, the page.

python assemble.py NPM OUT.html
"""

import base64
import gzip
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = ["input.js", "settings.js", "examples.js", "engine.js", "main.js"]


def main(package, out):
    package, out = Path(package), Path(out)
    read = lambda name: (HERE / name).read_text(encoding="utf-8")  # noqa: E731
    # A worker has no module to import from: what wasm-bindgen exports stays where it is.
    glue = (package / "ncut.js").read_text(encoding="utf-8")
    glue = re.sub(r"^export \{.*\};?\s*$", "", glue, flags=re.MULTILINE)
    glue = re.sub(r"^export (?=(async )?(function|class))", "", glue, flags=re.MULTILINE)
    assert "\nexport " not in glue, "wasm-bindgen exports in a way that is not known"
    parts = {
        "style": read("page.css"),
        "version": re.search(r'"version": "(.*)"', (package / "package.json").read_text(encoding="utf-8"))[1],
        # The same bytes for the same module: no time, no name.
        "module": base64.b64encode(gzip.compress((package / "ncut_bg.wasm").read_bytes(), 9, mtime=0)).decode(),
        "miserables": read("miserables.csv"),
        "worker": glue + read("worker.js"),
        "script": "".join(map(read, SCRIPTS)),
    }
    for name in ("worker", "script", "miserables"):
        assert "</script" not in parts[name].lower(), f"{name} would end its element"
    page = re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], read("page.html"))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page, encoding="utf-8")
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
