# SPDX-License-Identifier: Apache-2.0
"""``add_usd`` with the words of ``newton.ModelBuilder.add_usd``: the same call, the same kind of answer.

::

    import newton
    import simwright.engines.newton

    simwright.engines.newton.install()          # every builder of the program imports with Simwright from here on
    builder = newton.ModelBuilder()
    result = builder.add_usd("robot.usda")

A program that takes an importer as a function (as IsaacLab does) is given :func:`add_usd` itself.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from simwright.core.collector import pause_collector
from simwright.core.diag import Level, Reporter
from simwright.core.errors import InputError, UsageError
from simwright.core.gate import Gate
from simwright.core.math3d import Pose, pose_to_seven, quat_normalize, vec3
from simwright.engines.newton.build import add_asset, import_newton
from simwright.engines.newton.equalities import SPLAT, sort_prims
from simwright.engines.newton.messages import COMPOSED_PARTLY, HANDED_OVER, LEGACY_WORD, NEWTON_SAYS
from simwright.engines.newton.result import Imported, UsdImport, describe_import
from simwright.engines.newton.types import ModelBuilder
from simwright.formats.format import ReadOptions
from simwright.formats.table import find_near
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver, SchemaResolverMjc, find_resolver
from simwright.resolve.table import NUMBER, PrimType, Row, Unit, ValueForm, ValueTransform

if TYPE_CHECKING:
    from pxr import Sdf, Usd

_LEGACY = {
    "legacy_margin_gap": "mjc:margin includes mjc:gap, as in MuJoCo before 3.9",
    "legacy_angular_velocity_units": "angular joint velocities are not converted from degrees",
    "legacy_springref_units": "mjc:springref is not converted from degrees",
}


class NewtonUsageError(UsageError, ValueError):
    """A call that contradicts itself; Newton raises ValueError there."""

    code = "newton-usage"


class NewtonImportError(InputError, RuntimeError, ValueError):
    """An asset that cannot be put into a builder; Newton raises RuntimeError or ValueError there."""

    code = "newton-import"


def add_usd(
    builder: ModelBuilder,
    source: str | os.PathLike[str] | Sdf.Layer | Usd.Stage,
    *,
    xform: Pose | Sequence[float] | None = None,
    floating: bool | None = None,
    base_joint: Mapping[str, Any] | None = None,
    parent_body: int | None = -1,
    only_load_enabled_rigid_bodies: bool = False,
    only_load_enabled_joints: bool = True,
    joint_drive_gains_scaling: float = 1.0,
    verbose: bool = False,
    ignore_paths: Sequence[str] | None = None,
    collapse_fixed_joints: bool = False,
    enable_self_collisions: bool = True,
    apply_up_axis_from_stage: bool = False,
    root_path: str | None = "/",
    joint_ordering: str | None = "dfs",
    bodies_follow_joint_ordering: bool = True,
    skip_mesh_approximation: bool = False,
    load_sites: bool = True,
    load_visual_shapes: bool = True,
    load_static_visual_shapes: bool = True,
    hide_collision_shapes: bool = False,
    force_show_colliders: bool = False,
    parse_mujoco_options: bool = True,
    mesh_maxhullvert: int | None = None,
    schema_resolvers: Sequence[Any] | None = None,
    force_position_velocity_actuation: bool = False,
    convert_mjc_equality_constraints: bool = True,
    override_root_xform: bool = False,
    legacy_margin_gap: bool = False,
    legacy_angular_velocity_units: bool = False,
    legacy_springref_units: bool = False,
    return_deformable_results: bool = False,
    allow_unsafe_torch_checkpoints: bool = False,
    allow_partial: bool = False,
    reporter: Reporter | None = None,
    **reading: Any,
) -> UsdImport:
    """Import a USD file, layer or stage into a builder, as ``builder.add_usd(source, ...)`` would.

    Words and defaults are those of Newton 1.7.  ``schema_resolvers`` are Newton's objects, ours, or names, the first
    before the second; None is Newton's own schemas alone.  A stage that does not say metersPerUnit is in metres, as in
    Newton.  A stage of which a part does not compose, or with a relation between joints that Newton cannot hold, is
    refused, unless ``allow_partial`` asks for the rest of it.
    ``reading`` are further fields of :class:`~simwright.formats.format.ReadOptions`, such as ``variants`` or ``time``.
    Findings at warning level or above go through :mod:`warnings`; all of them are in ``reporter`` and in the result.
    """
    given = dict(locals())
    words = {name: given[name] for name in WORDS}
    del given
    import_newton()
    reporter = Reporter() if reporter is None else reporter
    before = len(reporter)
    try:
        with pause_collector():
            result = _import(builder, source, words, reporter, reading)
    finally:
        warn(list(reporter)[before:])
    if verbose:
        print(  # noqa: T201 - what the word asks for
            f"{source}: {len(result['path_body_map'])} bodies, {len(result['path_joint_map'])} joints"
        )
    return result


WORDS = tuple(
    name
    for name in inspect.signature(add_usd).parameters
    if name not in ("builder", "source", "verbose", "reporter", "reading")
)
"""The keyword arguments of Newton's method that change what is imported."""
_OWN = frozenset(
    {
        "xform",
        "schema_resolvers",
        "apply_up_axis_from_stage",
        "return_deformable_results",
        "legacy_margin_gap",
        "legacy_angular_velocity_units",
    }
)
"""Those that are dealt with here; the others are fields of Choices."""


def _import(
    builder: ModelBuilder, source: Any, words: dict[str, Any], reporter: Reporter, reading: dict[str, Any]
) -> UsdImport:
    for name, meaning in _LEGACY.items():
        if words[name]:
            deprecated = name != "legacy_margin_gap"
            reporter.report(LEGACY_WORD, name=name, meaning=meaning, deprecated=deprecated)
    pose = read_pose(words["xform"])
    resolvers = adopt_resolvers(words["schema_resolvers"], legacy_margin_gap=words["legacy_margin_gap"])
    reading = {"visuals": words["load_visual_shapes"], **reading}
    if is_path(source):
        source = Path(source)
    options = make_options(builder, source, resolvers, reading, reporter)
    with _as_newton_raises():
        stage = open_source(source, options, reporter, partial=words["allow_partial"])
        parts = sort_prims(stage, words["root_path"] or "/", words["ignore_paths"] or ())
        if parts.deformable:
            return _hand_over(builder, stage, words, reporter)
        if words["apply_up_axis_from_stage"]:
            set_up_axis(builder, stage)
        from simwright.formats.usd.read import read_stage
        from simwright.formats.usd.stage_reader import MetPrims

        parts.met = MetPrims(walked=parts.walked)
        asset = read_stage(stage, options, reporter, met=parts.met)
        imported = add_asset(
            builder,
            asset,
            xform=pose,
            reporter=reporter,
            stage=parts,
            schema_resolvers=resolvers,
            **_make_choices(words),
        )
    if words["legacy_angular_velocity_units"]:
        keep_degrees(builder, imported)
    result = imported.answer
    result.update(describe_import(imported, stage, parts.met))
    if words["return_deformable_results"]:
        result |= {f"path_{kind}_{what}": {} for kind in _KINDS for what in ("map", "attrs")}
    result.imported = imported
    ask_theirs(stage, imported)
    return result


def _make_choices(words: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of Choices; what Newton takes None for is what it means there."""
    choices = {name: value for name, value in words.items() if name not in _OWN}
    choices["articulate"] = False
    choices["ignore_paths"] = tuple(choices["ignore_paths"] or ())
    choices["root_path"] = choices["root_path"] or "/"
    choices["parent_body"] = -1 if choices["parent_body"] is None else choices["parent_body"]
    return choices


@contextlib.contextmanager
def _as_newton_raises() -> Iterator[None]:
    """Errors in the block are of the classes that callers of Newton catch, too."""
    try:
        yield
    except (NewtonUsageError, NewtonImportError):
        raise
    except UsageError as error:
        raise NewtonUsageError(error.message, hint=error.hint, where=error.where) from None
    except InputError as error:
        raise NewtonImportError(error.message, hint=error.hint, where=error.where) from None


_KINDS = ("cable", "cloth", "soft", "attachment")


def make_options(
    builder: ModelBuilder,
    source: Any,
    resolvers: Sequence[Any],
    reading: Mapping[str, Any],
    reporter: Reporter,
) -> ReadOptions:
    """What the reader is told: the builder's density counts where nobody authors one, and metres are the unit."""
    told: dict[str, Any] = {
        "schema_resolvers": tuple(resolvers),
        "unsaid_meters_per_unit": 1.0,
        "default_density": float(builder.default_shape_cfg.density),
        "hidden_shapes": True,
        "lock_unlimited_axes": True,
        "read_elsewhere": frozenset({SPLAT}),
        **reading,
    }
    if is_path(source):
        told.setdefault("packages", find_near(source))
        # one gate for the stage and for what it names
        told["gate"] = told.get("gate") or Gate.around(source, told["packages"], reporter)
    try:
        return ReadOptions(**told)
    except TypeError as error:
        known = ", ".join(sorted(WORDS))
        raise NewtonUsageError(f"no such option: {error}", hint=f"known are {known}") from None


def is_path(source: Any) -> bool:
    """A file, not an open layer or stage."""
    return isinstance(source, str | os.PathLike)


def open_source(source: Any, options: ReadOptions, reporter: Reporter, *, partial: bool = False) -> Any:
    """The stage of a file, a layer, or the stage itself; what does not compose raises, or (``partial``) is reported."""
    from pxr import Sdf, Usd

    if is_path(source):
        from simwright.usd.open import open_stage

        stage = open_stage(
            Path(source),
            packages=options.packages,
            variants=options.variants,
            reporter=reporter,
            gate=options.gate,
        )
    elif isinstance(source, Sdf.Layer):
        stage = Usd.Stage.Open(source)
    elif isinstance(source, Usd.Stage):
        stage = source
    else:
        raise NewtonUsageError(
            f"the source is {type(source).__name__}", hint="give a path, an Sdf.Layer or a Usd.Stage"
        )
    errors = stage.GetCompositionErrors()
    if errors and not partial:
        raise NewtonImportError(
            f"the stage has composition errors; the first is: {errors[0]}",
            hint="correct it, or import the rest of the stage with allow_partial=True",
        )
    for error in errors:
        reporter.report(COMPOSED_PARTLY, error=error)
    return stage


def set_up_axis(builder: ModelBuilder, stage: Any) -> None:
    """Let the builder stand as the stage does."""
    import newton
    from pxr import UsdGeom

    builder.up_axis = newton.Axis.from_string(str(UsdGeom.GetStageUpAxis(stage)))


def _hand_over(builder: ModelBuilder, stage: Any, words: dict[str, Any], reporter: Reporter) -> UsdImport:
    """Let Newton's own importer take the stage; poses and resolvers of ours are given to it as its own."""
    import warp

    reporter.report(HANDED_OVER)
    given = {name: value for name, value in words.items() if value is not None and name != "allow_partial"}
    pose = read_pose(given.pop("xform", None))
    if pose is not None:
        given["xform"] = warp.transform(*pose_to_seven(pose))
    if "schema_resolvers" in given:
        given["schema_resolvers"] = [_give_back(resolver) for resolver in given["schema_resolvers"]]
    before = builder.articulation_count
    result = UsdImport(find_theirs()(builder, stage, **given))
    labels = enumerate(builder.articulation_label[before:], before)
    result |= {
        "asset": None,
        "findings": list(reporter),
        "path_articulation_map": {label: number for number, label in labels},
    }
    # Newton gives it where joints were collapsed
    result.setdefault("path_original_body_map", dict(result["path_body_map"]))
    return result


def _give_back(resolver: Any) -> Any:
    """Newton's own resolver for a name or for one of ours."""
    import newton

    name = resolver if isinstance(resolver, str) else getattr(resolver, "name", "")
    if not isinstance(resolver, str | SchemaResolver):
        return resolver
    known = {kind.name: kind for kind in _list_theirs(newton.usd)}
    if name not in known:
        raise NewtonUsageError(
            f"Newton's own importer takes this stage, and has no schema resolver {name!r}",
            hint=f"give {', '.join(known)}, or an object of newton.usd",
        )
    return known[name]()


def _list_theirs(usd: Any) -> tuple[Any, ...]:
    return usd.SchemaResolverNewton, usd.SchemaResolverPhysx, usd.SchemaResolverMjc


def read_pose(given: Any) -> Pose | None:
    """A pose from ours, ``wp.transform``, or seven numbers (position, quaternion x, y, z, w)."""
    if given is None or isinstance(given, Pose):
        return given
    numbers = np.concatenate([np.ravel(np.asarray(part, dtype=np.float64)) for part in given])
    if len(numbers) != 7:
        raise NewtonUsageError(f"xform has {len(numbers)} numbers", hint="seven: position, then x, y, z, w")
    x, y, z, w = numbers[3:]
    return Pose(vec3(numbers[:3]), quat_normalize((w, x, y, z)))


def ask_theirs(stage: Any, imported: Imported) -> None:
    """Let Newton say in its own words which attributes of its schemas it has given up."""
    import newton

    names = {
        "newton:contact_ke": "ke",
        "newton:contact_kd": "kd",
        "newton:contact_kf": "kf",
        "newton:contact_ka": "ka",
    }
    resolver = None
    for path, attributes in imported.asset.extras.table.get("newton", {}).items():
        if names.keys().isdisjoint(attributes):
            continue
        resolver = resolver or newton.usd.SchemaResolverNewton()
        for name in names.keys() & attributes.keys():
            resolver.get_value(stage.GetPrimAtPath(path), newton.usd.PrimType.SHAPE, names[name])


def keep_degrees(builder: ModelBuilder, imported: Imported) -> None:
    """``legacy_angular_velocity_units``: the numbers of angular joint velocities as they are authored."""
    from simwright.core.math3d import DEGREE
    from simwright.model.joint import Motion

    for joint in imported.asset.joints:
        index = imported.joints.get(joint.name)
        if index is None:
            continue
        hinges = [d for d in joint.dofs if d.motion is Motion.HINGE]
        slides = len(joint.dofs) - len(hinges)
        for number, dof in enumerate(hinges):
            if dof.velocity is not None:
                builder.joint_qd[builder.joint_qd_start[index] + slides + number] = dof.velocity / DEGREE


_READER_ONLY = frozenset({"usd-joint-cycle"})
"""Findings that do not concern Newton, whose builder takes loops of joints that are in no articulation."""


def warn(findings: Sequence[Any]) -> None:
    """Give findings that are more than information to :mod:`warnings`; each text once."""
    told: set[str] = set()
    for finding in (found for found in findings if found.kind not in _READER_ONLY):
        text = finding.message if finding.kind == NEWTON_SAYS.code else str(finding)
        if finding.level is not Level.INFO and text not in told:
            told.add(text)
            category = DeprecationWarning if finding.data.get("deprecated") else UserWarning
            warnings.warn(text, category, stacklevel=4)


_theirs: list[Callable[..., dict[str, Any]]] = []


def find_theirs() -> Callable[..., dict[str, Any]]:
    """Newton's own ``ModelBuilder.add_usd``, also while ours stands in its place."""
    return (
        _theirs[0] if _theirs else cast("Callable[..., dict[str, Any]]", import_newton().ModelBuilder.add_usd)
    )


def install() -> None:
    """Let ``newton.ModelBuilder.add_usd`` be Simwright's, for every builder of this process.

    Imports Newton, which loads OpenUSD: what has to come before that, such as PXR_WORK_THREAD_LIMIT, comes before this.
    """
    builder = import_newton().ModelBuilder
    if not _theirs:
        _theirs.append(builder.add_usd)
        builder.add_usd = add_usd


def uninstall() -> None:
    """Give Newton its own importer back."""
    if _theirs:
        import_newton().ModelBuilder.add_usd = _theirs.pop()


def adopt_resolvers(
    given: Sequence[Any] | None, *, legacy_margin_gap: bool = False
) -> tuple[SchemaResolver, ...]:
    """Our resolvers for those that are given, in their order; None is Newton's schemas alone."""
    chosen = [_adopt(resolver) for resolver in (("newton",) if given is None else given)]
    if legacy_margin_gap:
        legacy = SchemaResolverMjc(legacy_margin_gap=True)
        chosen = [legacy if resolver.name == legacy.name else resolver for resolver in chosen]
    return tuple(chosen)


def _adopt(resolver: Any) -> SchemaResolver:
    if isinstance(resolver, SchemaResolver):
        return resolver
    if isinstance(resolver, str):
        return find_resolver(resolver)
    if not hasattr(resolver, "mapping") or not hasattr(resolver, "name"):
        raise UsageError(
            f"{resolver!r} is not a schema resolver", hint="give objects of newton.usd or simwright, or names"
        )
    known = _find_known(resolver)
    if known is not None and _is_plain(resolver):
        return find_resolver(known)
    return SchemaResolver(
        resolver.name,
        [row for rows in _list_rows(resolver, known) for row in rows],
        resolver.extra_attr_namespaces,
    )


def _find_known(resolver: Any) -> str | None:
    """The name of the resolver of ours that Newton's class, or the one it is derived from, corresponds to."""
    import newton

    return next((str(kind.name) for kind in _list_theirs(newton.usd) if isinstance(resolver, kind)), None)


def _is_plain(resolver: Any) -> bool:
    """Is it one of Newton's own classes, and no other?"""
    return type(resolver).__module__.startswith("newton.")


def _list_rows(resolver: Any, known: str | None) -> list[tuple[Row, ...]]:
    # one loop over the caller's table: each key is Newton's own, ours, or the caller's
    ours = None if known is None else find_resolver(known)
    base = next((kind for kind in type(resolver).__mro__ if kind.__module__.startswith("newton.")), None)
    rows: list[tuple[Row, ...]] = []
    for prim_type, keys in resolver.mapping.items():
        prim = PrimType[prim_type.name]
        for key, spec in keys.items():
            own = getattr(base, "mapping", {}).get(prim_type, {}).get(key)
            if ours is not None and own is spec and ours.rows_of(prim, key):
                rows.append(ours.rows_of(prim, key))
            else:
                rows.append((_make_row(resolver.name, prim, key, spec),))
    # what Newton's table does not have, ours may: rows of keys that nobody gave another meaning
    if ours is not None:
        said = {(row.prim, row.key) for found in rows for row in found}
        rows += [(row,) for row in ours.rows if (row.prim, row.key) not in said]
    return rows


def _make_row(name: str, prim: PrimType, key: str, spec: Any) -> Row:
    """A row that reads as the caller's table says; units are those that Newton gives the key."""
    if spec.usd_value_getter is not None:
        raise UsageError(
            f"{key} of schema resolver {name!r} is computed from the prim by a function of its own",
            hint="map an attribute with usd_value_transformer, or give a SchemaResolver of simwright.resolve",
        )
    change: Callable[[Any], Any] = spec.usd_value_transformer or (lambda value: value)
    return Row(
        prim,
        key,
        (spec.name,),
        "",
        _find_unit(prim, key),
        spec.default,
        ValueTransform("the caller's", lambda raw: change(raw[0]), lambda value, _: (value,)),
        _find_form(prim, key),
    )


def _find_unit(prim: PrimType, key: str) -> Unit:
    found = _find_rows(prim, key)
    return found[0].unit if found else NUMBER


def _find_form(prim: PrimType, key: str) -> ValueForm:
    found = _find_rows(prim, key)
    return found[0].form if found else ValueForm.NUMBER


def _find_rows(prim: PrimType, key: str) -> list[Row]:
    return [row for name in DEFAULT_ORDER for row in find_resolver(name).rows_of(prim, key)]
