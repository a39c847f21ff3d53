# SPDX-License-Identifier: Apache-2.0
"""Are two assets the same machine?  Structure, kinematics, dynamics and geometry, held against each other.

``run.py`` is the table of contents: one function per section, each in a file of its own.  ``side.py`` and
``pairing.py`` find out what corresponds to what; ``difference.py`` is the answer.
"""
