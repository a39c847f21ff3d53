# SPDX-License-Identifier: Apache-2.0
"""Where the file of an asset comes from: a path, XML in the scene itself, or a sparse checkout of a git repository.

Repositories are addressed by https, ssh or file; anything git would take for an option or a command is refused here,
before git is ever started.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from simwright.core.documents.record import Record, refuse
from simwright.scenes.document_values import Factors

_URL = re.compile(r"(https|ssh|file)://[^\s\x00-\x1f\\]+\Z")
_SCP = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:(?!:)[^\s\x00-\x1f\\]+\Z")
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+/-]{0,199}\Z")


def check_repository(repo: str) -> str:
    """An address that git can only take for an address."""
    if repo.startswith("-"):
        raise refuse("a repository may not begin with '-'")
    if "::" in repo:
        raise refuse("remote helpers ('::') are not allowed; use https, ssh or file addresses")
    if not (_URL.match(repo) or _SCP.match(repo)):
        raise refuse("has to be an https://, ssh:// or file:// address, or user@host:path")
    host = repo.split("://", 1)[-1]
    if host.startswith("-") or "@-" in host:
        raise refuse("the host of a repository may not begin with '-'")
    return repo


def check_revision(rev: str) -> str:
    """A commit, tag or branch that is safe as a word for git and as the name of a folder."""
    if rev.startswith("-"):
        raise refuse("a revision may not begin with '-'")
    if (
        not _REVISION.match(rev)
        or ".." in rev
        or "@{" in rev
        or "//" in rev
        or rev.endswith(("/", ".lock", "."))
    ):
        raise refuse("has to be a commit, tag or branch: letters, digits and _ . + / -")
    return rev


def check_inside(path: str) -> str:
    """A path within a checkout: relative, without '..'."""
    pure = PurePosixPath(path)
    if not path or "\\" in path or "\0" in path or pure.is_absolute() or ".." in pure.parts:
        raise refuse("has to be a relative path without '..'")
    if any(part.lower() == ".git" for part in pure.parts) or path.startswith("-"):
        raise refuse("may not lead into '.git' or begin with '-'")
    return path


InsidePath = Annotated[str, AfterValidator(check_inside)]


class GitSource(Record):
    """A file in a git repository at one revision."""

    repo: Annotated[str, AfterValidator(check_repository)] = Field(description="address of the repository")
    rev: Annotated[str, AfterValidator(check_revision)] = Field(description="commit (best), tag or branch")
    path: InsidePath = Field(description="the file, relative to the repository")
    sparse: list[InsidePath] = Field(
        default_factory=list, description="folders to check out; the folder of the file if none is said"
    )

    @property
    def folders(self) -> tuple[str, ...]:
        """Folders the checkout has to have."""
        own = str(PurePosixPath(self.path).parent)
        return tuple(self.sparse) or ("" if own == "." else own,)


class SourceFields(Record):
    """One of ``path``, ``text`` and ``git``; a plain string is a path, or XML where it has angle brackets."""

    path: str | None = Field(default=None, min_length=1, description="file, relative to the scene")
    text: str | None = Field(default=None, description="the XML itself")
    git: GitSource | None = Field(default=None, description="a file in a git repository")
    mesh_scale: Factors | None = Field(default=None, description="factor for the meshes of a URDF file")

    @model_validator(mode="before")
    @classmethod
    def _read_string(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return {"text": value} if "<" in value and ">" in value else {"path": value}

    @model_validator(mode="after")
    def _check_one(self) -> SourceFields:
        given = [name for name in ("path", "text", "git") if getattr(self, name) is not None]
        if len(given) != 1:
            raise refuse("has to say one of 'path', 'text' and 'git'")
        return self


class ExternalAsset(Record):
    """A file laid beside an MJCF file, under the name the MJCF file uses for it."""

    target: InsidePath = Field(description="path it is given, relative to the MJCF file")
    source: SourceFields | None = Field(default=None, description="where it comes from")
    path: str | None = Field(default=None, min_length=1, description="the same as source: {path: ...}")
    git: GitSource | None = Field(default=None, description="the same as source: {git: ...}")

    @model_validator(mode="after")
    def _check_one(self) -> ExternalAsset:
        if sum(value is not None for value in (self.source, self.path, self.git)) != 1:
            raise refuse("has to say one of 'source', 'path' and 'git'")
        return self

    @property
    def origin(self) -> SourceFields:
        """Where it comes from."""
        return self.source or SourceFields(path=self.path, git=self.git)
