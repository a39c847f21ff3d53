# SPDX-License-Identifier: Apache-2.0
"""The arrays that operations may edit, and which of their entries a choice means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, ValidationInfo, WithJsonSchema

from simwright.core.documents.record import refuse_word
from simwright.scenes.document_values import is_compat
from simwright.scenes.selectors import EntrySelector, JointSelector, Span

if TYPE_CHECKING:
    from simwright.scenes.ops.bench import Bench

SHAPE_ARRAYS = (
    "shape_margin", "shape_gap", "shape_material_ke", "shape_material_tau", "shape_material_mu",
    "shape_material_restitution", "shape_material_mu_torsional", "shape_material_mu_rolling", "shape_material_kh",
    "shape_collision_group", "shape_flags",
)  # fmt: skip
JOINT_ARRAYS = (
    "joint_q", "joint_qd", "joint_target_pos", "joint_target_vel", "joint_target_ke", "joint_target_kd",
    "joint_target_mode", "joint_armature",
)  # fmt: skip
ARRAYS = (*SHAPE_ARRAYS, *JOINT_ARRAYS)
WHOLE_NUMBERS = frozenset({"shape_collision_group", "shape_flags", "joint_target_mode"})


def check_array(name: str, info: ValidationInfo) -> str:
    """One of :data:`ARRAYS`; another is recorded later in ``compat="sap"``."""
    if name not in ARRAYS and not is_compat(info):
        raise refuse_word(name, ARRAYS)
    return name


ArrayName = Annotated[str, AfterValidator(check_array), WithJsonSchema({"enum": list(ARRAYS)})]


def get_array(bench: Bench, name: str) -> list[Any]:
    """The list of the builder."""
    values = getattr(bench.builder, name)
    assert isinstance(values, list)
    return values


def choose_entries(bench: Bench, name: str, choice: JointSelector) -> list[int]:
    """Entries of an array that a choice means."""
    if name in SHAPE_ARRAYS:
        if choice.references is not None and not bench.is_compat:
            bench.fail(
                f"{name} has an entry for each shape; joints choose none of them",
                "joint", "joint_label", "joints", "joint_labels",
                hint="choose shapes by range, label_prefix or match",
            )  # fmt: skip
        if bench.is_compat:
            return list(bench.cut_span(choice.span, bench.builder.shape_count, name))
        return bench.choose_shapes(choice)
    if bench.is_compat:
        return list(bench.cut_span(choice.span, len(get_array(bench, name)), name))
    return bench.choose_coords(choice) if name == "joint_q" else bench.choose_dofs(choice, name)


def cut_entries(bench: Bench, name: str, span: Span | EntrySelector) -> list[int]:
    """Entries of an array in a range."""
    given = span if isinstance(span, Span) else span.span
    return list(bench.cut_span(given, len(get_array(bench, name)), name))


def put_values(bench: Bench, name: str, entries: list[int], values: list[float]) -> None:
    """Write values, whole numbers where the array holds those."""
    array = get_array(bench, name)
    for entry, value in zip(entries, values, strict=True):
        if name in WHOLE_NUMBERS and value != int(value) and not bench.is_compat:
            bench.fail(f"{name} holds whole numbers, not {value:g}", "value", "values")
        array[entry] = int(value) if name in WHOLE_NUMBERS else float(value)
    if name in {"joint_q", "joint_qd"}:
        bench.builder.joint_q_edited = True
