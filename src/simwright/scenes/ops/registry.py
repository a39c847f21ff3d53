# SPDX-License-Identifier: Apache-2.0
"""Every operation by name, and the one type that a ``post_build`` entry is validated as."""

from __future__ import annotations

import pkgutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args

from pydantic import ConfigDict, Discriminator, Tag, ValidationInfo, field_validator

from simwright.core.diag import Reporter
from simwright.core.documents.record import Record, refuse_word
from simwright.core.registry import Registry
from simwright.scenes.document_values import is_compat
from simwright.scenes.ops.context import OperationContext, put_position
from simwright.scenes.ops.operation import Operation, name_operation

if TYPE_CHECKING:
    from simwright.scenes.builder import Builder
    from simwright.scenes.document import SceneFile
    from simwright.scenes.sources import SourceFinder

_NO_OPERATIONS = frozenset({"arrays", "context", "operation", "registry"})


def _list_rows() -> dict[str, str]:
    # one file per operation: a new one needs no row
    folder = str(Path(__file__).parent)
    names = sorted(module.name for module in pkgutil.iter_modules([folder]))
    return {name: f"{__package__}.{name}:{name}" for name in names if name not in _NO_OPERATIONS}


OPERATIONS: Registry[Operation] = Registry("operation", "simwright.operations", _list_rows())


@cache
def load_operations() -> dict[str, Operation]:
    """Every operation, those of other packages last."""
    return dict(OPERATIONS.items())


class UnsupportedOperation(Record):
    """An operation nobody knows: an error, except in ``compat="sap"``, where it is recorded."""

    model_config = ConfigDict(extra="allow", frozen=True)
    op: Any

    @field_validator("op")
    @classmethod
    def _refuse(cls, value: Any, info: ValidationInfo) -> Any:
        if not is_compat(info):
            raise refuse_word(value, load_operations())
        return value

    def list_unsupported(self) -> list[str]:
        """The operation."""
        return [f"post_build op={self.op}"]


def _build_type() -> Any:
    tagged: dict[str, Any] = {}
    several = {name for name, found in load_operations().items() if len(found.models) > 1}
    for name, found in load_operations().items():
        for model in found.models:
            # add_shape is one operation with a mapping for each type of shape
            kinds = get_args(model.model_fields["type"].annotation) if name in several else ()
            tagged[":".join((name, *kinds))] = model

    def choose(data: Any) -> str:
        tag = name_operation(data, several)
        if tag in tagged and tag != "unsupported":
            return tag
        word = tag.split(":")[0]
        return f"{word}:box" if word in several else "unsupported"

    tagged["unsupported"] = UnsupportedOperation
    members = tuple(Annotated[model, Tag(tag)] for tag, model in tagged.items())
    return Annotated[Union[members], Discriminator(choose)]  # noqa: UP007 - made from a list


AnyOperation: Any = _build_type()
"""One entry of ``post_build``, told apart by its operation."""


def run_operations(builder: Builder, file: SceneFile, sources: SourceFinder, reporter: Reporter) -> list[str]:
    """Apply ``post_build`` in its order; gives what is not supported."""
    unsupported: list[str] = []
    for number, entry in enumerate(file.scene.post_build):
        if isinstance(entry, UnsupportedOperation):
            unsupported.extend(entry.list_unsupported())
            continue
        context = OperationContext(builder, reporter, file, sources, ("post_build", number), unsupported)
        load_operations()[entry.op].apply(context, entry)
    return unsupported


def set_initial_positions(
    builder: Builder, file: SceneFile, sources: SourceFinder, reporter: Reporter
) -> None:
    """Apply ``initial_joint_q``."""
    for number, entry in enumerate(file.scene.initial_joint_q):
        context = OperationContext(builder, reporter, file, sources, ("initial_joint_q", number))
        put_position(context, entry.index, entry.reference, entry.offset, entry.value)
