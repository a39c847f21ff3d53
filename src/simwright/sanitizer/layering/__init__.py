# SPDX-License-Identifier: Apache-2.0
"""Functional layers: what belongs where, and how it gets there without changing what is composed (REP-0158 1.2.1).

roles       which layer an opinion belongs in
stacks      the layer stacks of an asset, and the order of prims in them
moving      the layer of each role in a stack, made where there is none; single opinions moved to it
splitting   one stack split: planned first, then made; mesh data in a crate of their own, behind payloads
"""
