# SPDX-License-Identifier: Apache-2.0
"""Operations of ``post_build``: one module, one function each; its signature is its schema.

A new operation is a new module here with a function under :func:`~simwright.scenes.ops.operation.operation`; the
registry finds it.  Other packages announce theirs as entry points in the group ``simwright.operations``.

operation  what an operation is
registry   all operations by name, and how those of a scene file are run
context    what operations work with: the builder, their place in the file, how they find what they act on
arrays     the arrays that operations may edit
"""
