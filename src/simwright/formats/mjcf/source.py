# SPDX-License-Identifier: Apache-2.0
"""The MJCF text before MuJoCo sees it: includes, attached models, referenced files, sizes, and line numbers.

MuJoCo reads the file itself (``compiler.py``); this pass reads it first, so that bad XML, missing files,
include cycles and absurd sizes end in one clear message, and so that every element has a file and a line.
It follows ``<include>`` (beside the main file first, then beside the including file, as MuJoCo does) and
``<model>`` / ``<attach>``.  Files may be named by any relative or absolute path, as MJCF allows, but all of them
have to pass the gate of the asset (``core.gate``): MuJoCo opens whatever it is told to, so one that lies outside ends
the reading.
"""

from __future__ import annotations

import os
from pathlib import Path

from lxml import etree

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import LimitError, NotFoundError, ParseError
from simwright.core.gate import Gate
from simwright.core.limits import check_limit
from simwright.formats.mjcf.limits import check_image, check_numbers, check_size, multiply_copies
from simwright.formats.mjcf.places import Entry, Source
from simwright.formats.xml import Element, parse

FILE_MISSING = declare(
    "mjcf-file-missing",
    Level.ERROR,
    "the {what} file {file!r} does not exist",
    hint="looked in {folder!r}; check the path and the compiler's meshdir, texturedir and assetdir",
    doc="An asset names a mesh, texture or height field file that cannot be found; MuJoCo cannot compile.",
)

MAX_FILES = 500
MAX_NESTED_FILES = 32

_SECTIONS = ("actuator", "sensor", "equality", "tendon", "contact", "keyframe", "custom", "deformable")
_ALIASES = {"freejoint": "joint", "flexcomp": "deformable"}
_TEXTURE_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_FILE_ATTRIBUTES = {"mesh": ("file",), "hfield": ("file",), "texture": _TEXTURE_FILES}
_OTHER_FILES = ("skin", "flexcomp")
"""Elements whose file MuJoCo alone reads; where it is missing, MuJoCo says so."""


def read_source(path: Path, gate: Gate, reporter: Reporter) -> Source:
    """Parse a main file and all it pulls in; missing asset files are reported, then end the reading."""
    source = _Walk(path, gate, reporter, ()).read()
    if source.missing:
        count = len(source.missing)
        first = next((d.message for d in reporter if d.kind == FILE_MISSING.code), "")
        more = f" ({count} files are missing)" if count > 1 else ""
        raise NotFoundError(f"{first}{more}", hint="MuJoCo needs every file", where=source.missing[0])
    return source


class _Walk:
    """Reads one main file; attached models are walks of their own."""

    def __init__(self, path: Path, gate: Gate, reporter: Reporter, chain: tuple[Path, ...]) -> None:
        self.path = path
        self.gate = gate
        self.reporter = reporter
        self.chain = (*chain, path.resolve())
        self.source = Source(str(path))
        self.seen: set[Path] = {path.resolve()}
        self.models: dict[str, Source] = {}
        self.folders = {"mesh": "", "texture": ""}
        self.strip_paths = False

    def read(self) -> Source:
        root = parse(self.path)
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
        check_numbers(self.source.entries, Where(str(self.path)))
        for entry in self.source.entries:
            self._note_files(entry)
        for entry in self.source.entries:
            if entry.element.tag == "attach":
                self._note_attachment(entry)
        return self.source

    def _walk(self, root: Element, file: str, copies: int, depth: int, is_default: bool = False) -> None:
        for element in root.iterdescendants(etree.Element):
            where = Where(file, element.sourceline)
            in_default = is_default or element.tag == "default" or _is_below(element, "default")
            if element.tag == "include":
                more = multiply_copies(element, copies, where)
                self._walk(*self._include(element, where, depth), more, depth + 1, in_default)
            elif not in_default:
                check_size(element, copies, where, self.gate.tally)
                self._note_entry(element, where, multiply_copies(element, copies, where))

    def _note_entry(self, element: Element, where: Where, copies: int) -> None:
        if element.tag == "compiler":
            self._note_compiler(element)
        parent = element.getparent()
        tag = str(parent.tag if parent is not None and parent.tag in _SECTIONS else element.tag)
        self.source.add(Entry(element, _ALIASES.get(tag, tag), where, copies))

    def _include(self, element: Element, where: Where, depth: int) -> tuple[Element, str]:
        name = element.get("file") or ""
        if not name:
            raise ParseError("<include> has no file", hint="give it a file attribute", where=where)
        file = _first_file(self.path.parent / name, Path(where.file).parent / name)
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
        return parse(file), str(file)

    def _note_compiler(self, element: Element) -> None:
        for key in ("mesh", "texture"):
            self.folders[key] = element.get(f"{key}dir") or element.get("assetdir") or self.folders[key]
        self.strip_paths = element.get("strippath", "true" if self.strip_paths else "false") == "true"

    def _note_files(self, entry: Entry) -> None:
        if entry.element.tag == "model":
            self._note_model(entry)
        if entry.element.tag in _OTHER_FILES:
            self._check_file(entry)
        folder = self.folders["texture" if entry.element.tag == "texture" else "mesh"]
        for attribute in _FILE_ATTRIBUTES.get(str(entry.element.tag), ()):
            name = entry.element.get(attribute)
            if name:
                self._note_file(entry, attribute, Path(name).name if self.strip_paths else name, folder)

    def _note_file(self, entry: Entry, attribute: str, name: str, folder: str) -> None:
        tag = str(entry.element.tag)
        place = self.path.parent / folder
        # an included file may name files beside itself
        beside = "" if self.strip_paths else os.path.relpath(Path(entry.where.file).parent, self.path.parent)
        file = _first_file(place / name, place / beside / name)
        if file is None:
            shown = os.fspath(place)
            self.reporter.report(FILE_MISSING, entry.where, what=tag, file=name, folder=shown)
            self.source.missing.append(entry.where)
            return
        self.gate.admit(file, entry.where, name)
        check_image(entry.element, attribute, file, entry.where, self.gate.tally)
        key = (tag, entry.name or Path(name).stem)
        if attribute != "file":
            self.source.sides.setdefault(key[1], {})[attribute] = file
            return
        self.source.files.setdefault(key, file)
        self.source.named.setdefault(key, entry)

    def _check_file(self, entry: Entry) -> None:
        name = entry.element.get("file") or ""
        folders = (self.path.parent, self.path.parent / self.folders["mesh"], Path(entry.where.file).parent)
        for file in {folder / name for folder in folders} if name else ():
            if _first_file(file):
                self.gate.admit(file, entry.where, name)

    def _note_model(self, entry: Entry) -> None:
        name = entry.element.get("file") or ""
        file = _first_file(self.path.parent / name) if name else None
        if file is None:
            raise NotFoundError(f"the model file {name!r} does not exist", where=entry.where)
        self.gate.admit(file, entry.where, name)
        if file.resolve() in self.chain:
            raise ParseError(f"the model {name!r} attaches itself", where=entry.where)
        if len(self.chain) > MAX_NESTED_FILES:
            raise LimitError(f"models are attached more than {MAX_NESTED_FILES} deep", where=entry.where)
        source = _Walk(file, self.gate, self.reporter, self.chain).read()
        self.source.missing.extend(source.missing)
        self.source.attached.append(source)
        self.models[entry.name or file.stem] = source

    def _note_attachment(self, entry: Entry) -> None:
        other = self.models.get(entry.element.get("model") or "")
        if other is None:
            return
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


def _first_file(*candidates: Path) -> Path | None:
    for file in candidates:
        try:
            if file.is_file():
                return file
        except (OSError, ValueError):
            continue
    return None
