# SPDX-License-Identifier: Apache-2.0
"""Asset paths as authored: their form, where they lead, whether that is inside the asset (REP-0158 1.2.5).

Also attributes whose value is a scene, a robot description or a mesh: composition by other means than arcs.  Only
texts and folders are looked at; nothing is opened.
"""

from __future__ import annotations

import enum
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simwright.core.packages import read_package_name

if TYPE_CHECKING:
    from pxr import Sdf

    from simwright.checker.facts.layers import LayerFacts
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
    from simwright.checker.rule import Finding


class PathForm(enum.StrEnum):
    """How an asset path is written."""

    ANCHORED = "anchored"
    """``./mesh.usdc``, ``../x.usda``: relative to the layer."""
    SEARCHED = "searched"
    """``mesh.usdc``: looked for in search folders too."""
    ABSOLUTE = "absolute"
    PACKAGE = "package"
    """``package://name/file``"""
    SCHEME = "scheme"
    OPAQUE = "opaque"
    """Empty, an expression, or an identifier of a layer in memory."""


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+):")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PLACEHOLDER = re.compile(r"<UDIM>|%04d|<f>|#+")
# folders above that are searched for a package.xml
_MAX_UP = 24


def classify_path(text: str) -> PathForm:
    """The form of an asset path."""
    # a variable expression of OpenUSD: what it names is only known when composed
    if not text or text.startswith("`"):
        return PathForm.OPAQUE
    if text.startswith(("/", "\\\\")) or _DRIVE.match(text) or text[:5].lower() == "file:":
        return PathForm.ABSOLUTE
    # two letters or more, so that a Windows drive is not a scheme
    match = _SCHEME.match(text)
    if match:
        scheme = match.group(1).lower()
        if scheme == "anon":
            return PathForm.OPAQUE
        return PathForm.PACKAGE if scheme == "package" else PathForm.SCHEME
    return PathForm.ANCHORED if text.startswith(("./", "../", ".\\", "..\\")) else PathForm.SEARCHED


def scheme_of(text: str) -> str:
    """``omniverse`` of ``omniverse://server/x.usd``, else ""."""
    match = _SCHEME.match(text)
    return match.group(1).lower() if match else ""


@dataclass(frozen=True, slots=True, eq=False)
class Dependency:
    """A file that a layer names: ``kind`` is an arc's, ``attribute`` or ``metadata``; ``count`` its uses there."""

    facts: LayerFacts
    path: Sdf.Path
    text: str
    kind: str
    form: PathForm
    count: int

    @property
    def is_packed(self) -> bool:
        """Is the layer that names it a member of a .usdz package?"""
        return "[" in str(self.facts.layer.identifier) or str(self.facts.layer.realPath).endswith(".usdz")

    @property
    def folder(self) -> Path | None:
        """The folder of the layer, None for one in memory or in a package."""
        real = str(self.facts.layer.realPath)
        return _find_parent(real) if real and not self.is_packed else None

    @property
    def target(self) -> Path | None:
        """The file it leads to by its text alone, if that can be said."""
        return _find_target(self.text, self.form, self.folder)

    @property
    def shown(self) -> str:
        """What the path is, in words."""
        return self.kind if self.names_layer else f"{self.kind} path"

    @property
    def names_layer(self) -> bool:
        """Does OpenUSD compose what the path names?"""
        return self.kind in ("reference", "payload", "sublayer")

    def finding(self, message: str, hint: str, **data: str) -> Finding:
        """A finding that points at the text of the path; ``data`` is added to its own."""
        from simwright.checker.rule import Finding

        more = f" ({self.count} times)" if self.count > 1 else ""
        return Finding(
            f"{message}{more}",
            hint=hint,
            at=self.path,
            layer=self.facts.layer,
            words=f"@{self.text}",
            data={"path": self.text, "kind": self.kind, **data},
        )


@lru_cache(maxsize=256)
def _find_parent(file: str) -> Path:
    return Path(file).parent


# several rules look at every file that is named
@lru_cache(maxsize=4096)
def _find_target(text: str, form: PathForm, folder: Path | None) -> Path | None:
    text = text.partition("[")[0].replace("\\", "/")
    if form is PathForm.ABSOLUTE:
        text = re.sub(r"^file:(//)?", "", text, flags=re.IGNORECASE)
        return Path(os.path.normpath(text)) if text.startswith("/") else None
    if form not in (PathForm.ANCHORED, PathForm.SEARCHED) or folder is None:
        return None
    return Path(os.path.normpath(folder / text))


def find_dependencies(snapshot: StageSnapshot) -> list[Dependency]:
    """Every file the layers of the stage name, in all variants, once per layer and text."""
    return snapshot.shared("dependencies", _find_dependencies)


def _find_dependencies(snapshot: StageSnapshot) -> list[Dependency]:
    found: list[Dependency] = []
    for facts in snapshot.layers:
        named: dict[str, list[tuple[Sdf.Path, str]]] = {}
        for arc in facts.arcs:
            named.setdefault(arc.asset, []).append((arc.path, arc.kind))
        for asset in facts.asset_paths:
            named.setdefault(asset.text, []).append((asset.path, asset.kind))
        for text, uses in named.items():
            form = classify_path(text)
            if form is not PathForm.OPAQUE:
                found.append(Dependency(facts, *_swap(uses[0], text), form, len(uses)))
    return found


def _swap(use: tuple[Sdf.Path, str], text: str) -> tuple[Sdf.Path, str, str]:
    return use[0], text, use[1]


@lru_cache(maxsize=4096)
def find_package(folder: Path) -> tuple[Path, str] | None:
    """The ROS package that holds a folder: its folder and name."""
    for place in [folder, *folder.parents][:_MAX_UP]:
        name = read_package_name(place)
        if name:
            return place, name
    return None


def find_root(dependency: Dependency, snapshot: StageSnapshot) -> Path | None:
    """The folder a layer's files should stay in: its ROS package, else the asset's folder, else its own."""
    folder = dependency.folder
    if folder is None:
        return None
    package = find_package(folder)
    if package is not None:
        return package[0]
    asset = snapshot.folder
    return asset if asset is not None and is_inside(folder, asset) else folder


def is_inside(path: Path, folder: Path) -> bool:
    """Is a path the folder or below it?  Links are not followed."""
    return path == folder or folder in path.parents


def file_exists(path: Path) -> bool:
    """Is there a file, or for a tiled or numbered texture at least one?"""
    if _PLACEHOLDER.search(path.name):
        pattern = _PLACEHOLDER.sub("*", path.name)
        return path.parent.is_dir() and any(True for _ in path.parent.glob(pattern))
    return path.exists()


def suggest_relative(path: Path, folder: Path) -> str:
    """``./`` or ``../`` text that leads from a folder to a file."""
    text = Path(os.path.relpath(path, folder)).as_posix()
    return text if text.startswith("../") else f"./{text}"


_LOADABLE = re.compile(
    r"^[^\s\"'<>|]+\.(usd[acz]?|urdf|xacro|sdf|world|mjcf|obj|stl|dae|glb|gltf|fbx|ply)(\[[^\]]*\])?$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"^(model|fuel|omniverse)://\S+$", re.IGNORECASE)
# attributes that tell where the asset came from load nothing
_PROVENANCE = re.compile(r"source|origin|provenance|generat|creat", re.IGNORECASE)
_KNOWN = ("inputs:", "info:", "ros:", "outputs:")


class Prefab(NamedTuple):
    """An attribute with a loadable value."""

    facts: LayerFacts
    path: Sdf.Path
    text: str
    is_asset: bool


def find_prefabs(snapshot: StageSnapshot) -> list[Prefab]:
    """Attributes of all layers that name something to load; notes about the origin aside."""
    return snapshot.shared("prefabs", _find_prefabs)


def _find_prefabs(snapshot: StageSnapshot) -> list[Prefab]:
    found = []
    for facts in snapshot.layers:
        values = [(value.path, value.text, False) for value in facts.texts]
        values += [(value.path, value.text, True) for value in facts.asset_paths if value.kind == "attribute"]
        found += [Prefab(facts, *value) for value in values if _is_prefab(value[0].name, value[1])]
    return found


def _is_prefab(name: str, text: str) -> bool:
    if name.startswith(_KNOWN) or _PROVENANCE.search(name):
        return False
    return bool(_LOADABLE.match(text) or _ADDRESS.match(text))


def find_prefab_holders(prefab: Prefab, snapshot: StageSnapshot) -> list[PrimNode]:
    """The nodes that a prefab attribute ends up on."""
    name = prefab.path.name
    place = prefab.path.GetPrimPath()
    holders = []
    for node in snapshot.nodes:
        if node.name != place.name and not place.IsRootPrimPath():
            continue
        found = node.prim.GetProperty(name)
        if found and any(
            s.layer == prefab.facts.layer and s.path == prefab.path for s in found.GetPropertyStack()
        ):
            holders.append(node)
    return holders
