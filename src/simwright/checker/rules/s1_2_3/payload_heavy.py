# SPDX-License-Identifier: Apache-2.0
"""Heavy data comes in by payload.

Why: with payloads unloaded, a ROS tool walks a robot's links without reading a single mesh.  A reference cannot be
left out.

Fails: a reference to geometries.usdc with a million points.
Passes: the same by payload, also inside a referenced layer.

Reading: heavy means more than `heavy_elements` (10,000) array elements or `heavy_bytes` (256 KiB) in one layer.  The
stage is opened without payloads to see what is loaded anyway; small collision meshes may be.

Fix: unsafe.  The reference becomes a payload; mesh data among other things goes to geometries.usdc.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.payloads import compare_payloads
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "payload-heavy", "1.2.3", "must", on="stage", fix="unsafe", fix_title="turn the reference into a payload"
)
def payload_heavy(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Heavy layers that are in use without payloads."""
    # what is in use without payloads, whatever arc brings it
    for facts in compare_payloads(snapshot).always:
        if facts.is_heavy(snapshot.settings):
            yield Finding(
                f"{facts.amount} in {facts.name} are loaded always",
                hint="bring the layer in by payload instead of reference or sublayer",
                at=facts.heaviest,
                layer=facts.layer,
                data={"elements": facts.elements, "bytes": facts.bytes},
            )
