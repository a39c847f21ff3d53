# SPDX-License-Identifier: Apache-2.0
"""Worlds in three dimensions: walls, floors, doors, furniture, objects and robots as one neutral scene.

scene     a world as a scene: everything placed, with light and a camera
looks     how it looks: parts of furniture, windows, ground, light of MuJoCo
solids    outlines raised to boxes, cylinders and prisms; floors, walls with openings, doors and furniture of them
machines  robots as cylinders or as their own asset, with sensors and topics
"""
