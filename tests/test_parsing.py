"""Answers come out of model text, in linear time, whatever stands around them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.parsing import Fence, last_boxed, last_fence, last_tag, message_text, strip_reasoning

BOXES = {
    r"\boxed{5}": "5",
    r"\boxed{ 5 }": " 5 ",
    r"first \boxed{1}, then \boxed{2}": "2",
    r"\boxed{\frac{1}{2}}": r"\frac{1}{2}",
    r"\fbox{7}": "7",
    r"\boxed{1} and \fbox{2}": "2",
    r"\fbox{1} and \boxed{2}": "2",
    r"\boxed {3}": "3",
    r"\boxed{a \} b}": r"a \} b",
    r"\boxed{\{1,2\}}": r"\{1,2\}",
    r"\boxed{1} \boxed{2": "1",
    r"\boxed{1 {": None,
    r"\boxed{": None,
    r"\boxed": None,
    "no box": None,
    "": None,
    r"\boxed{}": "",
    r"\boxed{\boxed{5}}": "5",
    r"set {x \boxed{4}": "4",
    r"} \boxed{4} }": "4",
    r"<think>\boxed{1}</think> \boxed{2}": "2",
    r"<think>\boxed{1}</think> none": None,
    r"<think>so \boxed{1}": None,
    r"so \boxed{1}</think> it is \boxed{3}": "3",
    r"\boxed{2} <think>or \boxed{3}": "2",
    "\\boxed{two\nlines}": "two\nlines",
    r"\boxed{x}\\boxed{y": "x",
    r"\\boxed{5}": "5",
    r"I think it is \\boxed{5}": "5",
}


@pytest.mark.parametrize("text", BOXES, ids=repr)
def test_the_last_balanced_box_is_the_answer(text):
    assert last_boxed(text) == BOXES[text]


TAGS = {
    "<answer>5</answer>": "5",
    "<answer> 5\n</answer>": "5",
    "<answer>1</answer><answer>2</answer>": "2",
    "<answer>1</answer><answer>2": "1",
    "<ANSWER>5</Answer>": "5",
    "</answer>": None,
    "<answer>": None,
    "İ<answer>ok</answer>": "ok",
    "<think><answer>1</answer></think><answer>2</answer>": "2",
}


@pytest.mark.parametrize("text", TAGS, ids=repr)
def test_the_last_complete_tag_is_the_answer(text):
    assert last_tag(text) == TAGS[text]


def test_another_tag_can_be_named():
    assert last_tag("<search>cats</search>", "search") == "cats"


FENCES = {
    "```python\nprint(1)\n```": Fence("python", "print(1)\n"),
    "```\nx\n```": Fence("", "x\n"),
    "```py\na\n```\ntext\n```py\nb\n```": Fence("py", "b\n"),
    "```py\na\n```\n```py\nb": Fence("py", "a\n"),
    "~~~Bash\nls\n~~~": Fence("bash", "ls\n"),
    "````md\n```py\nx\n```\n````": Fence("md", "```py\nx\n```\n"),
    "```python title=x\n1\n```": Fence("python", "1\n"),
    "```py\nunclosed": None,
    "inline ```x``` only": None,
    "": None,
    "```py\n```": Fence("py", ""),
    "<think>```py\n1\n```</think>": None,
}


@pytest.mark.parametrize("text", FENCES, ids=repr)
def test_the_last_complete_fence_is_the_code(text):
    assert last_fence(text) == FENCES[text]


REASONING = {
    "plain": "plain",
    "<think>a</think>b": "b",
    "<thinking>a</thinking>b": "b",
    "a<think>b</think>c": "ac",
    "a</think>b": "b",
    "<think>a": "",
    "x<THINK>a</THINK>y": "xy",
    "<think>a<think>b</think>c</think>d": "d",
}


@pytest.mark.parametrize("text", REASONING, ids=repr)
def test_reasoning_is_removed(text):
    assert strip_reasoning(text) == REASONING[text]


HOSTILE = [
    r"\boxed{" * 150_000,
    r"\boxed{a" * 120_000 + "}" * 100,
    "{" * 1_000_000,
    "}" * 1_000_000,
    "<think>" * 140_000,
    "</think>" * 120_000,
    "<answer>" * 120_000,
    "</answer>" * 110_000,
    "```\n" * 250_000,
    "```" + "`" * 1_000_000,
    "\\boxed" + " " * 1_000_000,
    r"\boxed " * 140_000,
    "\\" * 1_000_000,
    "~~~a\n" * 200_000,
    "\n" * 1_000_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_a_megabyte_of_anything_takes_linear_time(text):
    def cost(part):
        start = time.process_time()
        for parse in (last_boxed, last_tag, last_fence):
            parse(part)
        return time.process_time() - start

    whole, tenth = cost(text), cost(text[: len(text) // 10])
    # Quadratic time would be a factor of 100; what is under a hundredth of a second is noise.
    assert whole < 40 * max(tenth, 0.01)


@given(st.text(alphabet="abc{}\\ \n$", max_size=60))
def test_any_balanced_content_is_found_again(inner):
    text = inner.replace("\\", "")
    depth = 0
    for char in text:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth < 0:
            return
    if depth == 0:
        assert last_boxed(f"so \\boxed{{{text}}} it is") == text


@given(st.text(max_size=300))
def test_no_text_makes_a_parser_raise(text):
    last_boxed(text), last_tag(text), last_fence(text), strip_reasoning(text)


def test_the_text_of_a_message_is_its_text_parts():
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "b"}],
    }
    assert message_text(message) == "a\nb"
    assert message_text([{"role": "user", "content": "x"}, message]) == "x\na\nb"
    assert message_text({"role": "assistant", "content": None, "tool_calls": []}) == ""
    assert message_text(None) == message_text(3) == ""


def test_of_nested_boxes_the_inner_is_the_last_whatever_braces_it_holds():
    assert last_boxed(r"\boxed{\boxed{\frac{1}{2}}}") == r"\frac{1}{2}"
    assert last_boxed(r"\boxed{5 is \fbox{6} or so}") == "6"


def test_a_line_that_names_a_language_does_not_close_a_fence():
    assert last_fence("```md\nwrite\n```py\nx\n```") == Fence("md", "write\n```py\nx\n")
