"""What counts as a loss, and what strict mode makes of it."""

from __future__ import annotations

import pytest

from simwright.app.api import raise_findings, raise_losses
from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import StrictError

LOST = declare("test-lost", Level.INFO, "the {what} is left out", loss=True)
GUESSED = declare("test-guessed", Level.INFO, "{count} is written")
KEPT = declare("test-kept", Level.INFO, "{tag} has no counterpart in the model")


def test_a_finding_is_a_loss_as_its_kind_says():
    reporter = Reporter()
    assert reporter.report(LOST, what="colour").loss
    assert not reporter.report(GUESSED, count="what is left out").loss
    assert not reporter.report(KEPT, tag="wind").loss


def test_strict_refuses_a_loss_of_any_level():
    reporter = Reporter()
    reporter.report(GUESSED, count=1)
    raise_losses(reporter, "a")
    reporter.report(LOST, what="colour")
    raise_findings(reporter, "a")
    with pytest.raises(StrictError, match="colour"):
        raise_losses(reporter, "a")
