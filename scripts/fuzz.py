# SPDX-License-Identifier: Apache-2.0
"""Damage files and run every command with them, for as long as is wanted: ``python scripts/fuzz.py --minutes 30``.

The tests run the first two thousand cases; this goes on from there, or from ``--first``.  A case is made from its
number: ``--first N --cases 1`` shows it again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzz.campaign import Outcome, describe, run_campaign
from fuzz.seeds import make_seeds

TESTED = 2_000
"""Cases that the tests run."""
PORTION = 500
"""Cases between two looks at the clock."""


def main() -> int:
    """Run cases and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long; without it, --cases counts")
    parser.add_argument("--cases", type=int, default=TESTED, help="how many  [default: %(default)s]")
    parser.add_argument(
        "--first", type=int, default=TESTED, help="number of the first  [default: %(default)s]"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes  [default: %(default)s]")
    said = parser.parse_args()
    outcome, done = Outcome(), 0
    end = time.monotonic() + 60.0 * said.minutes if said.minutes is not None else None
    with tempfile.TemporaryDirectory(prefix="fuzz-seeds") as folder:
        seeds = make_seeds(Path(folder))
        while time.monotonic() < end if end is not None else done < said.cases:
            count = PORTION if end is not None else said.cases
            numbers = range(said.first + done, said.first + done + count)
            outcome.merge(run_campaign(list(numbers), seeds, said.jobs))
            done += count
    sys.stdout.write(describe(outcome, done))
    return 1 if outcome.bugs else 0


if __name__ == "__main__":
    sys.exit(main())
