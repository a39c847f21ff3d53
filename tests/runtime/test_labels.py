"""Labels of many worlds are made when they are asked for."""

from __future__ import annotations

import pytest

from simwright.core.errors import UnknownNameError
from simwright.runtime.labels import Labels


def test_one_world_has_bare_labels() -> None:
    labels = Labels(["a", "b"], 1, ["ground"])
    assert list(labels) == ["a", "b", "ground"]
    assert labels[-1] == "ground"
    assert labels == ["a", "b", "ground"]
    assert labels != ["a", "b"]


def test_worlds_are_told_apart() -> None:
    labels = Labels(["a", "b"], 3, ["ground"], prefixed=True)
    assert list(labels) == [
        "world_0/a",
        "world_0/b",
        "world_1/a",
        "world_1/b",
        "world_2/a",
        "world_2/b",
        "ground",
    ]
    assert labels[2:4] == ["world_1/a", "world_1/b"]
    assert len(set(labels)) == len(labels)
    with pytest.raises(IndexError):
        labels[7]


def test_labels_are_found() -> None:
    labels = Labels(["a", "b", "a"], 3, ["ground"], prefixed=True)
    assert labels.find("b") == 1
    assert labels.find("a") == 0
    assert labels.find("b", world=2) == 7
    assert labels.find("world_2/b") == 7
    assert labels.find("ground") == 9
    with pytest.raises(UnknownNameError, match=r"did you mean|known"):
        labels.find("c")
    with pytest.raises(UnknownNameError):
        labels.find("world_3/b")


def test_a_million_labels_cost_nothing() -> None:
    labels = Labels(["link"] * 100, 1_000_000, prefixed=True)
    assert len(labels) == 100_000_000
    assert labels[99_999_999] == "world_999999/link"
