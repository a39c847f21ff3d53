# SPDX-License-Identifier: Apache-2.0
"""Engine words that have a neutral form, translated (REP-0158 4.2.2); the tables are in ``simwright.resolve``.

rules           the fixes, and numbers of joints, colliders and materials
dynamics        mimic joints, motors, and Newton's six inertia values
engine_words    what prims say in engines' words, before and after fixes; helpers of all translations
"""
