# SPDX-License-Identifier: Apache-2.0
"""The compliance check of a submission's example (REP-0158 4.2: the example passes the checker).

A minimal example is one readable file.  The rules of section 1.2.1, which say how a distributed asset is cut into
layers (``entry-*``, ``layer-*``, ``proprietary-*``), and those of section 1.4 that ask for a layer of its own per
kind of content are therefore not run.  Every other rule is, and its findings keep their codes.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING

from simwright.core.diag import Diagnostic, Level, Reporter, relocate
from simwright.core.errors import InputError
from simwright.usd.registry import INSTANCE, read_extension
from simwright.usd.submission_example import EXAMPLE_PATH
from simwright.usd.submission_plugin import UNREADABLE

if TYPE_CHECKING:
    from simwright.checker.rule import Rule

LAYER_SECTION = "1.2.1"
"""The section on how a distributed asset is cut into layers."""

ISOLATION_BY_LAYER = frozenset(
    {"isol-decoupled", "isol-physics-core-only", "isol-physics-no-vendor", "isol-vendor-layer"}
)
"""The rules of section 1.4 that are about layers; its others are about names and values and are run."""

_NAME_RULE = "schema-core"
"""The rule that compares names with the registry, which does not have the submission yet."""


def check_example(path: Path, reporter: Reporter) -> None:
    """Add what the checker finds in an example, errors and warnings, to the reporter.

    Not run are the rules on how a distributed asset is cut into layers (section 1.2.1: entry-*, layer-*,
    proprietary-*) and on isolation by layer (1.4): a minimal example is one readable file.  Names that the
    schema.usda beside the example declares are not held against the registry.  An example that was reported as
    unreadable, or as leaving its folder, is not opened.

    OpenUSD reads schema definitions once: call :func:`simwright.usd.plugins.register_plugins` before anything
    opens a stage.
    """
    if any(_forbids_opening(found, path) for found in reporter):
        return
    from simwright.checker.asset import check_file
    from simwright.checker.run import all_rules

    own = _match_own_names(path.parent)
    result = check_file(path, rules=[rule for rule in all_rules() if applies_to_example(rule)])
    reporter.extend(
        _name_as_given(found, path.parent)
        for found in result.findings
        if found.level is not Level.INFO and not (found.kind == _NAME_RULE and own.fullmatch(_subject(found)))
    )


def applies_to_example(rule: Rule) -> bool:
    """Is it a rule that an asset in one file can follow?"""
    return rule.section != LAYER_SECTION and rule.code not in ISOLATION_BY_LAYER


def _forbids_opening(found: Diagnostic, path: Path) -> bool:
    return found.kind == EXAMPLE_PATH.code or (
        found.kind == UNREADABLE.code and found.where.file == str(path)
    )


def _name_as_given(found: Diagnostic, folder: Path) -> Diagnostic:
    """The finding with its file named below the folder as the caller names it, like those of the submission."""
    file, root = Path(found.where.file), folder.resolve()
    if not found.where.file or not file.is_relative_to(root):
        return found
    return relocate(found, dataclasses.replace(found.where, file=str(folder / file.relative_to(root))))


def _match_own_names(folder: Path) -> re.Pattern[str]:
    """Matches the classes and properties that the submission declares."""
    try:
        classes = read_extension(folder).classes
    except InputError:
        classes = ()
    names = {schema.name for schema in classes}
    names |= {prop.name for schema in classes for prop in schema.properties}
    choices = (re.escape(name).replace(INSTANCE, r"\w+") for name in sorted(names))
    return re.compile("|".join(choices) or r"(?!)")


def _subject(found: Diagnostic) -> str:
    """The property that a finding is about, else the class, which its message begins with."""
    return found.where.prop or re.split(r"[\s:]", found.message, maxsplit=1)[0]
