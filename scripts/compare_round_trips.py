# SPDX-License-Identifier: Apache-2.0
"""Send robots through OpenUSD and back, compare, and ask the parsers of other projects: a table of figures.

``python scripts/compare_round_trips.py FOLDER [--route NAME ...] [--robot WORD ...] [--items N]`` goes through every
MJCF, URDF and SDFormat file below the folder.  Exits with 1 when something differs that ``tests/trips/allowed.py`` has
no reason for, when one of its reasons no longer applies, or when a parser refuses a result.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from tests.trips.allowed import ROWS, STRIPS, find_idle, find_unallowed  # noqa: E402 - the repository has to be found first
from tests.trips.judges import judge  # noqa: E402
from tests.trips.routes import FIGURES, ROUTES, Trip, find_robots, name_robot, travel  # noqa: E402

from simwright import SimwrightError  # noqa: E402


def main() -> int:
    """All trips, then what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--route", action="append", choices=[*ROUTES], help="only this route")
    parser.add_argument("--robot", action="append", default=[], help="only robots with this in their path")
    parser.add_argument("--items", type=int, default=10, help="unexpected differences shown of each robot")
    arguments = parser.parse_args()
    trips: list[Trip] = []
    problems: list[str] = []
    for route in arguments.route or ROUTES:
        print(
            f"\n{route:58}" + "".join(f"{name:>13}" for name in FIGURES) + "  allowed  unexpected", flush=True
        )
        for file in find_robots(arguments.folder, ROUTES[route][0]):
            if not arguments.robot or any(word in str(file) for word in arguments.robot):
                make_trip(route, file, trips, problems, arguments.items)
    problems += [
        f"{row.route}: no longer seen in {row.example}: {row.pattern} ({row.reason})"
        for row in find_idle(trips)
    ]
    show_rows(trips)
    print(f"\n{len(trips)} trips, {len(problems)} problems")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def make_trip(route: str, file: Path, trips: list[Trip], problems: list[str], items: int) -> None:
    """One robot along one route: a line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            trip = travel(route, file, Path(folder), STRIPS.get(route))
        except SimwrightError as error:
            problems.append(f"{route} {name_robot(file)}: {error}")
            return
        refusals = judge(trip)
    trips.append(trip)
    wrong = find_unallowed(trip)
    problems += [f"{route} {trip.robot}: {line[:300]}" for line in (*refusals, *wrong[:items])]
    figures = "".join(f"{trip.figures[n]:13.1e}" if n in trip.figures else f"{'-':>13}" for n in FIGURES)
    print(f"{trip.robot[:57]:58}{figures}{len(trip.lines) - len(wrong):9}{len(wrong):12}", flush=True)


def show_rows(trips: list[Trip]) -> None:
    """How often each reason was needed."""
    print(f"\n{'robots':>6} {'lines':>6}  allowed because")
    for row in ROWS:
        counts = [sum(row.matches(trip, line) for line in trip.lines) for trip in trips]
        if any(counts):
            print(f"{sum(map(bool, counts)):6} {sum(counts):6}  {row.route}: {row.reason}")


if __name__ == "__main__":
    sys.exit(main())
