# SPDX-License-Identifier: Apache-2.0
"""Adapters for physics engines: one folder each, the sole importer of its engine.

:mod:`~simwright.engines.protocol` says what an engine is, :mod:`~simwright.engines.table` lists them.  An adapter sees
runtime arrays or the neutral model, never a file; engines that are optional extras are imported lazily.
"""
