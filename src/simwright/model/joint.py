# SPDX-License-Identifier: Apache-2.0
"""Joints, drives and the constraints between them.

A :class:`Joint` holds two bodies together by a frame on each and lets them move along an ordered list of
:class:`Dof`.  That one form carries every joint of UsdPhysics, URDF, SDFormat and MJCF:

========== ===============================  ===========================================
kind       dofs                             where it comes from
========== ===============================  ===========================================
fixed      none                             all formats; MJCF body without joint
revolute   hinge                            continuous = no limits
prismatic  slide
ball       ball                             spherical
universal  hinge, hinge                     SDF universal, revolute2
planar     slide, slide, hinge              URDF planar
floating   free                             URDF floating, MJCF free
screw      hinge with ``pitch``             SDF screw
gearbox    hinge, hinge + ``gear``          SDF gearbox
distance   free + ``distance``              UsdPhysics distance
d6         any slides, then any hinges      UsdPhysics joint with limits, MJCF joint stacks
========== ===============================  ===========================================

Motion: the child frame starts on the parent frame; dof 1 moves it, dof 2 moves the result, and so on.
A dof turns about ``axis`` through ``anchor`` (both given in the joint frame).
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.diag import NOWHERE, Where
from simwright.core.math3d import (
    IDENTITY,
    Array,
    Pose,
    VectorLike,
    quat_from_axis_angle,
    quat_normalize,
    quat_rotate,
    vec3,
)
from simwright.model.display import Shown, list_differences, show_limits, show_vector

WORLD = ""
"""The name that stands for the world where a body is named."""

INF = math.inf
_ROUNDING = 1e-12


class JointKind(enum.StrEnum):
    """What the source calls it."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    BALL = "ball"
    UNIVERSAL = "universal"
    PLANAR = "planar"
    FLOATING = "floating"
    SCREW = "screw"
    GEARBOX = "gearbox"
    DISTANCE = "distance"
    D6 = "d6"


class Motion(enum.StrEnum):
    """One kind of freedom.  Positions/velocities: hinge and slide 1/1, ball 4/3, free 7/6."""

    HINGE = "hinge"
    SLIDE = "slide"
    BALL = "ball"
    FREE = "free"


POSITIONS = {Motion.HINGE: 1, Motion.SLIDE: 1, Motion.BALL: 4, Motion.FREE: 7}
VELOCITIES = {Motion.HINGE: 1, Motion.SLIDE: 1, Motion.BALL: 3, Motion.FREE: 6}


@dataclass(slots=True, repr=False)
class Drive(Shown):
    """A spring-damper motor on a dof, SI and radians: [N m/rad, N m s/rad, N m] or [N/m, N s/m, N]."""

    stiffness: float = 0.0
    damping: float = 0.0
    target_position: float = 0.0
    target_velocity: float = 0.0
    max_force: float = INF
    acceleration: bool = False


# None and a number are different things here: writers state what the source stated, and nothing else
@dataclass(slots=True, eq=False, repr=False)
class Dof(Shown):
    """One freedom of a joint.  Angles [rad], lengths [m], None means "not said".

    ``path`` is where it was authored, if that is not where its joint was: several joints may become one.
    """

    motion: Motion
    axis: Array = field(default_factory=lambda: vec3(0, 0, 1))
    name: str = ""
    anchor: Array = field(default_factory=vec3)
    lower: float = -INF
    upper: float = INF
    swing: tuple[float, float] | None = None
    pitch: float = 0.0
    armature: float | None = None
    friction: float | None = None
    damping: float | None = None
    stiffness: float | None = None
    spring_ref: float | None = None
    ref: float = 0.0
    effort_limit: float | None = None
    velocity_limit: float | None = None
    limit_stiffness: float | None = None
    limit_damping: float | None = None
    position: Any = None
    velocity: Any = None
    drive: Drive | None = None
    safety: dict[str, float] = field(default_factory=dict)
    path: str = field(default="", compare=False)

    @property
    def positions(self) -> int:
        """Number of position coordinates."""
        return POSITIONS[self.motion]

    @property
    def velocities(self) -> int:
        """Number of velocity coordinates."""
        return VELOCITIES[self.motion]

    @property
    def is_limited(self) -> bool:
        """Is either end finite?"""
        return math.isfinite(self.lower) or math.isfinite(self.upper)

    def list_facts(self) -> list[str]:
        """How it moves and how far."""
        known = ("motion", "axis", "lower", "upper")
        rest = [fact for fact in list_differences(self) if not fact.startswith(known)]
        return [f"{self.motion.value} along {show_vector(self.axis)}", show_limits(self), *rest]

    def neutral(self) -> Array:
        """Coordinates that do not move anything."""
        if self.motion is Motion.BALL:
            return np.array((1.0, 0, 0, 0))
        if self.motion is Motion.FREE:
            return np.array((0.0, 0, 0, 1.0, 0, 0, 0))
        return np.array((self.ref,))

    def transform(self, q: VectorLike) -> Pose:
        """The motion at coordinates ``q`` (hinge and slide 1, ball w,x,y,z, free p and w,x,y,z)."""
        match self.motion:
            case Motion.HINGE:
                angle = float(q[0]) - self.ref
                turn = quat_from_axis_angle(self.axis, angle)
                # a turn about the anchor, not about the frame's origin
                shift = self.anchor - quat_rotate(turn, self.anchor)
                return Pose(shift + self.axis * (self.pitch * angle), turn)
            case Motion.SLIDE:
                return Pose(self.axis * (float(q[0]) - self.ref), IDENTITY.q)
            case Motion.BALL:
                # integrators let quaternions drift
                turn = quat_normalize(q)
                return Pose(self.anchor - quat_rotate(turn, self.anchor), turn)
            case Motion.FREE:
                return Pose.of(q[:3], q[3:7])


@dataclass(slots=True, repr=False)
class Gear(Shown):
    """Couples the two hinges of a gearbox: ``angle1 = -ratio * angle2``, seen from ``reference``."""

    ratio: float
    reference: str = WORLD


@dataclass(slots=True, eq=False, repr=False)
class Joint(Shown):
    """Two bodies (``parent`` may be the world) and how one moves against the other.

    ``rest`` is the pose of the child in the parent at the neutral coordinates where the source says it (MJCF), free of
    the rounding that the way over the joint frames adds.  It repeats what they say: who moves a frame need not touch
    it, see :meth:`placed`.  ``generic`` says that the source has a joint of any axes here, whatever is left of them.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    parent_frame: Pose = IDENTITY
    child_frame: Pose = IDENTITY
    dofs: list[Dof] = field(default_factory=list)
    enabled: bool = True
    closes_loop: bool = False
    collide: bool = False
    break_force: float = INF
    break_torque: float = INF
    distance: tuple[float, float] | None = None
    gear: Gear | None = None
    rest: Pose | None = None
    generic: bool = False
    ros_name: str = ""
    path: str = ""
    source: Where = NOWHERE

    @property
    def positions(self) -> int:
        """Number of position coordinates."""
        return sum(dof.positions for dof in self.dofs)

    @property
    def velocities(self) -> int:
        """Number of velocity coordinates."""
        return sum(dof.velocities for dof in self.dofs)

    @property
    def public_name(self) -> str:
        """The name ROS uses: ``ros_name`` if given, else ``name``."""
        return self.ros_name or self.name

    def list_facts(self) -> list[str]:
        """What it holds together and how it moves."""
        ends = f"{self.parent or 'world'} -> {self.child or 'world'}"
        moves = [", ".join(dof.list_facts()[:2]) for dof in self.dofs[:2]]
        more = [f"{len(self.dofs)} dofs"] if len(self.dofs) > 2 else []
        flags = [
            word for word, said in (("off", not self.enabled), ("closes a loop", self.closes_loop)) if said
        ]
        return [self.kind.value, ends, *(more or moves), *flags]

    def placed(self) -> Pose:
        """Pose of the child in the parent at the neutral coordinates; ``rest`` as long as the frames agree with it."""
        # rest is kept where it agrees, for its last digits only
        pose = self.parent_frame @ ~self.child_frame
        return self.rest if self.rest is not None and self.rest.is_close(pose, _ROUNDING) else pose

    def neutral(self) -> Array:
        """Coordinates at which the joint frames coincide."""
        # ball and free motions are neutral at the identity, hinges and slides at their reference
        parts = [dof.neutral() for dof in self.dofs]
        return np.concatenate(parts) if parts else np.zeros(0)

    def initial(self) -> Array:
        """The authored initial coordinates, neutral where none are authored."""
        parts = [
            dof.neutral() if dof.position is None else np.atleast_1d(np.asarray(dof.position, float))
            for dof in self.dofs
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def transform(self, q: VectorLike) -> Pose:
        """Pose of the child body in the parent body at coordinates ``q``."""
        pose, start = self.parent_frame, 0
        for dof in self.dofs:
            pose = pose @ dof.transform(q[start : start + dof.positions])
            start += dof.positions
        return pose @ ~self.child_frame


@dataclass(slots=True, repr=False)
class Mimic(Shown):
    """``follower = offset + multiplier * leader`` on 1-dof names ([rad] or [m]).

    ``polynomial`` holds higher-order coefficients (from degree 2) where the source has them.
    """

    follower: str
    leader: str
    multiplier: float = 1.0
    offset: float = 0.0
    polynomial: tuple[float, ...] = ()
    enabled: bool = True
    name: str = ""
    source: Where = NOWHERE


class EqualityKind(enum.StrEnum):
    """What an equality constraint holds together."""

    CONNECT = "connect"
    WELD = "weld"
    TENDON = "tendon"
    DISTANCE = "distance"


@dataclass(slots=True, eq=False, repr=False)
class Equality(Shown):
    """A soft or hard constraint that is not a joint of the tree.

    For connect and weld, ``frame_a`` and ``frame_b`` are the points or frames on bodies ``a`` and ``b``
    that are held together; for tendon, ``a`` and ``b`` name tendons and ``polynomial`` relates them.
    """

    name: str
    kind: EqualityKind
    a: str
    b: str = WORLD
    frame_a: Pose = IDENTITY
    frame_b: Pose = IDENTITY
    polynomial: tuple[float, ...] = ()
    torque_scale: float = 1.0
    enabled: bool = True
    source: Where = NOWHERE


@dataclass(slots=True, repr=False)
class TendonPoint(Shown):
    """A step of a tendon's path: ``kind`` is site, wrap (with ``name`` a shape), pulley or joint.

    ``value`` is the joint coefficient or the pulley divisor; ``side`` a side site of a wrap.
    """

    kind: str
    name: str = ""
    value: float = 1.0
    side: str = ""


@dataclass(slots=True, repr=False)
class Tendon(Shown):
    """A length defined by a path through sites or by a sum of joint coordinates."""

    name: str
    path: list[TendonPoint] = field(default_factory=list)
    lower: float = -INF
    upper: float = INF
    stiffness: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    rest_length: tuple[float, float] | None = None
    width: float = 0.003
    source: Where = NOWHERE
