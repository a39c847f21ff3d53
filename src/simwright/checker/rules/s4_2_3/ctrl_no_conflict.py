# SPDX-License-Identifier: Apache-2.0
"""No two controllers that command the same joint or body are active at load time.

Why: two writers to one drive target overwrite each other at every step.  An asset may offer several controllers for one
mechanism, but must start with one.

Fails: a trajectory controller and an effort controller on the same joints, both active.
Passes: the second with `bool control:starts_enabled = false`; a joint state broadcaster beside a controller, because
it only reads; a controller whose command topic starts disabled.

Fix: unsafe.  All but the first are set to control:starts_enabled = false; only the author knows which one is to
start.

Reading: no registered schema defines control:starts_enabled, so any `*:starts_enabled` on the controller's prim counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.controllers import ControllerPrim, find_controllers
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "ctrl-no-conflict",
    "4.2.3",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="set control:starts_enabled = false on all controllers but the first",
)
def ctrl_no_conflict(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Each later controller is compared with those before it."""
    if len(snapshot.controllers) < 2:
        return
    holder: dict[str, ControllerPrim] = {}
    for controller in find_controllers(snapshot):
        commands = controller.commands
        # broadcasters only read, and a controller that starts disabled waits
        if not commands or not controller.is_active:
            continue
        taken = [target.path for target in commands if target.path in holder]
        if taken:
            other = holder[taken[0]].node.path
            more = f" and {len(taken) - 1} more" if len(taken) > 1 else ""
            yield Finding(
                f"the controller commands {taken[0]}{more}, as {other} does, and both are active at load time",
                hint="write custom bool control:starts_enabled = false on one of the two",
                at=controller.node,
                data={"other": other, "targets": taken},
            )
        # also of a controller in conflict: a third one is compared with the first holder
        for target in commands:
            holder.setdefault(target.path, controller)
