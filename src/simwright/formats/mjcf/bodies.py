# SPDX-License-Identifier: Apache-2.0
"""Bodies: the tree, mass properties and gravity compensation.

Every body carries the compiled inertia (``inertial`` or inferred from geoms, bounded and balanced as the
compiler options say).  World poses are set afterwards by forward kinematics at MuJoCo's ``qpos0``.
"""

from __future__ import annotations

from simwright.formats.mjcf.context import Context, pose_of
from simwright.model.asset import Body
from simwright.model.inertia import Inertial


def read_bodies(context: Context) -> None:
    """Bodies in MuJoCo's order, the world left out."""
    model = context.model
    for index in range(1, context.count("body")):
        inertial = Inertial.from_principal(
            float(model.body_mass[index]),
            model.body_inertia[index],
            model.body_iquat[index],
            model.body_ipos[index],
        )
        context.asset.bodies.append(
            Body(
                name=context.name("body", index),
                pose=pose_of(model.body_pos[index], model.body_quat[index]),
                inertial=inertial,
                kinematic=bool(model.body_mocapid[index] >= 0),
                gravity_scale=1.0 - float(model.body_gravcomp[index]),
                path=context.key("body", index),
                source=context.where("body", index),
            )
        )
        context.keep_user("body", index, "body_user")
        gravcomp = float(model.body_gravcomp[index])
        context.keep("body", index, "gravcomp", gravcomp, 1.0 - (1.0 - gravcomp))
        _keep_sleep(context, index)


def _keep_sleep(context: Context, index: int) -> None:
    spec = context.spec_of("body", index)
    policy = getattr(spec, "sleep", None)
    if policy is not None and int(policy) > 0:
        context.keep("body", index, "sleep", str(getattr(policy, "name", policy)))
