"""A second fix changes nothing: cases in which the first one left something that the second took up."""

from __future__ import annotations

from pathlib import Path

import simwright

HAND = """#usda 1.0
(
    defaultPrim = "robot"
)
def Xform "robot"
{
    def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"])
    {
        def PhysicsFixedJoint "mount"
        {
            rel physics:body0 = </robot/base>
            rel physics:body1 = </robot/base/palm>
        }
        def Xform "palm" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}
    }
}
"""


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_dummy_root_whose_only_joint_goes(tmp_path: Path) -> None:
    """The palm becomes a part of the base, which then has no joint; it stays the root, in both runs."""
    source = tmp_path / "hand.usda"
    source.write_text(HAND)
    one = simwright.fix(source, tmp_path / "one", unsafe=True)
    two = simwright.fix(one.entry, tmp_path / "two", unsafe=True)
    assert any("root of an articulation" in note.message for note in one.notes)
    assert read_files(Path(two.entry).parent) == read_files(Path(one.entry).parent)
