# SPDX-License-Identifier: Apache-2.0
"""A private copy of an asset to work on: its own files below one folder, outside files named from there.

Fixes change layers in memory; :meth:`Workspace.accept` writes what changed to the copy and :meth:`Workspace.undo` reads
it back from there, so an asset is always in a state that was accepted.  The source is only read.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, UsdUtils

from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError
from simwright.core.gate import Gate, find_root
from simwright.core.packages import PackageMap
from simwright.core.scratch import Scratch, guard_scratch
from simwright.core.swap import compute_digest, recover
from simwright.usd.archive import unpack_archive
from simwright.usd.collect import AssetFiles, Outside, collect_files
from simwright.usd.complaints import explain_errors
from simwright.usd.guard import check_file, is_text
from simwright.usd.layers import encode_layer, export_layer
from simwright.usd.open import open_stage
from simwright.usd.remarks import carry_remarks
from simwright.usd.settled import vouch
from simwright.usd.silence import capture

_LAYERS = (".usda", ".usdc", ".usd")
_MANIFEST = "package.xml"
_MAX_LEVELS = 8


class Workspace:
    """The copy.  ``entry`` is its root layer, ``edited`` the places of layers that fixes changed."""

    def __init__(self, source: Path, packages: PackageMap, *, name: str = "") -> None:
        self.source = source.absolute()
        # the copy names files of the source's folder by their path there
        root = find_root(self.source)
        self.packages = dataclasses.replace(packages, allowed=(*packages.allowed, root))
        self.edited: set[str] = set()
        self.added: set[str] = set()
        self.dropped: set[str] = set()
        """Places of files that nothing names any more."""
        self.lost_remarks: dict[str, int] = {}
        """By place, how many comments of a text layer have no place in what was written."""
        self.keeps_inner = False
        """Do addresses that named the asset's own files from outside stay relative?"""
        self.complaints = Reporter()
        self.original: Any = None
        """The stage of the source, as long as nobody has changed how it is looked at."""
        self.digests: dict[str, str | None] = {}
        """Of the source's layers by place, or of the package, as they were read."""
        self._stage: Any = None
        self._scratch = Scratch()
        self._base = self._scratch.path
        try:
            # an earlier run may have been stopped between two files
            recover(self.source.parent, self.source.name)
            with guard_scratch():
                self.origin = self._unpack() if source.suffix.lower() == ".usdz" else self.source
                self.folder = self._make_folder(name)
                self.collection, self._addresses = self._copy()
        # also on Ctrl-C: the copy lies in a temporary folder that nobody else removes
        except BaseException:
            self.close()
            raise
        self.entry = self.folder / self.collection.entry

    @property
    def gate(self) -> Gate:
        """What files that the asset names have to pass."""
        return Gate([self._base], self.packages)

    def close(self) -> None:
        """Remove the copy."""
        self._stage = self.original = None
        self._scratch.close()

    @property
    def places(self) -> list[str]:
        """Places of all files, the entry first."""
        return [
            place for place in (*self.collection.places, *sorted(self.added)) if place not in self.dropped
        ]

    @property
    def changed_places(self) -> set[str]:
        """Places of layers that are not what they were."""
        inner = set(self.inner) if self.keeps_inner else set()
        return (self.edited | self.added | inner) - self.dropped

    def is_taken(self, file: Path) -> bool:
        """Is there a file of that name, in the copy or where the source is, on any file system?"""
        # some file systems do not tell A.usda from a.usda
        wanted = file.name.lower()
        folders = (file.parent, Path(self.name_original(str(file))).parent)
        return any(
            folder.is_dir() and any(item.name.lower() == wanted for item in folder.iterdir())
            for folder in folders
        )

    @property
    def inner(self) -> dict[str, dict[str, str]]:
        """By place, addresses of the asset's own files that were absolute or of a package: now, and before."""
        found: dict[str, dict[str, str]] = {}
        for place, back in self._addresses.items():
            for text, (original, outside) in back.items():
                if outside is None:
                    found.setdefault(place, {})[text] = original
        return found

    def is_readdressed(self, place: str) -> bool:
        """Does the copy name files in another way than the source?"""
        return bool(self._find_addresses(place))

    @property
    def layer_places(self) -> list[str]:
        """Places of the asset's own layers, the entry first."""
        return [place for place in self.places if place.lower().endswith(_LAYERS)]

    def open(self) -> Any:
        """The stage of the copy, kept until it is released; ``complaints`` are what opening it had to tell."""
        if self._stage is None:
            self.complaints = Reporter()
            self._stage = open_stage(self.entry, packages=self.packages, reporter=self.complaints)
        return self._stage

    def release(self) -> None:
        """Open the stage anew when it is next asked for."""
        self.save()
        self._stage = None

    def list_own(self) -> list[str]:
        """Identifiers of the layers that may be changed, new ones included."""
        new = sorted(place for place in self._find_new_files() if place.lower().endswith(_LAYERS))
        return [str(self.folder / place) for place in (*self.layer_places, *new)]

    def find_open_layers(self) -> dict[str, Any]:
        """The asset's own layers that are open, by place."""
        found = {place: Sdf.Layer.Find(str(self.folder / place)) for place in self.layer_places}
        return {place: layer for place, layer in found.items() if layer}

    def is_changed(self) -> bool:
        """Is there something to accept or to undo?"""
        return any(layer.dirty for layer in self.find_open_layers().values())

    def accept(self, *, save: bool = True) -> bool:
        """Keep what was changed; without ``save``, binary layers only in memory, since nobody reads their lines.

        True if there are new files, and the stage was opened anew.
        """
        new = self._find_new_files()
        self.added |= new
        for place, layer in self.find_open_layers().items():
            if layer.dirty:
                self.edited.add(place)
                # findings of the next check name lines of text layers, so those have to be on disk
                if save or new or layer.GetFileFormat().formatId == "usda":
                    _save(layer)
        # new layers change what the stage is made of: it is composed again, and what nothing names any more
        # goes
        if new:
            self.release()
            named = {*self._find_named()}
            self.dropped = {place for place in (*self.collection.places, *self.added) if place not in named}
        return bool(new)

    def save(self) -> None:
        """Write what was accepted and is in memory only."""
        for layer in self.find_open_layers().values():
            if layer.dirty:
                _save(layer)

    def undo(self) -> None:
        """Drop what was changed since it was last accepted."""
        for layer in self.find_open_layers().values():
            if layer.dirty:
                with capture():
                    # OpenUSD does not reload a layer whose file has not changed, unless it is forced
                    layer.Reload(force=True)
        for place in self._find_new_files():
            (self.folder / place).unlink()

    def _find_new_files(self) -> set[str]:
        """Places of files that nobody has accepted yet."""
        files = {
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()
        }
        return files - set(self.places) - self.dropped

    def _find_named(self) -> list[str]:
        """Places of all files that the asset names now."""
        stage = self.open()
        with capture(), Ar.ResolverContextBinder(stage.GetPathResolverContext()):
            return collect_files(
                stage.GetRootLayer(), self.gate, outside=Outside.KEEP, target=self.folder
            ).places

    def read_state(self) -> str:
        """A text that is the same when the asset is."""
        import hashlib

        self.save()
        # all layers, since fixes move opinions between them
        digest = hashlib.sha256()
        for place in self.layer_places:
            digest.update((self.folder / place).read_bytes())
        return digest.hexdigest()

    def name_original(self, file: str) -> str:
        """The file of the source that a file of the copy stands for."""
        path = Path(file)
        if self.folder not in path.parents:
            return file
        return str(self.origin.parent / path.relative_to(self.folder))

    def name_place(self, file: str) -> str:
        """The place of a file of the copy in the asset's folder."""
        path = Path(file)
        return path.relative_to(self.folder).as_posix() if self.folder in path.parents else file

    def write_result(self, place: str, file: Path, target: Path) -> None:
        """Write a layer as it is delivered to a new folder."""
        if self.is_readdressed(place) or not place.lower().endswith(_LAYERS):
            file.write_bytes(self.encode_result(place, restore=False, target=target))
            return
        layer = Sdf.Layer.FindOrOpen(str(self.folder / place))
        suffix = self._find_encoding(place)
        # Export chooses the encoding by the file name, and a .usd that is text has to stay text
        if suffix == ".usda":
            file.write_bytes(self._carry_remarks(place, encode_layer(layer, suffix)))
        else:
            export_layer(layer, file)

    def encode_result(
        self, place: str, *, restore: bool, target: Path | None = None, suffix: str = ""
    ) -> bytes:
        """A layer as it is delivered: outside addresses as they were, or counted from ``target``.

        ``suffix`` gives it another encoding.
        """
        if not place.lower().endswith(_LAYERS):
            return (self.folder / place).read_bytes()
        layer = Sdf.Layer.FindOrOpen(str(self.folder / place))
        copy = Sdf.Layer.CreateAnonymous(Path(place).name)
        copy.TransferContent(layer)
        self.restore_addresses(copy, place, None if restore else target)
        encoding = suffix or self._find_encoding(place)
        data = encode_layer(copy, encoding)
        return self._carry_remarks(place, data) if encoding == ".usda" else data

    def _carry_remarks(self, place: str, data: bytes) -> bytes:
        """A layer that is written again, with the comments of its file as far as they have a place in it."""
        file = self.origin.parent / place
        old = file.read_bytes() if place not in self.added and file.is_file() else b""
        if not is_text(old):
            return data
        merged, lost = carry_remarks(old, data)
        if lost:
            self.lost_remarks[place] = lost
        return merged

    def restore_addresses(self, layer: Any, place: str, target: Path | None = None) -> None:
        """Name outside files in a layer as the source does, or as seen from ``target``."""
        back = self._find_addresses(place)

        def move(text: str) -> str:
            if text not in back:
                return text
            original, outside = back[text]
            if outside is None:
                return text if self.keeps_inner else original
            if target is None:
                return original
            return Path(os.path.relpath(outside, (target / place).parent)).as_posix()

        if back:
            UsdUtils.ModifyAssetPaths(layer, move)

    def _find_addresses(self, place: str) -> dict[str, tuple[str, Path | None]]:
        """Addresses in a layer and what they were; a new layer got its own from layers beside it."""
        if place not in self.added:
            return self._addresses.get(place, {})
        # opinions that moved to a new layer kept the addresses of the layer they came from
        beside = (known for known in self._addresses if Path(known).parent == Path(place).parent)
        return {text: back for known in beside for text, back in self._addresses[known].items()}

    def _find_encoding(self, place: str) -> str:
        """The suffix that stands for what a layer is: ``.usd`` may be text."""
        suffix = Path(place).suffix.lower()
        if suffix != ".usd":
            return suffix
        with (self.folder / place).open("rb") as stream:
            return ".usda" if is_text(stream.read(8)) else ".usdc"

    # making the copy

    def _unpack(self) -> Path:
        check_file(self.source)
        self.digests[self.source.name] = compute_digest(self.source)
        return unpack_archive(self.source, self._base / "unpacked" / self.source.stem)

    def _make_folder(self, name: str) -> Path:
        """A folder of the same name, in a package of the same name if the asset is in one."""
        own = self.origin.parent
        # rules on package:// ask for the package.xml above the asset, so the copy needs one as well
        for level, folder in enumerate(own.parents):
            if level > _MAX_LEVELS:
                break
            if (folder / _MANIFEST).is_file():
                package = self._base / (folder.name or "package")
                place = package / own.relative_to(folder)
                place.mkdir(parents=True)
                shutil.copyfile(folder / _MANIFEST, package / _MANIFEST)
                return place
        place = self._base / (name or own.name or "asset")
        place.mkdir()
        return place

    def _copy(self) -> tuple[AssetFiles, dict[str, dict[str, tuple[str, Path | None]]]]:
        stage = self.original = open_stage(self.origin, packages=self.packages)
        with explain_errors(self.source), capture(), Ar.ResolverContextBinder(stage.GetPathResolverContext()):
            root = stage.GetRootLayer()
            collection = collect_files(root, self.gate, outside=Outside.KEEP, target=self.folder)
            for place, file in collection.files.items():
                self._copy_file(file, place)
            for place, layer in collection.layers.items():
                target = self.folder / place
                target.parent.mkdir(parents=True, exist_ok=True)
                export_layer(layer, target)
        # of a package only the file as a whole can be edited by somebody meanwhile
        if self.origin == self.source:
            layers = [place for place in collection.places if place.lower().endswith(_LAYERS)]
            self.digests = {place: compute_digest(self.origin.parent / place) for place in layers}
        addresses: dict[str, dict[str, tuple[str, Path | None]]] = {}
        for moved in collection.moved:
            addresses.setdefault(moved.place, {})[moved.text] = (moved.original, moved.outside)
        return collection, addresses

    def _copy_file(self, file: Path, place: str) -> None:
        target = self.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        # layers are edited in the copy, so they must not share bytes with the source; all else is never
        # written
        if file.suffix.lower() in _LAYERS or not _link(file.resolve(), target):
            shutil.copyfile(file, target)
            vouch(str(target), str(file))


def _save(layer: Any) -> None:
    with capture():
        if not layer.Save():
            raise OutputError("cannot be written", where=Where(layer.realPath))


def _link(file: Path, target: Path) -> bool:
    """Let two names stand for one file, which nobody is going to change; False on other file systems."""
    try:
        target.hardlink_to(file)
    except OSError:
        return False
    return True
