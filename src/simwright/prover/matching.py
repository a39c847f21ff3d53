# SPDX-License-Identifier: Apache-2.0
"""Which freedoms of two engines are the same joint.

Joints are matched by name; a joint that has no name in MJCF, and several joints of one body, by the body that they
move.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from simwright.prover.workers.seen import Seen, SeenFreedom

ALONE = ("hinge", "slide", "scalar")
"""Kinds of freedoms that are all of their joint."""


@dataclass
class FreedomPair:
    """The freedoms of one joint, or of all joints of one body, in both."""

    name: str
    wanted: list[SeenFreedom]
    found: list[SeenFreedom]

    @property
    def alone(self) -> bool:
        """Whether both have one freedom, which is all of its joint."""
        return len(self.wanted) == len(self.found) == 1 and all(
            row.kind in ALONE for row in (*self.wanted, *self.found)
        )


def match_freedoms(reference: Seen, seen: Seen) -> tuple[list[FreedomPair], tuple[str, str] | None]:
    """Freedoms of both that belong together, and the first that do not."""
    pairs, problems = [], []
    names = Counter(row.joint for row in seen.freedoms)
    by_name = {row.joint: row for row in seen.freedoms if names[row.joint] == 1}
    rest: dict[str, list[SeenFreedom]] = defaultdict(list)
    for row in reference.freedoms:
        if row.kind in ALONE and row.joint in by_name:
            pairs.append(FreedomPair(row.joint, [row], [by_name[row.joint]]))
        else:
            rest[row.body].append(row)
    # by name first: a body's name is taken only for what is left, else one joint could be matched twice
    others = _group_unused(seen, pairs)
    for body, wanted in rest.items():
        found = others.pop(body, None) or others.pop(_find_body(wanted, others), [])
        if len(found) == len(wanted):
            pairs.append(FreedomPair(tell_joint(wanted), wanted, found))
        elif not is_floating(wanted):
            name = tell_joint(wanted)
            problems.append((name, f"{name}: {len(found)} DOFs instead of {len(wanted)}"))
    problems += [
        (
            tell_joint(found),
            f"{tell_joint(found)}: {len(found)} DOFs that {reference.engine or 'MuJoCo'} does not have",
        )
        for found in others.values()
        if not is_floating(found)
    ]
    return pairs, problems[0] if problems else None


def _group_unused(seen: Seen, pairs: list[FreedomPair]) -> dict[str, list[SeenFreedom]]:
    """Freedoms that no pair has, by the body that they move."""
    used = {id(row) for pair in pairs for row in pair.found}
    others: dict[str, list[SeenFreedom]] = defaultdict(list)
    for row in seen.freedoms:
        if id(row) not in used:
            others[row.body].append(row)
    return others


def _find_body(wanted: list[SeenFreedom], others: dict[str, list[SeenFreedom]]) -> str:
    """The body that one of the joints moves, for a body that MJCF gives no name."""
    names = {row.joint for row in wanted if row.joint}
    return next((body for body, rows in others.items() if any(row.joint in names for row in rows)), "")


def is_floating(rows: list[SeenFreedom]) -> bool:
    """Whether this is a floating base, which is told as such and not as six DOFs."""
    return all(row.kind == "free" for row in rows)


def tell_joint(rows: list[SeenFreedom]) -> str:
    """What the joint of some freedoms is called."""
    return next((row.joint for row in rows if row.joint), f"joint of {rows[0].body}")
