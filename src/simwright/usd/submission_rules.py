# SPDX-License-Identifier: Apache-2.0
"""What the schema of a submission may say (REP-0158 4.2.1, 4.2.3, 4.2.4).

The rules that judge by words (transport, native attributes, ground truth, simulator state) are heuristics and
therefore report one level below what the REP's wording asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.usd.registry import CORE_CLASSES, Extension, SchemaClass, SchemaProperty, classify_schema
from simwright.usd.submission_words import (
    GROUND_TRUTH,
    ROS_TYPE,
    SIMULATION_STATE,
    TRANSPORT,
    find_native,
    find_phrase,
)

NOT_API = declare(
    "submission-not-api",
    Level.ERROR,
    "{name} is no applied API schema: {reason}",
    hint='inherit </APISchemaBase>, give no type name, end the name in API, apiSchemaType = "singleApply"',
    doc="Extensions add to prims of core OpenUSD, so that a tool without them still opens the asset.",
    section="4.2.1",
)
NOT_CODELESS = declare(
    "submission-not-codeless",
    Level.ERROR,
    "the schema library asks for generated code",
    hint="write bool skipCodeGeneration = true in the customData of GLOBAL",
    doc="A codeless plugin works in every OpenUSD tool without compiling anything.",
    section="4.1",
)
NO_LIBRARY = declare(
    "submission-no-library",
    Level.ERROR,
    "the schema layer does not say {what}",
    hint='write it in the customData of over "GLOBAL"',
    doc="The GLOBAL prim of a schema layer names the plugin; OpenUSD cannot load a plugin without a name.",
    section="4.1",
)
EMPTY = declare(
    "submission-empty",
    Level.ERROR,
    "the schema layer defines no class",
    hint='declare one with class "NameAPI"',
    doc="A submission brings at least one schema class.",
    section="4.2",
)
UNDOCUMENTED = declare(
    "submission-undocumented",
    Level.ERROR,
    "{what} {name!r} has no documentation",
    hint="write doc = metadata that says what it means and, for a number, its unit",
    doc="Every class and every property of the registry is documented in the schema itself.",
    section="4.2",
)
TRANSPORT_FOUND = declare(
    "submission-transport",
    Level.WARNING,
    "the attribute {name!r} looks like ROS communication metadata ({sign})",
    hint="replace it by a relationship to a prim with RosTopicAPI, RosServiceAPI or RosActionAPI",
    doc="Extension schemas do not speak of topics, QoS, frames or message types; a heuristic.",
    section="4.2.1",
)
NATIVE_FOUND = declare(
    "submission-native-duplicate",
    Level.WARNING,
    "{name!r} repeats {attribute} of {owner}",
    hint="apply the schema beside {owner} and leave the value there",
    doc="Extension schemas reuse what core OpenUSD has instead of saying it twice; a heuristic on names.",
    section="4.2.1",
)
NO_TARGETS = declare(
    "submission-control-no-targets",
    Level.ERROR,
    "the controller {name} has settings but no relationship",
    hint="add relationships to the joints or bodies it acts on and to its ROS interface prims",
    doc="Controllers declare their targets by relationships or collections, never by nesting.",
    section="4.2.3",
)
SIM_STATE = declare(
    "submission-control-sim-state",
    Level.INFO,
    "{name!r} looks like a change of simulator state ({sign})",
    hint="leave resets and spawning to the simulator's own interfaces",
    doc="Control schemas should not handle simulator state; a heuristic on names.",
    section="4.2.3",
)
GROUND_TRUTH_FOUND = declare(
    "submission-ground-truth",
    Level.WARNING,
    "{name!r} of a sensor looks like ground truth ({sign})",
    hint="move it to an annotator schema of its own",
    doc="Sensor schemas describe what a real sensor could measure; a heuristic on names.",
    section="4.2.4",
)
SENSOR_PRIM = declare(
    "submission-sensor-prim",
    Level.ERROR,
    "the sensor schema {name} can be applied to {found}, not only to {wanted}",
    hint="write token[] apiSchemaCanOnlyApplyTo = {listing} in its customData",
    doc="Sensor schemas sit on the Xform or Camera at the sensor's origin; a camera schema on a Camera.",
    section="4.2.4",
)

SENSOR_TYPES = ("Xform", "Camera")


def check_rules(extension: Extension, file: str, reporter: Reporter) -> None:
    """Report what the schema layer says that it must not, and what it leaves out."""
    for what, value in (("libraryName", extension.library), ("libraryPrefix", extension.prefix)):
        if not value:
            reporter.report(NO_LIBRARY, Where(file, extension.line, prim="/GLOBAL"), what=what)
    if not extension.codeless:
        reporter.report(NOT_CODELESS, Where(file, extension.line, prim="/GLOBAL"))
    if not extension.classes:
        reporter.report(EMPTY, Where(file))
    for schema in extension.classes:
        _check_kind(schema, file, reporter)
        _check_docs(schema, file, reporter)
        _check_control(schema, file, reporter)
        _check_sensor(schema, file, reporter)
        if schema.name not in CORE_CLASSES:
            _check_words(schema, file, reporter)


def _check_kind(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    reason = ""
    if schema.kind == "typed":
        reason = "it has a type name or another base"
    elif schema.kind not in ("singleApply", "multipleApply"):
        reason = f"its apiSchemaType is {schema.kind!r}"
    elif not schema.name.endswith("API"):
        reason = "its name does not end in API"
    if reason:
        reporter.report(NOT_API, _place(file, schema), name=schema.name, reason=reason)


def _check_docs(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    if not schema.doc:
        reporter.report(UNDOCUMENTED, _place(file, schema), what="the class", name=schema.name)
    for prop in schema.properties:
        if not prop.doc:
            reporter.report(UNDOCUMENTED, _place(file, schema, prop), what="the property", name=prop.name)


def _check_control(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    if classify_schema(schema.name) != "control":
        return
    has_targets = any(prop.is_relationship for prop in schema.properties)
    has_targets |= any(name.startswith("CollectionAPI") for name in schema.builtins)
    if schema.properties and not has_targets:
        reporter.report(NO_TARGETS, _place(file, schema), name=schema.name)
    for prop in schema.properties:
        if sign := find_phrase(prop.name, SIMULATION_STATE):
            reporter.report(SIM_STATE, _place(file, schema, prop), name=prop.name, sign=sign)


def _check_sensor(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    if classify_schema(schema.name) != "sensor":
        return
    wanted = ("Camera",) if schema.name.startswith("SensorCamera") else SENSOR_TYPES
    if not schema.can_only_apply_to or not set(schema.can_only_apply_to) <= set(wanted):
        reporter.report(
            SENSOR_PRIM,
            _place(file, schema),
            name=schema.name,
            found=", ".join(schema.can_only_apply_to) or "any prim",
            wanted=" or ".join(wanted),
            listing="[" + ", ".join(f'"{name}"' for name in wanted) + "]",
        )
    for prop in schema.properties:
        if sign := find_phrase(prop.name, GROUND_TRUTH):
            reporter.report(GROUND_TRUTH_FOUND, _place(file, schema, prop), name=prop.name, sign=sign)


def _check_words(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    for prop in schema.properties:
        where = _place(file, schema, prop)
        sign = next(_transport_signs(prop), "")
        native = find_native(prop.name)
        if sign:
            reporter.report(TRANSPORT_FOUND, where, name=prop.name, sign=sign)
        elif native:
            reporter.report(NATIVE_FOUND, where, name=prop.name, owner=native[0], attribute=native[1])


def _transport_signs(prop: SchemaProperty) -> Iterator[str]:
    """What gives an attribute away as transport metadata.  A relationship may be called what it likes."""
    if prop.is_relationship:
        return
    if phrase := find_phrase(prop.name, TRANSPORT):
        yield phrase
    for value in (prop.default, *prop.allowed_tokens):
        if isinstance(value, str) and ROS_TYPE.match(value):
            yield value


def _place(file: str, schema: SchemaClass, prop: SchemaProperty | None = None) -> Where:
    if prop is None:
        return Where(file, schema.line, prim=f"/{schema.name}")
    return Where(file, prop.line, prim=f"/{schema.name}", prop=prop.name)
