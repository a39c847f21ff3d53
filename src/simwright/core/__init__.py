# SPDX-License-Identifier: Apache-2.0
"""The lowest tier: what every other package uses.  Standard library and numpy only; ``documents`` also needs pydantic.

diag       findings: levels, places, kinds, the reporter that collects them
errors     errors with a place, a hint and an exit code
registry   named tables of objects that are imported when they are needed; entry points add others
math3d     vectors, quaternions (w, x, y, z) and poses; factors of units
names      legal and unique names
visible    hidden characters of untrusted text, made visible
files      reading with limits, and writing files whole
swap       putting files into a folder, all of them or none
scratch    private folders for temporary files
packages   ROS packages and ``package://`` addresses
gate       which files an asset may name
limits     how far files are trusted, and how much one asset may ask for
pool       work on many files in worker processes, with limits for each
collector  Python's collector of reference cycles, paused
heap       free memory and looked-at pages of files, given back to the system
documents  YAML and JSON documents that people write
"""
