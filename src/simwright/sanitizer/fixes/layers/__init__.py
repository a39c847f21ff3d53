# SPDX-License-Identifier: Apache-2.0
"""Fixes that move opinions between layers (REP-0158 1.2.1, 1.2.3, 1.4): what is composed stays the same.

splitting   features, vendors, meshes and the entry each in a layer of its own
arcs        payloads, references and inherited classes
"""
