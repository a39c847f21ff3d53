# SPDX-License-Identifier: Apache-2.0
"""Polynomials between two coordinates, as mimics hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Polynomial


def shift_polynomial(coefficients: Any, follower_ref: float, leader_ref: float) -> list[float]:
    """Coefficients of ``y = y0 + p(x - x0)`` in powers of ``x``, from those of ``p`` (five at most)."""
    p = Polynomial(np.asarray(coefficients, dtype=np.float64))
    if leader_ref != 0.0:
        p = p(Polynomial((-leader_ref, 1.0)))
    values = [float(v) for v in p.coef] + [0.0] * (5 - len(p.coef))
    values[0] += follower_ref
    return values
