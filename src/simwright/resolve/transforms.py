# SPDX-License-Identifier: Apache-2.0
"""How authored attributes become a value, and how the value is authored again.

``read`` takes the attributes of a row, in order, None for those not authored.  It gives None where they say
nothing (the next schema is asked) and :data:`UNSET` where they say "use your own default" (nobody else is
asked).  ``write`` takes the value and the other known values of the prim, in the row's own units; it gives
None where the schema has no way to say the value.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final


class _Unset(enum.Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset.UNSET
"""AuthoredAttributes, but as the sentinel for "the importer's own default"."""

Raw = Sequence[Any]


@dataclass(frozen=True, slots=True)
class ValueTransform:
    """A two-way rule with a name for the documentation."""

    words: str
    read: Callable[[Raw], Any]
    write: Callable[[Any, Mapping[str, Any]], tuple[Any, ...] | None]


def _write_plain(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...]:
    return (value,)


def _negate(raw: Raw) -> bool:
    return not raw[0]


def _skip_unbounded_below(raw: Raw) -> float | None:
    return None if raw[0] == -math.inf else float(raw[0])


def _unset_below(raw: Raw) -> Any:
    return UNSET if raw[0] == -math.inf else raw[0]


def _unset_above(raw: Raw) -> Any:
    return UNSET if raw[0] == math.inf else raw[0]


def _read_stop_damping(raw: Raw) -> Any:
    """Damping and stiffness of a joint stop: a rigid stop has no damping."""
    damping, stiffness = raw
    # Newton: an infinite stiffness is a hard stop, whose damping nobody reads.
    if math.inf in (damping, stiffness):
        return 0.0
    return UNSET if damping == -math.inf else damping


def _write_stop_damping(value: Any, others: Mapping[str, Any]) -> tuple[Any, ...]:
    # The stiffness says it already; writing the damping as well could contradict it.
    rigid = others.get("limit_ke") == math.inf
    return (None, None) if rigid and value == 0.0 else (value, None)


def _read_period(raw: Raw) -> float | None:
    """A time step [s] as steps per second."""
    return 1.0 / raw[0] if raw[0] > 0.0 else None


def _write_period(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return (1.0 / value,) if value > 0.0 else None


def _read_offset_gap(raw: Raw) -> float | None:
    """Contact offset and rest offset: what lies between them."""
    contact, rest = raw
    # PhysX: -inf stands for an offset that the engine chooses by itself.
    if contact is None or rest is None or -math.inf in (contact, rest):
        return None
    return float(contact) - float(rest)


def _write_offset_gap(value: Any, others: Mapping[str, Any]) -> tuple[Any, ...]:
    rest = others.get("margin", 0.0)
    return rest + value, rest


def _read_margin_less_gap(raw: Raw) -> float | None:
    """MuJoCo before 3.9: the gap was part of the margin."""
    margin, gap = raw
    return None if margin is None else float(margin) - float(gap or 0.0)


def _write_margin_less_gap(value: Any, others: Mapping[str, Any]) -> tuple[Any, ...]:
    return value + others.get("gap", 0.0), None


def _read_shell(raw: Raw) -> str:
    return "shell" if raw[0] else "solid"


def _write_shell(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return (value == "shell",) if value in ("shell", "solid") else None


def _read_no_gravity(raw: Raw) -> float:
    return 0.0 if raw[0] else 1.0


def _write_no_gravity(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return (value == 0.0,) if value in (0.0, 1.0) else None


def _read_compensation(raw: Raw) -> float:
    return 1.0 - float(raw[0])


def _write_compensation(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...]:
    return (1.0 - value,)


def _read_effort_range(raw: Raw) -> float | None:
    """Lower and upper effort and whether they count ("true", "false", "auto": if the range is not empty)."""
    low, high, limited = raw
    if low is None and high is None:
        return None
    low, high = float(low or 0.0), float(high or 0.0)
    # As MuJoCo's compiler does with autolimits: a range that is not empty counts.
    if limited == "true" or (limited in (None, "auto") and low < high):
        return max(abs(low), abs(high))
    return None


def _write_effort_range(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return (-value, value, "true") if math.isfinite(value) else None


def read_solref(solref: Sequence[float]) -> tuple[float, float] | None:
    """Stiffness and damping, per mass, of MuJoCo's reference; None where it is neither of its two forms."""
    if len(solref) < 2:
        return None
    first, second = float(solref[0]), float(solref[1])
    # MuJoCo: two negative numbers are stiffness and damping themselves; two positive ones are a time constant and a
    # damping ratio.
    if first < 0.0 and second < 0.0:
        return -first, -second
    if first <= 0.0 or second <= 0.0:
        return None
    return 1.0 / (first * first * second * second), 2.0 / first


def _write_solref(stiffness: float | None, damping: float | None) -> tuple[Any, ...] | None:
    if stiffness is None or damping is None or stiffness <= 0.0 or damping <= 0.0:
        return None
    # The inverse of the formula in read_solref: time constant 2 / b, ratio b / (2 sqrt(k)).
    return ((2.0 / damping, damping / (2.0 * math.sqrt(stiffness))),)


def _read_part(index: int) -> Callable[[Raw], float | None]:
    def read(raw: Raw) -> float | None:
        pair = read_solref(raw[0])
        return None if pair is None else pair[index]

    return read


PLAIN: Final = ValueTransform("", lambda raw: raw[0], _write_plain)
NEGATE: Final = ValueTransform("not v", _negate, lambda value, _: (not value,))
SKIP_BELOW: Final = ValueTransform("-inf: ask the next", _skip_unbounded_below, _write_plain)
UNSET_BELOW: Final = ValueTransform("-inf: importer default", _unset_below, _write_plain)
UNSET_ABOVE: Final = ValueTransform("inf: importer default", _unset_above, _write_plain)
STOP_DAMPING: Final = ValueTransform(
    "0 if either is inf; -inf: importer default", _read_stop_damping, _write_stop_damping
)
PERIOD: Final = ValueTransform("1 / v", _read_period, _write_period)
OFFSET_GAP: Final = ValueTransform(
    "contact - rest; none if either is -inf", _read_offset_gap, _write_offset_gap
)
MARGIN_LESS_GAP: Final = ValueTransform("margin - gap", _read_margin_less_gap, _write_margin_less_gap)
SHELL: Final = ValueTransform('"shell" if v else "solid"', _read_shell, _write_shell)
NO_GRAVITY: Final = ValueTransform("0 if v else 1", _read_no_gravity, _write_no_gravity)
COMPENSATION: Final = ValueTransform("1 - v", _read_compensation, _write_compensation)
EFFORT_RANGE: Final = ValueTransform("max(|min|, |max|) if limited", _read_effort_range, _write_effort_range)
SOLREF_STIFFNESS: Final = ValueTransform(
    "1 / (t^2 r^2), or -t if both are negative",
    _read_part(0),
    lambda value, others: _write_solref(value, others.get("kd")),
)
SOLREF_DAMPING: Final = ValueTransform(
    "2 / t, or -r if both are negative",
    _read_part(1),
    lambda value, others: _write_solref(others.get("ke"), value),
)
