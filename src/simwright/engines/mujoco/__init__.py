# SPDX-License-Identifier: Apache-2.0
"""MuJoCo, the embedded engine: assets are written as MJCF in memory, compiled, and stepped in many worlds on all cores.

How contacts, stops and drives are mapped is written in ``docs/running.md``.

engine       what MuJoCo offers, how it is opened, and its worlds while they move
batch        worlds of a compiled model, stepped together on all cores; everything that steps MuJoCo goes through it
coordinates  positions and velocities of the layout and MuJoCo's, for all worlds at once
actuation    what actuators take: servos of the layout, kinds and ranges of controls; contacts and stops as springs
queries      names, poses, Jacobians, inertia and contacts of a compiled model; the types of MjModel and MjData
renderer     pictures of the cameras of a model, without a window; offscreen buffers; MuJoCo's own window
studio       light with shadows, floor and sky, in which pictures and films for people are taken
framing      cameras that see all of a machine, at one moment or over a film
painter      pictures of models and assets in the studio, in one or many worlds
"""
