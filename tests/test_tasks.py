"""Tasks have keys that stay, hashes of their content, and one order."""

from __future__ import annotations

import pytest

from gem.errors import ContractError
from gem.tasks import TaskSet, content_hash, join_key, split_key


def content(key):
    return {"prompt": f"what is {key}?", "gold": 1, "parameters": {}}


def test_keys_join_and_split():
    assert split_key(join_key("train", 5)) == ("train", "5")
    assert split_key("test/a/b") == ("test", "a/b")


@pytest.mark.parametrize("key", ["", "train", "train/", "/5", 5, None])
def test_what_is_no_key_is_refused(key):
    with pytest.raises(ContractError, match="is not of the form"):
        split_key(key)


def test_the_hash_depends_on_content_and_not_on_order_of_fields():
    assert content_hash({"a": 1, "b": "é"}) == content_hash({"b": "é", "a": 1})
    assert content_hash({"a": 1}) != content_hash({"a": 2})


def test_a_finite_set_has_a_length_and_an_end():
    tasks = TaskSet("test", content, rows=("x", "y"))
    assert len(tasks) == 2
    assert [task.key for task in tasks] == ["test/x", "test/y"]
    assert tasks.keys(5) == ["test/x", "test/y"]
    assert not tasks.infinite
    with pytest.raises(IndexError):
        tasks[2]


def test_an_endless_set_enumerates_and_has_no_length():
    tasks = TaskSet("train", content)
    assert tasks.infinite
    assert tasks.keys(3) == ["train/0", "train/1", "train/2"]
    assert tasks[10**12].key == "train/1000000000000"
    with pytest.raises(TypeError, match="endless"):
        len(tasks)
    with pytest.raises(IndexError):
        tasks[-1]


def test_content_is_made_once_and_only_when_asked_for():
    made = []
    tasks = TaskSet("train", lambda key: made.append(key) or content(key))
    task = tasks[0]
    assert made == []
    assert task.hash == task.hash == content_hash(content("train/0"))
    assert made == ["train/0"]


def test_slices_are_lists_of_tasks():
    assert [task.key for task in TaskSet("train", content)[1:3]] == ["train/1", "train/2"]
    assert [task.key for task in TaskSet("train", content, rows=("x", "y", "z"))[::2]] == ["train/x", "train/z"]
    with pytest.raises(IndexError, match="needs an end"):
        TaskSet("train", content)[1:]
