# SPDX-License-Identifier: Apache-2.0
"""How far a robot gets: measured over many configurations inside its limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import Array, VectorLike

_SAMPLES = 400
_STRETCHES = 60
_STRETCH = 0.5


def measure_reach(model: Any, body: int, point: VectorLike = (0.0, 0.0, 0.0)) -> float:
    """The farthest that a point of a body gets from the base inside the limits [m].

    Many configurations are tried, and the best of them is stretched further.
    """
    import mujoco

    if not body:
        return 0.0
    root = int(model.body_rootid[body])
    span = _Span(model)
    data = mujoco.MjData(model)
    best, chosen = -1.0, span.low
    for q in span.sample():
        span.put(data, q)
        far = float(np.linalg.norm(_find_point(data, body, point) - data.xpos[root]))
        if far > best:
            best, chosen = far, q
    jacobian = np.zeros((3, model.nv))
    for _ in range(_STRETCHES):
        span.put(data, chosen)
        mujoco.mj_comPos(model, data)
        place = _find_point(data, body, point)
        away = place - data.xpos[root]
        best = max(best, float(np.linalg.norm(away)))
        mujoco.mj_jac(model, data, jacobian, None, place, body)
        chosen = np.clip(chosen + _STRETCH * (jacobian[:, span.dofs].T @ away), span.low, span.high)
    return best


def _find_point(data: Any, body: int, point: VectorLike) -> Array:
    return np.array(data.xpos[body] + np.asarray(data.xmat[body]).reshape(3, 3) @ np.asarray(point))


class _Span:
    """What the single joints of a robot can do."""

    def __init__(self, model: Any) -> None:
        self.model = model
        single = np.flatnonzero(np.asarray(model.jnt_type) >= 2)
        self.addresses = np.asarray(model.jnt_qposadr)[single]
        self.dofs = np.asarray(model.jnt_dofadr)[single]
        self.low, self.high = (np.array(model.jnt_range[single, side]) for side in (0, 1))
        free = ~np.asarray(model.jnt_limited, dtype=bool)[single]
        self.low[free], self.high[free] = -np.pi, np.pi

    def sample(self) -> list[Array]:
        """The middle, and many others, the same at every call."""
        rng = np.random.default_rng(0)
        shares = [np.full(len(self.low), 0.5), *rng.random((_SAMPLES - 1, len(self.low)))]
        return [self.low + share * (self.high - self.low) for share in shares]

    def put(self, data: Any, q: Array) -> None:
        """Bring bodies to where the joints are."""
        import mujoco

        data.qpos[:] = self.model.qpos0
        data.qpos[self.addresses] = q
        mujoco.mj_kinematics(self.model, data)


def measure_spread(model: Any) -> float:
    """The farthest that any body gets from its root [m]."""
    import mujoco

    span, data = _Span(model), mujoco.MjData(model)
    best = 0.0
    for q in span.sample():
        span.put(data, q)
        best = max(best, float(np.linalg.norm(data.xpos - data.xpos[model.body_rootid], axis=1).max()))
    return best
