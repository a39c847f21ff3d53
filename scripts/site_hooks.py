# SPDX-License-Identifier: Apache-2.0
"""What MkDocs does not do itself: pages of the project's root, and links from pages to files outside of ``docs``.

Pages are written to be read in the repository too, where ``../src/simwright/app/api.py`` is a good link. In the site
such a file is shown as text, from a copy; a link to a folder becomes plain words. A link to nothing is a warning,
which ``strict: true`` makes an error.
"""

from __future__ import annotations

import logging
import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
FROM_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
LINK = re.compile(r"(?P<text>\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^()\s]+)\)")
BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
log = logging.getLogger("mkdocs.hooks.site")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root, and a copy of every file that a page links to outside of ``docs``."""
    for name in FROM_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    named: set[str] = set()
    for file in files.documentation_pages():
        text = file.content_string
        for path in _outside(text, file.src_uri):
            if (ROOT / path).is_file():
                named.add(path)
            elif not (ROOT / path).is_dir():
                log.warning("%s links to %s, which is not there", file.src_uri, path)
    for path in sorted(named - set(FROM_ROOT)):
        files.append(File.generated(config, _shown(path), content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn links to files outside of ``docs`` to their copies."""
    source = page.file.src_uri
    folder = posixpath.dirname(source)

    def turn(found: re.Match[str]) -> str:
        path = _leaves(found["target"], source)
        if path is None:
            return found[0]
        if path in FROM_ROOT:
            target = path
        elif (ROOT / path).is_file():
            target = _shown(path)
        else:
            return found["text"][1:-1]
        return f"{found['text']}({posixpath.relpath(target, folder or '.')})"

    text = LINK.sub(turn, markdown)
    # pages of rules are too many for the navigation
    if not _is_rule(source):
        return text
    return re.sub(r"^# .*", r"\g<0>\n\n[All rules](README.md)", text, count=1, flags=re.MULTILINE)


def _is_rule(source: str) -> bool:
    return posixpath.dirname(source) == "rules" and posixpath.basename(source) != "README.md"


def _outside(text: str, source: str) -> set[str]:
    """Paths from the root of the project that a page links to and that are not part of ``docs``."""
    found = (_leaves(match["target"], source) for match in LINK.finditer(BLOCK.sub("", text)))
    return {path for path in found if path is not None}


def _leaves(target: str, source: str) -> str | None:
    """Where a link goes, from the root of the project; None where it stays in ``docs`` or leaves the project."""
    if re.match(r"[a-z+]+:|#", target):
        return None
    # pages of the root are shown beside those of docs, and refer to files from the root
    start = "" if source in FROM_ROOT else posixpath.join("docs", posixpath.dirname(source))
    path = posixpath.normpath(posixpath.join(start, target.partition("#")[0]))
    if source in FROM_ROOT and (ROOT / "docs" / path).exists():
        return None
    if path.startswith("docs" + os.sep) or path == "docs":
        return None
    return path


def _shown(path: str) -> str:
    # as .txt a browser shows it, whatever it is; pictures and pages stay what they are
    return f"source/{path}" if path.endswith((".png", ".jpg", ".svg", ".html")) else f"source/{path}.txt"
