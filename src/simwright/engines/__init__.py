# SPDX-License-Identifier: Apache-2.0
"""Adapters for physics engines: one folder or file each, the sole importer of its engine.

An adapter sees the neutral model, never USD; the engine itself is an optional extra and imported lazily.
"""
