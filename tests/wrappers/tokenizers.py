"""Tokenizers with chat templates of the kinds that models have, which count what they render."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import jinja2

OPENING = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
TURN = "<|im_start|>{{ m.role }}\n{{ text(m.content) }}<|im_end|>\n"

# name -> template
TEMPLATES = {
    "chatml": "{% for m in messages %}" + TURN + "{% endfor %}" + OPENING,
    # before the last question, as Qwen3 does
    "strips_think": (
        "{% set last = namespace(user=0) %}{% for m in messages if m.role == 'user' %}{% set last.user = loop.index0 %}{% endfor %}"
        "{% set seen = namespace(users=0) %}{% for m in messages %}"
        "{% if m.role == 'user' %}{% set seen.users = seen.users + 1 %}{% endif %}"
        "{% if m.role == 'assistant' and seen.users <= last.user %}"
        "<|im_start|>assistant\n{{ text(m.content).split('</think>')[-1].lstrip('\n') }}<|im_end|>\n"
        "{% else %}" + TURN + "{% endif %}{% endfor %}" + OPENING
    ),
    "keeps_newest_think": (
        "{% set last = namespace(answer=-1) %}{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% set last.answer = loop.index0 %}{% endif %}{% endfor %}"
        "{% for m in messages %}{% if m.role == 'assistant' and loop.index0 != last.answer %}"
        "<|im_start|>assistant\n{{ text(m.content).split('</think>')[-1] }}<|im_end|>\n"
        "{% else %}" + TURN + "{% endif %}{% endfor %}" + OPENING
    ),
    "no_tool": (
        "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('roles are user and assistant') }}{% endif %}"
        + TURN
        + "{% endfor %}"
        + OPENING
    ),
    "default_system": (
        "{% if messages[0].role != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
        "{% for m in messages %}" + TURN + "{% endfor %}" + OPENING
    ),
    "system_in_last_user": (
        "{% set system = messages[0].content if messages[0].role == 'system' else '' %}"
        "{% for m in messages if m.role != 'system' %}{% if m.role == 'assistant' %}{{ text(m.content) }}</s>"
        "{% else %}[INST] {% if loop.last and system %}{{ system }}\n\n{% endif %}{{ text(m.content) }}[/INST]{% endif %}{% endfor %}"
    ),
    "opens_thinking": (
        "{% for m in messages %}" + TURN + "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
    ),
}
ADDITIVE = {"chatml", "no_tool", "default_system", "strips_think"}
ADDITIVE_WITH_TOOLS = {"chatml", "default_system"}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part["text"] if part["type"] == "text" else "<image>" for part in content)
    return content or ""


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


@lru_cache
def _compiled(template: str) -> jinja2.Template:
    env = jinja2.Environment(keep_trailing_newline=True)
    env.globals.update(text=_text, raise_exception=_raise)
    return env.from_string(template)


class FakeTokenizer:
    """Has what `ConcatHistory` uses of a Hugging Face tokenizer. A token is a word, a mark, or a space."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rendered = 0

    def apply_chat_template(self, conversation: Any, *, tokenize: bool = True, add_generation_prompt: bool = False) -> str:
        assert tokenize is False, "text was to be asked for"
        text = _compiled(TEMPLATES[self.name]).render(messages=conversation, add_generation_prompt=add_generation_prompt)
        self.rendered += len(text)
        return text

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        ids = [hash(token) for token in re.findall(r"\w+|\W", text)]
        return [1, *ids] if add_special_tokens else ids

    def whole(self, messages: Any) -> str:
        """Render everything, without counting it."""
        return _compiled(TEMPLATES[self.name]).render(messages=messages, add_generation_prompt=True)

    def __repr__(self) -> str:
        return f"FakeTokenizer({self.name!r})"
