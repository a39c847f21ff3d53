# SPDX-License-Identifier: Apache-2.0
"""Sensors are found without loading payloads.

Why: parsers look for sensors in the light kinematic hierarchy.  A sensor inside a payload is not there for them until
all the geometry is loaded.

Fails: a prim with SensorLidarAPI, or a camera with an optical frame, that only a payload brings; a sensor API that
only a payload applies.
Passes: the sensor's prim in the layer that has the links; its housing's mesh in the payload.

Fix: unsafe.  The payload becomes a reference, and the mesh data in it a payload.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.sensors import SensorPrim, find_sensors
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "sens-traversable",
    "4.2.4",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="turn the payload into a reference",
)
def sens_traversable(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare with the same stage, payloads unloaded."""
    sensors = find_sensors(snapshot)
    if not sensors or snapshot.unloaded is None:
        return
    for sensor in sensors:
        problem = _judge(sensor, snapshot.unloaded)
        if problem:
            yield Finding(
                f"the sensor ({sensor.schema}) {problem}",
                hint="define the sensor's prim and its API in the layer that has the links, outside the payload",
                at=sensor.node,
            )


def _judge(sensor: SensorPrim, unloaded: StageSnapshot) -> str:
    node = unloaded.node(sensor.node.path)
    if node is None:
        return "is there only when payloads are loaded"
    # the prim is there, but only the payload makes it a sensor
    if sensor.schema not in (node.type, *node.apis):
        return "is none while payloads are unloaded: its schema comes by a payload"
    return ""
