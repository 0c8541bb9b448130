"""HTML of an article to its text and links, with the standard library's parser.

What frames an article (navigation, references, edit marks) is left out; tables and figures lend their links but no text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

__all__ = ["Anchor", "read_html"]


def _names(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_BLOCKS = _names("p div section article h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre br hr tr")
_DROPPED = _names("script style title nav footer noscript template select button math")
_SILENT = _names("table figure")
_FRAMES = _names(
    "navbox mw-editsection reference references reflist noprint metadata mw-cite-backlink toc catlinks hatnote printfooter",
    "mw-jump-link sistersitebox mw-empty-elt",
)


@dataclass(frozen=True)
class Anchor:
    """A link of a page as its HTML has it."""

    href: str
    title: str


@dataclass
class _Hidden:
    """An element whose text is left out until it closes."""

    tag: str
    keeps_links: bool
    depth: int = 1


@dataclass
class _Found:
    text: list[str] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = _Found()
        self._hidden: list[_Hidden] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self._break(tag)
            return
        named = dict(attrs)
        marks = {*(named.get("class") or "").split(), named.get("id") or ""}
        top = self._hidden[-1] if self._hidden else None
        if (top is None or top.keeps_links) and (tag in _DROPPED or not _FRAMES.isdisjoint(marks)):
            self._hidden.append(_Hidden(tag, keeps_links=False))
        elif top is not None and tag == top.tag:
            top.depth += 1
        elif top is None and tag in _SILENT:
            self._hidden.append(_Hidden(tag, keeps_links=True))
        elif tag == "a" and (top is None or top.keeps_links):
            self._link(named.get("href"), named.get("title"), marks)
        elif top is None:
            self._break(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._hidden:
            self._break(tag)
        elif tag == self._hidden[-1].tag:
            self._hidden[-1].depth -= 1
            if self._hidden[-1].depth == 0:
                self._hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            # A line break of the source is a space of the page.
            self.found.text.append(" ".join(data.split("\n")))

    def _link(self, href: str | None, title: str | None, marks: set[str]) -> None:
        if href and "new" not in marks:  # MediaWiki marks a link to a page that is not there as new
            self.found.anchors.append(Anchor(href, title or ""))

    def _break(self, tag: str) -> None:
        if tag in _BLOCKS and not self._hidden:
            self.found.text.append("\n")


def read_html(html: str) -> tuple[str, list[Anchor]]:
    """Return the text of an article, a paragraph a line with blank lines between, and its links in their order."""
    reader = _Reader()
    try:
        reader.feed(html)
        reader.close()
    except AssertionError:  # html.parser on a broken declaration: what came before it is kept
        pass
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in "".join(reader.found.text).split("\n"))
    return "\n\n".join(line for line in lines if line), reader.found.anchors
