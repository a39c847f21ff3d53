# SPDX-License-Identifier: Apache-2.0
"""Do the generated files of a submission say what its schema.usda says? (REP-0158 4.1)

OpenUSD reads plugInfo.json and generatedSchema.usda and never the schema.usda they were made from; a stale
pair is the most common way for a schema to be something else than its source.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError
from simwright.core.files import MIB, check_readable
from simwright.usd.registry import Extension, SchemaClass, open_layer, read_classes
from simwright.usd.submission_names import describe_difference
from simwright.usd.text import LineMap, map_lines

GENERATED_STALE = declare(
    "submission-generated-stale",
    Level.ERROR,
    "the generated schema does not agree with schema.usda: {what}",
    hint="run usdGenSchema again and do not edit its output",
    doc="generatedSchema.usda is what OpenUSD uses; it must say the same as its source.",
    section="4.1",
)
PLUGINFO_STALE = declare(
    "submission-pluginfo-stale",
    Level.ERROR,
    "plugInfo.json does not agree with schema.usda: {what}",
    hint="run usdGenSchema again and do not edit its output",
    doc="plugInfo.json is how OpenUSD finds the schema; it must list the classes of its source.",
    section="4.1",
)
UNREADABLE = declare(
    "submission-unreadable",
    Level.ERROR,
    "{reason}",
    hint="correct the file, or make it again from schema.usda",
    doc="A file of the submission cannot be read.",
    section="4.2",
)

_KINDS = {"singleApply": "singleApplyAPI", "multipleApply": "multipleApplyAPI", "nonApplied": "nonAppliedAPI"}


def check_plugin(extension: Extension, reporter: Reporter) -> None:
    """Report where the generated files, as far as they exist, differ from the schema."""
    generated = extension.folder / "generatedSchema.usda"
    if generated.exists():
        _check_generated(extension, generated, reporter)
    plug_info = extension.folder / "plugInfo.json"
    if plug_info.exists():
        _check_plug_info(extension, plug_info, reporter)


def report_unreadable(error: InputError, file: Path, reporter: Reporter) -> None:
    """Turn an error about one file into a finding."""
    reporter.report(UNREADABLE, error.where or Where(str(file)), reason=error.message)


def _check_generated(extension: Extension, file: Path, reporter: Reporter) -> None:
    try:
        found = {schema.name: schema for schema in read_classes(open_layer(file))}
        lines = map_lines(file.read_text(encoding="utf-8", errors="replace"))
    except InputError as error:
        report_unreadable(error, file, reporter)
        return
    for schema in extension.classes:
        twin = found.pop(schema.name, None)
        if twin is None:
            reporter.report(GENERATED_STALE, Where(str(file)), what=f"the class {schema.name} is missing")
        else:
            _compare_class(schema, twin, file, lines, reporter)
    for name in found:
        where = Where(str(file), lines.find(f"/{name}"), prim=f"/{name}")
        reporter.report(GENERATED_STALE, where, what=f"it has a class {name} that schema.usda has not")


def _compare_class(
    schema: SchemaClass, twin: SchemaClass, file: Path, lines: LineMap, reporter: Reporter
) -> None:
    """Report each property of ``twin``, the generated form, that is not as ``schema`` has it."""
    wanted = {prop.name: prop for prop in schema.properties}
    found = {prop.name: prop for prop in twin.properties}
    if schema.builtins != twin.builtins and schema.kind == "singleApply":
        where = Where(str(file), lines.find(f"/{schema.name}"), prim=f"/{schema.name}")
        what = f"{schema.name} has the built-in schemas {list(twin.builtins)}, not {list(schema.builtins)}"
        reporter.report(GENERATED_STALE, where, what=what)
    for name in sorted(wanted.keys() | found.keys()):
        what = describe_difference(name, wanted.get(name), found.get(name))
        if what:
            where = Where(str(file), lines.find(f"/{schema.name}", name), prim=f"/{schema.name}", prop=name)
            reporter.report(GENERATED_STALE, where, what=f"in {schema.name} {what}")


def _check_plug_info(extension: Extension, file: Path, reporter: Reporter) -> None:
    try:
        plugin, text = _read_plugin(file)
    except InputError as error:
        report_unreadable(error, file, reporter)
        return
    if plugin.get("Name") != extension.library:
        what = f"the plugin is called {plugin.get('Name')!r}, the library {extension.library!r}"
        reporter.report(PLUGINFO_STALE, _find_text(file, text, '"Name"'), what=what)
    if plugin.get("Type") != "resource":
        what = f"the plugin type is {plugin.get('Type')!r}, which a codeless schema is not"
        reporter.report(PLUGINFO_STALE, _find_text(file, text, '"Type"'), what=what)
    info = plugin.get("Info")
    types = info.get("Types") if isinstance(info, dict) else None
    types = dict(types) if isinstance(types, dict) else {}
    for schema in extension.classes:
        what = _describe_type(schema, types.pop(schema.cpp_name, None))
        if what:
            reporter.report(PLUGINFO_STALE, _find_text(file, text, f'"{schema.cpp_name}"'), what=what)
    for name in types:
        what = f"it lists {name}, which schema.usda has not"
        reporter.report(PLUGINFO_STALE, _find_text(file, text, f'"{name}"'), what=what)


def _find_text(file: Path, text: str, needle: str) -> Where:
    """The first line of ``text`` that holds ``needle``."""
    found = text.find(needle)
    return Where(str(file), text.count("\n", 0, found) + 1 if found >= 0 else None)


def _describe_type(schema: SchemaClass, entry: Any) -> str:
    """How a row of Types differs from the class; empty if it does not."""
    if not isinstance(entry, dict):
        return f"the type {schema.cpp_name} of {schema.name} is missing"
    wanted: dict[str, Any] = {
        "bases": ["UsdAPISchemaBase"],
        "schemaIdentifier": schema.name,
        "schemaKind": _KINDS.get(schema.kind, schema.kind),
        "alias": {"UsdSchemaBase": schema.name} if schema.cpp_name != schema.name else None,
        "apiSchemaCanOnlyApplyTo": list(schema.can_only_apply_to) or None,
    }
    for key, value in wanted.items():
        if entry.get(key) != value:
            return f"{key} of {schema.cpp_name} is {entry.get(key)!r} where it should be {value!r}"
    return ""


def _read_plugin(file: Path) -> tuple[dict[str, Any], str]:
    """The plugin of a plugInfo.json, which may have ``#`` comment lines, and the text of the file."""
    check_readable(file, MIB)
    text = file.read_text(encoding="utf-8", errors="replace")
    # usdGenSchema writes # comments into the JSON; empty lines keep the numbers of the others
    body = "\n".join("" if line.lstrip().startswith("#") else line for line in text.splitlines())
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise InputError(f"is not valid JSON: {error}", where=Where(str(file), line)) from None
    plugins = content.get("Plugins") if isinstance(content, dict) else None
    if not isinstance(plugins, list) or len(plugins) != 1 or not isinstance(plugins[0], dict):
        raise InputError("declares no plugin, or more than one", where=Where(str(file)))
    return plugins[0], text
