# SPDX-License-Identifier: Apache-2.0
"""What runs in the interpreters of other engines; nothing but numpy and the engine itself is imported here.

seen       what an engine tells of an asset, as plain data, and how a worker is asked for it
mujoco     MuJoCo, of MJCF and of what its own USD reader makes; also asked in our own process
newton     Newton's USD importer
physx      PhysX
drake      Drake
pybullet   PyBullet
pinocchio  Pinocchio
dart       DART
"""
