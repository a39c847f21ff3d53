"""Ten thousand damaged files: read or refused, never a traceback, a crash, a hang or a file where none belongs.

The campaign runs in worker processes; ``python tests/fuzz/campaign.py COUNT FIRST`` runs more of it by hand, and
``case.py`` says what is looked at.  A case is made from its number, so a number is all that is needed to see it again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CASES = 10_000
SHARE = 1_250
"""Cases of one test: there are several, so that they can run side by side."""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory):
    """The campaign, and a folder with the seeds."""
    sys.path.insert(0, str(HERE))
    try:
        from campaign import run_campaign
        from seeds import make_seeds
    finally:
        sys.path.remove(str(HERE))
    return run_campaign, make_seeds(tmp_path_factory.mktemp("seeds"))


@pytest.mark.parametrize("first", range(0, CASES, SHARE))
def test_damaged_files_are_read_or_refused(first: int, tools) -> None:
    run_campaign, seeds = tools
    outcome = run_campaign(list(range(first, first + SHARE)), seeds, jobs=1)
    assert sum(outcome.ends.values()) == SHARE
    assert not outcome.bugs, "\n\n".join(f"case {number}: {bug}" for number, bug in outcome.bugs[:5])
    # damage that is always fatal, or never noticed, would test nothing
    ends = {end.split()[1] for end in outcome.ends}
    assert ends == {"read", "refused", "converted"}
