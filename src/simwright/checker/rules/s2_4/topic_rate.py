# SPDX-License-Identifier: Apache-2.0
"""A publisher says how often it sends.

Why: a simulator has no other source for the rate; a missing, zero or negative one is handled differently by
each, from never to every step.

Fails: a publisher without `ros:topic:publish_rate`; 0, a negative number, infinity; a float or an int.
Passes: `double ros:topic:publish_rate = 30`.  Subscriptions need none; one that has a rate is mentioned (info).

Fix: safe.  A rate declared as float or int becomes a double; a missing rate is not guessed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simwright.checker.facts.attributes import check_declared, check_required
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_NAME = "ros:topic:publish_rate"


@rule(
    "topic-rate",
    "2.4",
    "must",
    on="api:RosTopicAPI",
    fix="safe",
    fix_title="declare the rate as double",
)
def topic_rate(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Required for publishers, ignored for subscriptions."""
    role, value = node.authored("ros:topic:role"), node.authored(_NAME)
    if role == "subscription":
        if value is not None:
            yield Finding(
                f"{_NAME} = {value} is ignored: this is a subscription",
                hint="remove it",
                at=node,
                prop=_NAME,
                level=Level.INFO,
            )
    # without a role, topic-role has the first word
    elif value is None:
        if role == "publisher":
            yield from check_required(node, _NAME, "double", "30")
    elif not isinstance(value, int | float):
        yield from check_declared(node, _NAME, "double")
    elif not math.isfinite(value) or value <= 0:
        yield Finding(
            f"{_NAME} is {value:g}, it must be a positive number of Hz",
            hint=f"write the target frequency, for example double {_NAME} = 30",
            at=node,
            prop=_NAME,
            data={"value": str(value)},
        )
    else:
        yield from check_declared(node, _NAME, "double")
