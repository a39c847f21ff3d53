# SPDX-License-Identifier: Apache-2.0
"""MuJoCo: the embedded engine.  One compiled model, many worlds on all cores.

``build.py`` makes a model of one world from the arrays, ``simulation.py`` moves all worlds by batched rollouts,
``coordinates.py`` translates between the coordinates of the arrays and MuJoCo's.  How contacts, stops and drives are
mapped is written in ``docs/running.md``.
"""
