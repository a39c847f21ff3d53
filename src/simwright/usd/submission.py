# SPDX-License-Identifier: Apache-2.0
"""Hold a schema submission to the rules of the registry (REP-0158 4.2).

A submission is a folder::

    schema.usda             the source: one class per schema
    generatedSchema.usda    made from it by usdGenSchema
    plugInfo.json           made from it by usdGenSchema
    README.md               what it is for and how it is used (or a docs folder)
    example.usda            a minimal asset that applies every schema

Not checked, because no file shows it: that parameters make sense for every simulator, and that the compliance
checker has rules for the new schema.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError, NotFoundError
from simwright.core.files import MIB, check_readable
from simwright.usd.registry import Extension, read_extension
from simwright.usd.submission_example import check_example
from simwright.usd.submission_names import check_names
from simwright.usd.submission_plugin import UNREADABLE, check_plugin, report_unreadable
from simwright.usd.submission_rules import check_rules

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
    "the documentation has {count} words; that cannot tell how the schema is used",
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
}

CheckAsset = Callable[[Path, Reporter], None]
"""Checks the asset in a file, as the compliance checker does."""


def validate_submission(
    folder: str | os.PathLike[str], reporter: Reporter, check_asset: CheckAsset | None = None
) -> Extension | None:
    """Report every breach of the registry's rules and give what the folder describes, if it can be read.

    ``check_asset`` is run on the example in addition, if it is given.
    """
    path = Path(folder)
    if not path.is_dir():
        raise NotFoundError(
            "is no folder", hint="name the folder that holds schema.usda", where=Where(str(path))
        )
    for name, advice in _REQUIRED.items():
        if not (path / name).is_file():
            reporter.report(FILE_MISSING, Where(str(path)), name=name, advice=advice)
    if _report_links(path, reporter):
        return None
    extension = _read(path, reporter)
    _check_docs(path, extension, reporter)
    if extension is None:
        return None
    schema = str(path / "schema.usda")
    check_rules(extension, schema, reporter)
    check_names(extension, schema, reporter)
    check_plugin(extension, reporter)
    check_example(extension, reporter)
    example = path / "example.usda"
    if check_asset and example.is_file():
        check_asset(example, reporter)
    return extension


def _report_links(folder: Path, reporter: Reporter) -> bool:
    """Report files that are links to somewhere else: what they say is no part of the submission."""
    root = folder.resolve()
    files = [folder / name for name in _REQUIRED if (folder / name).is_file()]
    found = [file for file in (*files, *_list_documents(folder)) if root not in file.resolve().parents]
    for file in found:
        reporter.report(UNREADABLE, Where(str(file)), reason="is a link that leads out of the folder")
    return bool(found)


def _read(folder: Path, reporter: Reporter) -> Extension | None:
    if not (folder / "schema.usda").is_file():
        return None
    try:
        return read_extension(folder)
    except InputError as error:
        report_unreadable(error, folder / "schema.usda", reporter)
        return None


def _check_docs(folder: Path, extension: Extension | None, reporter: Reporter) -> None:
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
