# SPDX-License-Identifier: Apache-2.0
"""What runs in the interpreters of other engines; nothing but numpy and the engine itself is imported here.

seen       what an engine tells of an asset, as plain data, and how a worker is asked for it
mujoco     MuJoCo, of MJCF and of what its own USD reader makes; also asked in our own process
newton     Newton's USD importer
physx      PhysX
drake      Drake
drake_scene  Drake as an engine that runs worlds
pybullet   PyBullet
pinocchio  Pinocchio
dart       DART
sapien     SAPIEN
"""

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1
"""Of prctl: the signal that this process gets when its parent ends."""

# Only in a worker, where the package has this name: engines may take minutes to import or to answer, and a worker whose
# parent was killed would go on for nobody.
if __name__ == "workers" and sys.platform.startswith("linux"):
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
