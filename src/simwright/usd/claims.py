# SPDX-License-Identifier: Apache-2.0
"""What a user says about a stage that says nothing itself: its units and its up axis.

A claim stands in the session layer, so that everything that reads the stage reads it that way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from simwright.core.errors import UsageError

CLAIMS: Final = ("metersPerUnit", "kilogramsPerUnit", "upAxis")
NAMES: Final = {
    "metersPerUnit": "meters-per-unit",
    "kilogramsPerUnit": "kilograms-per-unit",
    "upAxis": "up-axis",
}
_AXES: Final = ("X", "Y", "Z")


def read_claim(key: str, values: Mapping[str, str]) -> float | str | None:
    """What is said about ``metersPerUnit``, ``kilogramsPerUnit`` or ``upAxis``; None if nothing is."""
    name = NAMES[key]
    text = values.get(name, "").strip()
    if not text:
        return None
    if key == "upAxis":
        if text.upper() not in _AXES:
            raise UsageError(f"{name}={text} is not an axis", hint=f"write {name}=X, Y or Z")
        return text.upper()
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise UsageError(f"{name}={text} is not a unit", hint=f"write a positive number such as {name}=0.001")
    return number


def apply_claims(stage: Any, values: Mapping[str, str]) -> None:
    """Let a stage be read as the user says, where its root layer says nothing usable."""
    root, session = stage.GetRootLayer().pseudoRoot, stage.GetSessionLayer()
    for key in CLAIMS:
        claimed = read_claim(key, values)
        if claimed is None or session is None:
            continue
        said = root.GetInfo(key) if root.HasInfo(key) else None
        # 0, infinity and NaN are no units: there the user counts as where nothing is said
        if said is None or (not isinstance(said, str) and not 0.0 < said < math.inf):
            session.pseudoRoot.SetInfo(key, claimed)
