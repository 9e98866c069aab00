"""Checks the built pages: every link leads to a page or a place that is there, and nothing is loaded from elsewhere.

python check_links.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Links that a reader follows; everything else is loaded with the page.
FOLLOWED = {"a", "area"}
# Pages of rustdoc, which checks its own links, and templates of the theme.
FOREIGN = {"rustdoc", "_static"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.places, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif name in ("href", "src"):
                is_followed = tag in FOLLOWED or (tag == "link" and ("rel", "canonical") in attributes)
                (self.links if is_followed else self.loaded).append(value)


def main(folder):
    folder = Path(folder).resolve()
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if path.relative_to(folder).parts[0] not in FOREIGN
    }
    dead, n_links = [], 0
    for path, page in pages.items():
        for link in page.loaded:
            if urlsplit(link).netloc:
                dead.append(f"{path.relative_to(folder)}: loads {link}")
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            n_links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                dead.append(f"{path.relative_to(folder)}: no file for {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                dead.append(f"{path.relative_to(folder)}: no place for {link}")
    for line in dead:
        print(line, file=sys.stderr)
    print(f"{len(pages)} pages, {n_links} links, {len(dead)} dead")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
