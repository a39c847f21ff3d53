# SPDX-License-Identifier: Apache-2.0
"""What a run of the sanitizer has to tell beside its fixes."""

from __future__ import annotations

from simwright.core.diag import Level, declare

REFUSED = declare(
    "fix-refused",
    Level.WARNING,
    "{rule} cannot be fixed here: {reason}",
    hint="decide what the reason names, with --set where it says so, or fix it by hand",
    doc="A fix exists for the rule, but not for this case of it; the reason names what a person has to decide.",
)
UNDONE = declare(
    "fix-undone",
    Level.WARNING,
    "the fix of {rule} was undone: it would change {what}",
    hint="fix it by hand; please report it if the change is harmless",
    doc="A fix changed more than it is for: the asset before and after was compared, and the fix taken back.",
)
CRASHED = declare(
    "fix-crashed",
    Level.ERROR,
    "the fix of {rule} failed: {reason}",
    hint="the other fixes went on; please report it",
    doc="A fix raised an exception. It is a bug of Simwright, not of the asset.",
)
UNSTABLE = declare(
    "fix-unstable",
    Level.WARNING,
    "fixes undo each other ({rules}); stopped after {rounds} rounds",
    hint="choose between them with --select or --ignore; please report it",
    doc="After some rounds of fixing and checking the asset was in a state that it had been in before.",
)
NEWLY_FOUND = declare(
    "fix-newly-found",
    Level.INFO,
    "{rule} finds {count} more than before the fixes",
    hint="look at the findings that are left",
    doc="A rule has more findings after the fixes than before them.",
)
UNPROVEN = declare(
    "fix-unproven",
    Level.WARNING,
    "the machine before and after cannot be compared: {reason}",
    hint="poses and geometry of all prims were compared; compare the rest by hand",
    doc="The asset cannot be read as a machine, so the proof rests on the composed stage alone.",
)
MOMENTS_MENDED = declare(
    "fix-moments-mended",
    Level.WARNING,
    "no body can have the moments of inertia {before}; {after} are written, and what was said is noted beside them",
    hint="correct the inertia in the source of the asset: none of the moments is above the sum of the other two",
    doc="Engines reject impossible moments or repair them, each in its own way. The nearest that a body can have are "
    "written. Simwright goes on reading what was said, so for it the machine is the same; others read the nearest.",
    section="1.3",
)
