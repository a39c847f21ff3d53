# SPDX-License-Identifier: Apache-2.0
"""The neutral model: what a robot, a prop or a scene *is*, whatever file it came from.

SI units, radians, Z-up, quaternions w, x, y, z.  Plain dataclasses that refer to each other by name;
geometry and materials are shared, so a copy is cheap.
"""
