# SPDX-License-Identifier: Apache-2.0
"""Ros*API schemas are applied without an instance name.

Why: they are single-apply: a prim is one topic, or one service, or one action.  OpenUSD cannot put
`RosTopicAPI:scan` into a prim's definition, and simulators do not look for it.

Fails: `prepend apiSchemas = ["RosTopicAPI:scan"]`.
Passes: `prepend apiSchemas = ["RosTopicAPI"]`, and a child prim for the next topic.

Fix: unsafe.  Each instance becomes a child prim with the plain API; which attributes belong to which
instance is a guess.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts, OpinionContent
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "ros-single-apply",
    "2",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="give each instance a child prim of its own with the plain API",
)
def ros_single_apply(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Layers keep what was written; OpenUSD leaves such an API out of the prim's definition."""
    if not facts.counts[Domain.ROS] and not facts.counts[Domain.CONTROL]:
        return
    for opinion in facts.find(_is_named):
        api, _, instance = opinion.what.partition(":")
        yield Finding(
            f"{opinion.what} is applied with the instance name {instance!r}; {api} is a single-apply schema",
            hint=f'write "{api}", and put further interfaces on child prims, one each',
            at=opinion.path,
            data={"api": api, "instance": instance},
        )


def _is_named(content: OpinionContent) -> bool:
    """Is an API applied with an instance name?  OpenUSD drops the name from the composed prim."""
    return content.kind == "api" and content.domain in (Domain.ROS, Domain.CONTROL) and ":" in content.what
