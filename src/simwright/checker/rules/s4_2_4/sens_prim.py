# SPDX-License-Identifier: Apache-2.0
"""A sensor API is on the Xform or Camera at the sensor's origin.

Why: the prim is the sensor's coordinate frame.  On a Scope there is no frame, on a Mesh it is that of the housing, and
both may be gone when geometry is unloaded.

Fails: SensorLidarAPI on a Mesh, a Scope or a prim without a type; a vendor's own sensor prim type (a warning).
Passes: SensorLidarAPI on an Xform, SensorCameraAPI on a Camera.

Fix: none.  Only the author knows the origin of the sensor.

Reading: a schema of the registry says itself where it may be; every other Sensor*API counts too, and so do sensor prim
types of engines.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.schemas import allowed_types
from simwright.checker.facts.sensors import find_sensors
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_WANTED = ("Xform", "Camera")


@rule("sens-prim", "4.2.4", "must", on="stage")
def sens_prim(snapshot: StageSnapshot) -> Iterator[Finding]:
    """SensorCamera*APIs are checked by ext-camera."""
    for sensor in find_sensors(snapshot):
        node = sensor.node
        if sensor.schema.startswith("SensorCamera"):
            continue
        wanted = allowed_types(sensor.schema) or _WANTED
        if any(node.is_a(name) for name in wanted):
            continue
        is_vendors = bool(sensor.vendor)
        if is_vendors and node.type == sensor.schema:
            message = f"the sensor is a prim of {sensor.vendor}'s type {sensor.schema}"
        else:
            message = f"{sensor.schema} is on {node.type or 'a prim without a type'}"
        yield Finding(
            f"{message}, it must be on {' or '.join(wanted)}",
            hint="apply a sensor API to the Xform or Camera at the sensor's origin",
            at=node,
            level=Level.WARNING if is_vendors else None,
        )
