# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs for links to files of the repository outside docs.

The site does not have those. With repo_url such a link leads there, otherwise its text stays alone. A list that follows a line of
text directly gets the blank line that mkdocs' Markdown wants.
"""

import posixpath
import re

LINK = re.compile(r"(!?)\[([^\]\n]*(?:\n[^\]\n]*)?)\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LIST = re.compile(r"^(?P<text>[^\s|>#*\-`\d<][^\n]*\n(?:[^\s|>#*\-`\d<][^\n]*\n)*)(?=(?:- |\d+\. ))", re.M)


def outside(path, url, revision):
    return f"{url.rstrip('/')}/blob/{revision}/{path}" if url else None


def on_page_markdown(markdown, page, config, files):
    here = posixpath.dirname(page.file.src_path)

    def linked(match):
        mark, text, target, anchor = match.groups()
        if re.match(r"[a-z]+:", target):
            return match.group()
        path = posixpath.normpath(posixpath.join(here, target))
        if files.get_file_from_path(path) is not None:
            return match.group()
        from_root = posixpath.normpath(posixpath.join("docs", path))
        url = outside(from_root, config["repo_url"] or "", config["extra"]["revision"])
        return f"{mark}[{text}]({url}{anchor or ''})" if url else text

    parts = []
    last = 0
    for fence in FENCE.finditer(markdown):
        parts += [text_part(markdown[last:fence.start()], linked), fence.group()]
        last = fence.end()
    parts.append(text_part(markdown[last:], linked))
    if page.file.src_path == "reference.md":
        parts.append('\n<p><a href="../headers/index.html">The reference of the headers</a></p>\n')
    return "".join(parts)


def text_part(text, linked):
    return LIST.sub(lambda m: m.group("text") + "\n", LINK.sub(linked, text))
