# SPDX-License-Identifier: Apache-2.0
"""``simwright resolve``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.options import echo, format_option, package_option, print_json, trust_options

if TYPE_CHECKING:
    from simwright.model.asset import Asset
    from simwright.model.extras import Resolved
    from simwright.model.joint import Joint
    from simwright.resolve.resolver import ResolverOrder
    from simwright.resolve.table import PrimType

VERSION = 1
"""Of the JSON report."""
EPILOG = """\b
Examples:
  simwright resolve robot.usda
  simwright resolve robot.usda --schema-resolvers physx,newton,mjc
  simwright resolve robot.usda --schema-resolvers mjc,newton --prim /robot/joints/elbow
  simwright resolve robot.usda --defaults --format json
"""


@click.command("resolve", epilog=EPILOG)
@trust_options
@click.argument("file", type=click.Path())
@click.option(
    "--schema-resolvers",
    default="",
    show_default="every solver, newton first",
    metavar="SOLVER,...",
    help="Solvers whose attributes count, in order of priority.",
)
@click.option("--prim", default="", metavar="PATH", help="Only this prim and what is below it.")
@click.option("--defaults", is_flag=True, help="Also show values that only a schema's fallback gives.")
@package_option
@format_option("text", "json")
def resolve(
    file: str,
    schema_resolvers: str,
    prim: str,
    defaults: bool,
    assignments: tuple[str, ...],
    output_format: str,
) -> int:
    """Show which solver's attribute decides each value of FILE, and which values lost.

    Solver schemas (Newton, PhysX, MuJoCo ...) say the same things under different names.  The neutral
    ExtendedPhysics schemas count before all of them; then the solvers in the order given.  Values are SI and
    radians.  Exit code 1 means that the file could be read but has errors; they are listed.
    """
    from simwright.app.api import load
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.core.diag import Level, Reporter
    from simwright.core.packages import parse_assignments
    from simwright.resolve import DEFAULT_ORDER, ResolverOrder, make_resolvers

    names = [name.strip() for name in schema_resolvers.split(",") if name.strip()] or list(DEFAULT_ORDER)
    resolvers = make_resolvers(names)
    reporter = Reporter()
    asset = load(file, packages=parse_assignments(assignments), schema_resolvers=names, reporter=reporter)
    result = _describe_resolution(asset, ResolverOrder(resolvers), prim=prim, defaults=defaults)
    if output_format == "json":
        print_json(result)
    else:
        _print_text(result)
        if any(found.level is Level.ERROR for found in reporter):
            print_findings(file, reporter)
    return exit_code(reporter)


def _print_text(result: dict[str, Any]) -> None:
    if not result["prims"]:
        echo(f"no value is authored by any of {', '.join(result['order'])}")
    width = max((len(row["key"]) for prim in result["prims"] for row in prim["values"]), default=0)
    for prim in result["prims"]:
        echo(f"{prim['path']}  ({', '.join(prim['types'])})")
        for row in prim["values"]:
            source = f"{row['namespace']}: {row['attribute']}" if row["namespace"] else ""
            value = _show(row["value"])
            echo(f"  {row['key']:<{width}}  {value:<12}  {row['origin']:<16}  {source}".rstrip())
            for lost in row["lost"]:
                value = _show(lost["value"])
                echo(f"  {'':<{width}}  {value:<12}  {'lost':<16}  {lost['namespace']}: {lost['attribute']}")


def _show(value: Any) -> str:
    if value is None:
        return "engine's own"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _describe_resolution(
    asset: Asset, order: ResolverOrder, *, prim: str = "", defaults: bool = False
) -> dict[str, Any]:
    """Values by prim and key; with ``defaults``, also those that only a schema's fallback gives."""
    from simwright.core.errors import UsageError

    elements = _list_elements(asset)
    prims = []
    for path, types in elements.items():
        if prim and path != prim and not path.startswith(f"{prim.rstrip('/')}/"):
            continue
        values = _list_values(asset, order, path, types, defaults=defaults)
        if values:
            prims.append(_describe_prim(path, types, values))
    # a prim without values is an empty answer; one that is not there is a typing error
    if prim and not prims and prim not in elements:
        raise UsageError(
            f"there is no scene, body, joint, collider, material or articulation at or below {prim}",
            hint="`simwright inspect FILE --format json` lists them with their paths",
        )
    return {
        "version": VERSION,
        "file": asset.provenance.file,
        "order": [resolver.name for resolver in order.resolvers],
        "prims": prims,
    }


def _list_values(
    asset: Asset, order: ResolverOrder, path: str, types: list[PrimType], *, defaults: bool
) -> dict[str, Resolved]:
    """Values of a prim by key."""
    from simwright.model.extras import Origin

    known = asset.origins.get(path, {})
    values = {key: found for key, found in known.items() if defaults or found.origin is not Origin.SCHEMA}
    if defaults:
        values |= {
            key: found for key, found in _list_defaults(asset, order, path, types) if key not in values
        }
    return values


def _describe_prim(path: str, types: list[PrimType], values: dict[str, Resolved]) -> dict[str, Any]:
    from simwright.app.describe import to_plain

    rows = []
    for key, found in values.items():
        lost = [hit._asdict() | {"value": to_plain(hit.value)} for hit in found.lost]
        rows.append(
            {
                "key": key,
                "value": to_plain(found.value),
                "origin": found.origin.value,
                "namespace": found.namespace,
                "attribute": found.attribute,
                "lost": lost,
            }
        )
    return {"path": path, "types": [kind.value for kind in types], "values": rows}


def _list_elements(asset: Asset) -> dict[str, list[PrimType]]:
    """Paths of everything that has keys, and what it is."""
    from simwright.resolve.table import PrimType

    found: dict[str, list[PrimType]] = {}

    def add(path: str, kind: PrimType) -> None:
        if path:
            found.setdefault(path, []).append(kind)

    for articulation in asset.articulations:
        add(articulation.path, PrimType.ARTICULATION)
    for body in asset.bodies:
        add(body.path, PrimType.BODY)
    for joint in asset.joints:
        add(joint.path, PrimType.JOINT)
    for shape in asset.shapes:
        if shape.collision:
            add(shape.path, PrimType.SHAPE)
    for material in asset.physics_materials:
        add(material.source.prim, PrimType.MATERIAL)
    scene = asset.provenance.info.get("physicsScene")
    return {scene: [PrimType.SCENE], **found} if scene else found


def _list_defaults(
    asset: Asset, order: ResolverOrder, path: str, types: list[PrimType]
) -> Iterator[tuple[str, Resolved]]:
    from simwright.model.joint import Motion
    from simwright.resolve.table import Scale

    info = asset.provenance.info
    scale = Scale(info.get("metersPerUnit", 1.0), info.get("kilogramsPerUnit", 1.0))
    joint = next((joint for joint in asset.joints if joint.path == path), None)
    for kind in types:
        for key in order.keys(kind):
            # schemas have keys for every axis; those that the joint does not have would be shown with
            # values that mean nothing
            if joint is not None and not _concerns(order, joint, key):
                continue
            # fallbacks of angular drives are per degree in OpenUSD and per radian in the model
            angular = joint is not None and any(dof.motion is not Motion.SLIDE for dof in joint.dofs)
            resolved = order.resolve({}, kind, key, scale=scale, angular=angular)
            if resolved.namespace:
                yield key, resolved


def _concerns(order: ResolverOrder, joint: Joint, key: str) -> bool:
    """Does the joint have the axis of the key?"""
    from simwright.resolve.table import PrimType, find_axis

    rows = [row for resolver in order.resolvers for row in resolver.rows_of(PrimType.JOINT, key)]
    axes = {find_axis(joint, dof) for dof in joint.dofs}
    return bool(joint.dofs) and any(not row.axis or row.axis in axes for row in rows)
