# SPDX-License-Identifier: Apache-2.0
"""Convert SDFormat files to OpenUSD, MJCF and SDFormat, and hold what was written against the source.

``python scripts/compare_sdf.py FOLDER_OR_FILE ... [--to usd,mjcf,sdf] [--all]``.  Nothing of Simwright is used to
compare: the source is read with lxml, includes are followed and frames of inertia turned here; what was written is read
by MuJoCo (MJCF), by OpenUSD itself (USD) and by libsdformat (SDF, which also says whether a source is valid).  Lists of
values need no names; what libsdformat resolves in source and result (poses and axes in the world, mass, centre, tensor,
limits, damping, friction of every link and joint) is compared by name.

One line for each file and format, the worst first:

* ``crash``: an exception that is not a SimwrightError;
* ``refused``: refused, and libsdformat reads the file (a refusal is right where libsdformat refuses too);
* ``silent``: a value differs or is gone, and no finding of that conversion speaks of such values;
* ``told``: a value differs, and a finding says so;
* ``error``: read with findings of level error (an include that is not there ...);
* ``same``: all values are the same.

Exits with 1 where a line is crash, refused or silent.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

import simwright
from simwright.core.diag import Diagnostic, Level, Reporter

CHECKER = Path(__file__).parent.parent / ".parsers" / "sdf_check"
VARIABLES = ("GZ_SIM_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH", "IGN_GAZEBO_RESOURCE_PATH")
ENDINGS = (".sdf", ".world")
ORDER = ("crash", "refused", "silent", "told", "error", "right", "same")
TOLERANCE = 1e-5
"""Relative: OpenUSD keeps masses and limits as floats."""
ENDLESS = 1e15
SKIP_TIME = 60.0

WORDS = {
    "links": ("include", "model", "link", "frame", "mass", "static", "joint-expanded"),
    "masses": ("mass", "include", "link", "volume", "joint-expanded", "mesh", "inertia"),
    "inertias": ("inertia", "mass", "include", "link", "volume", "joint-expanded"),
    "joints": ("joint", "axis", "include", "loop", "freedom", "equality", "link"),
    "limits": ("limit", "joint", "axis", "include", "loop"),
    "damping": ("damping", "joint", "axis", "include", "loop"),
    "friction": ("friction", "joint", "axis", "include", "loop"),
    "springs": ("spring", "stiffness", "joint", "axis", "include", "loop"),
    "colliders": (
        "geometry",
        "mesh",
        "plane",
        "shape",
        "include",
        "collider",
        "polyline",
        "heightmap",
        "flat",
    ),
    "visuals": ("geometry", "mesh", "plane", "shape", "include", "visual", "polyline", "heightmap", "look"),
    "sensors": ("sensor", "include", "camera"),
    "lights": ("light", "include"),
    "gravity": ("gravity", "number"),
}
"""Field -> words, one of which is in the code or text of a finding that speaks of it."""
COUNTED = ("links", "colliders", "visuals", "sensors", "lights")
"""Fields that are told by a finding that something is left out."""


@dataclass
class Facts:
    """What a file says, in lists that need no names: order and names change on the way."""

    links: int = 0
    masses: list[float] = field(default_factory=list)
    inertias: list[float] = field(default_factory=list)
    joints: Counter[str] = field(default_factory=Counter)
    limits: list[float] = field(default_factory=list)
    damping: list[float] = field(default_factory=list)
    friction: list[float] = field(default_factory=list)
    springs: list[float] = field(default_factory=list)
    colliders: int = 0
    visuals: int = 0
    sensors: int = 0
    lights: int = 0
    gravity: list[float] | None = None
    is_weighed: bool = True
    is_plain: bool = True
    incomplete: list[str] = field(default_factory=list)


@dataclass
class Line:
    """One file in one format."""

    verdict: str
    file: str
    to: str
    text: str = ""


def main() -> int:
    """Go through all files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--to", default="usd,mjcf", help="formats, by commas")
    parser.add_argument("--all", action="store_true", help="also show the lines where all is the same")
    arguments = parser.parse_args()
    lines: list[Line] = []
    files = list(find_files(arguments.paths))
    for number, file in enumerate(files):
        print(f"\r{number + 1}/{len(files)} {file.name[:60]:60}", end="", file=sys.stderr, flush=True)
        lines += compare(file, arguments.to.split(","))
    print(file=sys.stderr)
    lines.sort(key=lambda line: (ORDER.index(line.verdict), line.file, line.to))
    for line in lines:
        if arguments.all or line.verdict != "same":
            print(f"{line.verdict:8} {line.to:5} {line.file[-70:]:70} {line.text}")
    counts = Counter(line.verdict for line in lines)
    clean = {line.file for line in lines} - {
        line.file for line in lines if line.verdict not in ("same", "told")
    }
    print(f"\n{len(files)} files, {len(lines)} conversions: " + ", ".join(f"{v} {counts[v]}" for v in ORDER))
    print(f"{len(clean)} files converted without an error and with nothing lost in silence")
    return 1 if counts["crash"] + counts["refused"] + counts["silent"] else 0


def find_files(paths: list[Path]) -> Iterator[Path]:
    """Files as they are named, SDFormat files in folders in order."""
    for path in paths:
        if path.is_file():
            yield path
        else:
            yield from (file for file in sorted(path.rglob("*")) if file.suffix in ENDINGS and file.is_file())


def compare(file: Path, formats: list[str]) -> Iterator[Line]:
    """The lines of one file."""
    name = "/".join(file.parts[-4:])
    source: Facts | None = None
    for word in formats:
        reporter = Reporter()
        with tempfile.TemporaryDirectory() as folder:
            try:
                entry = simwright.convert(file, Path(folder) / "asset", to=word, reporter=reporter)
                written = READERS[word](entry)
                named = [*list_named(file, entry)] if word == "sdf" and CHECKER.exists() else []
                if word == "sdf" and not judge(entry) and judge(file):
                    yield Line(
                        "crash", name, word, "libsdformat refuses what was written, and not the source"
                    )
                    continue
            except simwright.SimwrightError as error:
                is_valid = judge(file)
                verdict = "refused" if is_valid else "right"
                yield Line(verdict, name, word, str(error).replace("\n", " ")[-160:])
                continue
            except Exception as error:  # noqa: BLE001 - the point is to find them
                yield Line("crash", name, word, repr(error)[:300])
                continue
        try:
            source = source or read_source(file)
        except ValueError as error:
            is_valid = judge(file)
            yield Line(
                "crash" if is_valid else "right", name, word, f"the source cannot be compared: {error}"
            )
            continue
        line = judge_values(name, word, source, written, reporter.found)
        if word == "sdf" and named:
            line = judge_names(line, list(named), reporter.found)
        yield line


def judge_names(line: Line, different: list[str], found: list[Diagnostic]) -> Line:
    """The line, with what libsdformat resolves otherwise in the file that was written."""
    tellers = [find_teller(NAMED[text.split(" ")[0]], found) for text in different]
    silent = [text for text, kind in zip(different, tellers, strict=True) if not kind]
    told = [f"{text} ({kind})" for text, kind in zip(different, tellers, strict=True)]
    text = "; ".join((silent or told) + ([line.text] if line.text else []))[:300]
    verdict = "silent" if silent else "told" if line.verdict == "same" else line.verdict
    return Line(verdict, line.file, line.to, text)


NAMED = {"link": "links", "pose": "links", "mass": "masses", "centre": "masses", "inertia": "inertias"}
NAMED |= {"joint": "joints", "type": "joints", "parent": "joints", "child": "joints", "axis0": "joints"}
NAMED |= {
    "axis1": "joints",
    "limits0": "limits",
    "limits1": "limits",
    "damping0": "damping",
    "damping1": "damping",
}
NAMED |= {"friction0": "friction", "friction1": "friction"}
"""What libsdformat says of links and joints -> field whose findings speak of it."""


ROW = re.compile(r"(?:^| )([a-z]+\d?)((?: (?:-?[\d.]+(?:e[-+]?\d+)?|-?inf|nan))+)(?= |$)")
"""A word and the numbers after it."""


CONTINUOUS, REVOLUTE, REVOLUTE2, UNIVERSAL = 2.0, 6.0, 7.0, 9.0
"""Types of joints in libsdformat."""


def resolve(file: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Links and joints by kind and scoped name, as libsdformat resolves them: poses and axes are in the world.

    None of a file that it complains about, as it resolves nothing in a model whose includes it does not find.
    """
    command = [str(CHECKER), "--values", str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SKIP_TIME, check=False)
    except subprocess.TimeoutExpired:
        return {}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    # mass that is to be computed from shapes is unknown to libsdformat 12
    text = file.read_text("utf-8", "replace")
    unweighed = re.search(r"""auto=["'](true|1)["']""", text) is not None
    # its parser reads all worlds, under the same names; converted is the first
    if len(re.findall(r"<world[\s>]", text)) > 1:
        return {}
    for row in done.stdout.splitlines() if done.returncode == 0 else ():
        match = re.match(r"(link|joint) (.*?) (pose|type) ", row)
        if match is None:
            continue
        values: dict[str, Any] = {}
        for text in re.findall(
            r"(?:^| )([a-z]+\d?)((?: (?:-?[\d.]+(?:e[-+]?\d+)?|-?inf|nan))+)(?= |$)", row[match.end(2) :]
        ):
            if not (unweighed and text[0] in ("mass", "centre", "inertia")):
                values[text[0]] = [float(number) for number in text[1].split()]
        # a hinge without limits may be called continuous
        ends = values.get("limits0", [0.0])
        if values.get("type") == [REVOLUTE] and min(abs(end) for end in ends) > ENDLESS:
            values["type"] = [CONTINUOUS]
        # two hinges at right angles may be called either, and Gazebo makes the same of both; the axes are compared
        if values.get("type") == [REVOLUTE2] and is_right(values.get("axis0"), values.get("axis1")):
            values["type"] = [UNIVERSAL]
        found[match[1], match[2]] = values
    return found


def is_right(a: list[float] | None, b: list[float] | None) -> bool:
    """Are two axes at right angles?"""
    return a is not None and b is not None and abs(float(np.dot(a, b))) <= 1e-9


def list_named(source: Path, written: Path) -> Iterator[str]:
    """Values that libsdformat resolves otherwise, by the name of the link or joint.

    Nested models may be written as one: an element is then found by the end of its name, if there is one such.
    """
    before, after = resolve(source), resolve(written)
    ends: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for key in after:
        ends.setdefault((key[0], re.split(r"::|__", key[1])[-1]), []).append(key)
    for (kind, name), values in before.items():
        near = ends.get((kind, name.split("::")[-1]), [])
        other = after.get((kind, name)) or (after[near[0]] if len(near) == 1 else None)
        if other is None:
            if not near:
                yield f"{kind} {name} is gone"
            continue
        for word, row in values.items():
            if word in other and not is_near(word, np.array(row), np.array(other[word])):
                yield f"{word} of {name}: {np.round(row, 6).tolist()} -> {np.round(other[word], 6).tolist()}"


def is_near(word: str, before: Any, after: Any) -> bool:
    """Are two rows the same?  A quaternion is the same with the other sign, an endless limit at any large number."""
    if before.shape != after.shape:
        return False
    before, after = (np.clip(row, -ENDLESS, ENDLESS) for row in (before, after))
    if word == "pose" and before[3:] @ after[3:] < 0:
        after = np.concatenate((after[:3], -after[3:]))
    scale = max(float(np.abs(before).max(initial=0.0)), 1e-3 if word != "inertia" else 1e-9)
    return bool(np.all(np.abs(before - after) <= 2 * TOLERANCE * scale))


def judge_values(name: str, word: str, source: Facts, written: Facts, found: list[Diagnostic]) -> Line:
    """The line of a conversion that went through."""
    different = [text for text in list_differences(source, written, word) if text]
    tellers = [find_teller(text.split(" ")[0], found) for text in different]
    silent = [text for text, kind in zip(different, tellers, strict=True) if not kind]
    told = [f"{text} ({kind})" for text, kind in zip(different, tellers, strict=True)]
    errors = [f for f in found if f.level is Level.ERROR]
    if silent:
        return Line("silent", name, word, "; ".join(silent)[:300])
    if errors:
        return Line("error", name, word, f"{len(errors)}: {errors[0].message}"[:200])
    return Line("told" if different else "same", name, word, "; ".join(told)[:300])


def find_teller(what: str, found: list[Diagnostic]) -> str:
    """The kind of a finding that speaks of such values."""
    for finding in found:
        text = f"{finding.kind} {finding.message}".lower()
        # a warning about the friction of a collider does not say that one is gone
        is_loud = finding.loss or finding.level is Level.ERROR
        if what not in COUNTED:
            is_loud = is_loud or finding.level is not Level.INFO
        if is_loud and any(word in text for word in WORDS[what]):
            return finding.kind
    return ""


def list_differences(source: Facts, written: Facts, word: str) -> Iterator[str]:
    """What is not the same, each beginning with the name of its field."""
    for key in ("links", "colliders", "visuals", "sensors", "lights"):
        before, after = getattr(source, key), getattr(written, key)
        if after is not None and before != after:
            yield f"{key} {before} -> {after}"
    for key in ("masses", "inertias", "limits", "damping", "friction", "springs", "gravity"):
        if key in ("masses", "inertias") and not (source.is_weighed and written.is_weighed):
            continue
        if getattr(written, key) is not None and getattr(source, key) is not None:
            yield differ(key, getattr(source, key), getattr(written, key))
    # Screws and gearboxes are a freedom or two and a coupling, in each format in its own way.
    if source.joints != written.joints and word != "sdf" and source.is_plain:
        yield f"joints {dict(source.joints)} -> {dict(written.joints)}"


def differ(key: str, before: list[float], after: list[float]) -> str:
    """Two lists of numbers, in any order."""
    if key != "gravity":
        before, after = sorted(before), sorted(after)
    if len(before) != len(after):
        return f"{key} {len(before)} values -> {len(after)}"
    gaps = [
        (abs(a - b) / max(abs(a), abs(b), 1e-9), a, b)
        for a, b in zip(before, after, strict=True)
        if a != b and abs(a - b) > 1e-12
    ]
    gap, a, b = max(gaps, default=(0.0, 0.0, 0.0))
    return f"{key} {a:g} -> {b:g}" if gap > TOLERANCE else ""


def judge(file: Path) -> bool:
    """Does libsdformat read the file?"""
    if not CHECKER.exists():
        raise SystemExit("libsdformat's checker is missing: run scripts/install_parsers.sh")
    try:
        done = subprocess.run([str(CHECKER), str(file)], capture_output=True, timeout=SKIP_TIME, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode == 0


# The source, by lxml alone.


def parse(file: Path) -> Any:
    """The root of a file; comments are cut out first, and lxml is told to go on where XML is not well-formed."""
    data = re.sub(rb"<!--.*?-->", b"", file.read_bytes(), flags=re.DOTALL)
    data = data[max(data.find(b"<sdf"), 0) :].replace(b"::", b"__colons__")
    root = etree.fromstring(data, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    for element in root.iter():
        for attribute, text in element.attrib.items():
            if "__colons__" in text:
                element.set(attribute, text.replace("__colons__", "::"))
        if element.text:
            element.text = element.text.replace("__colons__", "::")
    return root


def read_source(file: Path) -> Facts:
    """What a source says, with what it includes."""
    facts = Facts()
    root = parse(file)
    world = root.find("world")
    top = root if world is None else world
    if world is not None:
        facts.gravity = [0.0, 0.0, -9.8]
        physics = [p for p in world.findall("physics") if p.get("default") in ("1", "true")]
        physics += world.findall("physics")
        for holder in [*physics[:1], world]:
            if holder.findtext("gravity", "").strip():
                facts.gravity = numbers(holder.findtext("gravity"))
    Walk(facts, file).walk(top, file, static=False)
    return facts


@dataclass
class Walk:
    """Goes through models and what they include."""

    facts: Facts
    root: Path
    depth: int = 0

    def walk(self, element: Any, file: Path, *, static: bool) -> None:
        """The models, links and joints directly in an element."""
        for child in element:
            if child.tag == "model":
                self.walk(child, file, static=static or is_true(child.findtext("static")))
            elif child.tag == "include":
                self.include(child, file, static=static)
            elif child.tag == "light":
                self.facts.lights += 1
            elif child.tag == "link":
                self.take_link(child, static=static)
            elif child.tag == "joint" and not static:
                self.take_joint(child)

    def include(self, include: Any, file: Path, *, static: bool) -> None:
        """The model of another file."""
        uri = (include.findtext("uri") or "").strip()
        found = find_included(uri, file)
        if found is None or self.depth > 20:
            self.facts.incomplete.append(uri)
            return
        if found.suffix not in ENDINGS:
            self.facts.incomplete.append(uri)
            return
        self.depth += 1
        root = parse(found)
        said = include.findtext("static")
        for child in root:
            if child.tag == "model":
                fixed = is_true(said) if said is not None else is_true(child.findtext("static"))
                self.walk(child, found, static=static or fixed)
                break
            if child.tag == "light":
                self.facts.lights += 1
                break
            if child.tag == "include":
                self.include(child, found, static=static)
                break
        self.depth -= 1

    def take_link(self, link: Any, *, static: bool) -> None:
        """Mass and inertia of a link, and what is on it."""
        facts = self.facts
        facts.colliders += sum(map(has_shape, link.findall("collision")))
        facts.visuals += sum(map(has_shape, link.findall("visual")))
        facts.sensors += len(link.findall("sensor"))
        facts.lights += len(link.findall("light"))
        if static:
            return
        facts.links += 1
        inertial = link.find("inertial")
        if inertial is not None and is_true(inertial.get("auto")):
            # Follows from volumes of shapes, which are not computed here.
            facts.is_weighed = False
            return
        mass, tensor = 1.0, np.eye(3)
        if inertial is not None:
            mass = float(inertial.findtext("mass") or 1.0)
            six = {
                tag: inertial.findtext(f"inertia/{tag}") for tag in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
            }
            v = {tag: float(text) if text else float(tag[1] == tag[2]) for tag, text in six.items()}
            tensor = np.array(
                [
                    [v["ixx"], v["ixy"], v["ixz"]],
                    [v["ixy"], v["iyy"], v["iyz"]],
                    [v["ixz"], v["iyz"], v["izz"]],
                ]
            )
        facts.masses.append(mass)
        facts.inertias += np.linalg.eigvalsh(tensor).tolist()

    def take_joint(self, joint: Any) -> None:
        """Freedoms of a joint, with their limits and losses."""
        facts = self.facts
        facts.sensors += len(joint.findall("sensor"))
        kind = joint.get("type", "")
        axes = [axis for axis in (joint.find("axis"), joint.find("axis2")) if axis is not None]
        if kind == "ball":
            facts.joints["ball"] += 1
            return
        words = {
            "revolute": "hinge",
            "continuous": "hinge",
            "prismatic": "slide",
            "universal": "hinge",
            "revolute2": "hinge",
        }
        if kind not in words:
            if kind != "fixed":
                facts.is_plain = False
            return
        count = 2 if kind in ("universal", "revolute2") else 1
        for axis in [*axes, None, None][:count]:
            facts.joints[words[kind]] += 1
            if axis is None:
                continue
            if kind != "continuous":
                low, high = (value(axis, f"limit/{tag}") for tag in ("lower", "upper"))
                is_open = (low is None or low <= -ENDLESS) and (high is None or high >= ENDLESS)
                if not is_open:
                    facts.limits += [v for v in (low, high) if v is not None and abs(v) < ENDLESS]
            for target, tag in (
                (facts.damping, "damping"),
                (facts.friction, "friction"),
                (facts.springs, "spring_stiffness"),
            ):
                number = value(axis, f"dynamics/{tag}")
                if number:
                    target.append(number)


def value(element: Any, path: str) -> float | None:
    """A number, None if it is not there."""
    text = (element.findtext(path) or "").strip()
    return float(text) if text else None


def numbers(text: str) -> list[float]:
    """Numbers of a text."""
    return [float(word) for word in text.split()]


def is_true(text: str | None) -> bool:
    """A boolean of SDFormat."""
    return (text or "").strip().lower() in ("1", "true")


def has_shape(element: Any) -> bool:
    """Has a collision or visual a geometry that is one?"""
    geometry = element.find("geometry")
    return geometry is not None and any(
        child.tag != "empty" for child in geometry if isinstance(child.tag, str)
    )


def find_included(uri: str, file: Path) -> Path | None:
    """The file that an include means."""
    name = re.sub(r"^(model|package|file)://", "", uri)
    places = [file.parent, *(Path(p) for v in VARIABLES for p in os.environ.get(v, "").split(":") if p)]
    places += list(file.parents)[1:5]
    for place in places:
        path = place / name
        if name and path.is_file():
            return path
        if name and path.is_dir():
            return find_in_folder(path)
    return None


def find_in_folder(folder: Path) -> Path | None:
    """The file of a model folder: the newest that model.config lists."""
    config = folder / "model.config"
    if config.is_file():
        root = etree.fromstring(config.read_bytes(), etree.XMLParser(recover=True, resolve_entities=False))
        rows = [(e.get("version") or "1.4", (e.text or "").strip()) for e in root.iter("sdf")]
        rows = [r for r in rows if re.fullmatch(r"1\.\d+", r[0]) and int(r[0][2:]) <= 12]
        rows.sort(key=lambda row: int(row[0][2:]), reverse=True)
        for _, name in rows:
            if (folder / name).is_file():
                return folder / name
    return folder / "model.sdf" if (folder / "model.sdf").is_file() else None


# What was written.


def read_mjcf(entry: Path) -> Facts:
    """As MuJoCo compiles it."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(entry))
    facts = Facts()
    moving = [i for i in range(1, model.nbody) if not is_scenery(model, i)]
    facts.links = len(moving)
    facts.masses = [float(model.body_mass[i]) for i in moving]
    facts.inertias = [float(v) for i in moving for v in model.body_inertia[i]]
    kinds = {
        mujoco.mjtJoint.mjJNT_HINGE: "hinge",
        mujoco.mjtJoint.mjJNT_SLIDE: "slide",
        mujoco.mjtJoint.mjJNT_BALL: "ball",
    }
    for i in range(model.njnt):
        kind = kinds.get(mujoco.mjtJoint(int(model.jnt_type[i])))
        if kind is None:
            continue
        facts.joints[kind] += 1
        if model.jnt_limited[i] and kind != "ball":
            facts.limits += [float(v) for v in model.jnt_range[i] if abs(v) < ENDLESS]
        dof = int(model.jnt_dofadr[i])
        if kind == "ball":
            # SDFormat has no word for the damping of a ball.
            continue
        for target, values in (
            (facts.damping, model.dof_damping[dof]),
            (facts.friction, model.dof_frictionloss[dof]),
            (facts.springs, model.jnt_stiffness[i]),
        ):
            # MuJoCo 3.5 keeps polynomials: the first coefficient is the linear one.
            number = float(np.atleast_1d(values)[0])
            if number:
                target.append(number)
    # A loop of SDFormat is closed by points that are held together: one for a ball, two for a hinge.
    ends = zip(model.eq_type, model.eq_obj1id, model.eq_obj2id, strict=True)
    held = Counter((int(a), int(b)) for kind, a, b in ends if kind == int(mujoco.mjtEq.mjEQ_CONNECT))
    # Where both limits are one, MuJoCo has a joint that an equality holds there.
    for number in range(model.neq):
        if model.eq_type[number] == int(mujoco.mjtEq.mjEQ_JOINT) and model.eq_obj2id[number] < 0:
            facts.limits += [float(model.eq_data[number][0])] * 2
    for count in held.values():
        facts.joints["hinge" if count == 2 else "ball"] += 1
    facts.gravity = [float(v) for v in model.opt.gravity]
    facts.lights = int(model.nlight)
    facts.sensors = None  # type: ignore[assignment]  # a sensor of SDFormat is several of MuJoCo
    facts.colliders = None  # type: ignore[assignment]  # a geom is one or both
    facts.visuals = None  # type: ignore[assignment]
    return facts


def is_scenery(model: Any, body: int) -> bool:
    """A body that only holds shapes of the world."""
    return model.body_mass[body] == 0.0 and model.body_weldid[body] == 0


def read_usd(entry: Path) -> Facts:
    """As OpenUSD opens it."""
    from pxr import Usd, UsdGeom, UsdLux, UsdPhysics

    stage = Usd.Stage.Open(str(entry))
    facts = Facts()
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        if prim.HasAPI(UsdPhysics.RigidBodyAPI):
            facts.links += 1
            mass = UsdPhysics.MassAPI(prim)
            if mass.GetMassAttr().HasAuthoredValue():
                facts.masses.append(float(mass.GetMassAttr().Get()))
            if mass.GetDiagonalInertiaAttr().HasAuthoredValue():
                facts.inertias += [float(v) for v in mass.GetDiagonalInertiaAttr().Get()]
        if prim.IsA(UsdPhysics.Scene):
            scene = UsdPhysics.Scene(prim)
            size = scene.GetGravityMagnitudeAttr().Get()
            way = scene.GetGravityDirectionAttr().Get()
            facts.gravity = [float(v) * float(size) for v in way]
        take_usd_joint(facts, prim)
        if prim.HasAPI(UsdLux.LightAPI):
            facts.lights += 1
        if prim.HasAPI(UsdPhysics.CollisionAPI):
            facts.colliders += 1
    up = UsdGeom.GetStageUpAxis(stage)
    if up != UsdGeom.Tokens.z:
        raise ValueError(f"the stage is {up}-up")
    facts.visuals = None  # type: ignore[assignment]  # meshes with several looks are several prims
    facts.sensors = None  # type: ignore[assignment]
    # In the words of engines, each in its own layer and unit; MuJoCo's part of them is read from MJCF.
    facts.damping = facts.friction = facts.springs = None  # type: ignore[assignment]
    return facts


def take_usd_joint(facts: Facts, prim: Any) -> None:
    """Freedoms and limits of a joint."""
    from pxr import UsdPhysics

    if prim.IsA(UsdPhysics.RevoluteJoint):
        facts.joints["hinge"] += 1
        take_usd_limits(facts, prim, math.pi / 180.0)
    elif prim.IsA(UsdPhysics.PrismaticJoint):
        facts.joints["slide"] += 1
        take_usd_limits(facts, prim, 1.0)
    elif prim.IsA(UsdPhysics.SphericalJoint):
        facts.joints["ball"] += 1
    elif prim.GetTypeName() == "PhysicsJoint":
        take_usd_freedoms(facts, prim)


def take_usd_freedoms(facts: Facts, prim: Any) -> None:
    """Freedoms of a general joint: an axis whose lower limit is above the upper one is locked."""
    from pxr import UsdPhysics

    for kind, unit, words in (
        ("hinge", math.pi / 180.0, "rotX rotY rotZ"),
        ("slide", 1.0, "transX transY transZ"),
    ):
        for word in words.split():
            limit = UsdPhysics.LimitAPI(prim, word)
            low, high = limit.GetLowAttr().Get(), limit.GetHighAttr().Get()
            if low is not None and high is not None and low > high:
                continue
            facts.joints[kind] += 1
            facts.limits += [float(v) * unit for v in (low, high) if v is not None and math.isfinite(v)]


def take_usd_limits(facts: Facts, prim: Any, unit: float) -> None:
    """Limits of a joint that moves one way."""
    for name in ("physics:lowerLimit", "physics:upperLimit"):
        attribute = prim.GetAttribute(name)
        number = attribute.Get() if attribute else None
        if number is not None and math.isfinite(number):
            facts.limits.append(float(number) * unit)


READERS: dict[str, Callable[[Path], Facts]] = {"usd": read_usd, "mjcf": read_mjcf, "sdf": read_source}

if __name__ == "__main__":
    sys.exit(main())
