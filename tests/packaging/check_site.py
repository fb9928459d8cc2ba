#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every link between the pages of a site leads to a file and a place in it; no page loads more.

    check_site.py FOLDER

Pages of Doxygen are followed to, and not judged.
"""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("script", "img", "link") and (values.get("src") or values.get("href")):
            self.loads.append(values.get("src") or values.get("href"))


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    own = [path for path in pages if "headers" not in path.relative_to(root).parts]
    faults = []
    for path in own:
        for link in pages[path].links + pages[path].loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in pages[path].loads and "canonical" not in link:
                    faults.append(f"{path.relative_to(root)} loads {link}")
                continue
            target = path.parent / urllib.parse.unquote(parts.path) if parts.path else path
            target = target.resolve()
            if target.is_dir():
                target /= "index.html"
            if parts.path.startswith("/"):
                target = None  # the page of errors, which any address may show
            if target is not None and not target.is_file():
                faults.append(f"{path.relative_to(root)} links to {link}: no such file")
            elif target in pages and parts.fragment and target in own:
                if urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                    faults.append(f"{path.relative_to(root)} links to {link}: no such place")
    print("\n".join(faults) or f"{len(own)} pages: good")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
