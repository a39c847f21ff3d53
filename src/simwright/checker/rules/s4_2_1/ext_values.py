# SPDX-License-Identifier: Apache-2.0
"""Values of a registered extension are what its schema allows.

Why: a lidar whose shortest range is beyond its longest, or an encoder of no joint, measures nothing, and each engine
does something else with it.  What a value must be comes with the schema: every extension of the registry brings its
checks, in its rules.toml.

Fails: `int sensor:lidar:horizontalSamples = 0`; `double sensor:range:minRange = 5` with maxRange 4;
SensorJointEncoderAPI without a joint; `rel sensor:imu:publishers` to a prim without RosTopicAPI.
Passes: values within their bounds; values that are not authored.

Fix: none.  Only the author knows which value is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from simwright.checker.facts.extensions import EXTENSION_APIS
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.registry import list_extensions
from simwright.usd.submission_rules import PropertyCheck, judge_prim, read_rules, sort_checks


@rule("ext-values", "4.2.1", "must", on=EXTENSION_APIS)
def ext_values(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """The checks of every registered API of a prim."""
    for api in node.apis:
        for name, wrong, why in judge_prim(node.prim, _list_checks().get(api, ())):
            yield Finding(
                f"{name} {wrong}" + (f" ({why})" if why else ""),
                hint=f"simwright registry show {api} says what {name.rpartition(':')[2]} is",
                prop=name,
            )


@cache
def _list_checks() -> dict[str, tuple[PropertyCheck, ...]]:
    """Checks of the registry by API: those about its own properties."""
    found: dict[str, tuple[PropertyCheck, ...]] = {}
    for extension in list_extensions():
        found |= sort_checks(extension, read_rules(extension.folder).checks)
    return found
