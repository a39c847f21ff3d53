# SPDX-License-Identifier: Apache-2.0
"""``simwright registry list|show|validate``."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.options import console, format_option, print_json, report_option, trust_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pxr import Usd

    from simwright.checker.rule import Rule
    from simwright.core.diag import Diagnostic, Reporter
    from simwright.usd.registry import Extension, SchemaClass

EPILOG = """\b
Examples:
  simwright registry list
  simwright registry show RosTopicAPI
  simwright registry show extended_physics_joint --format json
  simwright registry validate my_extension/
"""
LAYER_SECTION = "1.2.1"
"""The section on how a distributed asset is cut into layers."""

ISOLATION_BY_LAYER = frozenset(
    {"isol-decoupled", "isol-physics-core-only", "isol-physics-no-vendor", "isol-vendor-layer"}
)
"""The rules of section 1.4 that are about layers; its others are about names and values and are run."""

_ENDINGS = {"urdf": "urdf", "sdf": "sdf", "mjcf": "xml", "usd": "usda"}
"""Formats of conversions in submissions, and how their files end."""

_NAME_RULE = "schema-core"
"""The rule that compares names with the registry, which does not have the submission yet."""


@click.group("registry", epilog=EPILOG)
def registry() -> None:
    """List, show and validate extension schemas (REP-0158 4.2)."""


@registry.command("list", epilog="\b\nExample:\n  simwright registry list --format json\n")
@format_option("text", "json")
def list_command(output_format: str) -> None:
    """List the schema extensions that Simwright brings."""
    from simwright.usd.registry import list_extensions

    extensions = list_extensions()
    if output_format == "json":
        print_json({"version": 1, "extensions": [_plain_extension(e) for e in extensions]})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("EXTENSION", "FAMILY", "CLASSES", "WHAT IT IS FOR"):
        table.add_column(title, overflow="fold", no_wrap=title == "EXTENSION")
    for extension in extensions:
        classes = "\n".join(schema.name for schema in extension.classes)
        table.add_row(extension.name, extension.family, classes, extension.summary)
    console().print(table)


@registry.command("show", epilog="\b\nExample:\n  simwright registry show RosControlDiffDriveAPI\n")
@click.argument("name")
@format_option("text", "json")
def show_command(name: str, output_format: str) -> None:
    """Show an extension or one schema class: properties, types, defaults, allowed tokens."""
    from simwright.usd.registry import find_extension

    extension = find_extension(name)
    classes = [schema for schema in extension.classes if schema.name == name] or list(extension.classes)
    if output_format == "json":
        plain = _plain_extension(extension)
        plain["classes"] = [_plain_class(schema) for schema in classes]
        print_json({"version": 1, **plain})
        return
    from rich.text import Text

    out = console()
    out.print(
        Text(extension.name, "bold") + Text(f"  {extension.family}, library {extension.library}", "dim")
    )
    out.print(extension.summary)
    for schema in classes:
        _print_class(schema)


@registry.command(
    "validate", epilog="\b\nExample:\n  simwright registry validate my_extension/ --format sarif\n"
)
@trust_options
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@report_option
def validate_command(folder: str, output_format: str) -> int:
    """Check an extension FOLDER against REP-0158 4.2.

    The folder needs schema.usda, its generated plugin files, documentation, a minimal example asset, rules.toml
    (checks with cases) and conversion.toml (files of other formats); cases and conversions are run.

    The example must pass the rules of simwright check. It is one readable file, so the rules on how a
    distributed asset is cut into layers (section 1.2.1: entry-*, layer-*, proprietary-*) and on isolation by
    layer (section 1.4) do not apply to it.
    """
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.core.diag import Reporter
    from simwright.usd.plugins import register_plugins
    from simwright.usd.submission import validate_submission

    reporter = Reporter()
    register_plugins()  # before the first stage: OpenUSD reads schema definitions once
    validate_submission(Path(folder), reporter, _check_example, run_case, convert_source)
    print_findings(folder, reporter, output_format)
    return exit_code(reporter)


def run_case(text: str, codes: Sequence[str]) -> list[str]:
    """What rules of the checker say of a piece of a stage, as ``code: message``."""
    from simwright.checker.asset import check_file
    from simwright.checker.run import all_rules
    from simwright.core.scratch import scratch_folder

    known = {rule.code: rule for rule in all_rules()}
    unknown = [f"{code}: the checker has no such rule" for code in codes if code not in known]
    with scratch_folder() as folder:
        file = folder / "case.usda"
        file.write_text(text, encoding="utf-8")
        result = check_file(file, rules=[known[code] for code in codes if code in known])
    return unknown + [f"{found.kind}: {found.message}" for found in result.findings if found.kind in known]


def convert_source(source: str, form: str) -> Usd.Stage:
    """The stage that the text of a file becomes."""
    import simwright
    from simwright.core.errors import UsageError
    from simwright.core.scratch import scratch_folder

    if form not in _ENDINGS:
        raise UsageError(f"nothing converts {form!r}", hint=f"there are {', '.join(_ENDINGS)}")
    with scratch_folder() as folder:
        file = folder / f"source.{_ENDINGS[form]}"
        file.write_text(source, encoding="utf-8")
        return simwright.to_stage(simwright.load(file))


def _print_class(schema: SchemaClass) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    out.print()
    out.print(Text(schema.name, "bold cyan") + Text(f"  {schema.kind}", "dim"))
    out.print(schema.doc)
    if schema.builtins:
        out.print(f"brings: {', '.join(schema.builtins)}")
    if schema.can_only_apply_to:
        out.print(f"applies to: {', '.join(schema.can_only_apply_to)}")
    table = Table(box=None, pad_edge=False)
    for title in ("PROPERTY", "TYPE", "DEFAULT", "MEANING"):
        table.add_column(title, overflow="fold", no_wrap=title != "MEANING")
    for prop in schema.properties:
        tokens = f" One of: {', '.join(prop.allowed_tokens)}." if prop.allowed_tokens else ""
        default = "" if prop.default is None else str(prop.default)
        table.add_row(prop.name, prop.type, default, prop.doc + tokens)
    if schema.properties:
        out.print(table)


def _plain_extension(extension: Extension) -> dict[str, Any]:
    return {
        "name": extension.name,
        "library": extension.library,
        "family": extension.family,
        "summary": extension.summary,
        "classes": [_plain_class(schema) for schema in extension.classes],
    }


def _plain_class(schema: SchemaClass) -> dict[str, Any]:
    from simwright.app.describe import to_plain

    return {
        "name": schema.name,
        "kind": schema.kind,
        "doc": schema.doc,
        "builtins": list(schema.builtins),
        "applies_to": list(schema.can_only_apply_to),
        "properties": [
            {
                "name": prop.name,
                "type": prop.type,
                "variability": prop.variability,
                "default": to_plain(prop.default),
                "allowed_tokens": list(prop.allowed_tokens),
                "doc": prop.doc,
            }
            for prop in schema.properties
        ],
    }


def _check_example(path: Path, reporter: Reporter) -> None:
    """Add what the checker finds in an example, errors and warnings, to the reporter.

    Not run are the rules on how a distributed asset is cut into layers (section 1.2.1: entry-*, layer-*,
    proprietary-*) and on isolation by layer (1.4): a minimal example is one readable file.  Names that the
    schema.usda beside the example declares are not held against the registry.  An example that was reported as
    unreadable, or as leaving its folder, is not opened.

    OpenUSD reads schema definitions once: call :func:`simwright.usd.plugins.register_plugins` before anything
    opens a stage.
    """
    from simwright.checker.asset import check_file
    from simwright.checker.run import all_rules
    from simwright.core.diag import Level

    if any(_forbids_opening(found, path) for found in reporter):
        return
    # the registry does not know the submission yet, so its own names would all be unknown
    own = _match_own_names(path.parent)
    result = check_file(path, rules=[rule for rule in all_rules() if _applies_to_example(rule)])
    reporter.extend(
        _name_as_given(found, path.parent)
        for found in result.findings
        if found.level is not Level.INFO and not (found.kind == _NAME_RULE and own.fullmatch(_subject(found)))
    )


def _applies_to_example(rule: Rule) -> bool:
    """Is it a rule that an asset in one file can follow?"""
    return rule.section != LAYER_SECTION and rule.code not in ISOLATION_BY_LAYER


def _forbids_opening(found: Diagnostic, path: Path) -> bool:
    from simwright.usd.submission_example import EXAMPLE_PATH
    from simwright.usd.submission_plugin import UNREADABLE

    return found.kind == EXAMPLE_PATH.code or (
        found.kind == UNREADABLE.code and found.where.file == str(path)
    )


def _name_as_given(found: Diagnostic, folder: Path) -> Diagnostic:
    """The finding with its file named below the folder as the caller names it, like those of the submission."""
    from simwright.core.diag import relocate

    file, root = Path(found.where.file), folder.resolve()
    if not found.where.file or not file.is_relative_to(root):
        return found
    return relocate(found, dataclasses.replace(found.where, file=str(folder / file.relative_to(root))))


def _match_own_names(folder: Path) -> re.Pattern[str]:
    """Matches the classes and properties that the submission declares."""
    from simwright.core.errors import InputError
    from simwright.usd.registry import INSTANCE, read_extension

    try:
        classes = read_extension(folder).classes
    # that schema.usda cannot be read has been reported before
    except InputError:
        classes = ()
    names = {schema.name for schema in classes}
    names |= {prop.name for schema in classes for prop in schema.properties}
    choices = (re.escape(name).replace(INSTANCE, r"\w+") for name in sorted(names))
    # an empty pattern would match every name; this one matches none
    return re.compile("|".join(choices) or r"(?!)")


def _subject(found: Diagnostic) -> str:
    """The property that a finding is about, else the class, which its message begins with."""
    return found.where.prop or re.split(r"[\s:]", found.message, maxsplit=1)[0]
