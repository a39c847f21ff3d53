# SPDX-License-Identifier: Apache-2.0
"""Flat arrays that engines run on, with Newton's names and numbers; numpy only.

arrays      what an array is: frequency, row, unit, meaning; arrays of a class as data
kinds       the numbers that stand for kinds of joints and shapes, modes and flags
model       everything that does not change while bodies move
state       what changes: state and control
collision   bounds of shapes, and which of them may touch
pairs       pairs of shapes in many equal worlds, kept once
labels      labels of many worlds, made when they are asked for
custom      arrays of custom attributes
kinematics  poses and velocities of bodies from joint coordinates, in all worlds at once
"""
