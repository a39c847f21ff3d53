# SPDX-License-Identifier: Apache-2.0
"""Adapters for physics engines, one folder each, and what they share.  Optional engines are imported lazily.

protocol   what an engine is: Engine, Simulation, Settings, Capabilities, worlds that are opened together, divergence
table      the list of engines; entry points add others
layout     which entry of positions and velocities is which dof: the same order for every engine
flat       coordinates of Newton and of scene arrays, translated to the layout and back
films      files of pictures: .png, .gif, .mp4
mujoco     MuJoCo, the embedded engine
newton     Newton, an optional extra
"""
