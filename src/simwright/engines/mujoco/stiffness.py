# SPDX-License-Identifier: Apache-2.0
"""Springs and dampers of contacts and stops in MuJoCo's words.

MuJoCo's constraints have a reference acceleration ``-b v - k x`` and a regularisation ``R = (1 - d) / d * A``, where
``A`` is the inverse mass it estimates once for the model; the force is ``(-b v - k x - a) / R``.  A spring and damper
taken at the end of the time step, ``f = -ke (x + dt v') - kd v'`` with ``v' = v + dt a``, is exactly of this form:

    R = 1 / (dt (dt ke + kd)),   b = 1 / dt,   k = ke R,   d = A / (A + R)

It rests at ``x = f / ke`` and is stable for any stiffness.  MuJoCo keeps ``d`` within 0.0001 and 0.9999.
"""

from __future__ import annotations

import numpy as np

from simwright.runtime.rotation import Values

LOOSE, TIGHT = 1e-4, 0.9999
"""The least and the largest impedance of MuJoCo."""


def make_reference(ke: Values, kd: Values, inverse_mass: Values, dt: float) -> tuple[Values, Values]:
    """``solref`` (n, 2) and impedance (n,) of springs ``ke`` [N/m] and dampers ``kd`` [N s/m]; angles alike."""
    ke, kd = np.asarray(ke, dtype=np.float64), np.asarray(kd, dtype=np.float64)
    regular = 1.0 / np.maximum(dt * (dt * ke + kd), 1e-12)
    impedance = np.clip(inverse_mass / np.maximum(inverse_mass + regular, 1e-300), LOOSE, TIGHT)
    reference = np.stack((ke * regular * impedance, impedance / dt), axis=-1)
    return -np.maximum(reference, 1e-12), impedance


def make_impedance(impedance: Values) -> Values:
    """``solimp`` (n, 5) that is the same at every depth."""
    rows = np.tile((0.0, 0.0, 1.0, 0.5, 1.0), (*np.shape(impedance), 1))
    rows[..., 0] = rows[..., 1] = impedance
    return np.asarray(rows)
