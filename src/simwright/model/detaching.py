# SPDX-License-Identifier: Apache-2.0
"""A part of an asset taken out of it, with everything that hangs on it, as an asset of its own.

What held the part becomes its world: the joint it hung by starts there, so that attaching the part at the same place
gives the former asset back.  What refers to the part and to the rest of the asset cannot be in either: it is left out,
and named.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import IDENTITY, Pose
from simwright.model.attaching import Attachment, find_place
from simwright.model.elements import Track
from simwright.model.filtering import list_articulated
from simwright.model.geometry import Mesh
from simwright.model.joint import WORLD, EqualityKind
from simwright.model.kinematics import build_tree
from simwright.model.renaming import (
    LOOKS,
    NAMED,
    Renaming,
    list_dofs,
    map_tracks,
    move_bodies,
    move_track,
    seat_elements,
)

if TYPE_CHECKING:
    from simwright.model.asset import Asset

SEVERED = declare(
    "detach-severed",
    Level.WARNING,
    "{elements} of {name!r} connect the detached {part!r} with the rest; they are left out of both",
    hint="add them again where both parts are in one asset",
    doc="A constraint, a tendon, a sensor or a filter between two bodies needs both of them in one asset.",
)
_SINGULAR = {"equalities": "equality"}


def detach_part(host: Asset, part: Asset, what: str | Attachment, reporter: Reporter) -> None:
    """Move what ``what`` names (a body, a prefix, an attachment) out of ``host`` into ``part``, which is empty."""
    cut = _Cut(host, part, what)
    cut.take()
    if cut.severed:
        more = f" and {len(cut.severed) - 5} more" if len(cut.severed) > 5 else ""
        words: dict[str, Any] = {
            "elements": ", ".join(cut.severed[:5]) + more,
            "name": host.name,
            "part": part.name,
        }
        reporter.report(SEVERED, Where(host.provenance.file), **words, severed=cut.severed)


class _Cut:
    """``gone`` holds the names that go, by list, ``lost`` those of what is in neither part.

    ``holders`` are the bodies that stay and held something that goes.
    """

    def __init__(self, host: Asset, part: Asset, what: str | Attachment) -> None:
        # what goes is settled here as a whole; the later steps only ask
        self._host, self._part = host, part
        self._poses = {WORLD: IDENTITY} | {body.name: body.pose for body in host.bodies}
        self._owned = _find_owned(host, what)
        self._prefix = _find_prefix(host, what)
        self._lost: dict[str, set[str]] = {}
        self.severed: list[str] = []
        tree = build_tree(host)
        self._articulated = {
            articulation.name: list_articulated(host, articulation, tree)
            for articulation in host.articulations
            if not articulation.self_collide
        }
        children = tree.children()
        found = [body.name for body in host.bodies if body.name in self._owned["bodies"]]
        self._gone: dict[str, set[str]] = {"bodies": set(found)}
        # children of what goes go too
        for name in found:  # grows while it is walked
            fresh = [e.child for e in children.get(name, ()) if e.child not in self._gone["bodies"]]
            found += fresh
            self._gone["bodies"].update(fresh)
        parents = tree.parents()
        bodies = self._gone["bodies"]
        edges = [parents[name] for name in found if name in parents and parents[name].parent not in bodies]
        self._holders = {edge.parent for edge in edges}
        self._origin = self._find_origin(what, found)

    def _find_origin(self, what: str | Attachment, found: list[str]) -> Pose:
        """The frame of the part in that of the host."""
        if isinstance(what, Attachment):
            _, body, frame = find_place(self._host, what.at)
            self._holders.add(body)
            return self._poses[body] @ frame @ what.pose
        if found:
            return self._poses[found[0]]
        raise UsageError(f"{what!r} of {self._host.name!r} has no body", hint="give what attach() returned")

    def take(self) -> None:
        """Move everything, in the order in which things refer to each other."""
        part = self._part
        part.bodies = self._split("bodies", lambda body: [("bodies", body.name)])
        move_bodies(part, ~self._origin)
        for family in ("shapes", "sites", "cameras", "lights"):
            setattr(part, family, self._split(family, lambda element: [("bodies", element.body)]))
        dofs = set(list_dofs(self._host))
        part.joints = self._split("joints", lambda j: [("bodies", j.parent), ("bodies", j.child)])
        self._gone["dofs"] = set(list_dofs(part))
        self._lost["dofs"] = dofs - self._gone["dofs"] - set(list_dofs(self._host))
        part.tendons = self._split("tendons", _list_tendon)
        part.equalities = self._split("equalities", _list_equality)
        part.actuators = self._split("actuators", lambda actuator: self._resolve(actuator.target))
        part.sensors = self._split("sensors", self._list_sensor)
        part.mimics = self._split("mimics", lambda m: [("dofs", m.leader), ("dofs", m.follower)])
        part.contact_filters = self._split("contact_filters", _list_filter)
        part.contact_pairs = self._split("contact_pairs", lambda p: [("shapes", p.a), ("shapes", p.b)])
        self._split_articulations()
        seat_elements(part, self._unseat)
        self._split_groups()
        self._take_looks()
        self._take_ros()
        self._split_states()
        self._split_custom_attributes()
        self._take_kept()
        self._take_rest()
        if self._prefix:
            self._strip()

    def _split(self, family: str, refer: Any) -> list[Any]:
        """The elements that go; the rest stays, what belongs to both is severed."""
        gone = self._gone.setdefault(family, set())
        lost = self._lost.setdefault(family, set())
        staying, going = [], []
        for element in getattr(self._host, family):
            ends = list(refer(element))
            name = getattr(element, "name", "")
            owned = bool(name) and name in self._owned.get(family, ())
            side = self._choose_side(ends, owned=owned)
            if side == "part":
                going.append(element)
                gone.update({name} - {""})
            elif side == "neither":
                label = name or " - ".join(n or "the world" for _, n in ends)
                self.severed.append(f"{_SINGULAR.get(family, family[:-1]).replace('_', ' ')} {label!r}")
                lost.add(name)
            else:
                staying.append(element)
        setattr(self._host, family, staying)
        return going

    def _choose_side(self, ends: list[tuple[str, str]], *, owned: bool) -> str:
        """Where an element with these ends belongs: "part", "host" or, if it needs both, "neither"."""
        # its any and all over the ends count as branches
        inside = [(k, n) for k, n in ends if n in self._gone.get(k, ())]
        outside = [(k, n) for k, n in ends if n not in self._gone.get(k, ())]
        # what held the part becomes the part's world, so an end on it does not keep an element from going
        if (inside or owned) and all(k == "bodies" and n in self._holders for k, n in outside):
            return "part"
        severed = inside or any(n in self._lost.get(k, ()) for k, n in ends)
        return "neither" if severed else "host"

    def _resolve(self, name: str) -> list[tuple[str, str]]:
        """Which element a name means, among those that motors, sensors and articulations may name."""
        for kind in ("dofs", "joints", "tendons", "sites", "bodies", "cameras", "shapes", "actuators"):
            if name and (name in self._gone.get(kind, ()) or name in self._lost.get(kind, ())):
                return [(kind, name)]
        return [("any", name)] if name else []

    def _list_sensor(self, sensor: Any) -> list[tuple[str, str]]:
        named = [*self._resolve(sensor.target), *self._resolve(str(sensor.settings.get("reference", "")))]
        return named if sensor.target and sensor.body == WORLD else [("bodies", sensor.body), *named]

    def _unseat(self, name: str, pose: Pose) -> tuple[str, Pose]:
        """What sat on, or was joined to, a body that stays is in the world of the part."""
        if name in self._gone["bodies"]:
            return name, pose
        return WORLD, ~self._origin @ self._poses.get(name, IDENTITY) @ pose

    def _split_articulations(self) -> None:
        """An articulation stays where its root is; one that does not touch itself is on both sides."""
        bodies, part = self._gone["bodies"], self._part
        covered = self._articulated
        part.articulations = self._split("articulations", lambda a: self._resolve(a.root))
        for articulation in [*self._host.articulations, *part.articulations]:
            inside = [name for name in covered.get(articulation.name, ()) if name in bodies]
            outside = [name for name in covered.get(articulation.name, ()) if name not in bodies]
            for asset, names in ((part, inside), (self._host, outside)):
                if names and not any(found.name == articulation.name for found in asset.articulations):
                    asset.articulations.append(dataclasses.replace(articulation, root=names[0]))

    def _split_groups(self) -> None:
        """A group is on both sides where it has members on both."""
        # one pass: whether a group stays depends on both halves and on who brought it
        names = self._gone["bodies"] | self._gone["shapes"]
        kept = []
        for group in self._host.collision_groups:
            inside = [member for member in group.members if member in names]
            outside = [member for member in group.members if member not in names]
            if inside or group.name in self._owned.get("collision_groups", ()):
                self._part.collision_groups.append(dataclasses.replace(group, members=inside))
            if outside or not inside:
                group.members = outside
                # a group without members stays where nobody brought it: other groups may filter it
                kept.append(group)
        moved = {group.name for group in self._part.collision_groups}
        owned = self._owned.get("collision_groups", frozenset())
        self._host.collision_groups = [g for g in kept if g.members or g.name not in moved & owned]

    def _take_looks(self) -> None:
        """Materials of what goes: shared ones are in both."""
        # the same three sets for both lists of materials; comprehensions count as branches
        host, part = self._host, self._part
        self._split_look_variants()
        for family, field in zip(LOOKS, ("material", "physics_material"), strict=True):
            materials = getattr(host, family)
            used, needed = (_list_looks(asset, field) if materials else set() for asset in (part, host))
            owned = self._owned.get(family, frozenset())
            chosen = [m for m in materials if m.name in used or (m.name in owned and m.name not in needed)]
            setattr(part, family, [dataclasses.replace(material) for material in chosen])
            gone = {material.name for material in chosen} - needed
            setattr(host, family, [material for material in materials if material.name not in gone])
            self._gone[family] = {material.name for material in chosen}

    def _split_look_variants(self) -> None:
        """A variant has the materials of its shapes on both sides; one that says nothing stays."""
        shapes, staying = self._gone["shapes"], []
        for variant in self._host.look_variants:
            inside = {key: look for key, look in variant.materials.items() if key[0] in shapes}
            outside = {key: look for key, look in variant.materials.items() if key[0] not in shapes}
            if inside:
                self._part.look_variants.append(dataclasses.replace(variant, materials=inside))
            if outside or not inside:
                staying.append(dataclasses.replace(variant, materials=outside))
        self._host.look_variants = staying

    def _take_ros(self) -> None:
        """Controllers by their joints, interfaces and namespaces by what they are on."""
        # who keeps a topic depends on both sides' controllers, so both lists are made here
        self._take_controllers()
        host, part = self._host, self._part
        topics = {name for controller in part.controllers for name in controller.interfaces.values()}
        needed = {name for controller in host.controllers for name in controller.interfaces.values()}
        owned = self._owned.get("interfaces", frozenset())
        places = set().union(*(self._gone[f] for f in ("bodies", "sites", "sensors", "cameras")))
        for family in ("interfaces", "contexts"):
            staying: list[Any] = []
            for element in getattr(host, family):
                name = getattr(element, "name", "")
                if element.at in self._lost["sensors"] - places:
                    self.severed.append(f"{family[:-1]} {name!r}")
                    continue
                belongs = (
                    element.at in places or (not element.at and name in topics - needed) or name in owned
                )
                (getattr(part, family) if belongs else staying).append(element)
            setattr(host, family, staying)

    def _take_controllers(self) -> None:
        """Controllers of joints that go; a body that a controller names has to be on its side."""
        host, part = self._host, self._part
        for controller in host.controllers:
            self._release(controller)
        part.controllers = self._split("controllers", self._list_controlled)
        for asset in (host, part):
            known = {"", *(body.name for body in asset.bodies)}
            for controller in asset.controllers:
                if controller.settings.get("body", "") not in known:
                    body = controller.settings.pop("body")
                    self.severed.append(f"body {body!r} of the controller {controller.name!r}")

    def _list_controlled(self, controller: Any) -> list[tuple[str, str]]:
        """Joints by the name in ROS, which is what controllers know."""
        self._gone["published"] = {n for j in self._part.joints for n in (j.name, j.ros_name) if n}
        return [("published", name) for names in controller.joints.values() for name in names]

    def _release(self, controller: Any) -> None:
        """A controller of joints on both sides stays, without those that go."""
        ends = [name for _, name in self._list_controlled(controller)]
        gone = [name for name in dict.fromkeys(ends) if name in self._gone["published"]]
        if not gone or len(gone) == len(set(ends)):
            return
        self.severed += [f"joint {name!r} of the controller {controller.name!r}" for name in gone]
        controller.joints = {
            role: [n for n in names if n not in gone] for role, names in controller.joints.items()
        }
        _drop_joints(controller.settings, gone)

    def _split_states(self) -> None:
        """Keyframes are on both sides, each with its own coordinates; one that came with the part leaves with it."""
        owned = self._owned.get("keyframes", frozenset())
        kept = []
        for state in self._host.keyframes:
            inner: dict[str, Any] = {}
            outer: dict[str, Any] = {}
            for field, listed in (("positions", "dofs"), ("velocities", "dofs"), ("controls", "actuators")):
                values = getattr(state, field)
                inner[field] = {k: v for k, v in values.items() if k in self._gone[listed]}
                away = self._gone[listed] | self._lost[listed]
                outer[field] = {k: v for k, v in values.items() if k not in away}
            if any(inner.values()) or state.name in owned:
                self._part.keyframes.append(dataclasses.replace(state, **inner))
            if state.name not in owned:
                kept.append(dataclasses.replace(state, **outer))
        self._host.keyframes = kept

    def _split_custom_attributes(self) -> None:
        """Values of custom attributes go with their elements; the declaration is on both sides."""
        for custom in self._host.custom_attributes:
            names = set().union(*self._gone.values())
            values = {key: value for key, value in custom.values.items() if key in names}
            if values:
                self._part.custom_attributes.append(dataclasses.replace(custom, values=values))
                custom.values = {key: v for key, v in custom.values.items() if key not in values}

    def _take_kept(self) -> None:
        """Extras and origins, by path, by name, or by kind and name; textures and plugins by who has them."""
        # one function: a row moves, is copied or stays by two key sets that only make sense together
        host, part = self._host, self._part
        table = host.extras.table
        keys, left = (_list_keys(asset, table.get("mjc", {})) for asset in (part, host))
        for space, elements in table.items():
            for key in list(elements):
                name = key.partition("/")[2] if space == "mjc" and not key.startswith("/") else key
                if key in keys or name in keys:
                    part.extras.table.setdefault(space, {})[key] = elements[key]
                    if not (key in left or name in left):
                        del elements[key]
        for path in [path for path in host.origins if path in keys]:
            part.origins[path] = host.origins.pop(path)

    def _take_rest(self) -> None:
        host, part = self._host, self._part
        part.environment = dataclasses.replace(host.environment, settings=dict(host.environment.settings))
        part.provenance = dataclasses.replace(host.provenance, identifier="", version="", info={})
        if host.motion is None:
            return
        back = ~self._origin

        def choose(kind: str, name: str, track: Track) -> tuple[str, Track] | None:
            if name not in self._gone[kind]:
                return None
            return name, move_track(back, track) if kind == "bodies" else track

        part.motion = map_tracks(host.motion, choose) or None
        host.motion = (
            map_tracks(host.motion, lambda kind, n, t: None if n in self._gone[kind] else (n, t)) or None
        )

    def _strip(self) -> None:
        prefix = self._prefix

        def strip(name: str) -> str:
            return name.removeprefix(prefix)

        Renaming(self._part, strip, looks=strip, topics=strip).apply()


def _drop_joints(settings: dict[str, Any], gone: list[str]) -> None:
    """Take joints out of a controller's settings, which list them or map them to values."""
    said = settings.get("joints")
    if isinstance(said, dict):
        settings["joints"] = {key: value for key, value in said.items() if key not in gone}
    elif isinstance(said, list):
        settings["joints"] = [name for name in said if name not in gone]


def _find_prefix(host: Asset, what: str | Attachment) -> str:
    if isinstance(what, Attachment):
        return what.prefix
    return "" if any(body.name == what for body in host.bodies) else what


def _find_owned(host: Asset, what: str | Attachment) -> dict[str, frozenset[str]]:
    """Names that go because they are named, by list."""
    if isinstance(what, Attachment):
        return {"bodies": frozenset(), **what.names}
    bodies = [body.name for body in host.bodies]
    if what in bodies:
        return {"bodies": frozenset((what,))}
    families = (*NAMED, *LOOKS, "interfaces", "keyframes")
    owned = {
        family: frozenset(e.name for e in getattr(host, family) if e.name.startswith(what))
        for family in families
    }
    if not what or not any(owned.values()):
        raise UnknownNameError("body or prefix", what, bodies)
    return owned


def _list_tendon(tendon: Any) -> Iterable[tuple[str, str]]:
    kinds = {"site": "sites", "wrap": "shapes", "joint": "dofs"}
    return [(kinds[point.kind], point.name) for point in tendon.path if point.kind in kinds]


def _list_equality(equality: Any) -> Iterable[tuple[str, str]]:
    kind = "tendons" if equality.kind is EqualityKind.TENDON else "bodies"
    ends = [(kind, equality.a), (kind, equality.b)]
    return ends if kind == "bodies" else [end for end in ends if end[1]]


def _list_filter(filtered: Any) -> Iterable[tuple[str, str]]:
    kind = "shapes" if filtered.of == "shape" else "bodies"
    return [(kind, filtered.a), (kind, filtered.b)]


def _list_looks(asset: Asset, field: str) -> set[str]:
    """Names of the materials that shapes have, also on sets of faces."""
    names = {getattr(shape, field) for shape in asset.shapes}
    if field == "material":
        meshes = {id(s.geometry): s.geometry for s in asset.shapes if isinstance(s.geometry, Mesh)}
        names |= {part.material for mesh in meshes.values() for part in mesh.data.subsets}
        names |= {look for variant in asset.look_variants for look in variant.materials.values()}
    return names - {""}


def _list_keys(asset: Asset, kept: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Under which keys something may be kept of the elements of an asset."""
    # one list of all spellings, so that a new kind of key has one place to go
    keys: set[str] = set(list_dofs(asset))
    for family in (*NAMED, *LOOKS, "interfaces", "contexts", "keyframes"):
        for element in getattr(asset, family):
            path, source = getattr(element, "path", ""), getattr(element, "source", None)
            name = getattr(element, "name", "")
            keys |= {path if isinstance(path, str) else "", source.prim if source else "", name}
            for attribute, extra in kept.get(f"material/{name}", {}).items() if family == "materials" else ():
                if attribute.startswith("texture"):
                    keys.add(f"texture/{extra.value}")
    motors: list[Any] = [*asset.actuators, *asset.sensors]
    keys |= {f"plugin/{element.settings['plugin']}" for element in motors if "plugin" in element.settings}
    meshes = [mesh for mesh in asset.geometries() if isinstance(mesh, Mesh)]
    keys |= {f"mesh/{mesh.asset_name}" for mesh in meshes if mesh.asset_name}
    return keys - {""}
