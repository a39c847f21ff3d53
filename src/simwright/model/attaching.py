# SPDX-License-Identifier: Apache-2.0
"""One asset put onto another: a gripper on a flange, a sensor on a link, a robot in a room.

What is the world for the asset that is attached becomes the place it is attached to: bodies that stand fixed or free
in it are held there by fixed joints, joints from the world start there, shapes and sites of the world sit there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import IDENTITY, Pose, VectorLike
from simwright.core.names import NameScope, make_identifier
from simwright.model.filtering import filter_articulated, list_articulated
from simwright.model.joint import WORLD, Joint, JointKind
from simwright.model.kinematics import Edge, build_tree
from simwright.model.renaming import (
    LOOKS,
    NAMED,
    Renaming,
    hand_over,
    is_own_topic,
    is_same_declaration,
    list_dofs,
    place_asset,
)

if TYPE_CHECKING:
    from simwright.model.asset import Asset
    from simwright.model.elements import Articulation, ContactFilter

PoseLike: TypeAlias = Pose | tuple[VectorLike, VectorLike] | npt.NDArray[Any] | Sequence[Sequence[float]]
"""A pose, a position [m] and a quaternion (w, x, y, z), or a 4x4 matrix."""

WORLD_DIFFERS = declare(
    "attach-world",
    Level.WARNING,
    "{name!r} was made for a world with {said}; it is now in that of {host!r}, with {have}",
    hint="set asset.environment where the attached one has to move as it did before",
    doc="Gravity, step and solver options are stated once for a whole asset: those of the asset that others are "
    "attached to count. Where they differ, what is attached moves differently from before.",
)
MOTION_LEFT = declare(
    "attach-motion",
    Level.WARNING,
    "the recorded movement of {name!r} is left out: that of {host!r} has other times",
    hint="attach it before the movement is added",
    doc="An asset has one movement, whose tracks share their times.",
)
FREEDOM_LOST = declare(
    "attach-freedom",
    Level.WARNING,
    "{elements} of {name!r} act on its free base, which is fixed now; they are left out",
    hint="give a joint of your own with joint=",
    doc="What is attached hangs on a fixed joint unless a joint is given; a free base has no coordinates then.",
)
_NOT_SAID: dict[str, Any] = {"gravity": (0.0, 0.0, -9.81), "timestep": 0.002, "wind": (0.0, 0.0, 0.0)}
"""What counts where an asset says nothing."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """What was attached: to which body or site, how it stands there, and the names of all that was added, by list.

    ``asset.detach`` takes it.
    """

    at: str
    pose: Pose
    prefix: str
    names: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)

    @property
    def bodies(self) -> list[str]:
        """Names of the added bodies."""
        return sorted(self.names.get("bodies", ()))


def read_pose(value: PoseLike) -> Pose:
    """A pose from what people write for one."""
    if isinstance(value, Pose):
        return value
    try:
        if len(value) == 2:
            position, turn = (np.asarray(part, dtype=np.float64) for part in value)
            matrix = None
        else:
            matrix = np.asarray(value, dtype=np.float64)
            position, turn = matrix[:3, 3], matrix[:3, :3]
    except (TypeError, ValueError, IndexError):
        raise _bad_pose(value) from None
    # a quaternion that is far from unit length is more likely a mistake than a rounding
    if matrix is None and position.shape == (3,) and turn.shape == (4,) and abs(turn @ turn - 1.0) < 1e-3:
        return Pose.of(position, turn)
    if matrix is not None and matrix.shape == (4, 4) and np.allclose(turn @ turn.T, np.eye(3), atol=1e-6):
        return Pose.from_matrix(matrix)
    raise _bad_pose(value)


def _bad_pose(value: Any) -> UsageError:
    hint = "a Pose, (xyz, quaternion as w, x, y, z), or a 4x4 matrix without scale"
    return UsageError(f"{str(value)[:80]!r} is not a pose", hint=hint)


def find_place(host: Asset, at: Any) -> tuple[str, str, Pose]:
    """Name, body and frame in that body of a body, a site or the world; bodies come before sites of that name."""
    sites = {site.name: site for site in host.sites}
    bodies = {body.name for body in host.bodies}
    # an element of another asset is taken by its name
    name = at if isinstance(at, str) else at.name
    if not isinstance(at, str) and any(at is site for site in host.sites):
        return name, at.body, at.pose
    if name == WORLD or name in bodies:
        return name, name, IDENTITY
    if name not in sites:
        raise UnknownNameError("body or site", name, [*bodies, *sites])
    return name, sites[name].body, sites[name].pose


def attach_asset(
    host: Asset,
    part: Asset,
    at: Any,
    *,
    pose: PoseLike,
    prefix: str,
    joint: Joint | None,
    hold: bool,
    reporter: Reporter,
) -> Attachment:
    """Put ``part``, a copy that nobody else holds, into ``host``; nothing is changed where that fails."""
    name, body, frame = find_place(host, at)
    given = read_pose(pose)
    mount = frame @ given
    base = mount if body == WORLD else host.body(body).pose @ mount
    # the order matters: names are changed when the part has its joints, and checked before the host is touched
    part.contexts = [_seat_context(context, part) for context in part.contexts]
    if hold or joint is not None:
        _hold_roots(part, joint, reporter)
    elif body != WORLD:
        raise UsageError(
            f"{part.name!r} cannot hang on {name!r} without a joint", hint="hold=False is for the world"
        )
    touching = [] if body == WORLD else _settle_articulations(host, part, body)
    _rename(host, part, prefix, joint)
    place_asset(part, base, body, mount)
    _check_clashes(host, part, prefix)
    _report_world(host, part, reporter)
    families = [
        f for f in (*NAMED, *LOOKS, "keyframes", "interfaces") if f not in ("mimics", "contact_pairs")
    ]
    names = {f: frozenset(element.name for element in getattr(part, f)) for f in families}
    _share(host, part)
    for articulation, filters in touching:
        articulation.self_collide = True
        host.contact_filters += filters
    hand_over(host, part, (*NAMED, *LOOKS, "contact_filters", "interfaces", "contexts", "keyframes"))
    _join_motion(host, part, reporter)
    return Attachment(name, given, prefix, names)


def _seat_context(context: Any, part: Asset) -> Any:
    """A namespace of a whole asset becomes that of its first root, so that it does not count for the host."""
    names = {element.name for family in ("bodies", "sites") for element in getattr(part, family)}
    if context.at not in names and part.bodies:
        edges = build_tree(part)
        context.at = next(iter((*(e.child for e in edges.edges), *edges.roots)))
        context.pose = ~part.body(context.at).pose @ context.pose
    return context


def _settle_articulations(
    host: Asset, part: Asset, body: str
) -> list[tuple[Articulation, list[ContactFilter]]]:
    """Two trees become one, of which one articulation speaks: that of the host.

    Where both do not touch themselves, the whole does not.  Where one of them does not, its bodies of now are said
    not to touch each other, one by one; for the host that is given back, to be done when all else is settled.
    """
    # one function: each of the three outcomes needs the silent articulations of both sides
    trees = [build_tree(asset) for asset in (host, part)]
    silent = [
        articulation
        for articulation in host.articulations
        if not articulation.self_collide and body in list_articulated(host, articulation, trees[0])
    ]
    quiet = [articulation for articulation in part.articulations if not articulation.self_collide]
    covered = {name for found in quiet for name in list_articulated(part, found, trees[1])}
    part.articulations = []
    if silent and covered >= {shape.body for shape in part.shapes if shape.collision}:
        return []
    for articulation in quiet:
        part.contact_filters += filter_articulated(part, articulation, trees[1])
    return [(found, filter_articulated(host, found, trees[0])) for found in silent]


def _hold_roots(part: Asset, joint: Joint | None, reporter: Reporter) -> None:
    """Let every root be held by a joint from the world: the one it has, a fixed one, or the one that is given."""
    tree = build_tree(part)
    holding = [edge for edge in tree.edges if edge.parent == WORLD]
    if joint is not None:
        _hang_on_joint(part, joint, holding, tree.roots, reporter)
        return
    poses = {body.name: body.pose for body in part.bodies}
    free = [edge for edge in holding if edge.joint.kind is JointKind.FLOATING]
    _forget_dofs(part, {dof.name for edge in free for dof in edge.joint.dofs}, reporter)
    for edge in free:
        edge.joint.kind, edge.joint.dofs = JointKind.FIXED, []
        edge.joint.parent, edge.joint.child = WORLD, edge.child
        edge.joint.parent_frame, edge.joint.child_frame = poses[edge.child], IDENTITY
    scope = NameScope(other.name for other in part.joints)
    for root in tree.roots:
        name = scope.claim(f"{root}_mount")
        part.joints.append(Joint(name, JointKind.FIXED, WORLD, root, parent_frame=poses[root]))


def _hang_on_joint(
    part: Asset, joint: Joint, holding: list[Edge], floating: list[str], reporter: Reporter
) -> None:
    """Let the given joint hold the only root; ``holding`` are the joints from the world, which it replaces."""
    roots = [edge.child for edge in holding] + floating
    if len(roots) != 1:
        message = f"{part.name!r} has {len(roots)} root bodies; one joint cannot hold them"
        raise UsageError(message, hint="attach it with fixed joints (no joint=)")
    root_pose = part.body(roots[0]).pose
    replaced = {id(edge.joint) for edge in holding}
    lost = {dof.name for edge in holding for dof in edge.joint.dofs}
    part.joints = [other for other in part.joints if id(other) not in replaced]
    _forget_dofs(part, lost, reporter)
    joint.parent, joint.child = WORLD, roots[0]
    joint.parent_frame = joint.parent_frame @ root_pose
    for dof in joint.dofs:
        dof.name = dof.name or joint.name
    part.joints.append(joint)
    # the joint may start away from zero: every body stands where its initial coordinates put the root
    moved = joint.transform(joint.initial()) @ ~root_pose
    for body in part.bodies:
        body.pose = moved @ body.pose


def _forget_dofs(part: Asset, lost: set[str], reporter: Reporter) -> None:
    """Freedoms that are gone: states let go of them, what acts on them is left out and named."""
    if not lost:
        return
    for keyframe in part.keyframes:
        for values in (keyframe.positions, keyframe.velocities):
            for name in lost & set(values):
                del values[name]
    left = []
    for family in ("actuators", "sensors"):
        elements = getattr(part, family)
        left += [element.name for element in elements if element.target in lost]
        setattr(part, family, [element for element in elements if element.target not in lost])
    if left:
        shown = ", ".join(repr(name) for name in left[:5])
        reporter.report(FREEDOM_LOST, Where(part.provenance.file), elements=shown, name=part.name)


def _rename(host: Asset, part: Asset, prefix: str, joint: Joint | None) -> None:
    own = "" if joint is None else joint.name
    label = make_identifier(prefix.rstrip("_/:") or part.name)
    clash = _share_prims(host, part)

    def rename(name: str) -> str:
        return name if own and name == own else f"{prefix}{name}"

    Renaming(
        part,
        rename,
        looks=lambda name: f"{prefix}{name}",
        topics=lambda name: f"{prefix}{name}" if is_own_topic(name) else name,
        prims=lambda path: f"/{label}{path}" if clash and path else path,
    ).apply()


def _share_prims(host: Asset, part: Asset) -> bool:
    """Do different elements, or what is kept of them, have one prim path?  Materials of both may be the same ones."""
    ours, theirs = (
        {
            path
            for family in (*NAMED, "interfaces", "contexts")
            for path in _list_paths(getattr(asset, family))
        }
        for asset in (host, part)
    )
    known = host.extras.table
    return bool(ours & theirs) or any(
        path.startswith("/") and known.get(space, {}).get(path, rows) != rows
        for space, elements in part.extras.table.items()
        for path, rows in elements.items()
    )


def _list_paths(elements: Sequence[Any]) -> Iterator[str]:
    for element in elements:
        path = getattr(element, "path", "")
        path = path if isinstance(path, str) else element.source.prim  # that of a tendon is its course
        if path.startswith("/"):
            yield path


def _check_clashes(host: Asset, part: Asset, prefix: str) -> None:
    """Raise a UsageError for names that both have for different things, before anything is changed."""
    clashes = _list_clashes(host, part)
    if clashes:
        shown = ", ".join(f"{name!r} ({family.replace('_', ' ')})" for family, name in clashes[:5])
        more = f" and {len(clashes) - 5} more" if len(clashes) > 5 else ""
        word = make_identifier(part.name)
        hint = f"give it a prefix of its own, such as prefix={f'{prefix}{word}_'!r}"
        raise UsageError(f"{host.name!r} and {part.name!r} both have {shown}{more}", hint=hint)
    declared = {custom.key: custom for custom in host.custom_attributes}
    for custom in part.custom_attributes:
        if custom.key in declared and not is_same_declaration(declared[custom.key], custom):
            message = (
                f"{host.name!r} and {part.name!r} declare the custom attribute {custom.key!r} differently"
            )
            raise UsageError(message, hint="declare it alike (type, default, frequency) in both")


def _list_clashes(host: Asset, part: Asset) -> list[tuple[str, str]]:
    """List and name of what host and part both have and cannot share."""
    # one list in the order in which clashes are told; its comprehensions count as branches
    clashes = []
    for family in NAMED:
        if family == "collision_groups":  # groups of one name may be one, see below
            continue
        taken = {element.name for element in getattr(host, family) if element.name}
        clashes += [(family, e.name) for e in getattr(part, family) if e.name in taken]
    # a dof that is called as its joint has been found above
    taken = set(list_dofs(host)) - {joint.name for joint in host.joints}
    clashes += [("joint coordinates", name) for name in list_dofs(part) if name in taken]
    for family in (*LOOKS, "collision_groups"):
        known = {element.name: element for element in getattr(host, family)}
        clashes += [
            (family, element.name)
            for element in getattr(part, family)
            if element.name in known and not _agree(known[element.name], element)
        ]
    return clashes


def _agree(ours: Any, theirs: Any) -> bool:
    """Are two materials, or two groups whatever their members, the same?"""
    apart = {"source": ours.source, **({"members": ours.members} if hasattr(ours, "members") else {})}
    return bool(dataclasses.replace(theirs, **apart) == ours)


def _share(host: Asset, part: Asset) -> None:
    """Materials, groups and states of one name that agree are one."""
    for family in LOOKS:
        known = {element.name for element in getattr(host, family)}
        setattr(part, family, [element for element in getattr(part, family) if element.name not in known])
    _share_groups(host, part)
    _share_keyframes(host, part)
    part.extras.table = {
        space: {key: rows for key, rows in elements.items() if not _is_about_file(space, key, part)}
        for space, elements in part.extras.table.items()
    }


def _share_groups(host: Asset, part: Asset) -> None:
    """Groups of one name become one group with the members of both."""
    groups = {group.name: group for group in host.collision_groups}
    for group in part.collision_groups:
        if group.name in groups:
            groups[group.name].members += [m for m in group.members if m not in groups[group.name].members]
    part.collision_groups = [group for group in part.collision_groups if group.name not in groups]


def _share_keyframes(host: Asset, part: Asset) -> None:
    """Keyframes of one name become one, which has the coordinates of both."""
    states = {state.name: state for state in host.keyframes}
    for state in part.keyframes:
        if state.name in states:
            whole = states[state.name]
            whole.positions = {**state.positions, **whole.positions}
            whole.velocities = {**state.velocities, **whole.velocities}
            whole.controls = {**state.controls, **whole.controls}
    part.keyframes = [state for state in part.keyframes if state.name not in states]


def _is_about_file(space: str, key: str, part: Asset) -> bool:
    """Options of a whole file: those of the host count."""
    return key == part.name or (space == "mjc" and "/" not in key)


def _report_world(host: Asset, part: Asset, reporter: Reporter) -> None:
    """What the attached asset says of its world and the host does not."""
    ours, theirs = host.environment, part.environment
    said: dict[str, tuple[Any, Any]] = {}
    for key, default in _NOT_SAID.items():
        value, have = getattr(theirs, key), getattr(ours, key)
        standing = default if have is None else have
        if value is not None and not np.allclose(value, standing, rtol=1e-9, atol=1e-12):
            said[key] = (value, have)
    for key, value in theirs.settings.items():
        if ours.settings.get(key) != value:
            said[key] = (value, ours.settings.get(key))
    if said:
        reporter.report(
            WORLD_DIFFERS,
            Where(part.provenance.file),
            name=part.name,
            host=host.name,
            said=", ".join(f"{key} {_tell(value)}" for key, (value, _) in list(said.items())[:6]),
            have=", ".join(f"{key} {_tell(have)}" for key, (_, have) in list(said.items())[:6]),
        )


def _tell(value: Any) -> str:
    if value is None:
        return "not said"
    if isinstance(value, np.ndarray):
        return "(" + " ".join(f"{number:g}" for number in value) + ")"
    return str(value)[:40]


def _join_motion(host: Asset, part: Asset, reporter: Reporter) -> None:
    if not part.motion:
        return
    if not host.motion:
        host.motion = part.motion
    else:
        if host.motion.stepped != part.motion.stepped or not np.array_equal(
            host.motion.times, part.motion.times
        ):
            reporter.report(MOTION_LEFT, Where(part.provenance.file), name=part.name, host=host.name)
            return
        kinds = ("bodies", "shapes", "cameras", "lights")
        tracks: dict[str, Any] = {
            kind: getattr(host.motion, kind) | getattr(part.motion, kind) for kind in kinds
        }
        host.motion = dataclasses.replace(host.motion, **tracks)
