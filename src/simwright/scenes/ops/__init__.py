# SPDX-License-Identifier: Apache-2.0
"""Operations of ``post_build``: one module, one function each; its signature is its schema.

A new operation is a new module here with a function under :func:`~simwright.scenes.ops.operation.operation`; the
registry finds it.  Other packages announce theirs as entry points in the group ``simwright.operations``.
"""
