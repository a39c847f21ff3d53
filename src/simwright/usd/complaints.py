# SPDX-License-Identifier: Apache-2.0
"""What OpenUSD complains about, in our words: composition errors and syntax errors with their place.

OpenUSD's messages carry addresses of memory, names of C++ templates and the name of an unnamed session layer.
Here they become one :class:`~simwright.core.diag.Diagnostic` or one
:class:`~simwright.core.errors.ParseError` with file, line and prim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import ParseError
from simwright.usd.guard import is_text
from simwright.usd.locate import Locator, TextIndex
from simwright.usd.silence import Message, read_text

COMPOSITION_ERROR = declare(
    "usd-composition-error",
    Level.ERROR,
    "{text}",
    hint="{advice}",
    doc="A sublayer, reference, payload, inherit or variant cannot be composed; the rest is used.",
)
OPENUSD_WARNING = declare(
    "usd-warning",
    Level.WARNING,
    "OpenUSD: {text}",
    doc="A warning of OpenUSD itself while it opened the stage.",
)

_REPORTED_TWICE = "_ReportErrors"
_MUTED = "ErrorMutedAssetPath"
_SESSION = re.compile(r",@anon:[^@]*@|\s*\(instantiating stage on stage .*\)$", re.DOTALL)
_SITE = re.compile(r"introduced by @([^@]+)@<([^>]*)>")
_SECOND_TIME = re.compile(r"Detected when layer @([^@]+)@")
_OF_LAYER = re.compile(r"sublayer @([^@]+)@ of layer @([^@]+)@")
_ASSET = re.compile(r"(?:asset|sublayer|path) @([^@]+)@")
_MEMBER = re.compile(r"@([^@\n]+)@(?:<([^>\n]*)>)?")
_LINED = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<text>.*)$", re.DOTALL)
_TEMPLATE = re.compile(r"parse error matching \S*pxrInternal.*?(?= at ')", re.DOTALL)
_IN_PATH = re.compile(r"\s*in <([^>]*)>\s*$")
_NAMESPACE = re.compile(r"pxrInternal_v[0-9_]+pxrReserved_+(?:pegtl)?(?:::)?")


def report_composition(stage: Any, skipped: set[str], reporter: Reporter, locator: Locator) -> None:
    """One diagnostic per composition error of the stage; ``skipped`` assets were reported already."""
    errors = stage.GetCompositionErrors()
    if not errors:
        return
    seen: set[str] = set()
    # names as the asset has them: `fix` works in a folder of its own, which nobody knows
    folder = f"@{Path(stage.GetRootLayer().realPath).parent}/"
    said = [(read_text(error.__str__), error) for error in errors]
    # OpenUSD composes on several threads and gives its errors in any order
    for full, error in sorted(said, key=lambda pair: (str(pair[1].rootSite.path), pair[0])):
        text = " ".join(_SESSION.sub("", full).split())
        if text in seen:
            continue
        seen.add(text)
        asset = _ASSET.search(text)
        if type(error).__name__ == _MUTED:  # the gate has said why
            continue
        # the walk over the layers has told of these, with a better place
        if asset and any(asset.group(1).endswith(name) for name in skipped):
            continue
        where = _place_error(error, full, locator)
        shown = _tidy(text.replace(folder, "@"))
        fault: dict[str, Any] = describe_missing(asset.group(1)) if asset and _is_missing(text) else {}
        reporter.report(
            COMPOSITION_ERROR, where, text=shown, advice=_advise(text), error=type(error).__name__, **fault
        )


def describe_missing(path: str) -> dict[str, str]:
    """Data of a finding about a file that is not there, by which a report groups what several rules say of it."""
    # messages give resolved paths, layers say relative ones: only the file name is in both
    return {"fault": "files that are not there", "missing": path.rsplit("/", 1)[-1]}


def describe_outside(layer: str, path: str) -> dict[str, str]:
    """The same of a layer that is not opened because it lies outside the asset, by the layer that names it."""
    return {"fault": "layers outside of the asset", "fault_place": layer, "missing": path}


def _is_missing(text: str) -> bool:
    return "Could not open asset" in text or "Could not load sublayer" in text


def report_messages(messages: list[Message], reporter: Reporter, file: str) -> None:
    """The warnings that are not composition errors said a second time."""
    # a dict keeps the order and drops what is said twice
    texts = {m.text: None for m in messages if not m.function.endswith(_REPORTED_TWICE)}
    for text in texts:
        reporter.report(OPENUSD_WARNING, Where(file), text=_tidy(_SESSION.sub("", text)))


def explain_failure(error: Exception, file: Path) -> ParseError:
    """The ParseError for a root layer that OpenUSD could not open, with the line it complains about."""
    texts = list_reasons(error)
    lined = [match for match in map(_LINED.match, texts) if match]
    if lined:
        found = lined[0]
        text, prim, prop = _split_place(found["text"])
        where = Where(str(file), int(found["line"]), int(found["column"]), prim, prop)
    else:
        text, prim, prop = _split_place(texts[0])
        where = _place_text(file, prim, prop)
    return ParseError(_tidy(text), hint="correct the text at this place", where=where)


def list_reasons(error: Exception) -> list[str]:
    """What OpenUSD says in an exception, without where in its own source."""
    return [read_text(partial(_say, each)).strip() for each in error.args] or [read_text(error.__str__)]


@contextmanager
def explain_errors(file: Path) -> Iterator[None]:
    """Values of a damaged layer are not read before they are asked for: what OpenUSD says then is a ParseError."""
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        raise explain_failure(error, file) from None


def _say(error: Any) -> str:
    return str(getattr(error, "commentary", error))


def _split_place(text: str) -> tuple[str, str, str]:
    """The message, and the prim and property it ends with (``in </A.size>``)."""
    match = _IN_PATH.search(text)
    if not match:
        return text, "", ""
    prim, _, prop = match.group(1).partition(".")
    return text[: match.start()], "" if prim == "/" else prim, prop


def _place_text(file: Path, prim: str, prop: str) -> Where:
    """Line of a path in a text that OpenUSD could not read."""
    try:
        data = file.read_bytes() if prim else b""
    except OSError:
        data = b""
    if not is_text(data):
        return Where(str(file), prim=prim, prop=prop)
    index = TextIndex.of(data)
    line, column = index.position(index.places.find(f"{prim}.{prop}" if prop else prim))
    return Where(str(file), line, column, prim, prop)


def _tidy(text: str) -> str:
    """Without the grammar's C++ names, and on one line."""
    # messages of OpenUSD's parser name C++ templates, with the version of the library in them
    text = _NAMESPACE.sub("", _TEMPLATE.sub("syntax error", text))
    text = " ".join(text.split()).removesuffix(" at ''")
    return text if len(text) <= 500 else text[:497] + "..."


def _advise(text: str) -> str:
    if _is_missing(text):
        return (
            "check that the file exists and is a USD layer; paths are relative to the layer that names them"
        )
    if "Cycle detected" in text:
        return "remove one of the arcs that close the circle"
    if "prim path" in text:
        return "check the prim path, or set defaultPrim in the layer that is named"
    return ""


def _place_error(error: Any, text: str, locator: Locator) -> Where:
    """The layer and prim that introduced the faulty arc, as far as the message tells."""
    from pxr import Sdf

    text = _SESSION.sub("", text)
    asset = _ASSET.search(text)
    # messages give resolved paths, layers say relative ones: only the file name is in both
    name = asset.group(1).rsplit("/", 1)[-1] if asset else ""
    sublayer = _OF_LAYER.search(text)
    site = _SITE.search(text)
    again = _SECOND_TIME.search(text)
    member = _MEMBER.search(text)
    if sublayer:
        identifier, path = sublayer.group(2), "/"
        name = sublayer.group(1).rsplit("/", 1)[-1]
    # a cycle is told by the layer that closes it, and that is where an arc can be removed
    elif again:
        identifier, path = again.group(1), "/"
        name = again.group(1).rsplit("/", 1)[-1]
    elif site:
        identifier, path = site.groups()
    elif member:
        identifier, path = member.group(1), member.group(2) or "/"
    else:
        return Where(prim=str(error.rootSite.path))
    layer = Sdf.Layer.Find(identifier)
    if not layer:
        return Where(identifier, prim=path)
    return locator.where_mention(layer, path, name)
