# SPDX-License-Identifier: Apache-2.0
"""``copy_array``: entries of one array into another."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simwright.scenes.ops.arrays import ARRAYS, ArrayName, choose_entries, cut_entries, get_array, put_values
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import InnerRange, JointSelector


@operation
def copy_array(
    context: OperationContext,
    choice: JointSelector,
    *,
    src: Annotated[ArrayName, Field(description="array to copy from")],
    dst: Annotated[ArrayName, Field(description="array to copy to")],
    src_range: Annotated[InnerRange | None, Field(description="entries to copy")] = None,
    dst_range: Annotated[InnerRange | None, Field(description="entries to write")] = None,
) -> None:
    """Copy entries of one array into another.

    Entries are chosen by ``src_range`` and ``dst_range``, or in both arrays by the same selector.
    """
    for name in (src, dst):
        if name not in ARRAYS:
            context.skip(f"post_build copy_array array={name}")
            return
    taken = (
        choose_entries(context, src, choice) if src_range is None else cut_entries(context, src, src_range)
    )
    put = choose_entries(context, dst, choice) if dst_range is None else cut_entries(context, dst, dst_range)
    if len(taken) != len(put):
        context.fail(
            f"{len(taken)} entries of {src} do not fit {len(put)} of {dst}", "src_range", "dst_range", "range"
        )
    values = get_array(context, src)
    put_values(context, dst, put, [values[entry] for entry in taken])
