# SPDX-License-Identifier: Apache-2.0
"""Kill commands at random moments and look at what is left: ``python scripts/kill.py --kills 300``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kills"))

from kills import describe, run_kills


def main() -> int:
    """Kill, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="how many  [default: %(default)s]")
    parser.add_argument("--seed", type=int, default=0, help="which moments  [default: %(default)s]")
    said = parser.parse_args()
    tallies = run_kills(said.kills, said.seed, say=lambda text: print(text, file=sys.stderr, flush=True))
    sys.stdout.write(describe(tallies))
    return 1 if any(tally.problems for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
