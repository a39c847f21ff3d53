# SPDX-License-Identifier: Apache-2.0
"""Worlds in three dimensions: walls, floors, doors, furniture, objects and robots as one neutral scene."""
