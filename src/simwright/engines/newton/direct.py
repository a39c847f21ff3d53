# SPDX-License-Identifier: Apache-2.0
"""Links, joints and shapes put straight into the lists of a builder, as its own methods would put them there.

``ModelBuilder.add_link`` and its like check and convert their arguments one by one, make each of Warp's values number
by number and look up every function of Warp that they call: half of the time of filling a builder.  What an asset holds
is checked and converted already.  :func:`choose_adder` gives what adds elements to a builder: an object that writes the
lists of a builder whose version is known, and the builder itself of any other.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from simwright.engines.newton.types import ModelBuilder

_KNOWN = "1.7."
"""Versions of Newton whose builder is written directly: other versions may have other lists."""
_METHODS = ("add_link", "add_joint", "add_shape", "add_site")
_OWN_MODULE = "newton._src.sim.builder"


def choose_adder(builder: ModelBuilder) -> ElementAdder:
    """What adds links, joints, shapes and sites to a builder, by the words of its own methods."""
    import newton

    # who changes the class, or makes one of his own, wants to be asked for every element
    is_plain = type(builder) is newton.ModelBuilder and not any(name in vars(builder) for name in _METHODS)
    if not is_plain or not _is_known(newton.__version__):
        return builder
    return DirectAdder(builder)


def _is_known(version: str) -> bool:
    import newton

    methods = (getattr(newton.ModelBuilder, name) for name in _METHODS)
    # by where its code stands: what wraps a method of another has its names
    own = all(getattr(m, "__globals__", {}).get("__name__") == _OWN_MODULE for m in methods)
    return own and version.startswith(_KNOWN)


class DirectAdder:
    """Adds elements to one ``newton.ModelBuilder``, and asks its own methods for all that is not usual."""

    def __init__(self, builder: ModelBuilder) -> None:
        import newton
        import warp

        self._builder: Any = builder
        self._pose, self._vector, self._matrix = warp.transform, warp.vec3, warp.mat33
        self._invert = _find_inverse()
        self._collides = int(newton.ShapeFlags.COLLIDE_SHAPES)
        kinds = newton.JointType
        # the coordinates of others begin with a turn, or with a pose
        self._plain_joints = frozenset({kinds.FIXED, kinds.REVOLUTE, kinds.PRISMATIC, kinds.D6})
        self._filters_parent = kinds.FIXED
        self._kinematic = int(newton.BodyFlags.KINEMATIC)
        self._dynamic = int(newton.BodyFlags.DYNAMIC)
        geometry = newton.GeoType
        self._plain_shapes = frozenset({geometry.SPHERE, geometry.BOX, geometry.CAPSULE, geometry.ELLIPSOID})
        self._meshes = frozenset({geometry.CONVEX_MESH, geometry.MESH})
        self._measure = sys.modules[_OWN_MODULE].compute_shape_radius
        self._settings: dict[int, tuple[Any, tuple[Any, ...]]] = {}
        self._site_settings: dict[bool, Any] = {}

    def add_link(
        self,
        *,
        xform: Sequence[float],
        com: Sequence[float],
        inertia: Any,
        mass: float,
        label: str,
        lock_inertia: bool,
        is_kinematic: bool,
    ) -> int:
        """``ModelBuilder.add_link``."""
        to = self._builder
        number = len(to.body_mass)
        matrix = _make(self._matrix, _NINE, inertia.reshape(-1).tolist())
        to.body_inertia.append(matrix)
        to.body_mass.append(mass)
        to.body_com.append(_make(self._vector, _THREE, com))
        to.body_lock_inertia.append(lock_inertia)
        to.body_flags.append(self._kinematic if is_kinematic else self._dynamic)
        to.body_inv_mass.append(1.0 / mass if mass > 0.0 else 0.0)
        to.body_inv_inertia.append(self._invert(matrix))
        to.body_q.append(_make(self._pose, _SEVEN, xform))
        to.body_qd.append(_spatial_vector()())
        to.body_label.append(label or f"body_{number}")
        to.body_shapes[number] = []
        to.body_world.append(to.current_world)
        return number

    def add_joint(
        self,
        kind: Any,
        parent: int,
        child: int,
        *,
        linear_axes: Sequence[Any] = (),
        angular_axes: Sequence[Any] = (),
        label: str | None = None,
        parent_xform: Sequence[float] | None = None,
        child_xform: Sequence[float] | None = None,
        collision_filter_parent: bool | None = None,
        enabled: bool = True,
    ) -> int:
        """``ModelBuilder.add_joint``."""
        to = self._builder
        is_usual = kind in self._plain_joints and _can_join(to, parent, child)
        if not is_usual or parent_xform is None or child_xform is None:
            index: int = to.add_joint(
                kind,
                parent,
                child,
                linear_axes=list(linear_axes),
                angular_axes=list(angular_axes),
                label=label,
                parent_xform=parent_xform,
                child_xform=child_xform,
                collision_filter_parent=collision_filter_parent,
                enabled=enabled,
            )
            return index
        if collision_filter_parent is None:
            collision_filter_parent = parent != -1 or kind == self._filters_parent
        return self._write_joint(
            kind,
            (parent, child),
            (linear_axes, angular_axes),
            (_make(self._pose, _SEVEN, parent_xform), _make(self._pose, _SEVEN, child_xform)),
            (label, collision_filter_parent, enabled),
        )

    def _write_joint(
        self,
        kind: Any,
        ends: tuple[int, int],
        axes: tuple[Sequence[Any], Sequence[Any]],
        frames: tuple[Any, Any],
        rest: tuple[str | None, bool, bool],
    ) -> int:
        to = self._builder
        (parent, child), (linear, angular) = ends, axes
        index = len(to.joint_type)
        to.joint_type.append(kind)
        to.joint_parent.append(parent)
        to.joint_parents.setdefault(child, []).append((parent, index))
        to.joint_children.setdefault(parent, []).append((child, index))
        to.joint_child.append(child)
        to.joint_X_p.append(frames[0])
        to.joint_X_c.append(frames[1])
        label, filters, enabled = rest
        to.joint_label.append(label or f"joint_{index + 1}")
        to.joint_dof_dim.append((len(linear), len(angular)))
        to.joint_enabled.append(enabled)
        to.joint_collision_filter_parent.append(filters)
        to.joint_world.append(to.current_world)
        to.joint_articulation.append(-1)
        to.joint_mimic_joint.append(-1)
        to.joint_mimic_coeffs.append((0.0, 1.0))
        count = 0
        for dim in (*linear, *angular):
            self._write_axis(dim)
            count += 1
        rates, coordinates, constraints = _count(kind, count)
        to.joint_q.extend([0.0] * coordinates)
        targets = [dim.target_pos for dim in (*linear, *angular)]
        to.joint_target_q.extend(targets)
        still = [0.0] * rates
        to.joint_qd.extend(still)
        to.joint_f.extend(still)
        to.joint_act.extend(still)
        to.joint_cts.extend([0.0] * constraints)
        to.joint_q_start.append(to.joint_coord_count)
        to.joint_qd_start.append(to.joint_dof_count)
        to.joint_cts_start.append(to.joint_constraint_count)
        to.joint_dof_count += rates
        to.joint_coord_count += coordinates
        to.joint_constraint_count += constraints
        return index

    def _write_axis(self, dim: Any) -> None:
        to = self._builder
        mode, lower, upper = _settle_axis(dim)
        to.joint_axis.append(dim.axis)
        to.joint_target_qd.append(dim.target_vel)
        to.joint_target_mode.append(mode)
        to.joint_target_ke.append(dim.target_ke)
        to.joint_target_kd.append(dim.target_kd)
        to.joint_damping.append(dim.damping)
        to.joint_limit_ke.append(dim.limit_ke)
        to.joint_limit_kd.append(dim.limit_kd)
        to.joint_armature.append(dim.armature)
        to.joint_effort_limit.append(dim.effort_limit)
        to.joint_velocity_limit.append(dim.velocity_limit)
        to.joint_friction.append(dim.friction)
        to.joint_limit_lower.append(lower)
        to.joint_limit_upper.append(upper)

    def add_site(
        self,
        body: int,
        *,
        xform: Sequence[float],
        type: Any,  # noqa: A002 - Newton's word
        scale: Sequence[float],
        label: str,
        visible: bool,
    ) -> int:
        """``ModelBuilder.add_site``."""
        cfg = self._site_settings.get(visible)
        if cfg is None:
            cfg = self._site_settings[visible] = self._builder.default_site_cfg.copy()
            cfg.is_visible = visible
        return self.add_shape(
            body=body, type=type, xform=xform, scale=scale, cfg=cfg, is_static=False, label=label
        )

    def add_shape(
        self,
        *,
        body: int,
        type: Any,  # noqa: A002 - Newton's word
        xform: Sequence[float],
        scale: Sequence[float],
        cfg: Any,
        src: Any = None,
        is_static: bool = True,
        color: Sequence[float] | None = None,
        opacity: float | None = None,
        label: str = "",
        radius: float | None = None,
    ) -> int:
        """``ModelBuilder.add_shape``, of shapes that weigh nothing; ``cfg`` is not to be changed afterwards.

        ``radius`` is that of the shape where it is known [m].
        """
        if not self._is_usual(type, cfg, src, is_static) or (opacity is not None and not 0 <= opacity <= 1):
            return self._add_by_builder(
                {"body": body, "type": type, "xform": xform, "scale": scale, "cfg": cfg, "src": src},
                {"is_static": is_static, "color": color, "opacity": opacity, "label": label},
                radius,
            )
        scale = float(scale[0]), float(scale[1]), float(scale[2])
        if type in self._plain_shapes:
            scale = abs(scale[0]), abs(scale[1]), abs(scale[2])
        to = self._builder
        known = self._settings.get(id(cfg))
        if known is None or known[0] is not cfg:
            known = self._settings[id(cfg)] = cfg, self._check_settings(cfg, type)
        shape = len(to.shape_type)
        self._write_looks(shape, src, color, opacity)
        to.shape_body.append(body)
        to.body_shapes[body].append(shape)
        to.shape_label.append(label or f"shape_{shape}")
        to.shape_transform.append(_make(self._pose, _SEVEN, xform))
        to.shape_type.append(type)
        to.shape_scale.append(scale)
        to.shape_source.append(src)
        to.shape_collision_radius.append(self._measure(type, scale, src) if radius is None else radius)
        to.shape_world.append(to.current_world)
        for name, value in known[1]:
            getattr(to, name).append(value)
        if cfg.has_shape_collision and cfg.collision_filter_parent:
            self._filter_shapes(body, shape)
        return shape

    def _is_usual(self, kind: Any, cfg: Any, src: Any, is_static: bool) -> bool:
        """Is it a shape that Newton neither refuses nor weighs?"""
        if cfg.is_hydroelastic or not (is_static or cfg.density == 0.0):
            return False
        # Newton refuses sites that touch
        if cfg.is_site and (cfg.has_shape_collision or cfg.has_particle_collision or cfg.collision_group):
            return False
        return kind in self._plain_shapes or (kind in self._meshes and src is not None)

    def _add_by_builder(self, what: dict[str, Any], how: dict[str, Any], radius: float | None) -> int:
        index: int = self._builder.add_shape(**what, **how)
        if radius is not None:
            self._builder.shape_collision_radius[index] = radius
        return index

    def _check_settings(self, cfg: Any, kind: Any) -> tuple[tuple[str, Any], ...]:
        """What a configuration puts into the lists, once it has passed Newton's own check."""
        cfg.validate(shape_type=kind)
        gap = cfg.gap if cfg.gap is not None else self._builder.rigid_gap
        return (
            ("shape_flags", cfg.flags),
            ("shape_margin", cfg.margin),
            ("shape_is_solid", cfg.is_solid),
            ("shape_material_ke", cfg.ke),
            ("shape_material_kd", cfg.kd),
            ("shape_material_kf", cfg.kf),
            ("shape_material_ka", cfg.ka),
            ("shape_material_mu", cfg.mu),
            ("shape_material_restitution", cfg.restitution),
            ("shape_material_mu_torsional", cfg.mu_torsional),
            ("shape_material_mu_rolling", cfg.mu_rolling),
            ("shape_material_kh", cfg.kh),
            ("shape_gap", gap),
            ("shape_collision_group", cfg.collision_group),
            ("shape_sdf_narrow_band_range", cfg.sdf_narrow_band_range),
            ("shape_sdf_target_voxel_size", cfg.sdf_target_voxel_size),
            ("shape_sdf_max_resolution", cfg.sdf_max_resolution),
            ("shape_force_sdf", cfg.force_sdf),
            ("shape_sdf_texture_format", cfg.sdf_texture_format),
            ("shape_sdf_padding", cfg.sdf_padding),
        )

    def _write_looks(
        self, shape: int, src: Any, color: Sequence[float] | None, opacity: float | None
    ) -> None:
        """Colour and opacity: those given, those of the source, or the next of the palette."""
        to = self._builder
        if src is not None:
            color = src.color if color is None else color
            opacity = src.opacity if opacity is None else opacity
        to.shape_color.append(
            to._shape_palette_color(shape)
            if color is None
            else (float(color[0]), float(color[1]), float(color[2]))
        )
        to.shape_opacity.append(1.0 if opacity is None else float(opacity))

    def _filter_shapes(self, body: int, shape: int) -> None:
        """Shapes of bodies that a joint holds together do not touch."""
        to, collides = self._builder, self._collides
        pairs = to._shape_collision_filter_pairs
        for held in (to.joint_parents, to.joint_children):
            for other, joint in held.get(body, ()):
                if not to.joint_collision_filter_parent[joint]:
                    continue
                for beside in to.body_shapes[other]:
                    if to.shape_flags[beside] & collides:
                        pairs.append((min(beside, shape), max(beside, shape)))


_THREE, _SEVEN, _NINE = ctypes.c_float * 3, ctypes.c_float * 7, ctypes.c_float * 9


def _make(kind: Any, numbers: Any, values: Sequence[float]) -> Any:
    """A value of Warp from as many numbers; its own function sets them one by one."""
    return kind.from_buffer_copy(numbers(*values))


def _can_join(builder: Any, parent: int, child: int) -> bool:
    """Are there two bodies of the current world that no joint holds together yet, the child without shapes?

    Newton refuses others or warns of them, and filters shapes that are there already.
    """
    worlds, count = builder.body_world, len(builder.body_world)
    if not (-1 <= parent < count and 0 <= child < count) or worlds[child] != builder.current_world:
        return False
    if parent >= 0 and worlds[parent] != builder.current_world:
        return False
    return not builder.body_shapes[child] and not _are_joined(builder, parent, child)


def _are_joined(builder: Any, parent: int, child: int) -> bool:
    """Is there a joint between two bodies already?"""
    held, holding = builder.joint_parents.get(child, ()), builder.joint_children.get(child, ())
    return any(body == parent for body, _ in held) or any(body == parent for body, _ in holding)


ElementAdder: TypeAlias = DirectAdder | ModelBuilder
"""What :func:`choose_adder` gives."""


@lru_cache(maxsize=64)
def _count(kind: Any, axes: int) -> tuple[int, int, int]:
    """Velocities, coordinates and constraints of a joint with so many axes."""
    rates, coordinates = kind.dof_count(axes)
    return rates, coordinates, kind.constraint_count(axes)


def _settle_axis(dim: Any) -> tuple[int, float, float]:
    """Mode of the target and limits of an axis as the builder has them."""
    import newton

    mode = dim.actuator_mode
    if mode is None:
        drives = dim.target_ke != 0.0 or dim.target_kd != 0.0
        mode = newton.JointTargetMode.from_gains(dim.target_ke, dim.target_kd, has_drive=drives)
    most = newton.MAXVAL
    lower = dim.limit_lower if math.isfinite(dim.limit_lower) else -most
    return int(mode), lower, dim.limit_upper if math.isfinite(dim.limit_upper) else most


@lru_cache(maxsize=1)
def _spatial_vector() -> Any:
    import warp

    return warp.spatial_vector


@lru_cache(maxsize=1)
def _find_inverse() -> Callable[[Any], Any]:
    """Warp's inverse of 3x3 matrices: its function of C itself, where it can be found without the search for it."""
    import warp

    inverse: Callable[[Any], Any] = warp.inverse
    one = warp.mat33(2.0, 0.5, 0.0, 0.5, 4.0, 0.0, 0.0, 0.0, 8.0)
    try:
        known, _ = inverse._resolve_builtin_call(one)  # type: ignore[attr-defined]  # of Warp, not public
        function, kind = known.c_func, known.value_type
    except (AttributeError, TypeError, ValueError):
        return inverse

    def invert(matrix: Any) -> Any:
        made = kind()
        function(ctypes.byref(matrix), ctypes.c_void_p(ctypes.addressof(made)))
        return made

    # another version of Warp may call its functions otherwise
    return invert if kind is warp.mat33 and bytes(invert(one)) == bytes(inverse(one)) else inverse
