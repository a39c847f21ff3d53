# SPDX-License-Identifier: Apache-2.0
"""Check a schema submission against the rules of the registry (REP-0158 4.2).

A submission is a folder::

    schema.usda             the source: one class per schema
    generatedSchema.usda    made from it by usdGenSchema
    plugInfo.json           made from it by usdGenSchema
    README.md               what it is for and how it is used (or a docs folder)
    example.usda            a minimal asset that applies every schema
    rules.toml              what the compliance checker looks at, with cases that are run
    conversion.toml         what other formats have for it, with files that are converted

The rules that judge by words (transport, native attributes, ground truth, simulator state; 4.2.1, 4.2.3, 4.2.4) report
what the REP's wording asks for: a submission is read by people anyway, and a name that misleads a word list misleads
users too.  Not checked, because no file shows it: that parameters make sense for every simulator.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError, NotFoundError
from simwright.core.files import MIB, check_readable
from simwright.usd.registry import (
    CORE_CLASSES,
    Extension,
    SchemaClass,
    SchemaProperty,
    classify_schema,
    read_extension,
)
from simwright.usd.submission_example import check_example
from simwright.usd.submission_names import check_names
from simwright.usd.submission_plugin import UNREADABLE, check_plugin, report_unreadable
from simwright.usd.submission_rules import CONVERSION, RULES, Convert, RunCase, check_additions
from simwright.usd.submission_words import (
    GROUND_TRUTH,
    ROS_TYPE,
    SIMULATION_STATE,
    TRANSPORT,
    find_native,
    find_phrase,
)

FILE_MISSING = declare(
    "submission-file-missing",
    Level.ERROR,
    "the submission has no {name}",
    hint="{advice}",
    doc="A submission has a schema, its generated plugin files, documentation and a minimal example.",
    section="4.2",
)
DOCS_THIN = declare(
    "submission-docs-thin",
    Level.ERROR,
    "the documentation has {count} words; too few to explain how the schema is used",
    hint="say what it is for, what each property means with its unit, and show an example",
    doc="A submission documents its use.",
    section="4.2",
)
DOCS_SILENT = declare(
    "submission-docs-silent",
    Level.WARNING,
    "the documentation does not mention {name!r}",
    hint="describe it in README.md",
    doc="The documentation names every class and every property; a heuristic on the text.",
    section="4.2",
)

MIN_WORDS = 60
"""Fewest words of documentation that are taken for a description."""

_REQUIRED = {
    "schema.usda": "write the schema classes in schema.usda",
    "generatedSchema.usda": "run usdGenSchema on schema.usda",
    "plugInfo.json": "run usdGenSchema on schema.usda",
    "example.usda": "write a minimal asset that applies every schema",
    RULES: "say in it what the compliance checker looks at, with a case that is right and one that is not",
    CONVERSION: "give in it a file of another format and the values it becomes, or why there is none",
}

CheckAsset = Callable[[Path, Reporter], None]
"""Checks the asset in a file, as the compliance checker does."""


def validate_submission(
    folder: str | os.PathLike[str],
    reporter: Reporter,
    check_asset: CheckAsset | None = None,
    run_case: RunCase | None = None,
    convert: Convert | None = None,
) -> Extension | None:
    """Report every breach of the registry's rules and give what the folder describes, if it can be read.

    ``check_asset`` is run on the example, ``run_case`` on cases of rules that the checker has, ``convert`` on the files
    of other formats, if they are given.
    """
    path = Path(folder)
    if not path.is_dir():
        raise NotFoundError(
            "is not a folder", hint="name the folder that holds schema.usda", where=Where(str(path))
        )
    for name, advice in _REQUIRED.items():
        if not (path / name).is_file():
            reporter.report(FILE_MISSING, Where(str(path)), name=name, advice=advice)
    if _report_links(path, reporter):
        return None
    extension = _read_schema(path, reporter)
    _check_readme(path, extension, reporter)
    if extension is None:
        return None
    schema = str(path / "schema.usda")
    check_rules(extension, schema, reporter)
    check_names(extension, schema, reporter)
    check_plugin(extension, reporter)
    check_example(extension, reporter)
    check_additions(extension, reporter, run_case, convert)
    example = path / "example.usda"
    if check_asset and example.is_file():
        check_asset(example, reporter)
    return extension


def _report_links(folder: Path, reporter: Reporter) -> bool:
    """Report files that are links to somewhere else: what they say is not part of the submission."""
    root = folder.resolve()
    files = [folder / name for name in _REQUIRED if (folder / name).is_file()]
    found = [file for file in (*files, *_list_documents(folder)) if root not in file.resolve().parents]
    for file in found:
        reporter.report(UNREADABLE, Where(str(file)), reason="is a link that leads out of the folder")
    return bool(found)


def _read_schema(folder: Path, reporter: Reporter) -> Extension | None:
    if not (folder / "schema.usda").is_file():
        return None
    try:
        return read_extension(folder)
    except InputError as error:
        report_unreadable(error, folder / "schema.usda", reporter)
        return None


def _check_readme(folder: Path, extension: Extension | None, reporter: Reporter) -> None:
    files = _list_documents(folder)
    if not files:
        advice = "say in README.md what the schema is for and how it is used"
        reporter.report(FILE_MISSING, Where(str(folder)), name="README.md or docs folder", advice=advice)
        return
    text = ""
    for file in files:
        try:
            text += check_readable(file, MIB).read_text(encoding="utf-8", errors="replace") + "\n"
        except InputError as error:
            report_unreadable(error, file, reporter)
    where = Where(str(files[0]))
    count = len(re.findall(r"[A-Za-z]{2,}", text))
    if count < MIN_WORDS:
        reporter.report(DOCS_THIN, where, count=count)
        return
    for schema in extension.classes if extension else ():
        for name in (schema.name, *(prop.name for prop in schema.properties)):
            if not re.search(rf"(?<![\w:]){re.escape(name)}(?![\w:])", text):
                reporter.report(DOCS_SILENT, where, name=name)


def _list_documents(folder: Path) -> list[Path]:
    found = [file for file in sorted(folder.glob("README*")) if file.is_file()]
    return found + [file for file in sorted(folder.glob("docs/*.md")) if file.is_file()]


NOT_API = declare(
    "submission-not-api",
    Level.ERROR,
    "{name} is not an applied API schema: {reason}",
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
    Level.ERROR,
    "the attribute {name!r} looks like ROS communication metadata ({sign})",
    hint="replace it by a relationship to a prim with RosTopicAPI, RosServiceAPI or RosActionAPI",
    doc="Extension schemas do not describe topics, QoS, frames or message types; a heuristic.",
    section="4.2.1",
)
NATIVE_FOUND = declare(
    "submission-native-duplicate",
    Level.ERROR,
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
    Level.ERROR,
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
        reporter.report(NOT_API, _locate(file, schema), name=schema.name, reason=reason)


def _check_docs(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    if not schema.doc:
        reporter.report(UNDOCUMENTED, _locate(file, schema), what="the class", name=schema.name)
    for prop in schema.properties:
        if not prop.doc:
            reporter.report(UNDOCUMENTED, _locate(file, schema, prop), what="the property", name=prop.name)


def _check_control(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    if classify_schema(schema.name) != "control":
        return
    has_targets = any(prop.is_relationship for prop in schema.properties)
    # a collection names targets too (4.2.3)
    has_targets |= any(name.startswith("CollectionAPI") for name in schema.builtins)
    if schema.properties and not has_targets:
        reporter.report(NO_TARGETS, _locate(file, schema), name=schema.name)
    for prop in schema.properties:
        if sign := find_phrase(prop.name, SIMULATION_STATE):
            reporter.report(SIM_STATE, _locate(file, schema, prop), name=prop.name, sign=sign)


def _check_sensor(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    if classify_schema(schema.name) != "sensor":
        return
    wanted = ("Camera",) if schema.name.startswith("SensorCamera") else SENSOR_TYPES
    if not schema.can_only_apply_to or not set(schema.can_only_apply_to) <= set(wanted):
        reporter.report(
            SENSOR_PRIM,
            _locate(file, schema),
            name=schema.name,
            found=", ".join(schema.can_only_apply_to) or "any prim",
            wanted=" or ".join(wanted),
            listing="[" + ", ".join(f'"{name}"' for name in wanted) + "]",
        )
    for prop in schema.properties:
        if sign := find_phrase(prop.name, GROUND_TRUTH):
            reporter.report(GROUND_TRUTH_FOUND, _locate(file, schema, prop), name=prop.name, sign=sign)


def _check_words(schema: SchemaClass, file: str, reporter: Reporter) -> None:
    for prop in schema.properties:
        where = _locate(file, schema, prop)
        sign = next(_transport_signs(prop), "")
        native = find_native(prop.name)
        if sign:
            reporter.report(TRANSPORT_FOUND, where, name=prop.name, sign=sign)
        # one finding for a property: transport is the worse mistake
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


def _locate(file: str, schema: SchemaClass, prop: SchemaProperty | None = None) -> Where:
    if prop is None:
        return Where(file, schema.line, prim=f"/{schema.name}")
    return Where(file, prop.line, prim=f"/{schema.name}", prop=prop.name)
