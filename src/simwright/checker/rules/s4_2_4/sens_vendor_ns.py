# SPDX-License-Identifier: Apache-2.0
"""Custom attributes of a sensor have a namespace: the schema's, or a vendor's.

Why: other engines can ignore an engine-specific attribute only if they see whose it is.  `noiseModel` could belong
to anyone; `isaac:noiseModel` is skipped safely by all but one.

Fails: `custom string noiseModel = "gaussian_v2"` on a prim with SensorLidarAPI.
Passes: `custom string isaac:noiseModel = "..."` (in a vendor layer, see 1.4); attributes of the prim's own schemas.

Fix: none.  Only the author knows whose attribute it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.extensions import list_custom
from simwright.checker.facts.sensors import find_sensors
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("sens-vendor-ns", "4.2.4", "must", on="stage", heuristic=True)
def sens_vendor_ns(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Properties without a colon that no schema of the prim defines."""
    for sensor in find_sensors(snapshot):
        if sensor.vendor:
            continue  # a vendor's schema may define names that are not known here
        for name in list_custom(sensor.node):
            # any prefix tells whose it is, also one that we do not know
            if ":" not in name:
                yield Finding(
                    f"the custom property {name!r} of a sensor has no namespace",
                    hint=f"write sensor:<concept>:{name}, or put a vendor's name first, as in isaac:{name}",
                    at=sensor.node,
                    prop=name,
                )
