# SPDX-License-Identifier: Apache-2.0
"""``docs/runtime-arrays.md``: every array of model, state, control and collision, from their annotations."""

from __future__ import annotations

from simwright.runtime.arrays import ArrayInfo, describe_arrays
from simwright.runtime.collision import CollisionModel, CollisionState
from simwright.runtime.kinds import SCALE_MEANING
from simwright.runtime.model import Model
from simwright.runtime.state import Control, State

_HEAD = """# Runtime arrays

What engines run on: flat, contiguous numpy arrays with Newton's names, order and numbers. Rows of world 0 come first,
then those of world 1 and so on; what all worlds share (the ground) comes last. Poses are seven numbers: position, then
quaternion x, y, z, w. The world as a parent or a body is -1. Units separated by `|` are those of linear and angular
freedoms; vectors of several parts have theirs separated by a comma. `+1` marks arrays with a closing entry: where the
last block ends.

```python
import simwright

loaded = simwright.load_scene("scene.yaml", num_worlds=4096)
model, state, control = loaded.model, loaded.state, loaded.control
model.joint_label[7]  # "world_0/arm/elbow": labels are made when they are asked for
model.body_label.find("arm/hand", world=3)
state.joint_q[model.rows_of("joint_coord", 3)]
next_state = model.state()  # a copy of the initial state
```

Custom attributes of assets are arrays too: `model.custom["namespace:name"]`, `state.custom`, `control.custom`.
This page is generated from the annotations of the classes.
"""
_COLLISION = """Beside these it has all `shape_*` arrays of the model (the same arrays, no copies), pairs that may touch
in `shape_contact_pairs` (made when first asked for), `shape_contact_pair_count`, `shape_collision_filter_pairs` and
`rigid_contact_max`."""
_TABLE = "| array | rows | row | type | unit | meaning |\n|---|---|---|---|---|---|"
_OWNERS = (
    ("Model", Model, "What does not change while bodies move."),
    ("State", State, "What does. `clone()`, `assign(other)`, `clear_forces()`."),
    ("Control", Control, "What is asked of joints. `clone()`, `assign(other)`, `clear()`."),
    (
        "CollisionModel",
        CollisionModel,
        _COLLISION,
    ),
    ("CollisionState", CollisionState, "Poses that contacts are found for."),
)


def generate() -> str:
    """The page."""
    parts = [_HEAD]
    for title, owner, about in _OWNERS:
        rows = "\n".join(_row(info) for info in describe_arrays(owner).values())
        parts.append(f"## {title}\n\n{about}\n\n{_TABLE}\n{rows}\n")
    sizes = "\n".join(
        f"| {int(kind)} | {kind.name.lower()} | {meaning} |" for kind, meaning in SCALE_MEANING.items()
    )
    parts.append(
        f"## Sizes of shapes\n\n| `shape_type` | shape | `shape_scale` |\n|---|---|---|\n{sizes}\n\n"
        "Meshes and heightfields have their geometry in `model.source_of(shape)`; a convex mesh is the hull of it.\n"
    )
    return "\n".join(parts)


def _row(info: ArrayInfo) -> str:
    row = " x ".join(str(size) for size in info.row) or "1"
    rows = info.frequency + (" +1" if info.closing else "")
    unit = info.unit.replace("|", "\\|")
    return f"| `{info.name}` | {rows} | {row} | {info.dtype} | {unit} | {info.meaning} |"
