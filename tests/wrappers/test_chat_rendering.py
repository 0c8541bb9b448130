"""ChatRenderer finds out which templates can be rendered turn by turn."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.wrappers.chat_rendering import ChatRenderer
from tests.wrappers.tokenizers import ADDITIVE, ADDITIVE_WITH_TOOLS, TEMPLATES, FakeTokenizer


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("name", TEMPLATES)
def test_tells_the_templates_that_can_be_rendered_turn_by_turn_from_the_others(name):
    renderer = ChatRenderer(FakeTokenizer(name))
    assert renderer.additive is (name in ADDITIVE)
    assert renderer.additive_with_tools is (name in ADDITIVE_WITH_TOOLS)


words = st.text(alphabet="ab \n<>/", max_size=6)
turns = st.lists(st.tuples(words | st.just("<think>hm</think>yes"), words, st.sampled_from(["user", "tool"])), max_size=5)


@pytest.mark.parametrize("name", sorted(ADDITIVE))
@pytest.mark.parametrize("system", [False, True], ids=["without a system message", "with a system message"])
@given(first=words, turns=turns)
@settings(max_examples=40, deadline=None)
def test_turns_of_an_additive_template_join_to_what_it_renders_whole(name, system, first, turns):
    renderer = ChatRenderer(FakeTokenizer(name))
    messages = [*([{"role": "system", "content": "Be brief."}] if system else []), user(first)]
    text = renderer.whole(messages)
    for answer, seen, role in turns:
        turn = [assistant(answer), {"role": role if name in ADDITIVE_WITH_TOOLS else "user", "content": seen}]
        messages += turn
        text += renderer.turn(turn)
    assert text == renderer.whole(messages)


def test_a_tokenizer_that_renders_nothing_is_not_additive():
    class Broken:
        def apply_chat_template(self, *args, **kwargs):
            raise ValueError("no chat template is set")

    renderer = ChatRenderer(Broken())
    assert (renderer.additive, renderer.additive_with_tools) == (False, False)


def test_tokens_are_counted_without_the_special_ones():
    assert ChatRenderer(FakeTokenizer("chatml")).count("one two") == 3
