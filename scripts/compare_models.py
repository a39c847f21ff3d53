# SPDX-License-Identifier: Apache-2.0
"""Send MJCF files through OpenUSD and back, and hold every field of the compiled models against the source.

``python scripts/compare_models.py [FILE_OR_FOLDER ...] [--menagerie DIR] [--gymnasium [DIR]] [--dm-control [DIR]]
[--robosuite [DIR]] [--route usd|mjcf] [--only WORD] [--results FILE] [--format json]``.  ``--results`` keeps the lines
of every file in a file, and leaves out files that it has.  Nothing of Simwright is used to compare: plain MuJoCo
compiles source and result, the arrays of both models are compared element by element, and both are stepped from the
same state with the same seeded controls.

Elements are matched by name.  Elements without a name in the source are matched in order among those of the result
that no name was found for, within the same body (within the parent, for bodies); pairs and excludes by what they name.
Meshes, height fields, textures and materials that no name finds are matched through the geoms, sites and materials that
use them.  Numbers that refer to another element are compared by what they refer to.  Meshes are compared by their
volume, area and bounds in the frame of their file, textures by their pixels.

One line for each file and route, the worst first:

* ``crash``: an exception that is not a SimwrightError, or a result that MuJoCo refuses;
* ``refused``: refused by Simwright, while MuJoCo loads the file;
* ``error``: converted, with a finding of level error;
* ``silent``: a field differs and no finding speaks of it, or a path of this machine stands in a written file;
* ``told``: fields differ, and findings say so;
* ``same``: all fields are the same.

Files that MuJoCo does not load (fragments made to be included) are counted.  Exits with 1 on the first four.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from scripts.compare_runs import find_files, find_package, make_controls  # noqa: E402 - the repository has to be found

import simwright  # noqa: E402
from simwright.core.diag import Diagnostic, Level, Reporter  # noqa: E402
from simwright.formats.mjcf.quiet import list_refusals, quiet_mujoco  # noqa: E402

STEPS = 200
TOLERANCE = 1e-6
"""Of a number, relative to the largest of its row: OpenUSD keeps some values as floats."""
MESH_TOLERANCE = 1e-4
"""Of volume, area and bounds of meshes: files of meshes keep floats."""
SHOWN_GROUPS = 3
"""MuJoCo's viewer hides the groups above: nobody sees the normals of their geoms."""
NORMAL_TOLERANCE = 1e-2
"""Of normals, which are averages over faces."""
SMALL_AREA = 2e-7
"""Twice the area of triangles above which MuJoCo finds a normal, with a margin [units of the file, squared]."""
LEAN = 0.801
"""Cosine of how far faces may lean from the normal of a point that they share, with a margin for rounding."""
DERIVED_TOLERANCE = 1e-5
"""Of numbers that MuJoCo computes from many others, each of them within the tolerance above."""
LENGTH_TOLERANCE = 1e-3
"""Of MuJoCo's estimates of lengths and sizes."""
ESTIMATES = ("extent", "center", "meansize")
DRIFT = 1e-6
"""Of coordinates after the last step, below which nothing is asked further."""
NOISE_FACTOR = 100.0
"""A motion that leaves the source by less than so many times what single precision alone does is the same motion."""
ROUNDED = (
    "body_mass", "body_inertia", "body_ipos", "body_pos", "geom_pos", "geom_size", "jnt_axis", "jnt_pos", "jnt_range",
    "jnt_stiffness", "dof_damping", "dof_armature", "dof_frictionloss", "actuator_gainprm", "actuator_biasprm",
)  # fmt: skip
ORDER = ("crash", "refused", "error", "silent", "told", "same")
ROUTES = {"usd": ("usd", "mjcf"), "mjcf": ("mjcf",)}
ENDINGS = {"usd": "", "mjcf": ".xml"}
TEXTS = (".usda", ".xml", ".yaml", ".json", ".toml", ".mtl")

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Family:
    """Elements of one kind: MuJoCo's object type, count and beginning of arrays, and whose children they are."""

    kind: str
    count: str
    prefix: str
    owner: str = ""
    words: tuple[str, ...] = ()
    """Words of findings that speak of such elements, besides the name of the family."""


FAMILIES = {
    "body": Family("BODY", "nbody", "body_", "body_parentid", ("link", "bodies")),
    "joint": Family("JOINT", "njnt", "jnt_", "jnt_bodyid"),
    "geom": Family("GEOM", "ngeom", "geom_", "geom_bodyid", ("shape", "collider", "visual")),
    "site": Family("SITE", "nsite", "site_", "site_bodyid"),
    "camera": Family("CAMERA", "ncam", "cam_", "cam_bodyid"),
    "light": Family("LIGHT", "nlight", "light_", "light_bodyid"),
    "mesh": Family("MESH", "nmesh", "mesh_", "", ("meshes",)),
    "hfield": Family("HFIELD", "nhfield", "hfield_", "", ("height",)),
    "texture": Family("TEXTURE", "ntex", "tex_", "", ("image",)),
    "material": Family("MATERIAL", "nmat", "mat_"),
    "tendon": Family("TENDON", "ntendon", "tendon_"),
    "equality": Family("EQUALITY", "neq", "eq_"),
    "actuator": Family("ACTUATOR", "nactuator", "actuator_"),
    "sensor": Family("SENSOR", "nsensor", "sensor_"),
    "pair": Family("PAIR", "npair", "pair_"),
    "exclude": Family("EXCLUDE", "nexclude", "exclude_"),
    "key": Family("KEY", "nkey", "key_", "", ("keyframe",)),
    "flex": Family("FLEX", "nflex", "flex_", "", ("flexes",)),
    "skin": Family("SKIN", "nskin", "skin_"),
    "plugin": Family("PLUGIN", "nplugin", "plugin_"),
    "numeric": Family("NUMERIC", "nnumeric", "numeric_"),
    "text": Family("TEXT", "ntext", "text_"),
    "tuple": Family("TUPLE", "ntuple", "tuple_"),
}
# what follows from the order of elements, from other fields, or is compared in a way of its own
LAYOUT = frozenset((
    "body_treeid", "body_simple", "body_sameframe", "body_mocapid", "body_bvhnum", "body_jntnum", "body_dofnum",
    "body_geomnum", "body_iquat", "body_inertia", "geom_sameframe", "geom_quat", "geom_pos", "geom_size", "geom_aabb",
    "geom_rbound",
    "site_sameframe", "site_size", "pair_signature", "exclude_signature", "tendon_treeid", "tendon_treenum",
    "key_qpos", "key_qvel", "key_ctrl", "key_act", "key_mpos", "key_mquat", "eq_data", "sensor_intprm",
    "flex_elem", "mesh_polynum", "numeric_size", "text_size", "tuple_size", "tendon_num",
))  # fmt: skip
OWN_POOLS = ("mesh_", "tex_", "hfield_", "text_", "tuple_", "plugin_")
STILL = ("texture", "material", "light", "camera", "skin", "numeric", "text", "tuple", "statistic", "layer")
"""Families that move nothing."""
STILL_FIELDS = (
    "mesh texcoords",
    "mesh normals",
    "geom_rgba",
    "geom_matid",
    "geom_group",
    "site_rgba",
    "site_matid",
)
BODY, JOINT, GEOM, SITE = "body", "joint", "geom", "site"
REFERENCES = {
    "body_parentid": BODY, "body_rootid": BODY, "body_weldid": BODY, "jnt_bodyid": BODY, "geom_bodyid": BODY,
    "site_bodyid": BODY, "cam_bodyid": BODY, "cam_targetbodyid": BODY, "light_bodyid": BODY,
    "light_targetbodyid": BODY, "geom_matid": "material", "site_matid": "material", "tendon_matid": "material",
    "light_texid": "texture", "mat_texid": "texture", "pair_geom1": GEOM, "pair_geom2": GEOM,
    "jnt_actuatorid": "actuator", "tendon_actuatorid": "actuator", "body_plugin": "plugin", "geom_plugin": "plugin",
    "actuator_plugin": "plugin", "sensor_plugin": "plugin", "site_dataid": "mesh", "skin_matid": "material",
    "flex_matid": "material",
}  # fmt: skip
OBJECTS = {getattr(mujoco.mjtObj, f"mjOBJ_{family.kind}").value: name for name, family in FAMILIES.items()}
OBJECTS[mujoco.mjtObj.mjOBJ_XBODY.value] = BODY
TRANSMISSIONS = {
    "mjTRN_JOINT": (JOINT, ""), "mjTRN_JOINTINPARENT": (JOINT, ""), "mjTRN_SLIDERCRANK": (SITE, SITE),
    "mjTRN_TENDON": ("tendon", ""), "mjTRN_SITE": (SITE, SITE), "mjTRN_BODY": (BODY, ""),
}  # fmt: skip
WRAPS = {"mjWRAP_JOINT": JOINT, "mjWRAP_SITE": SITE, "mjWRAP_SPHERE": GEOM, "mjWRAP_CYLINDER": GEOM}
SIZES = {
    "mjGEOM_SPHERE": 1,
    "mjGEOM_CAPSULE": 2,
    "mjGEOM_CYLINDER": 2,
    "mjGEOM_MESH": 0,
    "mjGEOM_HFIELD": 0,
    "mjGEOM_SDF": 0,
}
"""Columns of geom_size that mean something, where it is not all three; those of meshes follow from their points."""
COORDINATES = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}
TOTALS = (
    "nq", "nv", "nu", "na", "nmocap", "nuserdata", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site", "nuser_cam",
    "nuser_tendon", "nuser_actuator", "nuser_sensor", "nconmax", "njmax", "narena",
)  # fmt: skip


@dataclass
class Change:
    """One field of one element that differs."""

    family: str
    element: str
    field: str
    before: str
    after: str
    told: str = ""
    """The kind of the finding that speaks of it."""

    def __str__(self) -> str:
        return f"{self.family} {self.element!r} {self.field}: {self.before} -> {self.after}"


@dataclass
class Line:
    """What came out for one file and route."""

    corpus: str
    file: str
    route: str
    verdict: str
    text: str = ""
    drift: float = 0.0
    exact: bool = False
    seconds: float = 0.0
    changes: list[Change] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    @property
    def silent(self) -> list[Change]:
        """What nobody said."""
        return [change for change in self.changes if not change.told]


def main() -> int:
    """All files along all routes, then the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path, help="MJCF files, or folders with some")
    parser.add_argument("--menagerie", type=Path, default=os.environ.get("MENAGERIE_ROOT"), metavar="DIR")
    for word in ("gymnasium", "dm-control", "robosuite"):
        parser.add_argument(f"--{word}", nargs="?", const=word.replace("-", "_"), metavar="DIR")
    parser.add_argument("--route", action="append", choices=[*ROUTES], help="only this one (default all)")
    parser.add_argument("--only", default="", help="only files with this in their path")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--items", type=int, default=4, help="silent fields shown of each line")
    parser.add_argument("--results", type=Path, help="a file of lines to add to")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    arguments = parser.parse_args()
    folders = {str(path): path for path in arguments.paths}
    if arguments.menagerie:
        folders["menagerie"] = Path(arguments.menagerie)
    for word in ("gymnasium", "dm_control", "robosuite"):
        if getattr(arguments, word):
            folders[word] = find_package(getattr(arguments, word))
    if not folders:
        parser.error("no files: name some, or a corpus")
    kept = read_results(arguments.results)
    lines: list[Line] = []
    loads: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for corpus, folder in folders.items():
            files = sorted(file for file in find_files(folder) if arguments.only in str(file))
            work = partial(
                compare_file,
                corpus=corpus,
                folder=folder,
                steps=arguments.steps,
                routes=arguments.route or [*ROUTES],
            )
            totals[corpus] = len(files)
            new = [file for file in files if str(file) not in kept]
            for number, found in enumerate(pool.map(work, new)):
                kept[str(new[number])] = found
                if arguments.results:
                    keep(arguments.results, new[number], found)
                progress = f"{corpus} {number + 1}/{len(new)}"
                print(
                    f"\r{progress[-40:]:40} {new[number].name[:50]:50}", end="", file=sys.stderr, flush=True
                )
            loads[corpus] = sum(bool(kept[str(file)]) for file in files)
            lines += [line for file in files for line in kept[str(file)]]
    print(file=sys.stderr)
    show(lines, totals, loads, arguments.format, arguments.items)
    return 1 if any(line.verdict not in ("told", "same") for line in lines) else 0


def read_results(file: Path | None) -> dict[str, list[Line]]:
    """The lines of files that were compared before."""
    kept: dict[str, list[Line]] = {}
    for row in file.read_text().splitlines() if file and file.exists() else ():
        entry = json.loads(row)
        kept[entry["path"]] = [
            Line(**{**line, "changes": [Change(**change) for change in line["changes"]]})
            for line in entry["lines"]
        ]
    return kept


def keep(results: Path, file: Path, lines: list[Line]) -> None:
    """Add the lines of a file."""
    with results.open("a") as stream:
        stream.write(json.dumps({"path": str(file), "lines": [asdict(line) for line in lines]}) + "\n")


def compare_file(file: Path, corpus: str, folder: Path, steps: int, routes: Sequence[str]) -> list[Line]:
    """The lines of one file, none if MuJoCo does not load it."""
    source = load(file)
    if isinstance(source, str):
        return []
    lines = []
    for route in routes:
        start = time.process_time()
        line = travel(file, source, route, folder, steps)
        line.corpus, line.seconds = corpus, time.process_time() - start
        lines.append(line)
    return lines


def load(file: Path) -> Any:
    """The model as MuJoCo compiles it, or why it does not."""
    with quiet_mujoco():
        try:
            return mujoco.MjModel.from_xml_path(str(file))
        except list_refusals(mujoco) as error:
            return str(error) or "refused"


def travel(file: Path, source: Any, route: str, folder: Path, steps: int) -> Line:
    """One file along one route."""
    reporter = Reporter()
    base = folder if folder.is_dir() else folder.parent
    line = Line("", "/".join(file.parts[-3:]), route, "same")
    with tempfile.TemporaryDirectory() as work:
        try:
            entry = file
            for number, word in enumerate(ROUTES[route]):
                target = Path(work) / f"{number}_{word}" / f"{file.stem}{ENDINGS[word]}"
                entry = simwright.convert(entry, target, to=word, reporter=reporter, allow_outside=[base])
        except simwright.SimwrightError as error:
            line.verdict, line.text = "refused", str(error).replace("\n", " ")[:300]
            return line
        except Exception as error:  # noqa: BLE001 - the point is to find them
            line.verdict, line.text = "crash", repr(error)[:300]
            return line
        result = load(entry)
        line.changes += list_host_paths(Path(work), base)
    line.findings = [str(finding) for finding in reporter]
    if isinstance(result, str):
        line.verdict, line.text = "crash", f"MuJoCo refuses the result: {result[:300]}"
        return line
    comparison = Comparison(source, result)
    line.changes += comparison.list_changes()
    for change in line.changes:
        change.told = find_teller(change, reporter.found)
    # numbers of the whole model follow from the elements that it has
    gone = [change.told for change in line.changes if change.told and change.field == "element"]
    for change in line.changes if gone else ():
        if change.family == "statistic":
            change.told = change.told or gone[0]
    line.drift, line.exact = comparison.roll(steps)
    errors = [finding for finding in reporter if finding.level is Level.ERROR]
    # a drift whose cause is a field is reported by that field; looks are no cause
    if not line.drift <= DRIFT and all(is_look(change) for change in line.changes):
        line.changes.append(Change("rollout", "", "qpos", "0", f"{line.drift:.3g} apart after {steps} steps"))
    if errors:
        line.verdict, line.text = "error", errors[0].message[:200]
    elif line.changes:
        line.verdict = "silent" if line.silent else "told"
    return line


def list_host_paths(work: Path, base: Path) -> Iterator[Change]:
    """Text files that name a folder of this machine: the source's, or the one that they were written to."""
    for file in sorted(work.rglob("*")):
        if file.suffix in TEXTS:
            text = file.read_text("utf-8", "replace")
            for folder in (str(base.resolve()), str(work)):
                if folder in text:
                    start = text.index(folder)
                    yield Change("layer", file.name, "path of this machine", "", text[start : start + 80])


def is_look(change: Change) -> bool:
    """Is it something that moves nothing?"""
    is_unused = change.told == "mjcf-asset-unused"
    return (
        is_unused
        or change.family in STILL
        or change.family.startswith("visual ")
        or change.field in STILL_FIELDS
    )


def find_teller(change: Change, findings: Sequence[Diagnostic]) -> str:
    """The kind of a finding that is a loss or worse than info and speaks of the element, or of such elements."""
    loud = [f for f in findings if f.loss or f.level is not Level.INFO]
    # an asset that nothing uses is told of as such, which is not a loss to a simulation
    if change.field == "element":
        loud += [f for f in findings if f.kind == "mjcf-asset-unused"]
    if change.family not in FAMILIES:
        return next((f.kind for f in loud if change.element and repr(change.element) in f.message), "")
    words = (change.family, *FAMILIES[change.family].words)
    is_nameless = change.element.startswith("#")
    for finding in loud:
        text = f"{finding.kind} {finding.message}"
        if change.element and repr(change.element) in text:
            return finding.kind
        # without the name, the finding has to be about many elements of the kind, or the element has none: then it
        # must speak of what differs as well, or any warning about a collider would excuse all of them
        is_about = any(word in text.lower() for word in words)
        if (is_nameless or ", ..." in text) and is_about and speaks_of(change, text.lower()):
            return finding.kind
    return ""


def speaks_of(change: Change, text: str) -> bool:
    """Does a finding name the field, or say that such an element is left out?"""
    if change.field == "element":
        return any(word in text for word in GONE)
    parts = re.split(r"[_ ]", change.field.removeprefix(FAMILIES[change.family].prefix))
    return any(part in text for part in parts if len(part) > 2)


GONE = ("left out", "not written", "not carried", "no place", "unused", "lost")
"""Words that say that an element no longer exists."""


class Comparison:
    """Two compiled models, and which element of the first is which of the second."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b
        self.matches: dict[str, list[int]] = {}
        for family in FAMILIES:
            self.matches[family] = self._match(family)
        self._match_used()

    def _match(self, family: str) -> list[int]:
        count, other = (count_elements(model, family) for model in (self.a, self.b))
        names = [find_name(self.a, family, i) for i in range(count)]
        there = {find_name(self.b, family, i): i for i in range(other) if find_name(self.b, family, i)}
        if family == BODY:
            there["world"] = 0
        found = [there.get(name, -1) if name else -1 for name in names]
        taken = set(found)
        free: dict[Any, list[int]] = defaultdict(list)
        for index in range(other):
            if index not in taken:
                free[self._find_owner(self.b, family, index)].append(index)
        # parents come before their children, so the owner of a body is matched already
        for index, name in enumerate(names):
            if not name:
                owner = self._find_owner(self.a, family, index, found)
                candidates = free.get(owner, [])
                found[index] = candidates.pop(0) if candidates else -1
        return found

    def _find_owner(self, model: Any, family: str, index: int, found: list[int] | None = None) -> Any:
        """What a nameless element is looked for within, in terms of the second model."""
        owner = FAMILIES[family].owner
        if owner:
            body = int(getattr(model, owner)[index])
            bodies = found if family == BODY else self.matches[BODY]
            return bodies[body] if model is self.a and bodies is not None else body
        if family == "pair":
            geoms = [int(model.pair_geom1[index]), int(model.pair_geom2[index])]
            return frozenset(self.matches[GEOM][g] for g in geoms) if model is self.a else frozenset(geoms)
        if family == "exclude":
            signature = int(model.exclude_signature[index])
            bodies = [signature >> 16, signature & 0xFFFF]
            return frozenset(self.matches[BODY][b] for b in bodies) if model is self.a else frozenset(bodies)
        kinds = {"sensor": "sensor_type", "equality": "eq_type", "texture": "tex_type"}
        return int(getattr(model, kinds[family])[index]) if family in kinds else None

    def _match_used(self) -> None:
        """Find meshes, materials and textures again through those who use them."""
        for family, user, name in (
            ("mesh", GEOM, "geom_dataid"), ("hfield", GEOM, "geom_dataid"), ("mesh", SITE, "site_dataid"),
            ("material", GEOM, "geom_matid"), ("material", SITE, "site_matid"), ("material", "tendon", "tendon_matid"),
            ("texture", "material", "mat_texid"), ("texture", "light", "light_texid"),
        ):  # fmt: skip
            if not hasattr(self.a, name):
                continue
            for index, other in enumerate(self.matches[user]):
                if other < 0 or (name == "geom_dataid" and (family == "hfield") != is_hfield(self.a, index)):
                    continue
                for used, found in zip(
                    np.ravel(getattr(self.a, name)[index]),
                    np.ravel(getattr(self.b, name)[other]),
                    strict=True,
                ):
                    if used >= 0 and found >= 0 and self.matches[family][used] < 0:
                        self.matches[family][used] = int(found)

    def list_changes(self) -> Iterator[Change]:
        """Every field that differs."""
        yield from self._compare_whole()
        yield from self._compare_contacts()
        for family in FAMILIES:
            yield from self._compare_counts(family)
            fields = self._list_fields(family)
            for index, other in enumerate(self.matches[family]):
                if other >= 0:
                    name = find_name(self.a, family, index) or f"#{index}"
                    for text in self._compare_element(family, fields, index, other):
                        yield Change(family, name, *text)

    def _compare_whole(self) -> Iterator[Change]:
        for name in TOTALS:
            yield from self._tell("size", "", name, getattr(self.a, name), getattr(self.b, name))
        groups = [("option", self.a.opt, self.b.opt), ("statistic", self.a.stat, self.b.stat)]
        groups += [
            (f"visual {name}", getattr(self.a.vis, name), getattr(self.b.vis, name))
            for name in ("global_", "quality", "headlight", "map", "scale", "rgba")
        ]
        for group, a, b in groups:
            for name in dir(a):
                # points without a face, which visuals of OpenUSD and other formats have no use for, are in boxes
                # around meshes that MuJoCo estimates these from; nothing is seen or touched there
                if group == "statistic" and name in ESTIMATES and self._has_stray_points:
                    continue
                if not name.startswith("_") and not callable(getattr(a, name)):
                    values = [getattr(side, name) for side in (a, b)]
                    if name == "center":  # near the origin it is noise, beside the size of the model
                        values = [np.append(side.extent, side.center) for side in (a, b)]
                    yield from self._tell(group, "", name, *values)

    def _compare_contacts(self) -> Iterator[Change]:
        """Which geoms may touch: exclusions are compared by what they do, since some of them do nothing."""
        places = np.array(self.matches[GEOM], dtype=int)
        kept = np.flatnonzero(places >= 0)  # one that is gone is told of itself
        before = find_touching(self.a)[np.ix_(kept, kept)]
        after = find_touching(self.b)[np.ix_(places[kept], places[kept])]
        for i, j in np.argwhere(np.triu(before != after))[:1]:
            count = int(np.count_nonzero(np.triu(before != after)))
            names = " and ".join(find_name(self.a, GEOM, int(kept[k])) or f"#{kept[k]}" for k in (i, j))
            words = [f"{'touch' if touching else 'do not touch'}" for touching in (before[i, j], after[i, j])]
            yield Change("contact", names, f"{count} pairs", *words)

    def _tell(self, family: str, element: str, name: str, a: Any, b: Any) -> Iterator[Change]:
        for text in differ(name, a, b, LENGTH_TOLERANCE if name == "meansize" else TOLERANCE):
            yield Change(family, element, *text)

    def _compare_counts(self, family: str) -> Iterator[Change]:
        for index, other in enumerate(self.matches[family]):
            if other < 0 and family != "exclude":
                name = find_name(self.a, family, index) or f"#{index}"
                yield Change(family, name, "element", "there", "gone")
        extra = set(range(count_elements(self.b, family))) - set(self.matches[family])
        # one mesh may be several afterwards: each is compared where it is used
        for index in sorted(extra) if family not in ("mesh", "texture", "material", "exclude") else ():
            yield Change(family, find_name(self.b, family, index) or f"#{index}", "element", "none", "new")

    def _list_fields(self, family: str) -> list[str]:
        prefix, count = FAMILIES[family].prefix, count_elements(self.a, family)
        found = []
        for name in dir(self.a):
            if not name.startswith(prefix) or name in LAYOUT or name.endswith("adr"):
                continue
            if prefix in OWN_POOLS and name not in (
                "tex_type",
                "tex_colorspace",
                "hfield_size",
                "hfield_nrow",
                "hfield_ncol",
            ):
                continue
            value = getattr(self.a, name)
            if isinstance(value, np.ndarray) and value.ndim and len(value) == count:
                found.append(name)
        return found

    def _compare_element(
        self, family: str, fields: list[str], i: int, j: int
    ) -> Iterator[tuple[str, str, str]]:
        a, b = self.a, self.b
        for name in fields:
            if self._means_nothing(name, i):
                continue
            before, after = getattr(a, name)[i], getattr(b, name)[j]
            # one mesh may be several afterwards, so its number may not be that of the match: it is compared below for
            # every geom that uses it, by name, bounds, area, volume, surface, hull, normals and coordinates
            if name == "geom_dataid" and not is_hfield(a, i) and min(int(before), int(after)) >= 0:
                continue
            if name in REFERENCES or name in (
                "geom_dataid",
                "eq_obj1id",
                "eq_obj2id",
                "sensor_objid",
                "sensor_refid",
                "actuator_trnid",
            ):
                before, after = self._follow(name, i, before), np.asarray(after)
            elif name.endswith("quat"):
                before, after = align_quaternion(before, after)
            elif name == "actuator_gainprm" and a.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED:
                # a fixed gain is one number; defaults made for muscles leave others there
                before, after = before[:1], after[:1]
            yield from differ(name, before, after, DERIVED_TOLERANCE if "invweight" in name else TOLERANCE)
        compare = getattr(self, f"_compare_{family}", None)
        if compare is not None:
            yield from compare(i, j)

    @cached_property
    def _has_stray_points(self) -> bool:
        """Has a mesh of the source points without a face?  Its estimates of sizes count them."""
        for mesh in range(self.a.nmesh):
            start, count = int(self.a.mesh_faceadr[mesh]), int(self.a.mesh_facenum[mesh])
            used = np.unique(self.a.mesh_face[start : start + count])
            if len(used) < int(self.a.mesh_vertnum[mesh]):
                return True
        return False

    def _means_nothing(self, name: str, i: int) -> bool:
        """Is it a field that MuJoCo never reads: the look of fixed tendons, the range of free joints?

        Their elements have no such attributes in MJCF (``fixed`` has no width, rgba and material, ``freejoint`` no
        range), so no file can say them; defaults made for spatial tendons and hinges leave values there, those for
        muscles in the bias of motors, which have none.  The centre of no mass is where MuJoCo (4.0) leaves it, the
        place of the body for one; a sensor may ask for it all the same.
        """
        if name in ("tendon_width", "tendon_rgba", "tendon_matid"):
            start = int(self.a.tendon_adr[i])
            return bool(self.a.wrap_type[start] == mujoco.mjtWrap.mjWRAP_JOINT)
        if name == "actuator_biasprm":
            return bool(self.a.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_NONE)
        if name == "body_ipos" and not self.a.body_mass[i]:
            asked = zip(
                (*self.a.sensor_objtype, *self.a.sensor_reftype),
                (*self.a.sensor_objid, *self.a.sensor_refid),
                strict=True,
            )
            return (mujoco.mjtObj.mjOBJ_BODY.value, i) not in {(int(kind), int(k)) for kind, k in asked}
        return name == "jnt_range" and bool(self.a.jnt_type[i] == mujoco.mjtJoint.mjJNT_FREE)

    def _follow(self, name: str, index: int, value: Any) -> Any:
        """Numbers of elements of the first model as those of the second."""
        a, values = self.a, np.atleast_1d(value).tolist()
        families: Sequence[str] = [REFERENCES.get(name, "")] * len(values)
        if name == "geom_dataid":
            families = ["hfield" if is_hfield(a, index) else "mesh"]
        elif name.startswith("eq_"):
            kinds = {"mjEQ_JOINT": JOINT, "mjEQ_TENDON": "tendon", "mjEQ_CONNECT": "", "mjEQ_WELD": ""}
            kind = kinds.get(mujoco.mjtEq(int(a.eq_type[index])).name, "flex")
            families = [kind or OBJECTS.get(int(a.eq_objtype[index]), BODY)]
        elif name.startswith("sensor_"):
            families = [OBJECTS.get(int(getattr(a, name.replace("id", "type"))[index]), "")]
        elif name == "actuator_trnid":
            families = TRANSMISSIONS.get(mujoco.mjtTrn(int(a.actuator_trntype[index])).name, ("", ""))
        made = [
            self.matches[family][number] if family and 0 <= number < len(self.matches[family]) else number
            for family, number in zip(families, values, strict=True)
        ]
        # -1 stands for an element that is gone as well, which is told of the element itself
        return np.array(made).reshape(np.shape(value))

    def _compare_body(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        tensors = [turn_inertia(m.body_iquat[k], m.body_inertia[k]) for m, k in ((self.a, i), (self.b, j))]
        # equal moments leave the axes free, so the tensor is compared and not its parts
        yield from differ("body_inertia", *tensors)
        yield from differ("body_mocapid", self.a.body_mocapid[i] >= 0, self.b.body_mocapid[j] >= 0)

    def _compare_joint(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        a, b = self.a, self.b
        if a.jnt_type[i] != b.jnt_type[j]:
            return
        width, speeds = COORDINATES[int(a.jnt_type[i])]
        for name in ("qpos0", "qpos_spring"):
            values = [getattr(m, name)[m.jnt_qposadr[k] :][:width] for m, k in ((a, i), (b, j))]
            yield from differ(name, *values)
        for name in (
            "armature",
            "damping",
            "dampingpoly",
            "frictionloss",
            "solref",
            "solimp",
            "invweight0",
            "M0",
            "length",
        ):
            if hasattr(a, f"dof_{name}") and not (name == "length" and self._has_stray_points):
                values = [getattr(m, f"dof_{name}")[m.jnt_dofadr[k] :][:speeds] for m, k in ((a, i), (b, j))]
                # lengths are estimates from boxes around meshes, whose axes may have another order
                yield from differ(f"dof_{name}", *values, LENGTH_TOLERANCE if name == "length" else TOLERANCE)

    def _compare_geom(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        a, b = self.a, self.b
        kind = mujoco.mjtGeom(int(a.geom_type[i])).name
        columns = SIZES.get(kind, 3)
        yield from differ("geom_size", a.geom_size[i][:columns], b.geom_size[j][:columns])
        meshes = [int(m.geom_dataid[k]) for m, k in ((a, i), (b, j))]
        if min(meshes) < 0 or is_hfield(a, i):
            yield from differ("geom_pos", a.geom_pos[i], b.geom_pos[j])
            yield from differ("geom_quat", *align_quaternion(a.geom_quat[i], b.geom_quat[j]))
            return
        names = [find_name(model, "mesh", mesh) for model, mesh in ((a, meshes[0]), (b, meshes[1]))]
        # one mesh may be two afterwards, one with looks and one for contact: the second has a number
        is_renamed = names[1] not in (names[0], *(f"{names[0]}_{k}" for k in range(1, 100)))
        if is_renamed and not self._is_twin(meshes[0], names[1]):
            yield "mesh name", *names
        # a file at another scale has the same surface, on which MuJoCo finds other normals
        small = max(find_smallest(a, meshes[0]), find_smallest(b, meshes[1]))
        # a file that is written stretched has the same surface: both are taken as the source's file has them
        scale = np.asarray(a.mesh_scale[meshes[0]], dtype=float)
        before, after = measure_mesh(a, i, small, scale), measure_mesh(b, j, small, scale)
        # where MuJoCo makes coordinates itself, they may be written
        if before["mesh texcoords"] is None:
            after["mesh texcoords"] = None
        for name, value in before.items():
            if value is None or after[name] is None:
                if value is not after[name]:
                    yield name, "there", "gone"
                continue
            limit = NORMAL_TOLERANCE if name == "mesh normals" else MESH_TOLERANCE
            # beside a one, since volume and area of a flat mesh are nothing but rounding
            yield from differ(name, np.append(1.0, value), np.append(1.0, after[name]), limit)

    def _is_twin(self, mesh: int, name: str) -> bool:
        """Has the source a mesh of the same content with this name?  Such are written once."""
        model = self.a
        other = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_MESH.value, name)
        if other < 0:
            return False
        parts = [
            [
                getattr(model, f"mesh_{what}")[start : start + count]
                for what in ("vert", "face")
                for start, count in [
                    (getattr(model, f"mesh_{what}adr")[k], getattr(model, f"mesh_{what}num")[k])
                ]
            ]
            for k in (mesh, other)
        ]
        return all(np.array_equal(one, two) for one, two in zip(*parts, strict=True))

    def _compare_site(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        columns = SIZES.get(mujoco.mjtGeom(int(self.a.site_type[i])).name, 3)
        yield from differ("site_size", self.a.site_size[i][:columns], self.b.site_size[j][:columns])

    def _compare_equality(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        before, after = np.array(self.a.eq_data[i]), np.array(self.b.eq_data[j])
        if mujoco.mjtEq(int(self.a.eq_type[i])).name == "mjEQ_WELD":
            before[6:10], after[6:10] = align_quaternion(before[6:10], after[6:10])
            # whether MuJoCo found the relative pose itself
            before, after = before[:11], after[:11]
        yield from differ("eq_data", before, after)

    def _compare_sensor(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        yield from differ("sensor_intprm", self.a.sensor_intprm[i], self.b.sensor_intprm[j])

    def _compare_hfield(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        yield from differ(
            "hfield_data",
            *(
                slice_pool(m, "hfield_data", int(m.hfield_adr[k]), int(m.hfield_nrow[k] * m.hfield_ncol[k]))
                for m, k in ((self.a, i), (self.b, j))
            ),
        )

    def _compare_texture(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        images = [read_texture(m, k) for m, k in ((self.a, i), (self.b, j))]
        if images[0].shape != images[1].shape:
            yield "tex_size", str(images[0].shape), str(images[1].shape)
            return
        wrong = int(np.count_nonzero(images[0] != images[1]))
        if wrong:
            gap = np.abs(images[0].astype(int) - images[1].astype(int))
            yield "tex_data", "", f"{wrong} of {images[0].size} values, by {gap.mean():.3g} on average"

    def _compare_tendon(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        paths = []
        for model, tendon in ((self.a, i), (self.b, j)):
            path: list[Any] = []
            start = int(model.tendon_adr[tendon])
            for wrap in range(start, start + int(model.tendon_num[tendon])):
                kind = mujoco.mjtWrap(int(model.wrap_type[wrap])).name
                target, value = int(model.wrap_objid[wrap]), float(model.wrap_prm[wrap])
                if model is self.a and kind in WRAPS and target >= 0:
                    target = self.matches[WRAPS[kind]][target]
                side = kind in ("mjWRAP_SPHERE", "mjWRAP_CYLINDER") and value >= 0
                if side and model is self.a:
                    value = float(self.matches[SITE][int(value)])
                path.append((kind, target, round(value, 9)))
            paths.append(path)
        if paths[0] != paths[1]:
            yield "path", str(paths[0])[:80], str(paths[1])[:80]

    def _compare_numeric(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        yield from differ(
            "numeric_data",
            *(
                slice_pool(m, "numeric_data", int(m.numeric_adr[k]), int(m.numeric_size[k]))
                for m, k in ((self.a, i), (self.b, j))
            ),
        )

    def _compare_plugin(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        texts = []
        for model, number in ((self.a, i), (self.b, j)):
            start = int(model.plugin_attradr[number])
            ends = [int(end) for end in model.plugin_attradr if end > start]
            text = bytes(np.asarray(model.plugin_attr, dtype=np.int8).tobytes())
            texts.append((int(model.plugin[number]), text[start : min(ends, default=len(text))]))
        if texts[0] != texts[1]:
            yield "plugin_attr", str(texts[0])[:80], str(texts[1])[:80]

    def _compare_text(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        texts = [
            bytes(m.text_data)[int(m.text_adr[k]) :][: int(m.text_size[k])]
            for m, k in ((self.a, i), (self.b, j))
        ]
        if texts[0] != texts[1]:
            yield "text_data", str(texts[0])[:60], str(texts[1])[:60]

    def _compare_tuple(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        rows = []
        for model, number in ((self.a, i), (self.b, j)):
            start, size = int(model.tuple_adr[number]), int(model.tuple_size[number])
            row = []
            for k in range(start, start + size):
                family, target = OBJECTS.get(int(model.tuple_objtype[k]), ""), int(model.tuple_objid[k])
                if model is self.a and family:
                    target = self.matches[family][target]
                row.append((int(model.tuple_objtype[k]), target, float(model.tuple_objprm[k])))
            rows.append(row)
        if rows[0] != rows[1]:
            yield "elements", str(rows[0])[:80], str(rows[1])[:80]

    def _compare_key(self, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        for name, numbers in (
            ("key_qpos", self.positions), ("key_qvel", self.velocities), ("key_ctrl", self.controls),
            ("key_act", self.activations), ("key_mpos", self.mocaps), ("key_mquat", self.mocaps),
        ):  # fmt: skip
            before, after = np.asarray(getattr(self.a, name)[i]), np.asarray(getattr(self.b, name)[j])
            width = len(before) // len(numbers) if len(numbers) else 0
            if len(before) != len(after) or min(numbers, default=0) < 0 or not width:
                continue
            chosen = after.reshape(-1, width)[numbers] if len(numbers) else after
            yield from differ(name, before.reshape(-1, width) if len(numbers) else before, chosen)

    @cached_property
    def positions(self) -> list[int]:
        """For every coordinate of the first model its place in the second, -1 where there is none."""
        return self._list_places("jnt_qposadr", 0)

    @cached_property
    def velocities(self) -> list[int]:
        """The same for velocities."""
        return self._list_places("jnt_dofadr", 1)

    def _list_places(self, address: str, column: int) -> list[int]:
        found = []
        for index, other in enumerate(self.matches[JOINT]):
            width = COORDINATES[int(self.a.jnt_type[index])][column]
            same = other >= 0 and self.a.jnt_type[index] == self.b.jnt_type[other]
            start = int(getattr(self.b, address)[other]) if same else 0
            found += [start + k if same else -1 for k in range(width)]
        return found

    @cached_property
    def controls(self) -> list[int]:
        """The same for controls."""
        return self._list_actuator_places("ctrl")

    @cached_property
    def activations(self) -> list[int]:
        """The same for activations."""
        return self._list_actuator_places("act")

    def _list_actuator_places(self, what: str) -> list[int]:
        found = []
        for index, other in enumerate(self.matches["actuator"]):
            count = int(getattr(self.a, f"actuator_{what}num")[index])
            same = other >= 0 and int(getattr(self.b, f"actuator_{what}num")[other]) == count
            start = int(getattr(self.b, f"actuator_{what}adr")[other]) if same else 0
            found += [start + k if same else -1 for k in range(max(count, 0))]
        return found

    @cached_property
    def mocaps(self) -> list[int]:
        """The same for mocap bodies."""
        pairs = [
            (int(self.a.body_mocapid[i]), int(self.b.body_mocapid[j]) if j >= 0 else -1)
            for i, j in enumerate(self.matches[BODY])
            if self.a.body_mocapid[i] >= 0
        ]
        return [other for _, other in sorted(pairs)]

    def roll(self, steps: int) -> tuple[float, bool]:
        """The largest gap of a coordinate after some steps from the first keyframe, and whether all bits are equal."""
        places = [*self.positions, *self.velocities, *self.controls]
        if min(places, default=0) < 0:
            return np.inf, False
        controls = make_controls(self.a, steps).values
        is_keyed = bool(self.a.nkey and self.b.nkey)
        gap, is_same = self._roll(self.a, self.b, controls, is_keyed)
        if DRIFT < gap < np.inf and (meshes := self._list_reordered()):
            # contacts of hulls depend on the order of points, which is another one in a file of the mirrored mesh
            gap, _ = self._roll(
                leave_contacts(self.a, meshes[0]), leave_contacts(self.b, meshes[1]), controls, is_keyed
            )
        return gap, is_same

    def _roll(self, a: Any, b: Any, controls: Array, is_keyed: bool) -> tuple[float, bool]:
        ours = [*range(len(self.controls))]
        before, after = (
            run_steps(a, controls, ours, is_keyed),
            run_steps(b, controls, self.controls, is_keyed),
        )
        if len(before) != len(after):
            return np.inf, False
        gap, is_same = find_gap(before, after[self.positions] if len(before) else after)
        if DRIFT < gap < np.inf:
            # how far the source leaves itself when its own numbers are rounded as OpenUSD rounds them
            noise = find_gap(before, run_steps(round_model(a), controls, ours, is_keyed))[0]
            gap = 0.0 if gap <= NOISE_FACTOR * noise else gap
        return gap, is_same

    def _list_reordered(self) -> tuple[list[int], list[int]] | None:
        """Meshes that have the same points in both models, in another order; none where there are none."""
        pairs = [
            (mesh, other)
            for mesh, other in enumerate(self.matches["mesh"])
            if other >= 0 and is_reordered(take_points(self.a, mesh), take_points(self.b, other))
        ]
        return ([mesh for mesh, _ in pairs], [other for _, other in pairs]) if pairs else None


def run_steps(model: Any, controls: Array, places: list[int], is_keyed: bool) -> Array:
    """The coordinates after some steps; ``places`` are those of the controls in the model."""
    data = mujoco.MjData(model)
    if is_keyed:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    with quiet_mujoco():
        for row in controls:
            data.ctrl[places] = row
            mujoco.mj_step(model, data)
    return np.array(data.qpos)


def take_points(model: Any, mesh: int) -> Array:
    """The points of a mesh, in MuJoCo's order."""
    start = int(model.mesh_vertadr[mesh])
    return np.array(model.mesh_vert[start : start + int(model.mesh_vertnum[mesh])])


def is_reordered(points: Array, other: Array) -> bool:
    """Whether points are the same ones in another order."""
    if points.shape != other.shape or np.array_equal(points, other):
        return False
    return np.array_equal(points[np.lexsort(points.T)], other[np.lexsort(other.T)])


def leave_contacts(model: Any, meshes: Sequence[int]) -> Any:
    """A copy in which nothing touches geoms of some meshes."""
    twin = copy.copy(model)
    left = (twin.geom_type == mujoco.mjtGeom.mjGEOM_MESH) & np.isin(twin.geom_dataid, meshes)
    twin.geom_contype[left] = twin.geom_conaffinity[left] = 0
    return twin


def find_gap(a: Array, b: Array) -> tuple[float, bool]:
    """The largest gap of two arrays, and whether all bits are equal."""
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    gaps = np.where(same, 0.0, np.nan_to_num(np.abs(a - b), nan=np.inf))
    return float(np.max(gaps, initial=0.0)), bool(np.all(same))


def round_model(model: Any) -> Any:
    """A copy whose masses, places, axes and gains are single-precision numbers, and points of meshes the next ones.

    MuJoCo has those in single precision; OpenUSD rounds them before they are scaled and moved, MuJoCo after it.
    """
    twin = copy.copy(model)
    ends = np.random.default_rng(0).choice(np.array((-np.inf, np.inf), np.float32), twin.mesh_vert.shape)
    twin.mesh_vert[:] = np.nextafter(twin.mesh_vert, ends)
    for name in ROUNDED:
        values = getattr(twin, name)
        values[:] = values.astype(np.float32)
    mujoco.mj_setConst(twin, mujoco.MjData(twin))
    return twin


def count_elements(model: Any, family: str) -> int:
    """How many elements of a family a model has."""
    return int(getattr(model, FAMILIES[family].count))


def find_name(model: Any, family: str, index: int) -> str:
    """The name of an element, empty if it has none."""
    kind = getattr(mujoco.mjtObj, f"mjOBJ_{FAMILIES[family].kind}")
    return str(mujoco.mj_id2name(model, kind.value, index) or "")


def is_hfield(model: Any, geom: int) -> bool:
    """Is the geom a height field?"""
    return int(model.geom_type[geom]) == mujoco.mjtGeom.mjGEOM_HFIELD.value


def find_touching(model: Any) -> Array:
    """Which geoms MuJoCo lets touch: by bits, parents, exclusions and pairs."""
    kinds, masks = model.geom_contype, model.geom_conaffinity
    met = (kinds[:, None] & masks[None, :]) | (kinds[None, :] & masks[:, None])
    bodies = np.asarray(model.geom_bodyid)
    welds = model.body_weldid[bodies]
    parents = model.body_weldid[model.body_parentid[welds]]
    touching = (met != 0) & (welds[:, None] != welds[None, :])
    if not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT.value:
        # what is welded to the world touches its children
        child = (welds[:, None] == parents[None, :]) & (welds[:, None] != 0)
        touching &= ~(child | child.T)
    for signature in model.exclude_signature:
        sides = [bodies == number for number in (int(signature) >> 16, int(signature) & 0xFFFF)]
        touching[np.ix_(*sides)] = touching[np.ix_(*sides[::-1])] = False
    for i, j in zip(model.pair_geom1, model.pair_geom2, strict=True):
        touching[i, j] = touching[j, i] = True
    return np.asarray(touching)


def slice_pool(model: Any, name: str, start: int, count: int) -> Array:
    """A part of a long array."""
    return np.asarray(getattr(model, name)).reshape(-1)[start : start + count]


def align_quaternion(a: Any, b: Any) -> tuple[Array, Array]:
    """The second with the sign of the first: both mean the same rotation."""
    first, second = np.array(a, dtype=float), np.array(b, dtype=float)
    return first, -second if first @ second < 0 else second


def make_matrix(quaternion: Any) -> Array:
    """A rotation as a matrix."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, dtype=float))
    return matrix.reshape(3, 3)


def turn_inertia(quaternion: Any, moments: Any) -> Array:
    """Principal moments as a tensor in the axes of the body."""
    matrix = make_matrix(quaternion)
    return np.asarray(matrix @ np.diag(moments) @ matrix.T)


def find_smallest(model: Any, mesh: int) -> float:
    """Twice the area of triangles that MuJoCo finds a normal of for sure [m^2].

    MuJoCo (4.0) gives those below 3.2e-8 of the file's units none, and shows them as if they looked up.
    """
    return SMALL_AREA * float(np.abs(model.mesh_scale[mesh]).max()) ** 2


def measure_mesh(model: Any, geom: int, small: float, scale: Array) -> dict[str, Any]:
    """Volume, area and bounds of the mesh of a geom, and whether it has coordinates of textures.

    Normals at triangles of less than half of ``small`` are left out; MuJoCo finds them before it scales the file.
    """
    mesh = int(model.geom_dataid[geom])
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    points = np.asarray(model.mesh_vert[start : start + count], dtype=float)
    first, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    corners = points[model.mesh_face[first : first + faces]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
    # points without a face are in the hull only
    seen = points if touches else points[np.unique(model.mesh_face[first : first + faces])]
    placed = seen @ make_matrix(model.geom_quat[geom]).T + model.geom_pos[geom]
    material = int(model.geom_matid[geom])
    is_textured = material >= 0 and bool(np.any(model.mat_texid[material] >= 0))
    is_shown = bool(model.geom_group[geom] < SHOWN_GROUPS)
    areas = np.linalg.norm(normals, axis=1)
    shares = areas / max(float(areas.sum()), 1e-30)
    # the same whichever axes MuJoCo chose, and however often a point is in the file
    middle = np.einsum("i,ijk->k", shares / 3.0, corners)
    size = float(np.linalg.norm(seen - middle, axis=1).max())
    start = int(model.mesh_normaladr[mesh])
    smooth = model.mesh_normal[start + model.mesh_facenormal[first : first + faces]].mean(axis=1)
    straight = normals / np.maximum(areas, 1e-30)[:, None]
    plain = (points @ make_matrix(model.mesh_quat[mesh]).T + model.mesh_pos[mesh]) / (
        scale / np.abs(scale).max()
    )
    sides = plain[model.mesh_face[first : first + faces]]
    crosses = np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0])
    settled = find_settled(model.mesh_face[first : first + faces], crosses, len(points), small)
    leaning = np.einsum("i,ij,ij->", np.where(settled, shares, 0.0), smooth, straight)
    coordinates = None
    if is_textured and model.mesh_texcoordadr[mesh] >= 0:
        start = int(model.mesh_texcoordadr[mesh])
        rows = model.mesh_texcoord[start + model.mesh_facetexcoord[first : first + faces]]
        coordinates = np.einsum("i,ijk->k", shares / 3.0, rows)
    return {
        "mesh bounds": np.array([placed.min(axis=0), placed.max(axis=0)]),
        # bounds, area and volume are the same of a mesh that lies upside down
        "mesh middle": make_matrix(model.geom_quat[geom]) @ middle + model.geom_pos[geom],
        "mesh spread": spread_surface(corners, shares, middle, make_matrix(model.geom_quat[geom])) / size**2,
        "mesh area": float(np.linalg.norm(normals, axis=1).sum() / 2.0) / size**2,
        "mesh volume": float(np.einsum("ij,ij->", corners[:, 0], normals) / 6.0) / size**3,
        # how far normals lean from their faces, and the mean of coordinates, both by area
        "mesh normals": float(leaning) if is_shown else None,
        "mesh texcoords": coordinates,
        "mesh hull": reach_hull(model, mesh, geom) if touches else None,
    }


def find_settled(faces: Array, normals: Array, points: int, small: float) -> Array:
    """Faces whose corners all have a normal that neither MuJoCo's rounding nor its smallest triangle decides.

    MuJoCo (4.0) adds up the faces of a point by area and takes those off again that lean more than acos(0.8) from the
    sum.  At a sharp corner it takes all of them off, and makes a unit of what rounding has left.
    """
    total = np.zeros((points, 3))
    nearest = np.full(points, -1.0)
    for place in range(3):
        np.add.at(total, faces[:, place], normals)
    mean = total / np.maximum(np.linalg.norm(total, axis=1), 1e-30)[:, None]
    units = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-30)[:, None]
    for place in range(3):
        np.maximum.at(nearest, faces[:, place], np.einsum("ij,ij->i", units, mean[faces[:, place]]))
    nearest[faces[np.linalg.norm(normals, axis=1) < small]] = -1.0
    return np.asarray((nearest[faces] > LEAN).all(axis=1))


def spread_surface(corners: Array, shares: Array, middle: Array, turn: Array) -> Array:
    """Second moments of the middles of faces by area, in the axes of the body."""
    middles = (corners.mean(axis=1) - middle) @ turn.T
    return np.asarray(np.einsum("i,ij,ik->jk", shares, middles, middles))


def reach_hull(model: Any, mesh: int, geom: int) -> Array:
    """How far the hull that touches things reaches in many directions, in the axes of the body.

    ``maxhullvert`` limits its points.  How many there are says less: those within a face come and go with rounding.
    """
    start = int(model.mesh_graphadr[mesh])
    first = int(model.mesh_vertadr[mesh])
    if start < 0:  # MuJoCo makes none of a mesh that is flat or has four points
        return np.zeros(len(DIRECTIONS))
    count = int(model.mesh_graph[start])
    # two numbers, then where the edges of every point begin, then the points
    chosen = np.asarray(model.mesh_graph[start + 2 + count : start + 2 + 2 * count])
    points = np.asarray(model.mesh_vert[first + chosen], dtype=float)
    placed = points @ make_matrix(model.geom_quat[geom]).T + model.geom_pos[geom]
    return np.asarray((placed @ DIRECTIONS.T).max(axis=0))


DIRECTIONS = np.random.default_rng(18).normal(size=(64, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1)[:, None]


def read_texture(model: Any, index: int) -> Array:
    """The pixels; one square on all six sides of a cube as the strip of six that others are."""
    shape = (int(model.tex_height[index]), int(model.tex_width[index]), int(model.tex_nchannel[index]))
    image = slice_pool(model, "tex_data", int(model.tex_adr[index]), int(np.prod(shape))).reshape(shape)
    is_cube = model.tex_type[index] != mujoco.mjtTexture.mjTEXTURE_2D
    return np.tile(image, (6, 1, 1)) if is_cube and shape[0] == shape[1] else image


def differ(name: str, a: Any, b: Any, tolerance: float = TOLERANCE) -> Iterator[tuple[str, str, str]]:
    """Name and texts of a field whose values differ by more than the tolerance, relative to the largest of them."""
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape:
        yield name, str(first.shape), str(second.shape)
        return
    if first.dtype.kind not in "fiub":
        return
    before, after = first.astype(float), second.astype(float)
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    scale = max(float(np.max(np.abs(np.where(np.isfinite(before), before, 0.0)), initial=0.0)), 1e-9)
    limit = tolerance * scale if first.dtype.kind == "f" or second.dtype.kind == "f" else 0.0
    with np.errstate(invalid="ignore"):
        wrong = ~same & ~(np.abs(before - after) <= limit)
    if np.any(wrong):
        yield name, shorten(first), shorten(second)


def shorten(values: Array) -> str:
    """Values as a short text."""
    return np.array2string(np.ravel(values)[:8], precision=6, separator=" ").replace("\n", "")


def show(
    lines: list[Line],
    totals: Counter[str],
    loads: Counter[str],
    form: str,
    items: int,
    routes: Sequence[str] = tuple(ROUTES),
) -> None:
    """The lines worst first and figures of each corpus, or all of it as JSON."""
    lines.sort(key=lambda line: (ORDER.index(line.verdict), -len(line.silent), line.file, line.route))
    figures = [count_figures(corpus, route, lines, totals, loads) for corpus in totals for route in routes]
    if form == "json":
        print(json.dumps({"figures": figures, "lines": [asdict(line) for line in lines]}, indent=1))
        return
    for line in lines:
        if line.verdict != "same":
            print(f"{line.verdict:8} {line.route:5} {line.file[-60:]:60} {line.drift:8.1e} {line.text}")
            for change in line.silent[:items]:
                print(f"{'':15}{change}"[:220])
            if len(line.silent) > items:
                print(f"{'':15}... and {len(line.silent) - items} more")
    kinds = Counter(f"{line.route:5} {c.family} {c.field}" for line in lines for c in line.silent)
    files = Counter(
        kind for line in lines for kind in {f"{line.route:5} {c.family} {c.field}" for c in line.silent}
    )
    print(f"\n{'files':>6} {'silent':>7}  field")
    for kind, count in files.most_common(60):
        print(f"{count:6} {kinds[kind]:7}  {kind}")
    print()
    for row in figures:
        print(", ".join(f"{word} {value}" for word, value in row.items()))


def count_figures(
    corpus: str, route: str, lines: list[Line], totals: Counter[str], loads: Counter[str]
) -> dict[str, Any]:
    """One row of the table of corpora."""
    own = [line for line in lines if (line.corpus, line.route) == (corpus, route)]
    verdicts = Counter(line.verdict for line in own)
    return {
        "corpus": corpus,
        "route": route,
        "files": totals[corpus],
        "loaded by MuJoCo": loads[corpus],
        **{word: verdicts[word] for word in ORDER},
        "silent fields": sum(len(line.silent) for line in own),
        "bit-equal": sum(line.exact for line in own),
        "within 1e-6": sum(line.drift <= DRIFT and line.verdict not in ("crash", "refused") for line in own),
    }


if __name__ == "__main__":
    sys.exit(main())
