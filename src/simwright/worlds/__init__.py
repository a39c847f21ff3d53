# SPDX-License-Identifier: Apache-2.0
"""Worlds of rooms, hallways, furniture, objects and robots, in the plane and in space."""
