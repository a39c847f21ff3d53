# SPDX-License-Identifier: Apache-2.0
"""The OpenUSD reader: a stage becomes an asset, in SI and Z-up (REP-0158 1.3 and 2).

``_read_all`` is the table of contents.  One walk sorts the prims; each element family then has its own file.  Solver
attributes are read once: what they mean is resolved by ``solvers``, and all of them are kept in ``asset.extras``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from pxr import Tf, Usd

from simwright.core.collector import pause_collector
from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import ParseError
from simwright.core.gate import Gate
from simwright.formats.format import ReadOptions
from simwright.formats.usd.actuators import read_actuators, restore_idle_actuators
from simwright.formats.usd.attributes import make_plain, read_attributes, report_unknown_types
from simwright.formats.usd.bodies import check_topology, read_articulations, read_bodies
from simwright.formats.usd.couplings import merge_stacks, read_equalities, read_mimics
from simwright.formats.usd.custom_attributes import read_custom
from simwright.formats.usd.filters import read_filters
from simwright.formats.usd.joints import read_joints
from simwright.formats.usd.mass import read_mass
from simwright.formats.usd.materials import MaterialBindings, read_materials
from simwright.formats.usd.mujoco import (
    read_keyframes,
    read_pairs,
    read_root_options,
    read_tendon_equalities,
    read_tendons,
)
from simwright.formats.usd.notes import (
    read_noted_sensors,
    restore_joints,
    restore_order,
    restore_parts,
)
from simwright.formats.usd.ros import read_ros
from simwright.formats.usd.scan import scan_stage
from simwright.formats.usd.sensors import read_cameras, read_lights, read_sensors, read_sites
from simwright.formats.usd.shapes import list_geometry, read_instancers, read_shapes, scan_instancers
from simwright.formats.usd.solvers import read_environment, read_solvers
from simwright.formats.usd.stage_reader import StageReader
from simwright.formats.usd.time_samples import read_movement, settle_samples
from simwright.formats.usd.transforms import check_turns
from simwright.formats.usd.units import read_units
from simwright.formats.usd.variants import read_look_variants, select_fine_colliders
from simwright.model.asset import Asset
from simwright.model.coordinates import shift_coordinates
from simwright.resolve.resolve import make_order
from simwright.resolve.resolver import make_resolvers
from simwright.usd import complaints
from simwright.usd.silence import Message, capture

BINDING_UNAPPLIED = declare(
    "usd-binding-unapplied",
    Level.WARNING,
    "{count} prim(s) bind a material without MaterialBindingAPI, the first at {first}; some tools want it",
    hint="apply MaterialBindingAPI to prims with material:binding",
    doc="OpenUSD asks for the API on every prim with a binding. The binding is used here all the same.",
    section="3.1",
)

DEFAULT_PRIM_MISSING = declare(
    "usd-default-prim-missing",
    Level.INFO,
    "the stage has no default prim, so it says nothing about itself",
    hint="author defaultPrim in the root layer",
    doc="assetInfo and kind are read from the default prim.",
    section="1.2.5",
)
_BINDING = re.compile(r"material bindings on prim at path \((?P<prim>[^)]*)\)")
# a broken stage can give thousands of the same complaint
_MAX_MESSAGES = 20


def report_messages(messages: list[Message], where: Where, reporter: Reporter) -> None:
    """One finding for all bindings without their API, one for each other message."""
    unapplied: dict[str, None] = {}
    others: list[Message] = []
    for message in messages:
        match = _BINDING.search(message.text)
        if match:
            unapplied[match["prim"]] = None
        else:
            others.append(message)
    if unapplied:
        first = next(iter(unapplied))
        place = Where(where.file, prim=first)
        reporter.report(BINDING_UNAPPLIED, place, count=len(unapplied), first=first)
    complaints.report_messages(others[:_MAX_MESSAGES], reporter, where.file)


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read a .usd, .usda, .usdc or .usdz file."""
    from simwright.usd.open import open_stage

    # one gate for the stage and for the images it names, so that limits count over both
    options = replace(options, gate=options.make_gate(path, reporter))
    stage = open_stage(
        path, packages=options.packages, variants=options.variants, reporter=reporter, gate=options.gate
    )
    # before reading: the selection changes which prims there are
    if options.fine_colliders:
        select_fine_colliders(stage, options.variants)
    asset = read_stage(stage, options, reporter, name=_choose_name(stage, path), file=str(path))
    if options.look_variants:
        read_look_variants(stage, path, options, reporter, asset=asset, read=read)
    return asset


def read_stage(
    stage: Usd.Stage, options: ReadOptions, reporter: Reporter, name: str = "", file: str = ""
) -> Asset:
    """Read an open stage.  Its meshes are loaded later, so the asset keeps the stage open."""
    file = file or str(stage.GetRootLayer().identifier)
    try:
        # reading makes many objects that live until the end; the collector would walk all of them again and
        # again
        with capture() as messages, pause_collector():
            reader = _make_source(stage, options, reporter, name, file)
            _read_all(reader)
    except Tf.ErrorException as error:
        raise ParseError(f"OpenUSD cannot read the stage: {error}", where=Where(file)) from None
    report_messages(messages, Where(file), reporter)
    return reader.release()


def _make_source(
    stage: Usd.Stage, options: ReadOptions, reporter: Reporter, name: str, file: str
) -> StageReader:
    # without a chosen time the movement is read as well, from the stage as the caller opened it
    played = stage if options.time is None else None
    if options.time is None:
        stage = settle_samples(stage, file, reporter)
    return StageReader(
        stage=stage,
        file=file,
        time=Usd.TimeCode.Default() if options.time is None else Usd.TimeCode(options.time),
        units=read_units(stage, Where(file), reporter),
        reporter=reporter,
        asset=Asset(name or _choose_name(stage, Path(file))),
        order=make_order(make_resolvers(options.resolvers)),
        played=played,
        gate=options.gate or Gate.of_layer(stage.GetRootLayer().realPath, options.packages, reporter),
    )


def _read_all(reader: StageReader) -> None:
    """The table of contents."""
    # the order matters: a family may look up names and frames of those before it
    scan = scan_stage(reader)
    read_attributes(reader, scan)
    scatters = scan_instancers(reader, scan)
    # geometry of instancer prototypes is not in the scan, but has bindings too
    bindings = MaterialBindings(reader, scan, list_geometry(scatters))
    read_environment(reader, scan)
    read_provenance(reader)
    read_materials(reader, bindings)
    read_bodies(reader, scan)
    read_joints(reader, scan)
    read_articulations(reader, scan)
    read_shapes(reader, scan, bindings)
    read_instancers(reader, scatters, bindings)
    # before mass: solvers say which colliders are hollow and how thick their walls are
    read_solvers(reader, scan, bindings)
    # after solvers: rules relate coordinates, which joint references shift
    read_mimics(reader, scan)
    read_mass(reader, scan)
    read_sites(reader, scan)
    read_equalities(reader, scan)
    read_tendons(reader, scan)
    read_actuators(reader, scan)
    read_sensors(reader, scan)
    read_noted_sensors(reader, scan)
    read_cameras(reader, scan)
    read_lights(reader, scan)
    read_filters(reader, scan)
    read_ros(reader, scan)
    read_custom(reader, scan)
    read_pairs(reader, scan)
    read_tendon_equalities(reader, scan)
    read_root_options(reader, scan)
    # notes come last of all that reads prims: they refer to elements by name
    references = restore_joints(reader, scan)
    restore_parts(reader, scan)
    restore_idle_actuators(reader, scan)
    # after everything that refers to joints by path, since all but the first of a stack go
    merge_stacks(reader)
    restore_order(reader, scan)
    # keyframes count coordinates in the final order of joints and actuators
    read_keyframes(reader, scan)
    # UsdPhysics counts from where the frames meet; the source may have counted from elsewhere
    shift_coordinates(reader.asset, references)
    report_unknown_types(reader, scan)
    check_turns(reader, scan)
    read_movement(reader)
    check_topology(reader)


def _choose_name(stage: Usd.Stage, path: Path) -> str:
    """The default prim's name, else the file's."""
    prim = stage.GetDefaultPrim()
    return str(prim.GetName()) if prim else path.name.partition(".")[0] or "asset"


def read_provenance(reader: StageReader) -> None:
    """Note identifier, version, kind and units."""
    provenance = reader.asset.provenance
    provenance.format = "usd"
    provenance.file = reader.file
    layer = reader.stage.GetRootLayer()
    provenance.info |= {
        "metersPerUnit": reader.units.length,
        "kilogramsPerUnit": reader.units.mass,
        "upAxis": reader.units.up,
    }
    custom = make_plain(dict(layer.customLayerData))
    if custom:
        provenance.info["customLayerData"] = custom
    provenance.generator = str(custom.get("creator") or custom.get("generator") or "")
    prim = reader.stage.GetDefaultPrim()
    if prim:
        _read_asset_info(reader, prim)
    else:
        reader.reporter.report(DEFAULT_PRIM_MISSING, reader.where(reader.stage.GetPseudoRoot()))


def _read_asset_info(reader: StageReader, prim: Usd.Prim) -> None:
    provenance = reader.asset.provenance
    info = make_plain(dict(prim.GetAssetInfo()))
    provenance.identifier = str(info.get("identifier", ""))
    provenance.version = str(info.get("version", ""))
    if info:
        provenance.info["assetInfo"] = info
    kind = Usd.ModelAPI(prim).GetKind()
    if kind:
        provenance.info["kind"] = str(kind)
