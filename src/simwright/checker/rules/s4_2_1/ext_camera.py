# SPDX-License-Identifier: Apache-2.0
"""SensorCameraAPI is on a Camera.

Why: the schema adds the digital side of a camera (resolution, rates) and reads aperture and focal length from the
Camera prim.  On another prim there is nothing to read.

Fails: `def Xform "cam" (prepend apiSchemas = ["SensorCameraAPI"])`.
Passes: `def Camera "cam" (prepend apiSchemas = ["SensorCameraAPI"])`.

Fix: none.  The optical values of the missing Camera are not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.schemas import allowed_types
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("ext-camera", "4.2.1", "must", on="api:SensorCamera*")
def ext_camera(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """The registry's own list of types is asked first; without one it is Camera."""
    for api in node.apis:
        if not api.startswith("SensorCamera"):
            continue
        wanted = allowed_types(api) or ("Camera",)
        if not any(node.is_a(name) for name in wanted):
            yield Finding(
                f"{api} is on {node.type or 'a prim without a type'}, it must be on a {' or '.join(wanted)}",
                hint=f"apply it to a {wanted[0]} prim; the native attributes are read from there",
            )
