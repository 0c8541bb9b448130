"""Answers out of model text: boxed, tagged and fenced.

All of it runs in linear time, however hostile the text. Reasoning is removed first: what a model thinks is not its answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

__all__ = ["Fence", "last_boxed", "last_fence", "last_tag", "message_text", "strip_reasoning"]

_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
# A box opens, an escaped character that is no brace, or a brace.
# A second backslash before it is an escape of JSON's that was left in.
_BRACES = re.compile(r"\\{1,2}(?:boxed|fbox)[ \t\n]*\{|\\.|[{}]", re.DOTALL)
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$", re.MULTILINE)


def strip_reasoning(text: str) -> str:
    """Remove `<think>` and `<thinking>` blocks.

    A block that never closes is reasoning to the end. A close without an opening ends reasoning that the prompt opened, so all
    before it goes.
    """
    if "think" not in text and "THINK" not in text and "Think" not in text:
        return text
    kept: list[str] = []
    depth, start = 0, 0
    for match in _THINK.finditer(text):
        if match[1]:
            if depth == 0:
                kept.clear()
            depth = max(depth - 1, 0)
            start = match.end()
        else:
            if depth == 0:
                kept.append(text[start : match.start()])
            depth += 1
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)


def last_boxed(text: str) -> str | None:
    r"""Return what stands in the last balanced `\boxed{...}` or `\fbox{...}`, or None.

    Escaped braces do not count, an unclosed box is passed over, and of nested boxes the inner is the last.
    """
    # Most answers hold one box without braces and no reasoning: find those without walking over the whole text.
    at = text.rfind("\\boxed{")
    if at >= 0 and "hink" not in text and "HINK" not in text:
        end = text.find("}", at)
        inner = text[at + 7 : end]
        if end >= 0 and "{" not in inner and "\\" not in inner and "\\fbox" not in text and text.find("\\boxed", end) < 0:
            return inner
    return _last_balanced(strip_reasoning(text))


def _last_balanced(text: str) -> str | None:
    opened: list[int] = []  # where the content of each open box begins; -1 for a plain brace
    best = (-1, -1)
    for match in _BRACES.finditer(text):
        token = match[0]
        if token == "{":
            opened.append(-1)
        elif token == "}":
            start = opened.pop() if opened else -1
            if start > best[0]:
                best = (start, match.start())
        elif token[-1] == "{" and len(token) > 2:
            opened.append(match.end())
    return text[best[0] : best[1]] if best[0] >= 0 else None


def last_tag(text: str, tag: str = "answer") -> str | None:
    """Return what stands in the last complete `<tag>...</tag>`, stripped, or None. Case of the tag does not matter."""
    text = strip_reasoning(text)
    lowered = text.lower() if text.isascii() else _lower_ascii(text)
    close = lowered.rfind(f"</{tag.lower()}>")
    if close < 0:
        return None
    start = lowered.rfind(f"<{tag.lower()}>", 0, close)
    return text[start + len(tag) + 2 : close].strip() if start >= 0 else None


def _lower_ascii(text: str) -> str:
    # str.lower() can change the length of non-ASCII text, and with it all positions.
    return text.translate({c: c + 32 for c in range(65, 91)})


@dataclass(frozen=True)
class Fence:
    """A fenced code block: its language in lower case ("" where none is named) and its code."""

    language: str
    code: str


def last_fence(text: str) -> Fence | None:
    """Return the last complete fenced code block, or None.

    A fence is closed by a line of the same character that is at least as long and names no language (CommonMark 4.5).
    """
    text = strip_reasoning(text)
    opening: re.Match[str] | None = None
    found: tuple[re.Match[str], int] | None = None
    for match in _FENCE.finditer(text):
        if opening is None:
            opening = match
        elif match[1].startswith(opening[1]) and not match[2].strip():
            found, opening = (opening, match.start()), None
    if found is None:
        return None
    start, end = found
    words = start[2].split()
    return Fence(words[0].lower() if words else "", text[start.end() + 1 : end])


def message_text(value: Any) -> str:
    """Return the text of a model's answer: of a string, of a chat message, or of a list of messages or parts, joined by newlines.

    What is not text (images, tool calls) is passed over.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return message_text(value.get("text") if value.get("type") == "text" else value.get("content"))
    if isinstance(value, list):
        return "\n".join(text for text in map(message_text, value) if text)
    return ""
