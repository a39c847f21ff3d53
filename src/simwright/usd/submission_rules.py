# SPDX-License-Identifier: Apache-2.0
"""What an extension brings for the compliance checker and for converters: ``rules.toml`` and ``conversion.toml``.

``rules.toml`` is data, so a submission of a stranger is run without running a stranger's code::

    rules = ["xphys-mimic-valid"]       # rules of the checker that judge the schema, if there are any

    [[check]]                           # what a property must be where it is authored
    property = "sensor:lidar:minRange"
    at_least = 0                        # also: above, at_most (numbers, or names of properties of the same prim)
    below = "sensor:lidar:maxRange"
    # every = true                      the entries of an array or vector one by one; increasing = true
    # targets = ["PhysicsJoint"], count = [1, 1]        of a relationship: types or APIs, least and most

    [[case]]                            # a piece of a stage, and what is said of it (nothing: it is right)
    usda = 'def Xform "a" (prepend apiSchemas = ["SensorLidarAPI"]) { double sensor:lidar:minRange = -1 }'
    expect = ["sensor:lidar:minRange"]

``conversion.toml`` has files of other formats, with the values that they give, or the reason why there are none::

    [[conversion]]
    format = "sdf"
    source = "<sdf ...>"
    [conversion.expect]
    "sensor:lidar:horizontalSamples" = 640
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError, ParseError, SimwrightError
from simwright.core.files import MIB, check_readable
from simwright.usd.submission_plugin import report_unreadable

if TYPE_CHECKING:
    from pxr import Usd

    from simwright.usd.registry import Extension

RULES, CONVERSION = "rules.toml", "conversion.toml"
RULES_EMPTY = declare(
    "submission-rules-empty",
    Level.ERROR,
    "{file} {what}",
    hint="{advice}",
    doc="A submission brings what the checker and converters need for it, with examples that are run.",
    section="4.2",
)
RULES_BROKEN = declare(
    "submission-rules-broken",
    Level.ERROR,
    "{what}",
    hint="{advice}",
    doc="A check, a case or a conversion of the submission cannot be used as it is written.",
    section="4.2",
)
CASE_FAILED = declare(
    "submission-case-failed",
    Level.ERROR,
    "case {number} ({name}) {what}",
    hint="correct the case, or the check it is about",
    doc="The cases of a submission are run: each has to be judged as it says.",
    section="4.2",
)
CONVERSION_FAILED = declare(
    "submission-conversion-failed",
    Level.ERROR,
    "conversion {number} from {format}: {what}",
    hint="correct the source or the expected values, or the converter",
    doc="The conversions of a submission are run: each has to give the values that it names.",
    section="4.2",
)

_BOUNDS = ("at_least", "above", "at_most", "below")
_KEYS = frozenset({"property", "every", "increasing", "targets", "count", "why", *_BOUNDS})
_TOLERANCE = 1e-9
MAX_CASES = 200

RunCase = Callable[[str, Sequence[str]], list[str]]
"""What rules of the checker, by code, say of a piece of a stage: ``code: message``."""
Convert = Callable[[str, str], "Usd.Stage"]
"""The stage that a file of a format becomes."""


@dataclass(frozen=True, slots=True)
class PropertyCheck:
    """What one property of a schema must be.  A bound is a number, or the name of a property of the same prim."""

    property: str
    bounds: tuple[tuple[str, float | str], ...] = ()
    every: bool = False
    increasing: bool = False
    targets: tuple[str, ...] = ()
    count: tuple[int, int] | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class ExtensionRules:
    """What ``rules.toml`` says."""

    rules: tuple[str, ...] = ()
    checks: tuple[PropertyCheck, ...] = ()
    cases: tuple[dict[str, Any], ...] = field(default=(), hash=False)


def read_rules(folder: Path) -> ExtensionRules:
    """The rules of an extension; none where it brings no file, a ParseError where it is wrong."""
    file = folder / RULES
    if not file.is_file():
        return ExtensionRules()
    data = _read_toml(file)
    rows = data.get("check", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ParseError(
            "check is no list of tables", hint="write [[check]] before each", where=Where(str(file))
        )
    checks = tuple(_read_check(row, file) for row in rows)
    rules = data.get("rules", [])
    cases = tuple(case for case in data.get("case", []) if isinstance(case, dict))
    return ExtensionRules(tuple(str(code) for code in rules), checks, cases[:MAX_CASES])


def _read_toml(file: Path) -> dict[str, Any]:
    check_readable(file, MIB)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = "correct it as a TOML parser wants it"
        raise ParseError(f"is not valid TOML: {error}", hint=hint, where=Where(str(file))) from None


# the keys of one table, each with what it must be
def _read_check(row: dict[str, Any], file: Path) -> PropertyCheck:
    unknown = sorted(row.keys() - _KEYS)
    name = row.get("property")
    if unknown or not isinstance(name, str):
        what = f"a check has no {unknown[0]!r}" if unknown else "a check names no property"
        raise ParseError(what, hint=f"a check may have {', '.join(sorted(_KEYS))}", where=Where(str(file)))
    bounds = tuple((word, row[word]) for word in _BOUNDS if word in row)
    for word, bound in bounds:
        if isinstance(bound, bool) or not isinstance(bound, (int, float, str)):
            hint = "write a number, or the name of a property"
            raise ParseError(f"{word} of {name} is {bound!r}", hint=hint, where=Where(str(file)))
    count = row.get("count")
    is_pair = isinstance(count, list) and len(count) == 2 and all(type(v) is int for v in count)
    return PropertyCheck(
        name,
        bounds,
        bool(row.get("every")),
        bool(row.get("increasing")),
        tuple(str(word) for word in row.get("targets", ())),
        (count[0], count[1]) if is_pair and isinstance(count, list) else None,
        str(row.get("why", "")),
    )


def sort_checks(
    extension: Extension, checks: Sequence[PropertyCheck]
) -> dict[str, tuple[PropertyCheck, ...]]:
    """Checks by the class that has their property."""
    found: dict[str, tuple[PropertyCheck, ...]] = {}
    for schema in extension.classes:
        own = {prop.name for prop in schema.properties}
        found[schema.name] = tuple(check for check in checks if check.property in own)
    return found


def judge_prim(prim: Usd.Prim, checks: Sequence[PropertyCheck]) -> Iterator[tuple[str, str, str]]:
    """Property, what is wrong with it, and why it matters, for every check that a prim breaks."""
    for check in checks:
        wrong = _judge_targets(prim, check) if check.targets or check.count else _judge_value(prim, check)
        if wrong:
            yield check.property, wrong, check.why


# what can be wrong with a number, in the order in which it is told
def _judge_value(prim: Usd.Prim, check: PropertyCheck) -> str:
    numbers = _read_numbers(prim, check.property, authored=True)
    if numbers is None:
        return ""
    if any(math.isnan(number) for number in numbers):
        return "is not a number"
    if check.increasing and any(b <= a for a, b in itertools.pairwise(numbers)):
        return "does not increase from entry to entry"
    for word, bound in check.bounds:
        limits = _read_numbers(prim, bound, authored=False) if isinstance(bound, str) else [float(bound)]
        for number, limit in zip(numbers, (limits or []) * len(numbers), strict=False):
            if not _holds(word, number, limit):
                name = f"{bound}, which is {limit:g}" if isinstance(bound, str) else f"{limit:g}"
                return f"is {number:g}; it must be {word.replace('_', ' ')} {name}"
    return ""


def _holds(word: str, number: float, limit: float) -> bool:
    match word:
        case "at_least":
            return number >= limit
        case "above":
            return number > limit
        case "at_most":
            return number <= limit
    return number < limit


def _read_numbers(prim: Usd.Prim, name: str, *, authored: bool) -> list[float] | None:
    """The numbers of an attribute; None where it has none, or is no number.  A limit may be a schema's fallback."""
    attribute = prim.GetAttribute(name)
    if not attribute or (authored and not attribute.HasAuthoredValue()):
        return None
    value = attribute.Get()
    try:
        return [float(value)] if isinstance(value, (int, float)) else [float(entry) for entry in value]
    except (TypeError, ValueError):
        return None


def _judge_targets(prim: Usd.Prim, check: PropertyCheck) -> str:
    relationship = prim.GetRelationship(check.property)
    targets = relationship.GetForwardedTargets() if relationship else []
    if check.count:
        least, most = check.count
        if not least <= len(targets) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            return f"has {len(targets)} targets; it must have {wanted}"
    for path in targets if check.targets else ():
        target = prim.GetStage().GetPrimAtPath(path)
        if not target:
            return f"leads to {path}, which is no prim"
        apis = target.GetPrimTypeInfo().GetAppliedAPISchemas()
        if not any(word in apis or _is_a(target, word) for word in check.targets):
            found = target.GetTypeName() or "a prim without a type"
            return f"leads to {path}, which is {found} and no {' or '.join(check.targets)}"
    return ""


def _is_a(prim: Usd.Prim, name: str) -> bool:
    from pxr import Usd

    kind = Usd.SchemaRegistry.GetTypeFromSchemaTypeName(name)
    return bool(kind) and not kind.isUnknown and prim.IsA(kind)


def check_additions(
    extension: Extension, reporter: Reporter, run_case: RunCase | None = None, convert: Convert | None = None
) -> None:
    """Report what is wrong with ``rules.toml`` and ``conversion.toml``, and run their cases."""
    try:
        _check_rules(extension, reporter, run_case)
        _check_conversions(extension, reporter, convert)
    except InputError as error:
        report_unreadable(error, extension.folder, reporter)


# what the file says, then what its cases give
def _check_rules(extension: Extension, reporter: Reporter, run_case: RunCase | None) -> None:
    file = extension.folder / RULES
    if not file.is_file():
        return  # reported with the other files
    found, where = read_rules(extension.folder), Where(str(file))
    if not found.rules and not found.checks:
        advice = "write a [[check]] for what a value must be, or name rules of the checker"
        reporter.report(RULES_EMPTY, where, file=RULES, what="brings no check and no rule", advice=advice)
    known = {prop.name for schema in extension.classes for prop in schema.properties}
    for name in _list_names(found.checks):
        if name not in known:
            what = f"a check is about {name!r}, which is no property of the schema"
            reporter.report(RULES_BROKEN, where, what=what, advice="correct the name")
    wrong = [case for case in found.cases if case.get("expect")]
    if not wrong or len(wrong) == len(found.cases):
        advice = "write a [[case]] that is right and one with expect = [...] that is not"
        reporter.report(RULES_EMPTY, where, file=RULES, what="needs a case of each kind", advice=advice)
    for number, case in enumerate(found.cases, 1):
        what = _try_case(case, extension, found, run_case)
        if what:
            name = str(case.get("name", "unnamed"))
            reporter.report(CASE_FAILED, where, number=number, name=name, what=what)


def _list_names(checks: Sequence[PropertyCheck]) -> Iterator[str]:
    for check in checks:
        yield check.property
        yield from (bound for _, bound in check.bounds if isinstance(bound, str))


def _try_case(
    case: dict[str, Any], extension: Extension, rules: ExtensionRules, run_case: RunCase | None
) -> str:
    """How the judgement of a case differs from what it expects."""
    text, expected = str(case.get("usda", "")), [str(word) for word in case.get("expect", ())]
    text = text if text.startswith("#usda") else f"#usda 1.0\n{text}"
    stage = _open_text(text)
    if stage is None:
        return "is no text of OpenUSD"
    said = _judge_stage(stage, sort_checks(extension, rules.checks))
    if rules.rules and run_case is None:
        return ""  # only the checker can tell
    if rules.rules and run_case is not None:
        said += run_case(text, rules.rules)
    return _compare(said, expected)


def _compare(said: list[str], expected: list[str]) -> str:
    missing = [word for word in expected if not any(word in line for line in said)]
    extra = [line for line in said if not any(word in line for word in expected)]
    if missing:
        return f"expects {missing[0]!r}, and {'nothing is found' if not said else f'found is: {said[0]}'}"
    return f"expects nothing like it, and found is: {extra[0]}" if extra else ""


def _judge_stage(stage: Usd.Stage, checks: dict[str, tuple[PropertyCheck, ...]]) -> list[str]:
    return [
        f"{name} {wrong}"
        for prim in stage.Traverse()
        for api in prim.GetPrimTypeInfo().GetAppliedAPISchemas()
        for name, wrong, _ in judge_prim(prim, checks.get(api, ()))
    ]


def _open_text(text: str) -> Usd.Stage | None:
    from pxr import Sdf, Tf, Usd

    layer = Sdf.Layer.CreateAnonymous(".usda")
    try:
        layer.ImportFromString(text)
    except Tf.ErrorException:
        return None
    return Usd.Stage.Open(layer) if layer.rootPrims else None


# one finding for each row, and one where there is none
def _check_conversions(extension: Extension, reporter: Reporter, convert: Convert | None) -> None:
    file = extension.folder / CONVERSION
    if not file.is_file():
        return
    data, where = _read_toml(file), Where(str(file))
    rows = [row for row in data.get("conversion", []) if isinstance(row, dict)]
    if not rows and len(str(data.get("none", "")).split()) < 5:
        advice = (
            'write [[conversion]] with format, source and expect, or none = "why there is nothing to convert"'
        )
        reporter.report(RULES_EMPTY, where, file=CONVERSION, what="has no conversion", advice=advice)
    known = {prop.name for schema in extension.classes for prop in schema.properties}
    for number, row in enumerate(rows[:MAX_CASES], 1):
        form, expected = str(row.get("format", "")), row.get("expect", {})
        if not isinstance(expected, dict) or not expected.keys() <= known or not expected:
            what = f"conversion {number} expects no values of properties of the schema"
            reporter.report(
                RULES_BROKEN, where, what=what, advice="name properties of schema.usda and their values"
            )
        elif convert is not None:
            what = _try_conversion(str(row.get("source", "")), form, expected, convert)
            if what:
                reporter.report(CONVERSION_FAILED, where, number=number, format=form, what=what)


def _try_conversion(source: str, form: str, expected: dict[str, Any], convert: Convert) -> str:
    try:
        stage = convert(source, form)
    except SimwrightError as error:
        return f"it cannot be read: {error}"
    for name, wanted in expected.items():
        found = [_read_plain(prim, name) for prim in stage.Traverse()]
        values = [value for value in found if value is not None]
        if not any(_is_close(value, wanted) for value in values):
            return f"{name} is {values[0] if values else 'not there'}, expected is {wanted}"
    return ""


def _read_plain(prim: Usd.Prim, name: str) -> Any:
    """An authored value as TOML has it; the names of targets of a relationship."""
    relationship = prim.GetRelationship(name)
    if relationship:
        return (
            [path.name for path in relationship.GetTargets()] if relationship.HasAuthoredTargets() else None
        )
    attribute = prim.GetAttribute(name)
    if not attribute or not attribute.HasAuthoredValue():
        return None
    value = attribute.Get()
    return value if isinstance(value, (bool, int, float, str)) else list(value)


def _is_close(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(_is_close, found, wanted))
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        return is_number and math.isclose(found, wanted, rel_tol=1e-6, abs_tol=_TOLERANCE)
    return bool(found == wanted)
