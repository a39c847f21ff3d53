# SPDX-License-Identifier: Apache-2.0
"""The OpenUSD reader: a stage becomes an asset, in SI and Z-up (REP-0158 1.3 and 2).

``_read_all`` is the table of contents.  One walk sorts the prims; each element family then has its own file, but for
collision groups and filtered pairs (REP-0158 1.3.3), which are read here.  Solver attributes are read once: what they
mean is resolved by ``solvers``, and all of them are kept in ``asset.extras``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path

from pxr import Tf, Usd

from simwright.core.collector import pause_collector
from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import ParseError
from simwright.core.gate import Gate
from simwright.formats.format import ReadOptions
from simwright.formats.usd.actuators import merge_drives, read_actuators, restore_idle_actuators
from simwright.formats.usd.attributes import make_plain, read_attributes, report_unknown_types
from simwright.formats.usd.bodies import (
    ArticulationMembers,
    PathIndex,
    check_topology,
    join_chains,
    read_articulations,
    read_bodies,
)
from simwright.formats.usd.couplings import merge_stacks, read_equalities, read_mimics
from simwright.formats.usd.custom_attributes import read_custom
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
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.notes import (
    numbers,
    read_noted_sensors,
    restore_joints,
    restore_order,
    restore_parts,
)
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan, read_look_variants, scan_stage, select_fine_colliders
from simwright.formats.usd.sensors import read_cameras, read_lights, read_ros, read_sensors, read_sites
from simwright.formats.usd.shapes import list_geometry, read_instancers, read_shapes, scan_instancers
from simwright.formats.usd.solvers import read_environment, read_solvers
from simwright.formats.usd.stage_reader import MetPrims, StageReader
from simwright.formats.usd.time_samples import is_animated, read_movement, settle_samples
from simwright.formats.usd.transforms import check_operations, check_turns
from simwright.formats.usd.units import read_units
from simwright.model.asset import Asset, CollisionGroup, ContactFilter, Shape
from simwright.model.coordinates import shift_coordinates
from simwright.resolve.resolver import make_order, make_resolvers
from simwright.usd import complaints
from simwright.usd.questions import relationship_of, targets_of
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
    "the stage has no default prim, so it has no asset information",
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
    stage: Usd.Stage,
    options: ReadOptions,
    reporter: Reporter,
    name: str = "",
    file: str = "",
    *,
    met: MetPrims | None = None,
) -> Asset:
    """Read an open stage.  Its meshes are loaded later, so the asset keeps the stage open.

    ``met`` is filled with the prims that were met.
    """
    file = file or str(stage.GetRootLayer().identifier)
    try:
        # reading makes many objects that live until the end; the collector would walk all of them again and
        # again
        with capture() as messages, pause_collector():
            reader = _make_source(stage, options, reporter, name, file)
            if met is not None and reader.stage is stage:
                reader.walked = met.walked
            _read_all(reader)
    except Tf.ErrorException as error:
        raise ParseError(f"OpenUSD cannot read the stage: {error}", where=Where(file)) from None
    report_messages(messages, Where(file), reporter)
    if met is not None and reader.stage == stage:
        met.founds, met.xforms = dict(reader.founds), reader.xforms
    return reader.release()


def _make_source(
    stage: Usd.Stage, options: ReadOptions, reporter: Reporter, name: str, file: str
) -> StageReader:
    # without a chosen time the movement is read as well, from the stage as the caller opened it
    played = stage if options.time is None else None
    animated = is_animated(stage)
    if animated and options.time is None:
        stage = settle_samples(stage, file, reporter)
    return StageReader(
        stage=stage,
        file=file,
        time=Usd.TimeCode.Default() if options.time is None else Usd.TimeCode(options.time),
        units=read_units(stage, Where(file), reporter, options.unsaid_meters_per_unit),
        reporter=reporter,
        asset=Asset(name or _choose_name(stage, Path(file))),
        order=make_order(make_resolvers(options.schema_resolvers)),
        played=played,
        animated=animated,
        default_density=options.default_density,
        hidden_shapes=options.hidden_shapes,
        visuals=options.visuals,
        read_elsewhere=options.read_elsewhere,
        lock_unlimited_axes=options.lock_unlimited_axes,
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
    merge_drives(reader, scan)
    read_sensors(reader, scan)
    read_noted_sensors(reader, scan)
    # who wants no visuals draws nothing
    if reader.visuals:
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
    # after everything that refers to joints by path, since all but the first of a chain or stack go
    join_chains(reader, scan)
    merge_stacks(reader, scan)
    restore_order(reader, scan)
    # keyframes count coordinates in the final order of joints and actuators
    read_keyframes(reader, scan)
    # UsdPhysics counts from where the frames meet; the source may have counted from elsewhere
    shift_coordinates(reader.asset, references)
    report_unknown_types(reader, scan)
    check_turns(reader, scan)
    check_operations(reader, scan)
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


GROUP_UNKNOWN = declare(
    "usd-group-unknown",
    Level.WARNING,
    "collision group {name!r} filters {target}, which is not a collision group",
    hint="point physics:filteredGroups at PhysicsCollisionGroup prims",
    doc="physics:filteredGroups names a prim that is not there or is something else.",
    section="1.3.3",
)
GROUP_EMPTY = declare(
    "usd-group-empty",
    Level.INFO,
    "collision group {name!r} contains no collider",
    hint="add colliders to collection:colliders:includes",
    doc="A collision group that concerns nothing.",
    section="1.3.3",
)
PAIR_UNKNOWN = declare(
    "usd-pair-unknown",
    Level.WARNING,
    "the filtered pair of {name!r} with {target} has no body or collider at {side}; it is left out",
    hint="physics:filteredPairs relates bodies, colliders and articulation roots",
    doc="One end of a filtered pair is not a body, no collider and no articulation.",
    section="1.3.3",
    loss=True,
)

_MUJOCO_PAIRS = "mjc:filteredPairs"
"""Pairs of colliders in an asset that was written for MuJoCo, whose reader refuses the usual relationship then."""
_INCLUDES = "collection:colliders:includes"
_RULE, _EXPAND = "collection:colliders:expansionRule", "expandPrims"
_SELECTIVE = frozenset(
    f"collection:colliders:{word}" for word in ("excludes", "includeRoot", "membershipExpression")
)
"""With one of these, or another rule, a collection is not simply all at or below the prims it includes."""


def read_filters(reader: StageReader, scan: StageScan) -> None:
    """Add groups and pairs."""
    _read_groups(reader, scan)
    ends = _FilterEnds(reader)
    seen: set[tuple[str, frozenset[str]]] = set()
    # authored on either side, or on both: a pair is the same both ways
    # by the relationship and not by its API: files author it without applying PhysicsFilteredPairsAPI
    for name in ("physics:filteredPairs", _MUJOCO_PAIRS):
        for found in scan.list_authors(name):
            for target in _list_pair_targets(reader, found, name):
                for pair in _read_pair(reader, ends, found, target):
                    key = (pair.of, frozenset((pair.a, pair.b)))
                    if pair.a != pair.b and key not in seen:
                        seen.add(key)
                        reader.asset.contact_filters.append(pair)


def _list_pair_targets(reader: StageReader, found: FoundPrim, name: str) -> list[str]:
    """What a prim is kept apart from, but for what groups and bits of the asset say as well."""
    targets = reader.get_targets(found, name)
    implied = reader.note(found).get("implied_pairs", ()) if reader.noted else ()
    return [target for target in targets if target not in implied] if implied else targets


def _read_groups(reader: StageReader, scan: StageScan) -> None:
    names = name_prims(scan.groups, noted=reader.noted)
    colliders = [shape for shape in reader.asset.shapes if shape.collision]
    index = PathIndex(shape.path for shape in colliders)
    members_of = {
        found.path: [colliders[number].name for number in _find_colliders(reader, found, colliders, index)]
        for found in scan.groups
    }
    bits = _restore_bits(reader, scan, members_of)
    for found in scan.groups:
        if found.path in bits:
            continue
        members = members_of[found.path]
        where = reader.where(found)
        if not members:
            reader.reporter.report(GROUP_EMPTY, where, name=names[found.path])
        filtered = []
        for target in reader.get_targets(found, "physics:filteredGroups"):
            if target in names:
                filtered.append(names[target])
            else:
                reader.reporter.report(GROUP_UNKNOWN, where, name=names[found.path], target=target)
        reader.asset.collision_groups.append(
            CollisionGroup(
                name=names[found.path],
                members=members,
                filtered=filtered,
                inverted=reader.get_flag(found, "physics:invertFilteredGroups", False),
                merge=reader.get_text(found, "physics:mergeGroup"),
                source=where,
            )
        )


def _restore_bits(reader: StageReader, scan: StageScan, members_of: dict[str, list[str]]) -> set[str]:
    """Groups that were made of bits and still are, so that the bits of their members say it all."""
    notes = {found.path: reader.note(found) for found in scan.groups} if reader.noted else {}
    made: dict[str, tuple[int, int]] = {}
    for found in scan.groups:
        note = notes.get(found.path, {})
        bits = numbers(note.get("bits"), finite=True)
        if len(bits) != 2:
            continue
        filtered = reader.get_targets(found, "physics:filteredGroups")
        # somebody edited a group, so groups say what counts and bits do not
        if (len(members_of[found.path]), len(filtered)) != (note.get("members"), note.get("filtered")):
            return set()
        made[found.path] = (int(bits[0]), int(bits[1]))
    values = {name: made[path] for path in made for name in members_of[path]}
    for shape in reader.asset.shapes:
        if shape.name in values:
            shape.category_bits, shape.collide_bits = values[shape.name]
    return set(made)


# one function: fast paths of one question, from the most special to the general
def _find_colliders(
    reader: StageReader, found: FoundPrim, colliders: list[Shape], index: PathIndex
) -> Iterable[int]:
    """The colliders in a group's collection; only those below what it includes are looked at."""
    # a membership query looks at every collider, so the usual collection is answered from the index
    is_simple = found.authored is not None and found.authored.isdisjoint(_SELECTIVE)
    if is_simple and reader.get(found, _RULE, _EXPAND) == _EXPAND:
        paths = targets_of(relationship_of(found.prim, _INCLUDES))
        if all(path.IsPrimPath() for path in paths):
            return sorted({number for path in paths for number in index.find(path.pathString)})
    query = Usd.CollectionAPI(found.prim, "colliders").ComputeMembershipQuery()
    candidates: Iterable[int] = range(len(colliders))
    if query.UsesPathExpansionRuleMap():
        rules = query.GetAsPathExpansionRuleMap()
        included = [path.pathString for path, rule in rules.items() if rule != Usd.Tokens.exclude]
        candidates = sorted({number for path in included for number in index.find(path)})
    return [number for number in candidates if query.IsPathIncluded(colliders[number].path)]


def _read_pair(reader: StageReader, ends: _FilterEnds, found: FoundPrim, target: str) -> list[ContactFilter]:
    """A pair of bodies if both ends are bodies, else of all shapes of both ends."""
    where = reader.where(found, "physics:filteredPairs")
    sides = []
    for path in (found.path, target):
        bodies, shapes = ends.resolve(path)
        if not (bodies or shapes):
            reader.reporter.report(PAIR_UNKNOWN, where, name=found.name, target=target, side=path)
            return []
        sides.append((bodies, shapes))
    (bodies_a, shapes_a), (bodies_b, shapes_b) = sides
    # two bodies are kept as such, so that colliders added later are filtered too
    if bodies_a and bodies_b:
        return [ContactFilter(a, b, "body", where) for a, b in product(bodies_a, bodies_b)]
    return [ContactFilter(a, b, "shape", where) for a, b in product(shapes_a, shapes_b)]


class _FilterEnds:
    """What the ends of filtered pairs stand for."""

    def __init__(self, reader: StageReader) -> None:
        self._reader = reader
        self._articulations = {a.path for a in reader.asset.articulations}
        self._on_body: dict[str, list[int]] = {}
        self._at_path: dict[str, list[int]] = {}
        for number, shape in enumerate(reader.asset.shapes):
            if shape.collision:
                self._on_body.setdefault(shape.body, []).append(number)
                self._at_path.setdefault(shape.path, []).append(number)

    @cached_property
    def _members(self) -> ArticulationMembers:
        return ArticulationMembers(self._reader)

    def resolve(self, path: str) -> tuple[list[str], list[str]]:
        """Bodies of a path (itself, or an articulation's), and the colliders on them or at the path."""
        bodies: list[str] = []
        if path in self._reader.bodies:
            bodies = [self._reader.bodies[path].name]
        elif path in self._articulations:
            bodies = self._members.find(path)
        numbers = {number for body in bodies for number in self._on_body.get(body, ())}
        numbers.update(self._at_path.get(path, ()))
        return bodies, [self._reader.asset.shapes[number].name for number in sorted(numbers)]
