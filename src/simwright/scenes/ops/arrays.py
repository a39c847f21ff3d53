# SPDX-License-Identifier: Apache-2.0
"""The arrays that operations may edit, and which of their entries a choice means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, ValidationInfo, WithJsonSchema

from simwright.core.documents.record import refuse_word
from simwright.scenes.document_values import is_compat
from simwright.scenes.selectors import EntrySelector, JointSelector, Span

if TYPE_CHECKING:
    from simwright.scenes.ops.context import OperationContext

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


def get_array(context: OperationContext, name: str) -> list[Any]:
    """The list of the builder."""
    values = getattr(context.builder, name)
    assert isinstance(values, list)
    return values


def choose_entries(context: OperationContext, name: str, choice: JointSelector) -> list[int]:
    """Entries of an array that a choice means."""
    if name in SHAPE_ARRAYS:
        if choice.references is not None and not context.is_compat:
            context.fail(
                f"{name} has an entry for each shape; joints choose none of them",
                "joint", "joint_label", "joints", "joint_labels",
                hint="choose shapes by range, label_prefix or match",
            )  # fmt: skip
        # SAP Warp's array operations know ranges only: joint selectors are ignored
        if context.is_compat:
            return list(context.cut_span(choice.span, context.builder.shape_count, name))
        return context.choose_shapes(choice)
    if context.is_compat:
        return list(context.cut_span(choice.span, len(get_array(context, name)), name))
    return context.choose_coords(choice) if name == "joint_q" else context.choose_dofs(choice, name)


def cut_entries(context: OperationContext, name: str, span: Span | EntrySelector) -> list[int]:
    """Entries of an array in a range."""
    given = span if isinstance(span, Span) else span.span
    return list(context.cut_span(given, len(get_array(context, name)), name))


def put_values(context: OperationContext, name: str, entries: list[int], values: list[float]) -> None:
    """Write values, whole numbers where the array holds those."""
    array = get_array(context, name)
    for entry, value in zip(entries, values, strict=True):
        if name in WHOLE_NUMBERS and value != int(value) and not context.is_compat:
            context.fail(f"{name} holds whole numbers, not {value:g}", "value", "values")
        array[entry] = int(value) if name in WHOLE_NUMBERS else float(value)
    # bodies have to follow when the arrays are made
    if name in {"joint_q", "joint_qd"}:
        context.builder.joint_q_edited = True
