# SPDX-License-Identifier: Apache-2.0
"""Names in a schema submission: class prefixes and property namespaces (REP-0158 4.1, 4.2.2).

=====================  =====================================================
class                  properties
=====================  =====================================================
``ExtendedPhysics*``   ``ext_physics:<concept>:<name>``
``RosControl*, Ros*``  ``ros:<concept>:<name>``, no concept of the core
``Sensor*``            ``<namespace>:<name>``, any neutral namespace
=====================  =====================================================
"""

from __future__ import annotations

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.usd.registry import (
    CORE_CLASSES,
    Extension,
    SchemaClass,
    SchemaProperty,
    classify_schema,
    find_class,
)
from simwright.usd.submission_words import (
    CORE_CLASS_PREFIXES,
    CORE_NAMESPACES,
    RESERVED_ROS_NAMESPACES,
    is_vendor_class,
    is_vendor_namespace,
)

CLASS_PREFIX = declare(
    "submission-class-prefix",
    Level.ERROR,
    "the class name {name!r} does not start with a prefix of the registry",
    hint="start it with ExtendedPhysics (physics), RosControl (controllers), Ros or Sensor",
    doc="The prefix of a schema class shows what it is for.",
    section="4.2.2",
)
VENDOR_PREFIX = declare(
    "submission-vendor-prefix",
    Level.ERROR,
    "{name!r} starts with the name of an engine or a vendor",
    hint="use the neutral prefix; what only one engine understands belongs in its own layer",
    doc="Vendor prefixes are not allowed in the registry: its schemas are for every engine.",
    section="4.2.2",
)
CORE_PREFIX = declare(
    "submission-core-prefix",
    Level.ERROR,
    "{name!r} uses the prefix {prefix!r}, which belongs to core OpenUSD",
    hint="use ext_physics:<concept>: for physics, ros:<concept>: for controllers",
    doc="Core prefixes are kept for what AOUSD ratifies, so that core updates never collide with extensions.",
    section="4.2.2",
)
PROPERTY_PREFIX = declare(
    "submission-property-prefix",
    Level.ERROR,
    "the property {name!r} of {owner} does not start with {expected!r}",
    hint="rename it to {expected}<concept>:<name>",
    doc="Each family of schemas has its own property prefix.",
    section="4.2.2",
)
SUBNAMESPACE = declare(
    "submission-subnamespace",
    Level.ERROR,
    "the property {name!r} has no concept between its prefix and its name",
    hint="put one in, as in ext_physics:mimic:multiplier",
    doc="A property name has a prefix, a concept and a name, so that two extensions never share a property.",
    section="4.2.2",
)
RESERVED_NAMESPACE = declare(
    "submission-reserved-namespace",
    Level.ERROR,
    "the property {name!r} is in the namespace {namespace!r} of the core ROS schemas",
    hint="use a concept of your own, and point to a prim with the core schema by a relationship",
    doc="The namespaces of REP-0158 section 2 are closed: an extension does not add to them.",
    section="4.1",
)
CORE_DIFFERS = declare(
    "submission-core-differs",
    Level.ERROR,
    "{name} is a core ROS schema, but {what}",
    hint="leave the core schemas as REP-0158 section 2 has them; extend by a class of your own",
    doc="The core ROS schemas are normative; a submission must not bring another form of them.",
    section="4.1",
)

_FIRST = {"physics": "ext_physics", "control": "ros", "ros": "ros"}


def check_names(extension: Extension, file: str, reporter: Reporter) -> None:
    """Report class and property names that break the rules of the registry."""
    for schema in extension.classes:
        _check_class_name(schema, file, reporter)
        if schema.name in CORE_CLASSES:
            _check_core(schema, file, reporter)
            continue
        for prop in schema.properties:
            _check_property_name(schema, prop, file, reporter)


def _check_class_name(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    where = Where(file, schema.line, prim=f"/{schema.name}")
    if is_vendor_class(schema.name):
        reporter.report(VENDOR_PREFIX, where, name=schema.name)
    elif classify_schema(schema.name) == "other":
        core = next((p for p in CORE_CLASS_PREFIXES if schema.name.startswith(p)), "")
        if core:
            reporter.report(CORE_PREFIX, where, name=schema.name, prefix=core)
        else:
            reporter.report(CLASS_PREFIX, where, name=schema.name)
    for builtin in schema.builtins:
        if is_vendor_class(builtin):
            reporter.report(VENDOR_PREFIX, where, name=builtin)


def _check_property_name(schema: SchemaClass, prop: SchemaProperty, file: str, reporter: Reporter) -> None:
    where = Where(file, prop.line, prim=f"/{schema.name}", prop=prop.name)
    parts = prop.name.split(":")
    family = classify_schema(schema.name)
    expected = _FIRST.get(family)
    # one chain: the first rule that is broken is the finding, the later ones would only follow from it
    if is_vendor_namespace(parts[0]) and len(parts) > 1:
        reporter.report(VENDOR_PREFIX, where, name=prop.name)
    elif parts[0] in CORE_NAMESPACES and len(parts) > 1:
        reporter.report(CORE_PREFIX, where, name=prop.name, prefix=f"{parts[0]}:")
    elif expected and parts[0] != expected:
        reporter.report(PROPERTY_PREFIX, where, name=prop.name, owner=schema.name, expected=f"{expected}:")
    elif family == "sensor" and parts[0] == "ext_physics":
        reporter.report(CLASS_PREFIX, where, name=schema.name)
    elif len(parts) < (3 if expected else 2):
        reporter.report(SUBNAMESPACE, where, name=prop.name)
    elif parts[0] == "ros" and parts[1] in RESERVED_ROS_NAMESPACES:
        reporter.report(RESERVED_NAMESPACE, where, name=prop.name, namespace=f"ros:{parts[1]}:")


def _check_core(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    """A class of the core must be the one we ship."""
    norm = find_class(schema.name)
    ours = {prop.name: prop for prop in norm.properties}
    theirs = {prop.name: prop for prop in schema.properties}
    where = Where(file, schema.line, prim=f"/{schema.name}")
    for name in sorted(ours.keys() | theirs.keys()):
        what = describe_difference(name, ours.get(name), theirs.get(name))
        if what:
            reporter.report(CORE_DIFFERS, where, name=schema.name, what=what)


def describe_difference(name: str, wanted: SchemaProperty | None, found: SchemaProperty | None) -> str:
    """How ``found`` differs from ``wanted`` in what OpenUSD uses; empty if it does not."""
    if wanted is None:
        return f"it has a property {name!r} too many"
    if found is None:
        return f"its property {name!r} is missing"
    for key in ("type", "variability", "default", "allowed_tokens"):
        left, right = getattr(wanted, key), getattr(found, key)
        if left != right:
            label = key.replace("_", " ")
            return f"the {label} of {name!r} is {_show(right)} where it should be {_show(left)}"
    return ""


def _show(value: object) -> str:
    return "not given" if value is None or value == () else repr(value)
