# SPDX-License-Identifier: Apache-2.0
"""Properties of ExtendedPhysics*APIs start with ext_physics:.

Why: the prefix keeps incubating physics apart from core OpenUSD and from engines, so that a later core schema does
not collide with it.

Fails: `float mimic:multiplier` beside ExtendedPhysicsMimicAPI; `ext_phys:mimic:joint`, `extPhysics:mimic:joint`.
Passes: `float ext_physics:mimic:multiplier`.

Fix: unsafe.  The property is renamed; if the right one is there too, one of the values is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.extensions import list_custom
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.schemas import known_classes, list_own_classes
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.submission_words import split_words

# spellings seen in the wild, folded to lower case without separators
_ALMOST = frozenset({
    "extphysics", "extendedphysics", "extphys", "extphysic", "ephysics", "extendedphys", "physicsext",
})  # fmt: skip
_CLASS = "ExtendedPhysics"


@rule(
    "xphys-prop-prefix",
    "4.2.2",
    "must",
    on=("layer", "api:ExtendedPhysics*"),
    fix="unsafe",
    fix_title="rename the property to start with ext_physics:",
)
def xphys_prop_prefix(subject: PrimNode | LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Custom properties of prims with such an API, and the schema classes of the asset's own layers."""
    if isinstance(subject, LayerFacts):
        yield from _check_classes(subject, snapshot)
        return
    concepts = _concepts(subject)
    for name in list_custom(subject):
        wanted = _find_meant(name, concepts)
        if wanted:
            yield Finding(
                f"{name} belongs to an {_CLASS}*API but does not start with ext_physics:",
                hint=f"rename it to {wanted}",
                prop=name,
                data={"meant": wanted},
            )


def _check_classes(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    for schema in list_own_classes(facts, snapshot):
        if not schema.name.startswith(_CLASS):
            continue
        for prop in schema.properties:
            if not prop.name.startswith("ext_physics:"):
                yield Finding(
                    f"{prop.name} of the schema class {schema.name} does not start with ext_physics:",
                    hint=f"call it ext_physics:<concept>:{prop.name.rpartition(':')[2]}",
                    at=f"/{schema.name}",
                    prop=prop.name,
                    layer=facts.layer,
                )


def _concepts(node: PrimNode) -> set[str]:
    """The concepts of the applied classes, folded: those of the registry, else the words of the class name."""
    found: set[str] = set()
    for api in node.apis:
        if api.startswith(_CLASS):
            schema = known_classes().get(api)
            if schema:
                found.update(_fold(prop.name.split(":")[1]) for prop in schema.properties)
            else:
                # an unregistered class: its name is the only hint to its concept
                found.add(_fold(api.removeprefix(_CLASS).partition(":")[0].removesuffix("API")))
    return found


def _find_meant(name: str, concepts: set[str]) -> str:
    first, _, rest = name.partition(":")
    if first == "ext_physics" or not rest:
        return ""
    if _fold(first) in _ALMOST:
        return f"ext_physics:{rest}"
    return f"ext_physics:{name}" if _fold(first) in concepts else ""


def _fold(text: str) -> str:
    return "".join(split_words(text))
