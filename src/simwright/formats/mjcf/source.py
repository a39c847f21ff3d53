# SPDX-License-Identifier: Apache-2.0
"""The MJCF text before MuJoCo sees it: includes, attached models, referenced files, sizes, and line numbers.

MuJoCo reads the file itself (``compiler.py``); this pass reads it first, so that bad XML, missing files,
include cycles and absurd sizes end in one clear message, and so that every element has a file and a line.
It follows ``<include>`` (beside the main file first, then beside the including file, as MuJoCo does) and
``<model>`` / ``<attach>``.  Files may be named by any relative or absolute path, as MJCF allows, but all of them
have to pass the gate of the asset (``core.gate``): MuJoCo opens whatever it is told to, so one that lies outside ends
the reading.

A few characters of MJCF can mean billions of elements, pixels or numbers: ``replicate``, ``composite`` and
``flexcomp`` multiply; textures and height fields are generated at any size; keyframes and user data are as long as
the model is large.  Totals are computed here, before MuJoCo allocates anything, and held against the budgets of
``core.limits``.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from lxml import etree

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import LimitError, NotFoundError, ParseError
from simwright.core.gate import Gate
from simwright.core.limits import Tally, check_limit
from simwright.formats.mjcf.places import MjcfSource, SourceElement
from simwright.formats.xml import SURE_REPAIRS, Element, parse

FILE_MISSING = declare(
    "mjcf-file-missing",
    Level.ERROR,
    "the {what} file {file!r} does not exist",
    hint="looked in {folder!r}; check the path and the compiler's meshdir, texturedir and assetdir",
    doc="An asset names a mesh, texture or height field file that cannot be found; MuJoCo cannot compile.",
)

MAX_FILES = 500
MAX_NESTED_FILES = 32

# sections whose elements are counted together, whatever their tags: <motor> and <position> are actuators
_SECTIONS = ("actuator", "sensor", "equality", "tendon", "contact", "keyframe", "custom", "deformable")
_ALIASES = {"freejoint": "joint", "flexcomp": "deformable"}
_TEXTURE_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_FILE_ATTRIBUTES = {"mesh": ("file",), "hfield": ("file",), "texture": _TEXTURE_FILES}
# Elements whose file MuJoCo alone reads; where it is missing, MuJoCo says so.
_OTHER_FILES = ("skin", "flexcomp")


def read_source(path: Path, gate: Gate, reporter: Reporter) -> MjcfSource:
    """Parse a main file and all it pulls in; missing asset files are reported, then end the reading."""
    source = _SourceReader(path, gate, reporter, ()).read()
    if source.missing:
        count = len(source.missing)
        first = next((d.message for d in reporter if d.kind == FILE_MISSING.code), "")
        more = f" ({count} files are missing)" if count > 1 else ""
        raise NotFoundError(f"{first}{more}", hint="MuJoCo needs every file", where=source.missing[0])
    return source


class _SourceReader:
    """Reads one main file; attached models are walks of their own."""

    def __init__(self, path: Path, gate: Gate, reporter: Reporter, chain: tuple[Path, ...]) -> None:
        self.path = path
        self.gate = gate
        self.reporter = reporter
        # the files that attach this one, so that a cycle ends
        self.chain = (*chain, path.resolve())
        self.source = MjcfSource(str(path), gate)
        # MuJoCo refuses to include a file twice
        self.seen: set[Path] = {path.resolve()}
        self.models: dict[str, MjcfSource] = {}
        self.folders = {"mesh": "", "texture": ""}
        self.strip_paths = False

    def read(self) -> MjcfSource:
        root = self._parse(self.path)
        if root.tag != "mujoco":
            raise ParseError(
                f"the root element is <{root.tag}>, not <mujoco>",
                hint="a fragment made to be included cannot be read alone"
                if root.tag == "mujocoinclude"
                else "is it the right file?",
                where=Where(str(self.path), root.sourceline),
            )
        self._walk(root, str(self.path), 1, 0)
        check_limit("mjcf-elements", self.source.elements, Where(str(self.path)))
        _check_number_count(self.source.entries, Where(str(self.path)))
        for entry in self.source.entries:
            self._note_files(entry)
        for entry in self.source.entries:
            if entry.element.tag == "attach":
                self._note_attachment(entry)
        return self.source

    def _parse(self, file: Path) -> Element:
        # MuJoCo parses the file itself and has to see the same names as the walk, which looks for files
        # and limits
        return parse(file, reporter=self.reporter, faults=SURE_REPAIRS)

    def _walk(self, root: Element, file: str, copies: int, depth: int, is_default: bool = False) -> None:
        for element in root.iterdescendants(etree.Element):
            where = Where(file, element.sourceline)
            # elements of defaults are no elements of the model
            in_default = is_default or element.tag == "default" or _is_below(element, "default")
            if element.tag == "include":
                more = _multiply_copies(element, copies, where)
                self._walk(*self._include(element, where, depth), more, depth + 1, in_default)
            elif not in_default:
                _check_size(element, copies, where, self.gate.tally)
                self._note_entry(element, where, _multiply_copies(element, copies, where))

    def _note_entry(self, element: Element, where: Where, copies: int) -> None:
        if element.tag == "compiler":
            self._note_compiler(element)
        parent = element.getparent()
        # in sections like <actuator> the tag says the kind, the parent the family
        tag = str(parent.tag if parent is not None and parent.tag in _SECTIONS else element.tag)
        self.source.add(SourceElement(element, _ALIASES.get(tag, tag), where, copies))

    def _include(self, element: Element, where: Where, depth: int) -> tuple[Element, str]:
        name = element.get("file") or ""
        if not name:
            raise ParseError("<include> has no file", hint="give it a file attribute", where=where)
        # MuJoCo looks beside the main file first
        file = _find_first_file(self.path.parent / name, Path(where.file).parent / name)
        if file is None:
            raise NotFoundError(
                f"the included file {name!r} does not exist",
                hint="the path is relative to the main file, or to the including file",
                where=where,
            )
        self.gate.admit(file, where, name)
        if file.resolve() in self.seen:
            raise ParseError(
                f"{name!r} is already included", hint="a file can be included only once", where=where
            )
        self.seen.add(file.resolve())
        if len(self.seen) > MAX_FILES or depth >= MAX_NESTED_FILES:
            raise LimitError(
                f"more than {MAX_FILES} included files, or includes nested {MAX_NESTED_FILES} deep",
                where=where,
            )
        return self._parse(file), str(file)

    def _note_compiler(self, element: Element) -> None:
        # the last <compiler> that says something counts, as in MuJoCo
        for key in ("mesh", "texture"):
            self.folders[key] = element.get(f"{key}dir") or element.get("assetdir") or self.folders[key]
        self.strip_paths = element.get("strippath", "true" if self.strip_paths else "false") == "true"

    def _note_files(self, entry: SourceElement) -> None:
        if entry.element.tag == "model":
            self._note_model(entry)
        if entry.element.tag in _OTHER_FILES:
            self._check_file(entry)
        folder = self.folders["texture" if entry.element.tag == "texture" else "mesh"]
        for attribute in _FILE_ATTRIBUTES.get(str(entry.element.tag), ()):
            name = entry.element.get(attribute)
            if name:
                self._note_file(entry, attribute, Path(name).name if self.strip_paths else name, folder)

    def _note_file(self, entry: SourceElement, attribute: str, name: str, folder: str) -> None:
        tag = str(entry.element.tag)
        place = self.path.parent / folder
        file = _find_first_file(place / name)
        # an included file may name files beside itself
        if file is None and not self.strip_paths and entry.where.file != str(self.path):
            beside = os.path.relpath(Path(entry.where.file).parent, self.path.parent)
            file = _find_first_file(place / beside / name)
        if file is None:
            shown = os.fspath(place)
            self.reporter.report(FILE_MISSING, entry.where, what=tag, file=name, folder=shown)
            self.source.missing.append(entry.where)
            return
        self.gate.admit(file, entry.where, name)
        _check_image(entry.element, attribute, file, entry.where, self.gate.tally)
        key = (tag, entry.name or Path(name).stem)
        if attribute != "file":
            self.source.sides.setdefault(key[1], {})[attribute] = file
            return
        self.source.files.setdefault(key, file)
        self.source.named.setdefault(key, entry)

    def _check_file(self, entry: SourceElement) -> None:
        name = entry.element.get("file") or ""
        # MuJoCo may look in any of these; all that exist have to be admitted
        folders = (self.path.parent, self.path.parent / self.folders["mesh"], Path(entry.where.file).parent)
        for file in {folder / name for folder in folders} if name else ():
            if _find_first_file(file):
                self.gate.admit(file, entry.where, name)

    def _note_model(self, entry: SourceElement) -> None:
        name = entry.element.get("file") or ""
        # MuJoCo looks beside the main file, then beside the file that includes the element
        folders = (self.path.parent, Path(entry.where.file).parent)
        file = _find_first_file(*(folder / name for folder in folders)) if name else None
        if file is None:
            raise NotFoundError(f"the model file {name!r} does not exist", where=entry.where)
        self.gate.admit(file, entry.where, name)
        if file.resolve() in self.chain:
            raise ParseError(f"the model {name!r} attaches itself", where=entry.where)
        if len(self.chain) > MAX_NESTED_FILES:
            raise LimitError(f"models are attached more than {MAX_NESTED_FILES} deep", where=entry.where)
        source = _SourceReader(file, self.gate, self.reporter, self.chain).read()
        self.source.missing.extend(source.missing)
        self.source.attached.append(source)
        self.models[entry.name or file.stem] = source

    def _note_attachment(self, entry: SourceElement) -> None:
        other = self.models.get(entry.element.get("model") or "")
        if other is None:
            return
        # before MuJoCo multiplies them
        self.source.elements += entry.copies * other.elements
        check_limit("mjcf-elements", self.source.elements, entry.where)
        prefix = entry.element.get("prefix") or ""
        for (section, name), named in other.named.items():
            self.source.named.setdefault((section, prefix + name), named)
        for (tag, name), file in other.files.items():
            self.source.files.setdefault((tag, prefix + name), file)
        for name, sides in other.sides.items():
            self.source.sides.setdefault(prefix + name, sides)


def _is_below(element: Element, tag: str) -> bool:
    return next(element.iterancestors(tag), None) is not None


def _find_first_file(*candidates: Path) -> Path | None:
    for file in candidates:
        try:
            if file.is_file():
                return file
        # a name with a zero byte or too long for the file system is not a file
        except (OSError, ValueError):
            continue
    return None


MAX_RESOLUTION = 1000
MAX_MEMORY = 1 << 36

# shifts of bits, by the letter after a size of memory
_MEMORY_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}
_CUBE_SIDES = 6
# Most numbers that a keyframe has for a joint (a pose and a velocity), an actuator or a body that is moved by
# hand.
_STATE_NUMBERS = 14
_USERS = ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")
_USER_TAGS = {"jnt": "joint", "cam": "camera"}
_PNG = b"\x89PNG\r\n\x1a\n"


def _multiply_copies(element: Element, copies: int, where: Where) -> int:
    """``copies`` times the counts of every ``replicate`` around an element."""
    for parent in element.iterancestors("replicate"):
        copies *= max(1, _read_whole(parent.get("count")))
    check_limit("mjcf-elements", copies, where)
    return copies


# one function: a case for each element that can ask for more than its text is long
def _check_size(element: Element, copies: int, where: Where, tally: Tally) -> None:
    """Refuse an element that asks for more than there is; what it asks for is added to ``tally``."""
    tag = element.tag
    if tag in ("replicate", "composite", "flexcomp"):
        total = _multiply_copies(element, copies, where) * max(1, _multiply_counts(element.get("count")))
        check_limit("mjcf-elements", total, where)
        if tag == "replicate":
            tally.add("mjcf-copies", total, where)
    elif tag == "texture":
        width, height = (max(1, _read_whole(element.get(key))) for key in ("width", "height"))
        # a cube has six sides, each width x width; cube is MuJoCo's default
        sides = 1 if element.get("type") == "2d" else _CUBE_SIDES
        tally.add("mjcf-pixels", width * (height if sides == 1 else width) * sides, where)
    elif tag == "hfield":
        heights = max(1, _read_whole(element.get("nrow"))) * max(1, _read_whole(element.get("ncol")))
        tally.add("height-samples", heights, where)
    elif tag == "mesh" and element.get("builtin"):
        finest = max(_read_whole(part.partition(".")[0]) for part in (element.get("params") or "1").split())
        _check_size_limit(finest, MAX_RESOLUTION, "points along one side of a generated mesh", where)
    elif tag == "size":
        _check_size_limit(
            _read_memory(element.get("memory")), MAX_MEMORY, "bytes of simulation memory", where
        )


def _check_image(element: Element, attribute: str, file: Path, where: Where, tally: Tally) -> None:
    """The same for an image file of a texture or a height field, as large as its header says."""
    with file.open("rb") as stream:
        head = stream.read(24)
    if not head.startswith(_PNG):  # MuJoCo's own encodings are as large as their files
        return
    # width and height of a PNG stand in its first chunk; the image is not decoded for this
    pixels = int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")
    if element.tag == "hfield":
        tally.add("height-samples", pixels, where)
    elif element.tag == "texture":
        # one image for a cube is repeated on every side, unless a grid cuts it into sides
        is_repeated = attribute == "file" and element.get("type") != "2d" and not element.get("gridsize")
        tally.add("mjcf-pixels", pixels * (_CUBE_SIDES if is_repeated else 1), where)


def _check_number_count(entries: Iterable[SourceElement], where: Where) -> None:
    """Refuse keyframes, user data and custom fields that are longer in the model than anybody writes."""
    counts: Counter[str] = Counter()
    numbers, keys, wide = 0, 0, dict.fromkeys(_USERS, 0)
    for entry in entries:
        element, tag = entry.element, entry.element.tag
        counts[entry.section] += entry.copies
        if tag == "key":
            keys += entry.copies
        elif tag == "size":
            keys += max(0, _read_whole(element.get("nkey", "0")))
            numbers += max(0, _read_whole(element.get("nuserdata", "0")))
            for name in _USERS:
                wide[name] = max(wide[name], _read_whole(element.get(f"nuser_{name}", "0")))
        elif tag == "numeric":
            numbers += max(0, _read_whole(element.get("size", "0")))
        elif tag == "user" and entry.section == "sensor":
            numbers += entry.copies * max(0, _read_whole(element.get("dim", "0")))
        users = element.get("user")
        if users:
            name = next((name for name in _USERS if _USER_TAGS.get(name, name) == entry.section), "body")
            wide[name] = max(wide[name], len(users.split()))
    # a keyframe has a number for every coordinate of the model, though its text may have none
    numbers += keys * _STATE_NUMBERS * (counts["joint"] + counts["actuator"] + counts["body"])
    numbers += sum(wide[name] * counts[_USER_TAGS.get(name, name)] for name in _USERS)
    check_limit("mjcf-numbers", numbers, where)


def _check_size_limit(value: int, limit: int, what: str, where: Where) -> None:
    if value > limit:
        raise LimitError(
            f"the file asks for {value:,} {what}; the limit is {limit:,}",
            hint="is it the right file?",
            where=where,
        )


def _read_whole(text: str | None) -> int:
    """The number if it is one; MuJoCo reports the others."""
    try:
        return int(text or "1")
    except ValueError:  # also of more digits than Python reads
        # int() refuses texts of more than 4300 digits, which are numbers nevertheless
        digits = (text or "").strip().lstrip("+")
        return 10**18 if digits.isdecimal() else 1


def _multiply_counts(text: str | None) -> int:
    return math.prod(max(1, _read_whole(part)) for part in (text or "1").split())


def _read_memory(text: str | None) -> int:
    value = (text or "0").strip().lower()
    unit = _MEMORY_UNITS.get(value[-1:], 0)
    digits = value[:-1] if unit else value
    return int(digits) << unit if digits.isdigit() and len(digits) < 20 else 0
