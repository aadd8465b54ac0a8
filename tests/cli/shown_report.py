# SPDX-License-Identifier: BSD-3-Clause
"""What `neve trace report` shows: tables of its text, tables and pictures of its page."""

import base64
import html.parser
import re


def rows_of(text, head):
    """The lines of the table whose head begins so, as far as an empty line."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(head))
    return lines[first + 1 : lines.index("", first) if "" in lines[first:] else len(lines)]


def row_of(text, name):
    """The cells of the first row of this name."""
    found = next(line for line in text.splitlines() if re.match(re.escape(name) + "  ", line))
    return re.split(r"  +", found.strip())[1:]


class Page(html.parser.HTMLParser):
    """Tables as lists of rows, pictures, what lies outside, and the text in order."""

    def __init__(self, path):
        super().__init__()
        self.tables, self.pictures, self.outside, self.words = [], [], [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        for name in ("src", "href"):
            if name in given and not given[name].startswith("data:image/png;base64,"):
                self.outside.append(given[name])
        if tag == "img":
            self.pictures.append((given["alt"], base64.b64decode(given["src"].split(",", 1)[1])))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_data(self, data):
        self.words.append(data)
        if self.lasttag in ("td", "th") and data.strip():
            self.tables[-1][-1][-1] += data

    def table(self, first_head):
        return next(t for t in self.tables if any(row[0] == first_head for row in t))
