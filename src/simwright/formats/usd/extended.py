# SPDX-License-Identifier: Apache-2.0
"""ExtendedPhysics attributes that arrive in the model and so are no extras (REP-0158 4.2.2).

Their values are resolved with those of the solvers, before all of them (``solvers``); mimics have a file of
their own.  Attributes that are not named here (viscous friction ...) are kept by ``leftovers``.
"""

from __future__ import annotations

from simwright.resolve import usdphysics

TRANSLATED = frozenset(
    {
        *(name for row in usdphysics.ROWS for name in row.attributes),
        *(f"ext_physics:mimic:{name}" for name in ("enabled", "joint", "multiplier", "offset")),
    }
)
"""Attributes that arrive in the model and so are no extras."""
