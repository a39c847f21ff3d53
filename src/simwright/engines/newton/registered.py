# SPDX-License-Identifier: Apache-2.0
"""Attributes that a builder has registered under a USD name, as solvers and users of Newton do.

Newton itself tells their values from a prim (``newton.usd.get_custom_attribute_values``); here they find their
elements.  Rows of custom frequencies (MuJoCo's actuators and tendons) are added for the prims that their filter
takes.  What the stage itself declares is not read here: see ``attributes``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from simwright.core.diag import Reporter, Where
from simwright.engines.newton.choices import Choices
from simwright.engines.newton.equalities import CONNECT, WELD
from simwright.engines.newton.joints import PASSIVE_STIFFNESS, REFERENCE, SPRING_REFERENCE
from simwright.engines.newton.messages import ATTRIBUTE_LOST
from simwright.engines.newton.result import Imported
from simwright.engines.newton.types import ModelBuilder
from simwright.model.extras import CustomAttribute
from simwright.model.joint import Joint, JointKind, Motion
from simwright.model.selection import compile_paths
from simwright.resolve.table import find_axis

if TYPE_CHECKING:
    from pxr import Usd

_STOP_MODE = "mujoco:solreflimit_mode"
_STOP_GAINS = "mujoco:solreflimit_gain_baseline"
_DOF_LABEL = "mujoco:joint_dof_label"
_OWN = frozenset({_STOP_GAINS, _DOF_LABEL})
_OF_MODEL = frozenset({_STOP_MODE, REFERENCE, SPRING_REFERENCE, PASSIVE_STIFFNESS})
"""Never read from prims; not read from prims where MuJoCo is among the resolvers, because the model has them."""
_EQUALITIES = (CONNECT, WELD)
_REFUSALS = (ValueError, TypeError, RuntimeError, IndexError)
_FORCE, _RAW, _FALLBACK = 0, 1, 2
"""How the MuJoCo solver takes the stops of a freedom: Newton's gains, its own two numbers, its own default."""
_TYPES = {
    "bool": "bool",
    "int": "int32",
    "float": "float32",
    "vec2": "vec2",
    "vec3": "vec3",
    "vec4": "vec4",
    "quat": "quat",
}
_ALIASES = {
    "half": "float", "double": "float", "float32": "float", "float64": "float",
    "int32": "int", "int64": "int", "uint": "int",
    "float2": "vec2", "float3": "vec3", "float4": "vec4",
    "quatf": "quat", "quatd": "quat", "quath": "quat",
}  # fmt: skip


def has_registered(builder: ModelBuilder) -> bool:
    """Is there anything to read?"""
    frequencies = builder.custom_frequencies
    rows = {key for key, frequency in frequencies.items() if frequency.usd_prim_filter is not None}
    return bool(rows) or any(
        attribute.usd_attribute_name and attribute.frequency not in frequencies
        for attribute in builder.custom_attributes.values()
    )


def read_registered(
    builder: ModelBuilder, stage: Usd.Stage, result: Imported, choices: Choices, *, with_mjc: bool
) -> None:
    """Set every registered attribute from the prims of the elements in the builder."""
    # one loop for each way in which an attribute finds its index
    skipped = _list_skipped(builder, choices, with_mjc=with_mjc)
    reading = _StageAttributeReader(builder, stage, result, skipped, choices)
    colliders = {
        s.path: result.shapes[s.name] for s in result.asset.shapes if s.collision and s.name in result.shapes
    }
    for frequency, paths in (
        ("BODY", result.path_body_map),
        ("SHAPE", colliders),
        ("ARTICULATION", result.path_articulation_map),
    ):
        for path, index in paths.items():
            for key, value in reading.ask(frequency, path):
                reading.put(key, index, value)
    for frequency in ("ONCE", "WORLD"):
        for key, value in reading.ask(frequency, reading.scene):
            reading.put(key, 0, value)
            result.scene_values[key] = value
    for joint in result.asset.joints:
        if joint.path and joint.name in result.joints:
            reading.read_joint(joint, result.joints[joint.name], with_mjc=with_mjc)
    reading.add_rows()


def _list_skipped(builder: ModelBuilder, choices: Choices, *, with_mjc: bool) -> frozenset[str]:
    """Attributes that are not read from prims."""
    skipped = _OWN | _OF_MODEL if with_mjc else _OWN
    if choices.legacy_springref_units:
        skipped -= {SPRING_REFERENCE}  # the model has radians
    if choices.parse_mujoco_options:
        return skipped
    return skipped | {key for key, found in builder.custom_attributes.items() if _is_option(found)}


class _StageAttributeReader:
    """One stage being asked for the attributes of one builder."""

    def __init__(
        self,
        builder: ModelBuilder,
        stage: Usd.Stage,
        result: Imported,
        skipped: frozenset[str],
        choices: Choices,
    ) -> None:
        import newton

        self._choices = choices

        self._builder = builder
        self._stage = stage
        self._result = result
        self._reporter: Reporter = result.reporter
        self._read = newton.usd.get_custom_attribute_values
        declared = {
            f"{a.namespace}:{a.name}" if a.namespace else a.name for a in result.asset.custom_attributes
        }
        self._wanted: dict[str, list[Any]] = {}
        for key, attribute in builder.custom_attributes.items():
            # attributes that the asset declares have been set by add_attributes
            frequency = attribute.frequency
            # rows have all columns of their frequency, also those that no prim says
            wanted = attribute.usd_attribute_name or frequency in builder.custom_frequencies
            if wanted and key not in declared | skipped:
                name = frequency if isinstance(frequency, str) else frequency.name
                self._wanted.setdefault(name, []).append(attribute)
        # none where it is not a part of what is wanted
        self.scene = str(result.asset.provenance.info.get("physicsScene") or "")
        scene = stage.GetPrimAtPath(self.scene) if self.scene else None
        self._context = {"builder": builder, "physics_scene_prim": scene}

    def ask(self, frequency: str, path: str) -> Iterator[tuple[str, Any]]:
        """What a prim says about the attributes of a frequency."""
        wanted = self._wanted.get(frequency)
        prim = self._stage.GetPrimAtPath(path) if wanted and path else None
        if wanted and prim:
            yield from self._read_prim(prim, wanted, self._context)[0].items()

    def _read_prim(
        self, prim: Any, attributes: list[Any], context: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Any]]:
        """Values by key, and the attributes that Newton cannot read, which are reported."""
        try:
            return self._read(prim, attributes, context=context), []
        # one bad attribute makes Newton refuse all of a prim: they are asked one by one then
        except _REFUSALS:
            pass
        values: dict[str, Any] = {}
        failed = []
        path = prim.GetPath().pathString
        for attribute in attributes:
            try:
                values |= self._read(prim, [attribute], context=context)
            except _REFUSALS as error:
                failed.append(attribute)
                where = Where(self._result.asset.provenance.file, prim=path)
                self._reporter.report(ATTRIBUTE_LOST, where, name=attribute.key, why=str(error))
        return values, failed

    def put(self, key: str, index: int, value: Any) -> None:
        """Set one element."""
        self._builder.custom_attributes[key].values[index] = value

    def read_joint(self, joint: Joint, index: int, *, with_mjc: bool) -> None:
        """A value holds for every freedom, a list for one each; a freedom with a prim of its own has its own."""
        builder = self._builder
        for key, value in self.ask("JOINT", joint.path):
            self.put(key, index, value)
        at_q, at = builder.joint_q_start[index], builder.joint_qd_start[index]
        for path, positions, rates in self._split(joint):
            for frequency, start, count in (("JOINT_DOF", at, rates), ("JOINT_COORD", at_q, positions)):
                for key, value in self.ask(frequency, path):
                    self._spread(joint, key, value, range(start, start + count))
                    if key == SPRING_REFERENCE and self._choices.legacy_springref_units:
                        self._keep_degrees(path, range(start, start + count))
                    if key == REFERENCE:
                        self._shift_limits(value, range(start, start + count))
            at_q, at = at_q + positions, at + rates
        # joints that stand for equalities are rows, not dofs
        if not any(self._has_api(joint.path, api) for api in _EQUALITIES):
            start = builder.joint_qd_start[index]
            self._label(joint, start)
            if with_mjc:
                self._set_stops(joint, start)

    def _keep_degrees(self, path: str, dofs: range) -> None:
        """The number of a spring reference as it is authored."""
        for at in dofs:
            self.put(
                SPRING_REFERENCE,
                at,
                float(self._stage.GetPrimAtPath(path).GetAttribute("mjc:springref").Get()),
            )

    def _shift_limits(self, reference: Any, dofs: range) -> None:
        """MuJoCo's limits count from its reference; Newton's from where the joint frames meet."""
        for at in dofs:
            self._builder.joint_limit_lower[at] -= float(reference)
            self._builder.joint_limit_upper[at] -= float(reference)

    def _has_api(self, path: str, api: str) -> bool:
        import newton

        prim = self._stage.GetPrimAtPath(path)
        return bool(prim) and bool(newton.usd.has_applied_api_schema(prim, api))

    def _split(self, joint: Joint) -> list[tuple[str, int, int]]:
        """Prim, coordinates and velocities of each freedom, together where they come from one prim."""
        if self._is_merged(joint):
            return [((dof.path or joint.path), dof.positions, dof.velocities) for dof in joint.dofs]
        rates = [(dof.positions, dof.velocities) for dof in joint.dofs]
        return [(joint.path, sum(p for p, _ in rates), sum(v for _, v in rates))]

    def _is_merged(self, joint: Joint) -> bool:
        return any(dof.path for dof in joint.dofs)

    def _spread(self, joint: Joint, key: str, value: Any, places: range) -> None:
        if not isinstance(value, list | tuple):
            for at in places:
                self.put(key, at, value)
        elif len(value) == len(places):
            for at, one in zip(places, value, strict=True):
                self.put(key, at, one)
        else:
            why = f"joint {joint.name!r} has {len(places)} degrees of freedom and {len(value)} values"
            self._reporter.report(ATTRIBUTE_LOST, joint.source, name=key, why=why)

    def _label(self, joint: Joint, at: int) -> None:
        if _DOF_LABEL not in self._builder.custom_attributes:
            return
        merged = self._is_merged(joint)
        prims = {dof.name: (dof.path or joint.path) for dof in joint.dofs} if merged else {}
        for number, label in enumerate(_list_labels(joint, prims)):
            self.put(_DOF_LABEL, at + number, label)

    def _set_stops(self, joint: Joint, at: int) -> None:
        """Which of the three ways to stop a freedom its prim asks for."""
        # dof by dof: what the prim says decides together with what the resolvers found
        for dof in joint.dofs:
            path = (dof.path or joint.path) if self._is_merged(joint) else joint.path
            prim = self._stage.GetPrimAtPath(path)
            raw = bool(prim) and prim.GetAttribute("mjc:solreflimit").HasAuthoredValue()
            if dof.motion in (Motion.HINGE, Motion.SLIDE):
                known = self._result.asset.origins.get(path, {})
                axes = (find_axis(joint, dof), "angular" if dof.motion is Motion.HINGE else "linear")
                # gains that nobody authored: MuJoCo's own default of stops is meant
                silent = not any(f"limit_{axis}_{gain}" in known for axis in axes for gain in ("ke", "kd"))
                silent = silent and not self._is_configured()
                fallback = _FALLBACK if silent and self._has_api(path, "MjcJointAPI") else _FORCE
                self._stop(at, _RAW if raw else fallback)
            elif raw:
                for number in range(dof.velocities):
                    self._put_known(_STOP_MODE, at + number, _RAW)
            at += dof.velocities

    def _is_configured(self) -> bool:
        """Has somebody given the builder gains of stops of their own?  They come before MuJoCo's default."""
        own = self._builder.default_joint_cfg
        plain = type(own)()
        return bool((own.limit_ke, own.limit_kd) != (plain.limit_ke, plain.limit_kd))

    def _stop(self, at: int, mode: int) -> None:
        import warp

        gains = warp.vec2(self._builder.joint_limit_ke[at], self._builder.joint_limit_kd[at])
        self._put_known(_STOP_MODE, at, mode)
        self._put_known(_STOP_GAINS, at, gains)

    def _put_known(self, key: str, index: int, value: Any) -> None:
        if key in self._builder.custom_attributes:
            self.put(key, index, value)

    def add_rows(self) -> None:
        """A row (or several) of each custom frequency for every prim that its filter takes."""
        builder = self._builder
        chosen = [
            (key, frequency)
            for key, frequency in builder.custom_frequencies.items()
            if frequency.usd_prim_filter is not None and key in self._wanted
        ]
        if not chosen:
            return
        from pxr import Usd

        self._result.answer.update(self._result.as_newton())
        context = {"builder": builder, "result": self._result.answer}
        is_out = compile_paths(self._choices)
        root = self._stage.GetPrimAtPath(self._choices.root_path)
        for prim in Usd.PrimRange(root, Usd.TraverseInstanceProxies()) if root else ():
            if is_out(prim.GetPath().pathString):
                continue
            for key, frequency in chosen:
                about = context | {"prim": prim}
                if not frequency.usd_prim_filter(prim, about):
                    continue
                columns = self._wanted[key]
                for row in self._list_rows(frequency, prim, columns, about):
                    builder.add_custom_values(**{column.key: row.get(column.key) for column in columns})

    def _list_rows(
        self, frequency: Any, prim: Any, attributes: list[Any], context: dict[str, Any]
    ) -> Iterable[dict[str, Any]]:
        """Rows of a prim; none where what makes it a row (names, targets) cannot be read."""
        if frequency.usd_entry_expander is not None:
            rows: Iterable[dict[str, Any]] = frequency.usd_entry_expander(prim, context)
            return rows
        row, failed = self._read_prim(prim, attributes, context)
        return [] if any(attribute.usd_attribute_name == "*" for attribute in failed) else [row]


def _is_option(attribute: Any) -> bool:
    """An option of the MuJoCo solver: a value of the whole model or of a world."""
    frequency = attribute.frequency
    return attribute.namespace == "mujoco" and getattr(frequency, "name", "") in ("ONCE", "WORLD")


def _list_labels(joint: Joint, prims: dict[str, str]) -> list[str]:
    """Newton's names of freedoms: the prim's path, with the axis where a prim has several."""
    if prims:
        return [prims[dof.name] for dof in joint.dofs]
    if joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        return [joint.path]
    labels: list[str] = []
    for dof in joint.dofs:
        if dof.motion is Motion.BALL:
            labels += [f"{joint.path}:rot{letter}" for letter in "XYZ"]
        elif dof.velocities == 1:
            labels.append(f"{joint.path}:{find_axis(joint, dof)}")
    return labels


def add_attributes(
    builder: ModelBuilder,
    attributes: list[CustomAttribute],
    indices: dict[str, dict[str, int]],
    reporter: Reporter,
) -> None:
    """Declare every attribute and set its values; ``indices`` maps a frequency to element indices by name."""
    for attribute in attributes:
        why = _add_attribute(builder, attribute, indices)
        if why:
            reporter.report(ATTRIBUTE_LOST, attribute.source, name=attribute.key, why=why)


def _add_attribute(
    builder: ModelBuilder, attribute: CustomAttribute, indices: dict[str, dict[str, int]]
) -> str:
    """Empty if it went well, else the reason why not."""
    import newton
    import warp

    kind = _ALIASES.get(attribute.type, attribute.type)
    if kind not in _TYPES:
        return f"type {attribute.type!r}"
    frequency = getattr(newton.Model.AttributeFrequency, attribute.frequency.upper(), None)
    assignment = getattr(newton.Model.AttributeAssignment, attribute.assignment.upper(), None)
    if frequency is None or assignment is None:
        return f"frequency {attribute.frequency!r}, assignment {attribute.assignment!r}"
    try:
        builder.add_custom_attribute(
            newton.ModelBuilder.CustomAttribute(
                name=attribute.name,
                dtype=getattr(warp, _TYPES[kind]),
                frequency=frequency,
                assignment=assignment,
                namespace=attribute.namespace or None,
                default=_convert(attribute.default, kind),
            )
        )
    except ValueError as error:
        return str(error)
    values = builder.custom_attributes[attribute.key].values
    known = indices.get(attribute.frequency, {})
    for element, value in attribute.values.items():
        for at, one in _spread(builder, attribute.frequency, known.get(element), value):
            values[at] = _convert(one, kind)
    return ""


def _spread(builder: ModelBuilder, frequency: str, index: int | None, value: Any) -> list[tuple[int, Any]]:
    """Builder indices and values: one per element, or one per freedom or coordinate of a joint."""
    if frequency in ("once", "world"):
        return [(0, value)]
    if index is None:
        return []
    if frequency not in ("joint_dof", "joint_coord"):
        return [(index, value)]
    dofs = frequency == "joint_dof"
    starts = builder.joint_qd_start if dofs else builder.joint_q_start
    total = builder.joint_dof_count if dofs else builder.joint_coord_count
    start = starts[index]
    end = starts[index + 1] if index + 1 < len(starts) else total
    if isinstance(value, list) and len(value) == end - start:
        return list(zip(range(start, end), value, strict=True))
    return [(at, value) for at in range(start, end)]


def _convert(value: Any, kind: str) -> Any:
    import warp

    if value is None:
        return None
    if kind == "quat":
        return warp.normalize(warp.quat(*(float(v) for v in (*value[1:], value[0]))))  # Warp has w last
    if kind.startswith("vec"):
        return getattr(warp, kind)(*(float(v) for v in value))
    return {"bool": bool, "int": int, "float": float}[kind](value)
