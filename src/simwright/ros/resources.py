# SPDX-License-Identifier: Apache-2.0
"""What peers name: files and texts, which pass the gate, variants of the file that is run, names of what they spawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

from simwright.core.diag import Level, Reporter
from simwright.core.errors import NotFoundError, SimwrightError, UnknownNameError, UsageError
from simwright.core.gate import Gate
from simwright.core.names import NameScope
from simwright.core.packages import PackageMap
from simwright.core.scratch import Scratch
from simwright.engines.protocol import Closeable
from simwright.formats.table import FORMATS
from simwright.model.asset import Asset
from simwright.ros.entities import FileReader, VariantSet
from simwright.ros.graph import RosGraph
from simwright.ros.simulator_answers import SPAWN_CODES, AnsweredError
from simwright.ros.transports.transport import Message, ParameterValue, Transport

_BEGINNINGS = {"<robot": ".urdf", "<sdf": ".sdf", "<mujoco": ".xml", "#usda": ".usda"}
_LONGEST_TEXT = 50_000_000
_MOST_FILES = 1000
_ENDINGS = (".urdf", ".xacro", ".sdf", ".world", ".xml", ".usd", ".usda", ".usdc", ".usdz")
_DOCUMENTS = (".yaml", ".yml", ".json")
_ABSENT = (
    "mesh-missing",
    "mjcf-file-missing",
    "sdf-mesh-failed",
    "sdf-include-failed",
    "mesh-broken",
    "file-outside",
)
"""Findings that say that a file an asset needs is not there."""


class ResourceError(SimwrightError):
    """A resource of a request cannot be used; ``reason`` is the word that the standard has for it."""

    code = "ros-resource"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Resources(Closeable):
    """Reads what peers name: files in the folders of the asset that is run, in packages, and where users allow it."""

    def __init__(self, file: str, reader: FileReader, packages: PackageMap | None = None) -> None:
        self._packages = PackageMap() if packages is None else packages
        at_hand = Path(file) if file and Path(file).exists() else Path.cwd() / "none"
        self._gate = Gate.around(at_hand, self._packages)
        self._reader = reader
        self._scratch: list[Scratch] = []

    @property
    def formats(self) -> list[str]:
        """Names of the formats that can be read."""
        return [name for name, row in FORMATS.items() if row.reader and name != "world"]

    def open(self, resource: Message, reporter: Reporter, *, worlds: bool = False) -> Asset:
        """The asset of a URI or a text; with ``worlds``, of scenes and 2D worlds too."""
        uri, text = str(resource["uri"]), str(resource["resource_string"])
        if not uri and not text:
            raise ResourceError("NO_RESOURCE", "there is neither a URI nor a text")
        path = self.find(uri) if uri else self._write(text)
        if not worlds and self._reader.is_world(path):
            raise ResourceError(
                "UNSUPPORTED_FORMAT", "a scene or a 2D world cannot be spawned: load it by /load_world"
            )
        asset = self._read(path, reporter)
        broken = next((found for found in reporter if found.level is Level.ERROR), None)
        if broken is not None and broken.kind not in _ABSENT:
            raise ResourceError("RESOURCE_PARSE_ERROR", broken.message)
        return asset

    def _read(self, path: Path, reporter: Reporter) -> Asset:
        try:
            return self._reader.read(path, reporter, {})
        except (UnknownNameError, UsageError) as error:
            raise ResourceError("UNSUPPORTED_FORMAT", error.message) from None
        except NotFoundError as error:
            raise ResourceError("MISSING_ASSETS", error.message) from None
        except SimwrightError as error:
            raise ResourceError("RESOURCE_PARSE_ERROR", error.message) from None

    def read(self, uri: str, reporter: Reporter, variants: Mapping[str, str]) -> Asset:
        """The asset of a URI at variants."""
        return self._reader.read(self.find(uri), reporter, variants)

    def list_variants(self, uri: str, chosen: Mapping[str, str]) -> dict[str, VariantSet]:
        """Variant sets of the file of a URI; none of a file that is away."""
        try:
            return self._reader.list_variants(self.find(uri), chosen)
        except SimwrightError:
            return {}

    def check_files(self, reporter: Reporter) -> None:
        """Raise an error for files that an asset needs and that are not there."""
        absent = next((found for found in reporter if found.kind in _ABSENT), None)
        if absent is not None:
            raise ResourceError("MISSING_ASSETS", absent.message)

    def find(self, uri: str) -> Path:
        """The file of a URI: ``file://``, ``package://``, or a path."""
        if uri.startswith("package://"):
            return self._gate.admit(self._packages.resolve(uri), said=uri)
        path = uri
        if "://" in uri or uri.startswith("file:"):
            parts = urlsplit(uri)
            if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
                raise ResourceError(
                    "UNSUPPORTED_FORMAT", f"{uri[:200]!r} is not a file:// or package:// address"
                )
            path = unquote(parts.path)
        found = self._gate.admit(path, said=uri)
        if not found.exists():
            raise NotFoundError(f"there is no file {uri[:200]!r}")
        return found

    def _write(self, text: str) -> Path:
        if len(text) > _LONGEST_TEXT:
            raise ResourceError("RESOURCE_PARSE_ERROR", f"a text of {len(text):,} characters is too long")
        ending = next((ending for word, ending in _BEGINNINGS.items() if word in text[:4000]), "")
        if not ending:
            raise ResourceError("UNSUPPORTED_FORMAT", "the text is not a URDF, SDFormat, MJCF or OpenUSD")
        scratch = Scratch()
        self._scratch.append(scratch)
        path = scratch.path / f"text{ending}"
        path.write_text(text, encoding="utf-8")
        return path

    def list_files(self, sources: Sequence[str], *, worlds: bool = False) -> tuple[list[Path], list[str]]:
        """Files that may be spawned, of the folder of the asset and of sources; and sources that are none.

        With ``worlds``, files that may be loaded: scenes and 2D worlds too.
        """
        folders, unknown = list(self._gate.roots), []
        for source in sources:
            try:
                folders.append(self.find(source))
            except SimwrightError as error:
                unknown.append(f"{source[:100]}: {error.message}")
        found: dict[Path, None] = {}
        for folder in folders:
            # the first that are found: a folder may be a whole disk
            for path in islice(folder.rglob("*") if folder.is_dir() else [folder], 10 * _MOST_FILES):
                if self._is_listed(path, worlds=worlds):
                    found[path] = None
        return sorted(found)[:_MOST_FILES], unknown

    def _is_listed(self, path: Path, *, worlds: bool) -> bool:
        ending = path.suffix.lower()
        if ending not in (*_ENDINGS, *_DOCUMENTS) or not path.is_file() or not self._gate.admits(path):
            return False
        # documents may be anything: only their keys tell
        return ending in _ENDINGS or (worlds and self._reader.is_world(path))

    def close(self) -> None:
        """Remove texts that were spawned."""
        for scratch in self._scratch:
            scratch.close()
        self._scratch.clear()


_PREFIX = "variant."


def _leave(asset: Asset) -> Asset:
    return asset


class WorldVariants(Closeable):
    """Variant sets of one file; ``select`` is called for a choice of a peer, and gives why not, "" if it is done."""

    def __init__(
        self, resources: Resources, transports: Sequence[Transport], select: Callable[[str, str], str]
    ) -> None:
        self._resources, self._transports, self._select = resources, transports, select
        self._uri = ""
        self._prepare: Callable[[Asset], Asset] = _leave
        self._chosen: dict[str, str] = {}
        self.sets: dict[str, VariantSet] = {}
        self._parameters: list[Closeable] = []
        self._is_told = True

    def open(self, uri: str, prepare: Callable[[Asset], Asset] = _leave) -> None:
        """Another file is run ("" for none); ``prepare`` is what is done to its asset before."""
        self._uri, self._prepare, self._chosen = uri, prepare, {}
        self.sets = self._resources.list_variants(uri, {}) if uri else {}
        self._is_told = False

    def offer(self) -> None:
        """Let peers see the sets there are; not while a peer sets one of them."""
        if self._is_told:
            return
        self._is_told = True
        self.close()
        values: dict[str, ParameterValue] = {
            f"{_PREFIX}{name}": one.selected for name, one in self.sets.items()
        }
        self._parameters = [t.offer_parameters(values, self._change) for t in self._transports if values]

    def _change(self, name: str, value: ParameterValue) -> str:
        return self._select(name.removeprefix(_PREFIX), str(value))

    def is_selected(self, name: str, choice: str) -> bool:
        """Whether it is run at that variant already."""
        return name in self.sets and self.sets[name].selected == choice

    def read(self, name: str, choice: str, reporter: Reporter) -> Asset:
        """The asset at another variant."""
        if name not in self.sets:
            raise UnknownNameError("variant set", name, self.sets)
        if choice not in self.sets[name].names:
            raise UnknownNameError(f"variant of {name!r}", choice, self.sets[name].names)
        return self._prepare(self._resources.read(self._uri, reporter, {**self._chosen, name: choice}))

    def choose(self, name: str, choice: str) -> None:
        """It is run at that variant now: other sets may be there, or be gone."""
        self._chosen[name] = choice
        self.sets = self._resources.list_variants(self._uri, self._chosen)
        self._is_told = False

    def close(self) -> None:
        """Take the parameters back."""
        for parameter in self._parameters:
            parameter.close()
        self._parameters = []


_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}")
_NAMESPACE = re.compile(r"/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*/?")
_SERVED = ("publisher", "server")


def check_namespace(namespace: str) -> None:
    """Raise an error for what is not a namespace of ROS."""
    if namespace and not _NAMESPACE.fullmatch(namespace):
        raise AnsweredError(
            SPAWN_CODES["NAMESPACE_INVALID"], f"{namespace[:200]!r} is not a namespace of ROS"
        )


def choose_name(wanted: str, taken: Iterable[str], *, may_rename: bool) -> str:
    """The name of an entity; one that is taken or that is none is another one, or an error."""
    taken = set(taken)
    if not _NAME.fullmatch(wanted):
        if not may_rename:
            raise AnsweredError(
                SPAWN_CODES["NAME_INVALID"], f"{wanted[:200]!r} is not a name: letters, digits, _ . / -"
            )
        wanted = re.sub(r"[^A-Za-z0-9_.-]", "_", wanted)[:100] or "entity"
    if wanted in taken and not may_rename:
        raise AnsweredError(SPAWN_CODES["NAME_NOT_UNIQUE"], f"there is an entity {wanted!r} already")
    return NameScope(taken).claim(wanted)


def check_clashes(graph: RosGraph, others: Iterable[RosGraph]) -> None:
    """Two robots must not answer to one name."""
    taken = {(e.kind, e.name) for other in others for e in other.endpoints if e.role in _SERVED}
    for endpoint in graph.endpoints:
        if (endpoint.kind, endpoint.name) in taken and endpoint.role in _SERVED:
            raise AnsweredError(
                SPAWN_CODES["NAMESPACE_INVALID"],
                f"{endpoint.kind.value} {endpoint.name!r} is served already: give it a namespace of its own",
            )
