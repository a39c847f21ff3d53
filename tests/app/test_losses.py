"""What counts as a loss, and what strict mode makes of it."""

from __future__ import annotations

import pytest

from simwright.app.api import raise_findings, raise_losses
from simwright.app.losses import is_loss
from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import StrictError

LOST = declare("test-lost", Level.INFO, "the {what} has no neutral attribute and is left out")
GUESSED = declare("test-guessed", Level.INFO, "{count} is written")
KEPT = declare("test-kept", Level.INFO, "{tag} has no counterpart in the model")


def test_words_of_the_kind_count_not_the_values():
    reporter = Reporter()
    assert is_loss(reporter.report(LOST, what="colour"))
    assert not is_loss(reporter.report(GUESSED, count="what is left out"))
    assert not is_loss(reporter.report(KEPT, tag="wind"))


def test_strict_refuses_a_loss_of_any_level():
    reporter = Reporter()
    reporter.report(GUESSED, count=1)
    raise_losses(reporter, "a")
    reporter.report(LOST, what="colour")
    raise_findings(reporter, "a")
    with pytest.raises(StrictError, match="colour"):
        raise_losses(reporter, "a")
