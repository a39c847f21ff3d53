# SPDX-License-Identifier: Apache-2.0
"""Adapters for physics engines, one folder each.

:mod:`~simwright.engines.protocol` says what an engine is, :mod:`~simwright.engines.table` lists them,
:mod:`~simwright.engines.layout` has the order of flat arrays that all of them share.  An adapter takes the neutral
model, written in the format its engine reads; engines that are optional extras are imported lazily.
"""
