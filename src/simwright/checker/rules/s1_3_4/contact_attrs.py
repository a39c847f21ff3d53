# SPDX-License-Identifier: Apache-2.0
"""A physics material authors static friction, dynamic friction and restitution, with possible values.

Why: all three fall back to 0, so a value that was forgotten means no friction or no bounce, and nobody can tell
whether that was meant.

Fails: PhysicsMaterialAPI without `physics:restitution`; a friction below 0; a restitution above 1.
Passes: `staticFriction = 0.6`, `dynamicFriction = 0.5`, `restitution = 0.05`.

Fix: unsafe.  Defaults can be authored; the right values are the material's.

Reading: dynamic friction above static friction is possible in an engine but not in nature: a warning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simwright.checker.facts.attributes import read_number
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_STATIC, _DYNAMIC, _BOUNCE = "physics:staticFriction", "physics:dynamicFriction", "physics:restitution"


@rule(
    "contact-attrs",
    "1.3.4",
    "must",
    on="api:PhysicsMaterialAPI",
    fix="unsafe",
    fix_title="author the missing values",
)
# one function: three values, each missing, out of range, or at odds with another
def contact_attrs(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored opinions, then their ranges."""
    values = {name: read_number(node, name) for name in (_STATIC, _DYNAMIC, _BOUNCE)}
    absent = [name for name, value in values.items() if value is None]
    if absent:
        yield Finding(
            f"the physics material does not author {', '.join(absent)}; the fallback is 0",
            hint="author " + ", ".join(f"float {name}" for name in absent),
            at=node,
            data={"missing": absent},
        )
    for name, value in values.items():
        # restitution above 1 adds energy at every contact
        highest = 1.0 if name == _BOUNCE else math.inf
        if value is not None and not (0 <= value <= highest and math.isfinite(value)):
            allowed = "between 0 and 1" if name == _BOUNCE else "0 or more"
            yield _wrong(node, name, value, f"it must be {allowed}")
    static, dynamic = values[_STATIC], values[_DYNAMIC]
    if static is not None and dynamic is not None and dynamic > static >= 0:
        yield Finding(
            f"{_DYNAMIC} is {dynamic:g}, above {_STATIC} {static:g}",
            hint="static friction is the greater one; check whether the two are swapped",
            at=node,
            prop=_DYNAMIC,
            level=Level.WARNING,
        )


def _wrong(node: PrimNode, name: str, value: float, why: str) -> Finding:
    return Finding(
        f"{name} is {value:g}, {why}", hint=f"correct {name}", at=node, prop=name, data={"value": value}
    )
