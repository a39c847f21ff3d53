# SPDX-License-Identifier: Apache-2.0
"""What operations work with: the builder, the place of the operation in its file, and how it finds what it acts on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from simwright.core.diag import Reporter, Where
from simwright.scenes.messages import RANGE_CLAMPED, SELECTOR_EMPTY, SceneError
from simwright.scenes.selectors import JointSelector, LabelSelector, Span, find_label, match_labels

if TYPE_CHECKING:
    from simwright.scenes.builder import Builder
    from simwright.scenes.document import SceneFile
    from simwright.scenes.sources import SourceFinder

DOF_ARRAYS = "joint_qd"


@dataclass(slots=True)
class OperationContext:
    """One operation at work.  ``unsupported`` collects what it was asked and cannot do."""

    builder: Builder
    reporter: Reporter
    file: SceneFile
    sources: SourceFinder
    path: tuple[str | int, ...] = ()
    unsupported: list[str] = field(default_factory=list)

    @property
    def is_compat(self) -> bool:
        """Is SAP Warp imitated?"""
        return self.builder.compat == "sap"

    def find_where(self, *keys: str) -> Where:
        """The place of the first of ``keys`` that the operation has, or of the operation."""
        here = self.file.document.data
        for step in self.path:
            here = here[step]
        for key in keys:
            if key in here:
                return self.file.find_where(*self.path, key)
        return self.file.find_where(*self.path)

    def fail(self, message: str, *keys: str, hint: str = "") -> NoReturn:
        """The scene asks for something impossible."""
        raise SceneError(message, hint=hint, where=self.find_where(*keys))

    def skip(self, feature: str) -> None:
        """Record something that is known and not supported."""
        self.unsupported.append(feature)

    def find_joint(self, reference: str | int, *keys: str) -> int:
        """The index of a joint by inline id, label, unique end of a label, or index."""
        builder = self.builder
        if isinstance(reference, int):
            if not -builder.joint_count <= reference < builder.joint_count:
                self.fail(f"there is no joint {reference}; there are {builder.joint_count}", *keys)
            return reference % builder.joint_count
        # ids of the scene file before labels: its author chose them
        if reference in builder.joint_ids:
            return builder.joint_ids[reference]
        try:
            return find_label(reference, builder.joint_label)
        except LookupError as error:
            return self.fail(f"joint: {error.args[0]}", *keys)

    def find_body(self, reference: str | int, *keys: str) -> int:
        """The index of a body by inline id, label, unique end of a label, or index; -1 for the world."""
        builder = self.builder
        if isinstance(reference, int):
            if not -1 <= reference < builder.body_count:
                self.fail(f"there is no body {reference}; there are {builder.body_count}", *keys)
            return reference
        if reference in {"world", ""}:
            return -1
        if reference in builder.body_ids:
            return builder.body_ids[reference]
        try:
            return find_label(reference, builder.body_label)
        except LookupError as error:
            return self.fail(f"body: {error.args[0]}", *keys)

    def choose_joints(self, choice: JointSelector) -> list[int] | None:
        """Joints that a choice names; None where it does not go by joints."""
        keys = ("joint", "joint_label", "joints", "joint_labels")
        if choice.references is not None:
            return [self.find_joint(reference, *keys) for reference in choice.references]
        if not choice.names_joints:
            return None
        found = match_labels(choice, self.builder.joint_label)
        if not found:
            self._report_empty(choice, "joint", self.builder.joint_label)
        return found

    def choose_dofs(self, choice: JointSelector, array: str = DOF_ARRAYS) -> list[int]:
        """Entries over freedoms: those of the joints named, or a range."""
        joints = self.choose_joints(choice)
        if joints is None:
            return list(self.cut_span(choice.span, len(self.builder.joint_qd), array))
        return [dof for joint in joints for dof in self.builder.dofs_of(joint)]

    def choose_coords(self, choice: JointSelector) -> list[int]:
        """Entries of ``joint_q``: those of the joints named, or a range."""
        joints = self.choose_joints(choice)
        if joints is None:
            return list(self.cut_span(choice.span, len(self.builder.joint_q), "joint_q"))
        return [coord for joint in joints for coord in self.builder.coords_of(joint)]

    def choose_shapes(self, choice: LabelSelector) -> list[int]:
        """Shapes by label or range."""
        labels = self.builder.shape_label
        if choice.label_prefix is None and choice.match is None:
            return list(self.cut_span(choice.span, len(labels), "shapes"))
        found = match_labels(choice, labels)
        if not found:
            self._report_empty(choice, "shape", labels)
        return found

    def cut_span(self, span: Span, count: int, array: str) -> range:
        """The entries of a range; an index that is not there is an error, a range that is too long is told about."""
        entries = span.list_entries(count)
        if span.kind == "index" and not entries:
            self.fail(f"index {span.first} is not in {array}, which has {count} entries", "index", "range")
        # SAP Warp cuts silently
        if self.is_compat:
            return entries
        where = self.find_where("range", "index")
        if span.is_beyond(count):
            self.reporter.report(RANGE_CLAMPED, where, range=span, count=count, array=array)
        elif not entries and span.kind in {"between", "from"}:
            hint = f"{array} has {count} entries"
            self.reporter.report(SELECTOR_EMPTY, where, selector=span, what="entry", hint=hint)
        return entries

    def _report_empty(self, choice: LabelSelector, what: str, labels: Sequence[str]) -> None:
        if self.is_compat:
            return
        key = "label_prefix" if choice.label_prefix is not None else "match"
        shown = ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
        self.reporter.report(
            SELECTOR_EMPTY,
            self.find_where(key),
            selector=f"{key} {getattr(choice, key)!r}",
            what=what,
            hint=f"labels: {shown}" if labels else f"there is no {what}",
        )


def put_position(
    context: OperationContext, index: int | None, joint: str | int | None, offset: int, value: float
) -> None:
    """One entry of ``joint_q``, by index or by joint and offset."""
    builder = context.builder
    if joint is not None:
        entries = builder.coords_of(context.find_joint(joint, "joint", "joint_label"))
        if offset >= len(entries):
            context.fail(
                f"offset {offset} is beyond joint {joint!r}, which has {len(entries)} positions",
                "offset",
                "joint",
            )
        number = entries[offset]
    else:
        assert index is not None, "the document says one of them"
        number = context.cut_span(Span("index", index), len(builder.joint_q), "joint_q")[0]
    builder.joint_q[number] = value
    builder.joint_q_edited = True
