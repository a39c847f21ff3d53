# SPDX-License-Identifier: Apache-2.0
"""The visible list of formats, and which one a file is in.

Meshes that turn out to be broken when an asset is written cost their shapes, not the asset.
"""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError, LimitError, ParseError, UsageError
from simwright.core.files import check_readable
from simwright.core.packages import PackageMap, find_packages
from simwright.core.registry import Registry
from simwright.core.swap import recover
from simwright.formats.format import Format, ReadOptions, WriteOptions
from simwright.model.asset import Asset
from simwright.model.geometry import Mesh

FORMATS: Registry[Format] = Registry(
    "format",
    "simwright.formats",
    {
        "urdf": "simwright.formats.urdf:FORMAT",
        "sdf": "simwright.formats.sdf:FORMAT",
        "mjcf": "simwright.formats.mjcf:FORMAT",
        "usd": "simwright.formats.usd:FORMAT",
        "gltf": "simwright.formats.gltf:FORMAT",
    },
)

# Licence comments before the root element can be long.
_HEAD_BYTES = 1 << 16
_ROOT_TAG = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)[\s/>]")
_DOCUMENTS = (".yaml", ".yml", ".json")
_TOP_KEY = re.compile(rb"""^["']?([A-Za-z_][A-Za-z0-9_]*)["']?[ \t]*:""", re.MULTILINE)
_JSON_KEY = re.compile(rb"""["]([A-Za-z_][A-Za-z0-9_]*)["][ \t]*:""")
_NOT_A_TAG = re.compile(rb"<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)


def detect_format(path: str | os.PathLike[str], reporter: Reporter | None = None) -> Format:
    """The format of a file: by its leading bytes, by its XML root element, then by its extension."""
    # The file may be the result of a write that was interrupted.
    recover(Path(path).parent, Path(path).name)
    file = check_readable(path, max_bytes=None)
    formats = [row for _, row in FORMATS.items(reporter)]
    with file.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    tag = find_root_tag(head)
    chosen = _find_by_content(head, tag, formats) or _find_by_name(file.name.lower(), head, tag, formats)
    if chosen is None:
        raise _unknown_format(file, tag, formats)
    return chosen


def _find_by_content(head: bytes, tag: str, formats: list[Format]) -> Format | None:
    """The format of the leading bytes, else of the XML root element ``tag``."""
    for row in formats:
        if head.startswith(row.magic):
            return row
    # Before the extension: .xml is used for URDF and MJCF alike, and only the root element tells them apart.
    return next((row for row in formats if tag in row.root_tags), None) if tag else None


def _find_by_name(name: str, head: bytes, tag: str, formats: list[Format]) -> Format | None:
    """The format of an extension, or of the keys in a YAML or JSON file."""
    for row in formats:
        if name.endswith(row.extensions):
            return row
    found = _find_by_keys(name, head, formats)
    # An XML file whose root element nobody knows is in no format, whatever it is called.
    if found is None and not tag:
        found = next((row for row in formats if name.endswith(row.shared_extensions)), None)
    return found


def _find_by_keys(name: str, head: bytes, formats: list[Format]) -> Format | None:
    """The format of a YAML or JSON file, by keys at its top."""
    if not name.endswith(_DOCUMENTS):
        return None
    pattern = _JSON_KEY if name.endswith(".json") else _TOP_KEY
    keys = {match[1].decode() for match in pattern.finditer(head)}
    return next((row for row in formats if keys.intersection(row.top_keys)), None)


def find_root_tag(head: bytes) -> str:
    """Local name of the XML root element in the first bytes of a file, or an empty text."""
    # A byte order mark or blank lines may come before the XML declaration.
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text.startswith(b"<"):
        return ""
    match = _ROOT_TAG.search(_NOT_A_TAG.sub(b"", text))
    return match.group(1).decode("ascii") if match else ""


def read_asset(
    path: str | os.PathLike[str],
    *,
    format_name: str | None = None,
    options: ReadOptions | None = None,
    reporter: Reporter | None = None,
) -> Asset:
    """Read any supported file into the neutral model.

    Without ``options``, ROS packages are looked for in the environment and around the file.
    """
    reporter = Reporter() if reporter is None else reporter
    row = FORMATS.get(format_name) if format_name else detect_format(path, reporter)
    if not row.reader:
        raise UsageError(f"Simwright does not read {row.title} files", where=Where(str(path)))
    if options is None:
        options = ReadOptions(packages=find_near(path))
    asset = row.read(Path(path), options, reporter)
    asset.provenance.file = str(path)
    asset.provenance.format = row.name
    return asset


def choose_writer(
    target: str | os.PathLike[str], format_name: str | None = None, reporter: Reporter | None = None
) -> Format:
    """The format to write: the one named, that of the target's extension, OpenUSD for a folder."""
    writers = [row for _, row in FORMATS.items(reporter) if row.writer]
    name = Path(target).name.lower()
    if format_name:
        row = FORMATS.get(format_name)
    # An OpenUSD asset is a folder of layers (REP-0158); all other formats have an extension.
    elif not Path(name).suffix or Path(target).is_dir():
        row = FORMATS.get("usd")
    else:
        # All formats, not only those that can be written: the message then says that this one cannot.
        rows = [row for _, row in FORMATS.items(reporter)]
        found = next((r for r in rows if name.endswith((*r.extensions, *r.shared_extensions))), None)
        if found is None:
            message = f"cannot tell from its name in which format to write {Path(target).name!r}"
            raise UsageError(message, hint=_list_writers(writers), where=Where(str(target)))
        row = found
    if not row.writer:
        message = f"Simwright does not write {row.title} files"
        raise UsageError(message, hint=_list_writers(writers), where=Where(str(target)))
    return row


def write_asset(
    asset: Asset,
    target: str | os.PathLike[str],
    *,
    format_name: str | None = None,
    options: WriteOptions | None = None,
    reporter: Reporter | None = None,
) -> Path:
    """Write the neutral model in a format; gives the path of the file to open."""
    reporter = Reporter() if reporter is None else reporter
    row = choose_writer(target, format_name, reporter)
    options = options or WriteOptions()
    before = len(reporter.found)
    try:
        return row.write(asset, Path(target), options, reporter)
    except LimitError:
        raise
    except InputError:
        # Meshes are read when they are first looked at, which may be here.
        broken = find_broken_meshes(asset)
        if not broken:
            raise
    del reporter.found[before:]
    return row.write(leave_out(asset, broken, reporter), Path(target), options, reporter)


def _list_writers(writers: list[Format]) -> str:
    known = ", ".join(f"{row.title} (a folder, or *{row.extensions[0]})" for row in writers)
    return f"Simwright writes {known}"


def find_near(path: str | os.PathLike[str]) -> PackageMap:
    """Packages of the environment and around a file."""
    return find_packages(near=[(path if isinstance(path, Path) else Path(path)).parent])


def _unknown_format(file: Path, tag: str, formats: list[Format]) -> ParseError:
    known = ", ".join(
        f"{row.title} ({' '.join((*row.extensions, *row.shared_extensions))})" for row in formats
    )
    if tag:
        message = f"an XML file with root element <{tag}> is in no format Simwright knows"
    else:
        message = f"cannot tell the format of {file.name!r} from its name or content"
    return ParseError(message, hint=f"Simwright reads {known}", where=Where(str(file)))


MESH_BROKEN = declare(
    "mesh-broken",
    Level.WARNING,
    "{shape!r} of {body!r} is left out, because its mesh cannot be read: {reason}",
    hint="repair the file or export it again{more}",
    doc="A mesh file that a shape names is not what its name says; everything else is written.",
    loss=True,
)


def find_broken_meshes(asset: Asset) -> dict[str, InputError]:
    """Why the mesh of a shape cannot be read, by the name of the shape."""
    broken: dict[str, InputError] = {}
    for shape in asset.shapes:
        if isinstance(shape.geometry, Mesh):
            try:
                _ = shape.geometry.data
            except LimitError:
                # A budget of the whole asset: leaving one mesh out would only let the next one through.
                raise
            except InputError as error:
                broken[shape.name] = error
    return broken


def leave_out(asset: Asset, broken: dict[str, InputError], reporter: Reporter) -> Asset:
    """The asset without these shapes, each of which is reported."""
    # what names a shape goes with it: a pair or filter that is left would name nothing
    for shape in asset.shapes:
        if shape.name in broken:
            body = shape.body or asset.name
            weighs = shape.collision and shape.body and asset.body(shape.body).inertial is None
            more = "; the mass of the body follows from its shapes, and is now another" if weighs else ""
            reason = str(broken[shape.name])
            reporter.report(MESH_BROKEN, shape.source, shape=shape.name, body=body, reason=reason, more=more)
    return dataclasses.replace(
        asset,
        shapes=[shape for shape in asset.shapes if shape.name not in broken],
        contact_pairs=[pair for pair in asset.contact_pairs if not {pair.a, pair.b} & set(broken)],
        contact_filters=[f for f in asset.contact_filters if f.of == "body" or not {f.a, f.b} & set(broken)],
    )
