# SPDX-License-Identifier: Apache-2.0
"""Ros*API names, types and tokens are those of the normative schema.

Why: readers ask for exact names and types.  A misspelt `ros:topic:publishrate`, or a rate declared as float instead
of double, is not found, and no error is shown.

Fails: `ros:topic:publishrate`; `float ros:topic:publish_rate`; `ros:topic:qos:reliability = "besteffort"`; an API
called `RosTopicsAPI`; time samples on an attribute that the schema declares uniform.
Passes: `double ros:topic:publish_rate = 30`; `ros:joint:name`, which REP-0158 2.10 defines outside the schema.

Fix: unsafe.  A name that is close to one of the schema is renamed, a type is changed; both have to be reviewed.

Reading: the schema says `uniform`, the REP's own examples leave the word out.  The composed attribute is uniform
either way, so the missing word is not a finding; values over time are.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.schemas import (
    JOINT_NAME,
    RegistryProperty,
    known_classes,
    known_concepts,
    known_properties,
    suggest_class,
    suggest_property,
)
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "schema-core",
    "4.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="rename or retype the property as the schema has it",
)
def schema_core(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare what the layers declare with the schema; a spec is looked at once, however often it is used."""
    strangers = sorted({api for _, apis in snapshot.kinds() for api in apis if _is_stranger(api)})
    yield from _check_names(snapshot, strangers)
    # an API that we do not know may define the property: then silence
    has_extensions = any(not suggest_class(api) for api in strangers)
    for facts in snapshot.layers:
        for opinion in facts.of(Domain.ROS, Domain.CONTROL):
            if (
                opinion.kind != "property"
                or not opinion.what.startswith("ros:")
                or opinion.what == JOINT_NAME
            ):
                continue
            known = known_properties().get(opinion.what)
            if known is None:
                yield from _check_unknown(opinion.what, opinion.path, facts, has_extensions)
            else:
                yield from _check_known(known, opinion.path, facts)


def _is_stranger(api: str) -> bool:
    return api[:3].lower() == "ros" and api.partition(":")[0] not in known_classes()


def _check_names(snapshot: StageSnapshot, strangers: list[str]) -> Iterator[Finding]:
    """APIs that look like a misspelt one of ours."""
    wrong = {api: suggest_class(api.partition(":")[0]) for api in strangers}
    wrong = {api: meant for api, meant in wrong.items() if meant}
    if not wrong:
        return
    for node in snapshot.nodes:
        for api in node.apis:
            if api in wrong:
                yield Finding(
                    f"{api} is not a schema; {wrong[api]} is meant, it seems",
                    hint=f'write prepend apiSchemas = ["{wrong[api]}"]',
                    at=node,
                    data={"api": api, "meant": wrong[api]},
                )


def _check_unknown(name: str, path: Sdf.Path, facts: LayerFacts, has_extensions: bool) -> Iterator[Finding]:
    meant = suggest_property(name)
    if meant or ":".join(name.split(":")[:2]) in known_concepts():
        hint = f"rename it to {meant}" if meant else "remove it, or use an attribute that the schema has"
        yield Finding(f"{name} is in no schema", hint, at=path, layer=facts.layer, data={"meant": meant})
    elif not has_extensions:
        yield Finding(
            f"{name} is in no registered schema, and no other Ros*API is applied",
            hint="use a registered name, or a namespace of your own instead of ros:",
            at=path,
            layer=facts.layer,
            level=Level.WARNING,
        )


def _check_known(known: RegistryProperty, path: Sdf.Path, facts: LayerFacts) -> Iterator[Finding]:
    layer, prop = facts.layer, known.property
    spec = layer.GetAttributeAtPath(path)
    found = "rel" if spec is None else str(spec.typeName)
    if found != prop.type:
        yield Finding(
            f"{prop.name} is declared as {found}, the schema says {prop.type}",
            hint=f"write {prop.type} {prop.name}",
            at=path,
            layer=layer,
            data={"type": prop.type},
        )
        return
    if spec is None:
        return
    # OpenUSD keeps samples of a uniform attribute, and readers ignore them
    if prop.variability == "uniform" and layer.GetNumTimeSamplesForPath(path):
        yield Finding(
            f"{prop.name} has time samples, but the schema declares it uniform",
            hint="write one value instead of time samples",
            at=path,
            layer=layer,
            data={"samples": layer.GetNumTimeSamplesForPath(path)},
        )
    value = spec.default if spec.HasDefaultValue() else None
    if prop.allowed_tokens and isinstance(value, str) and value not in prop.allowed_tokens:
        yield Finding(
            f"{prop.name} is {value!r}, which is not a token of the schema",
            hint=f"write one of {', '.join(prop.allowed_tokens)}",
            at=path,
            layer=layer,
            data={"tokens": list(prop.allowed_tokens)},
        )
