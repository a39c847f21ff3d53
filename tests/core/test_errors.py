"""Errors: what they say, and that they say it in another process too."""

from __future__ import annotations

import pickle

import pytest

from simwright.core.diag import Where
from simwright.core.errors import MissingExtraError, ParseError, SimwrightError, UnknownNameError


@pytest.mark.parametrize(
    "error",
    [
        ParseError("not a robot", hint="write one", where=Where("a.urdf", 3)),
        UnknownNameError("task", "reech", ["reach", "push"], where=Where("b.toml")),
        MissingExtraError("viser", "view", "a page"),
    ],
    ids=lambda error: error.code,
)
def test_errors_come_back_from_other_processes_as_they_are(error: SimwrightError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)
