# SPDX-License-Identifier: Apache-2.0
"""Is the example of a submission an asset that shows its schemas? (REP-0158 4.2, with 1.1, 1.2.2 and 1.2.5)

It is opened alone: what it needs has to lie in its folder.  What is authored is compared with the schema
layer and not with what OpenUSD has registered, so nothing has to be installed to check a submission.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError, UnsafePathError
from simwright.core.files import resolve_inside
from simwright.usd.registry import INSTANCE, Extension, SchemaClass, SchemaProperty, list_classes, open_layer
from simwright.usd.silence import capture, read_text
from simwright.usd.submission_plugin import report_unreadable
from simwright.usd.text import LineMap, map_lines

EXAMPLE_PATH = declare(
    "submission-example-path",
    Level.ERROR,
    "the example uses {path!r}, which is not inside its folder",
    hint="put the file beside example.usda and use a relative path",
    doc="A minimal example is self-contained; a file outside the submission will not be there for others.",
    section="1.2.5",
)
EXAMPLE_COMPOSITION = declare(
    "submission-example-composition",
    Level.ERROR,
    "the example does not compose: {reason}",
    hint="usdcat --flatten shows the same complaint",
    doc="The example must open without composition errors.",
    section="4.2",
)
EXAMPLE_METADATA = declare(
    "submission-example-metadata",
    Level.ERROR,
    "the example {what}",
    hint="{advice}",
    doc="The example follows the baseline: units, up axis, default prim, kind and asset information.",
    section="1.1",
)
EXAMPLE_UNUSED = declare(
    "submission-example-unused",
    Level.ERROR,
    "the example does not apply {name}",
    hint="apply every schema of the submission to a prim of the example",
    doc="The example shows each class of the submission in use.",
    section="4.2",
)
EXAMPLE_PRIM_TYPE = declare(
    "submission-example-prim-type",
    Level.ERROR,
    "{name} is applied to a prim of type {found!r}; it can only be applied to {wanted}",
    hint="apply it to a prim of one of these types, or widen apiSchemaCanOnlyApplyTo",
    doc="The example applies a schema where the schema itself does not allow it.",
    section="4.2.1",
)
EXAMPLE_PROPERTY = declare(
    "submission-example-property",
    Level.ERROR,
    "{what}",
    hint="write the property as schema.usda declares it",
    doc="The properties in the example agree with the schema in name, type, value and relationship targets.",
    section="4.2",
)
EXAMPLE_NOT_APPLIED = declare(
    "submission-example-not-applied",
    Level.WARNING,
    "the prim has {name!r} but {owner} is not applied to it",
    hint="add {owner} to the apiSchemas of the prim",
    doc="A schema property without its schema is not found by tools that look for the schema.",
    section="4.2",
)

_MAX_LAYERS = 64
_STAGE_METADATA = (
    ("metersPerUnit", 1.0),
    ("kilogramsPerUnit", 1.0),
    ("timeCodesPerSecond", 1.0),
    ("upAxis", "Z"),
)


def check_example(extension: Extension, reporter: Reporter) -> None:
    """Report what is wrong with ``example.usda``, if it exists."""
    file = extension.folder / "example.usda"
    if not file.exists():
        return
    try:
        is_safe = _check_dependencies(file, reporter)
    except InputError as error:
        report_unreadable(error, file, reporter)
        return
    # composing would open the file that lies outside
    if not is_safe:
        return
    stage = _open_stage(file, reporter)
    if stage is None:
        return
    source = _Source(str(file), map_lines(file.read_text(encoding="utf-8", errors="replace")))
    _check_metadata(stage, source, reporter)
    _check_prims(stage, extension, source, reporter)


@dataclass(frozen=True, slots=True)
class _Source:
    """The text of the example: its file and where things stand in it."""

    file: str
    lines: LineMap

    def place(self, prim: Any, prop: str = "") -> Where:
        path = str(prim.GetPath())
        return Where(self.file, self.lines.find(path, prop), prim=path, prop=prop)


def _check_dependencies(file: Path, reporter: Reporter) -> bool:
    """Report composition paths that leave the folder; a stage with one of them is not opened."""
    root, waiting, seen = file.parent, [file], {file.resolve()}
    is_safe = True
    while waiting and len(seen) <= _MAX_LAYERS:
        current = waiting.pop()
        for path in open_layer(current).GetCompositionAssetDependencies():
            try:
                target = resolve_inside(root, str(current.parent.resolve() / path))
            except UnsafePathError:
                reporter.report(EXAMPLE_PATH, Where(str(current)), path=path)
                is_safe = False
                continue
            if target.is_file() and target not in seen:
                seen.add(target)
                waiting.append(target)
    return is_safe


def _open_stage(file: Path, reporter: Reporter) -> Any:
    """The composed stage, or None; what OpenUSD complains about is reported instead of printed."""
    from pxr import Tf, Usd

    with capture():
        try:
            stage = Usd.Stage.Open(str(file))
        except Tf.ErrorException as error:
            reporter.report(
                EXAMPLE_COMPOSITION, Where(str(file)), reason=" ".join(read_text(error.__str__).split())[:300]
            )
            return None
    for problem in stage.GetCompositionErrors():
        reporter.report(EXAMPLE_COMPOSITION, Where(str(file)), reason=str(problem))
    return stage


def _check_metadata(stage: Any, source: _Source, reporter: Reporter) -> None:
    layer = stage.GetRootLayer()
    # asked of the layer: the stage would answer with OpenUSD's fallbacks
    for key, wanted in _STAGE_METADATA:
        found = layer.pseudoRoot.GetInfo(key) if layer.pseudoRoot.HasInfo(key) else None
        if found != wanted:
            what = f"does not set {key}" if found is None else f"sets {key} to {found!r}"
            _report_metadata(
                reporter, Where(source.file), what, f"write {key} = {_literal(wanted)} in the layer metadata"
            )
    root = stage.GetDefaultPrim()
    if not root:
        _report_metadata(
            reporter, Where(source.file), "has no default prim", "write defaultPrim in the layer metadata"
        )
        return
    where = source.place(root)
    if not root.GetMetadata("kind"):
        _report_metadata(reporter, where, "has no kind on its default prim", 'write kind = "component"')
    for key in ("identifier", "version"):
        value = root.GetAssetInfoByKey(key)
        if not (getattr(value, "path", value) or ""):
            what = f"has no assetInfo {key} on its default prim"
            _report_metadata(
                reporter, where, what, f"write string {key} in the assetInfo of the default prim"
            )


def _report_metadata(reporter: Reporter, where: Where, what: str, advice: str) -> None:
    reporter.report(EXAMPLE_METADATA, where, what=what, advice=advice)


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def _check_prims(stage: Any, extension: Extension, source: _Source, reporter: Reporter) -> None:
    from pxr import Usd

    known = {schema.name: schema for _, schema in list_classes()}
    known |= {schema.name: schema for schema in extension.classes}
    applied: set[str] = set()
    for prim in Usd.PrimRange.Stage(stage, Usd.PrimAllPrimsPredicate):
        where = source.place(prim)
        uses = list(_list_uses(prim, known))
        applied.update(schema.name for schema, _ in uses)
        for schema, _ in uses:
            _check_type(prim, schema, where, reporter)
        _check_properties(prim, uses, known, source, reporter)
    for schema in extension.classes:
        if schema.name not in applied:
            reporter.report(EXAMPLE_UNUSED, Where(source.file), name=schema.name)


def _list_uses(prim: Any, known: dict[str, SchemaClass]) -> Iterator[tuple[SchemaClass, str]]:
    """The known schemas on a prim with their instance names, built-in ones included."""
    waiting = [str(name) for name in prim.GetPrimTypeInfo().GetAppliedAPISchemas()]
    seen: set[str] = set()
    while waiting:
        name, _, instance = waiting.pop(0).partition(":")
        if name in known and name + instance not in seen:
            seen.add(name + instance)
            yield known[name], instance
            waiting.extend(known[name].builtins)


def _check_type(prim: Any, schema: SchemaClass, where: Where, reporter: Reporter) -> None:
    if schema.can_only_apply_to and not any(prim.IsA(name) for name in schema.can_only_apply_to):
        wanted = ", ".join(schema.can_only_apply_to)
        found = str(prim.GetTypeName())
        reporter.report(EXAMPLE_PRIM_TYPE, where, name=schema.name, found=found, wanted=wanted)


def _check_properties(
    prim: Any,
    uses: list[tuple[SchemaClass, str]],
    known: dict[str, SchemaClass],
    source: _Source,
    reporter: Reporter,
) -> None:
    """Report each authored property that no applied schema declares, or declares otherwise."""
    declared = {
        prop.name.replace(INSTANCE, instance): prop for schema, instance in uses for prop in schema.properties
    }
    owners = {prop.name: schema for schema in known.values() for prop in schema.properties}
    spaces = {name.rpartition(":")[0] for name in declared}
    native = set(prim.GetPrimDefinition().GetPropertyNames())
    for prop in prim.GetAuthoredProperties():
        name = prop.GetName()
        place = source.place(prim, name)
        if name in declared:
            for what in _describe_problems(prop, declared[name]):
                reporter.report(EXAMPLE_PROPERTY, place, what=what)
        elif name in owners:
            reporter.report(EXAMPLE_NOT_APPLIED, place, name=name, owner=owners[name].name)
        elif name.rpartition(":")[0] in spaces and name not in native:
            reporter.report(EXAMPLE_PROPERTY, place, what=f"no schema of the prim declares {name!r}")


# One function: the questions build on each other (kind of property, type, value, targets), and each has its
# own words.
def _describe_problems(prop: Any, declared: SchemaProperty) -> Iterator[str]:
    """How an authored property departs from its declaration."""
    from pxr import Sdf

    name = prop.GetName()
    for spec in prop.GetPropertyStack():
        is_relationship = isinstance(spec, Sdf.RelationshipSpec)
        found = "rel" if is_relationship else str(spec.typeName)
        if found != declared.type:
            yield f"{name!r} is authored as {found}; the schema says {declared.type}"
            return
        if not is_relationship and declared.variability == "uniform" and spec.HasInfo("timeSamples"):
            yield f"{name!r} has time samples; the schema says it is uniform"
    if declared.is_relationship:
        stage = prop.GetPrim().GetStage()
        for target in prop.GetTargets():
            if not stage.GetObjectAtPath(target):
                yield f"{name!r} points to <{target}>, which does not exist"
    elif declared.allowed_tokens:
        value = prop.Get()
        if value is not None and value not in declared.allowed_tokens:
            yield f"{name!r} is {value!r}; the schema allows {', '.join(declared.allowed_tokens)}"
