"""Every command that takes a file, for every kind of seed, and how often each is drawn.

A row is what stands on the command line; ``{main}`` is the damaged file, ``{seed}`` the whole one, ``{in}`` and
``{out}`` the folders of the case.  Shares are by cost: what takes a tenth of a second is drawn seldom, so that ten
thousand cases stay within the time of a test.
"""

from __future__ import annotations

import random

Row = tuple[int, str]

TARGETS = (
    (6, "{out}/robot"), (6, "{out}/r.usdz"), (14, "{out}/r.xml"), (14, "{out}/r.urdf"), (14, "{out}/r.sdf"),
    (14, "{out}/r.glb"),
)  # fmt: skip
_READ: tuple[Row, ...] = (
    (300, "inspect {main}"),
    (60, "inspect {main} --format json"),
    (30, "inspect {main} --untrusted"),
    *((share, f"convert {{main}} {target}") for share, target in TARGETS),
    (4, "convert {main} {out}/r.xml --strict"),
    (12, "diff {main} {seed}"),
    (4, "diff {seed} {main} --format json"),
    (6, "robots inspect {main}"),
    (6, "robots inspect {main} -o {out}/robot.yaml"),
    (4, "run {main} --frames 2 --num-worlds 2"),
    (2, "run {main} --frames 2 --record {out}/run.npz --format json"),
    (2, "task check reach --robot {main}"),
    (2, "scene check {main}"),
    (6, "ros graph {main} -o {out}/tf.svg"),
    (4, "ros check {main} --format json"),
)
_STAGE: tuple[Row, ...] = (
    (60, "check {main} --no-cache"),
    (20, "check {main} --format sarif"),
    (20, "check {main} --variants --format html --output {out}/report.html"),
    (10, "check {main} --stamp --format md"),
    (10, "check {main} --baseline {in}/known.json --format json"),
    (10, "check {main} --baseline {out}/known.json --write-baseline"),
    (20, "resolve {main}"),
    (10, "resolve {main} --format json"),
    (8, "convert {main} {out}/flat.usda --flatten"),
    (8, "convert {main} {out}/flat.usdc --flatten"),
    (10, "fix {main} -o {out}/fixed"),
    (4, "fix {main} --dry-run --diff --unsafe"),
    (6, "fix {main} --in-place"),
)
COMMANDS: dict[str, tuple[Row, ...]] = {
    **dict.fromkeys(("mjcf", "sdf", "urdf", "world", "xacro"), _READ),
    **dict.fromkeys(("usda", "usdc", "usdz", "tiny"), _READ + _STAGE),
    "scene": (
        (200, "scene check {main} --document-only"),
        (60, "scene check {main} --format json"),
        (20, "inspect {main}"),
        (6, "convert {main} {out}/scene"),
        (6, "convert {main} {out}/scene.xml"),
        (10, "run {main} --frames 2"),
        (4, "run {main} --frames 2 --record {out}/run.npz"),
        (10, "check {main}"),
    ),
    "plane": (
        (200, "world check {main}"),
        (20, "world check {main} --format json --reference"),
        (12, "world plan {main} --to bench"),
        (4, "world plan {main} --robot tender --to 1,1 --planner rrt --format json"),
        (4, "world render {main} -o {out}/world.svg"),
        (10, "world run {main} --plan {in}/plan.yaml"),
        (3, "world build {main} -o {out}/built"),
        (3, "world save {main} -o {out}/saved"),
        (2, "convert {main} {out}/world.sdf"),
        (8, "inspect {main}"),
    ),
    "manifest": ((20, "robots check {main}"), (10, "robots show {main}"), (10, "robots show {main} --format json")),
    "task": (  # how long a run is, is what its file asks
        (20, "task run {main} --max-steps 2 --episodes 1"),
        (2, "task run {main} --max-steps 2 --episodes 1 --record {out}/run.npz"),
        (2, "task run {main} --max-steps 2 --episodes 1 --format json"),
    ),
    "extension": ((20, "registry validate {in}"), (5, "registry validate {in} --format junit")),
}  # fmt: skip
SHARES = {
    "mjcf": 8, "sdf": 12, "urdf": 12, "world": 8, "xacro": 12, "usda": 3, "usdc": 4, "usdz": 6, "tiny": 12,
    "scene": 10, "plane": 10, "manifest": 4, "task": 2, "extension": 4,
}  # fmt: skip
"""How often each kind of seed is drawn."""


def draw_kind(rng: random.Random) -> str:
    """A kind of seed."""
    return rng.choices(list(SHARES), list(SHARES.values()))[0]


def draw_command(kind: str, rng: random.Random) -> str:
    """A command for a kind of seed."""
    rows = COMMANDS[kind]
    return rng.choices([text for _, text in rows], [share for share, _ in rows])[0]
