# SPDX-License-Identifier: Apache-2.0
"""The page of an asset in the browser (viser): see it, move its joints, ask what is there.

It is served on this machine only, and only to those who have its address: the address carries a token, which the
browser then keeps as a cookie.  Nothing is served but viser's own page; what is drawn goes over its connection.
"""

from __future__ import annotations

import http
import http.client
import importlib
import importlib.util
import io
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from simwright.core.diag import Diagnostic
from simwright.core.errors import MissingExtraError, UsageError
from simwright.core.math3d import Array, Pose
from simwright.core.visible import make_visible
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Motion
from simwright.model.mass import body_inertials
from simwright.view.configuration import Configuration, MovableDof
from simwright.view.drawing import UPRIGHT, AssetDrawing, BodyDrawing

LAYERS = {
    "Visuals": True, "Colliders": False, "Inertia": False, "Link frames": False, "Joint axes": False,
    "Sites": False, "Cameras": False, "Names": False,
}  # fmt: skip
"""What can be shown, and whether it is at first."""
_PICKED = (255, 170, 30)
_AXIS = {Motion.HINGE: (225, 70, 60), Motion.SLIDE: (60, 120, 225)}
_WEIGHT = (235, 160, 40)
_MARKS = re.compile(r"[\\`*_{}\[\]<>()#|!&$~]")
_OPEN = 1e-3
"""A gap of a loop that is told [m or rad]."""
_KEEP_SECRET = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


def import_viser() -> Any:
    """The library of the page, or the line that installs it."""
    if importlib.util.find_spec("viser") is None:
        raise MissingExtraError("viser", "view", "looking at assets in a browser")
    return importlib.import_module("viser")


class TokenGate:
    """Lets only those in who have the token: in the address first, in a cookie after that.

    Requests that name another host are refused too: a page elsewhere could else reach this one under a name of its own.
    """

    def __init__(self, hosts: Sequence[str]) -> None:
        self.token = secrets.token_urlsafe(24)
        self._hosts = set(hosts)

    def wrap(self, serve: Callable[..., Any]) -> Callable[..., Any]:
        """``websockets``' function that starts a server, with every request asked for the token first."""

        def serve_guarded(*given: Any, process_request: Callable[..., Any] | None = None, **more: Any) -> Any:
            def ask(connection: Any, request: Any) -> Any:
                port = connection.local_address[1]
                if not self._admits(request, port):
                    return _respond(http.HTTPStatus.FORBIDDEN, "open the whole address that was printed\n")
                response = None if process_request is None else process_request(connection, request)
                if response is not None:
                    response.headers["Set-Cookie"] = (
                        f"{_name_cookie(port)}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                    )
                    for name, value in _KEEP_SECRET.items():
                        response.headers[name] = value
                return response

            return serve(*given, process_request=ask, **more)

        return serve_guarded

    def _admits(self, request: Any, port: int) -> bool:
        host = urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""
        origin = request.headers.get("Origin")
        if host not in self._hosts or (origin and (urlsplit(origin).hostname or "") not in self._hosts):
            return False
        given = parse_qs(urlsplit(request.path).query).get("token", [""])[0]
        return any(
            secrets.compare_digest(self.token, each) for each in (given, *_read_cookies(request, port))
        )


def _name_cookie(port: int) -> str:
    # browsers give cookies to every port of a host: each page has one of its own
    return f"simwright-{port}"


def _read_cookies(request: Any, port: int) -> Iterator[str]:
    for line in request.headers.get_all("Cookie"):
        for part in line.split(";"):
            name, _, value = part.strip().partition("=")
            if name == _name_cookie(port):
                yield value


def _respond(status: http.HTTPStatus, text: str) -> Any:
    answers = importlib.import_module("websockets.http11")
    headers = importlib.import_module("websockets.datastructures").Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(text)), **_KEEP_SECRET}
    )
    return answers.Response(status.value, status.phrase, headers, text.encode())


@contextmanager
def _guarded(gate: TokenGate) -> Iterator[None]:
    """While viser starts its server, let the gate stand before it: viser has no setting for that."""
    servers: Any = importlib.import_module("websockets.asyncio.server")
    serve = servers.serve
    servers.serve = gate.wrap(serve)
    try:
        yield
    finally:
        servers.serve = serve


class ViewPage:
    """The page of one asset; ``address`` is what to open."""

    def __init__(
        self,
        configuration: Configuration,
        drawing: AssetDrawing,
        findings: Sequence[Diagnostic] = (),
        *,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        viser = import_viser()
        self._configuration, self._drawing, self._findings = configuration, drawing, findings
        self._inertials = body_inertials(configuration.asset)
        self._lock = threading.RLock()
        self._picked = ""
        gate = TokenGate([host, "127.0.0.1", "localhost"])
        # viser prints the address without the token, which would lead nowhere
        with _guarded(gate), redirect_stdout(io.StringIO()):
            self.server = viser.ViserServer(
                host=host, port=port, label=make_visible(configuration.asset.name), verbose=False
            )
        self.port = self.server.get_port()
        self.address = f"http://{host}:{self.port}/?token={gate.token}"
        self._check_gate(host)
        self._frames: dict[str, Any] = {}
        self._layers: dict[str, list[Any]] = {name: [] for name in LAYERS}
        self._sliders: dict[str, Any] = {}
        self._links: Any = None
        self._facts: Any = None
        self._marks: list[Any] = []
        self._dress()
        self._draw_bodies()
        self._add_controls()
        self.place()

    def _check_gate(self, host: str) -> None:
        """A page that answers without the token is not left standing."""
        asked = http.client.HTTPConnection(host, self.port, timeout=10)
        try:
            asked.request("GET", "/")
            status = asked.getresponse().status
        finally:
            asked.close()
        if status != http.HTTPStatus.FORBIDDEN:
            self.close()
            raise UsageError(
                "this version of viser serves the page to everybody on this machine, so it was stopped",
                hint="pip install 'viser>=1.1,<1.2'",
            )

    def close(self) -> None:
        """Stop serving."""
        with redirect_stdout(io.StringIO()):  # viser says so by itself
            self.server.stop()

    def _dress(self) -> None:
        server, lower, upper = self.server, self._drawing.lower, self._drawing.upper
        # viser's own button would publish the page on the internet
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        server.scene.set_up_direction("+z")
        cell = 10.0 ** np.floor(np.log10(self._drawing.size)) / 2
        server.scene.add_grid(
            "/grid", width=40 * cell, height=40 * cell, cell_size=cell, section_size=cell * 10, plane="xy",
            position=(0.0, 0.0, min(0.0, float(lower[2]))),
        )  # fmt: skip
        # from the front left and above, with all of it in the picture
        middle = (lower + upper) / 2
        away = middle + np.array((0.95, 1.1, 0.55)) * float(np.linalg.norm(upper - lower))
        server.initial_camera.position = tuple(map(float, away))
        server.initial_camera.look_at = tuple(map(float, middle))

    def _draw_bodies(self) -> None:
        for body in self._drawing.bodies.values():
            self._draw_body(body, f"/bodies/{_segment(body.name or 'world')}")

    def _draw_body(self, body: BodyDrawing, path: str) -> None:
        # one function: a few lines for each layer, in the order of the list of layers
        scene, layers, size = self.server.scene, self._layers, self._drawing.size
        frame = scene.add_frame(path, show_axes=False)
        self._frames[body.name] = frame
        for layer, content in (("Visuals", body.looks), ("Colliders", body.colliders)):
            if content:
                mesh = scene.add_glb(f"{path}/{layer.lower()}", content, wxyz=UPRIGHT, visible=LAYERS[layer])
                layers[layer].append(mesh)
                mesh.on_click(lambda _, name=body.name: self.pick(name))
        if body.box is not None:
            pose = body.box.pose
            layers["Inertia"].append(
                scene.add_box(
                    f"{path}/inertia", color=_WEIGHT, dimensions=tuple(map(float, np.maximum(body.box.size, 1e-4))),
                    opacity=0.5, position=tuple(pose.p), wxyz=tuple(pose.q), visible=False,
                )
            )  # fmt: skip
        reach = 0.08 * size
        if body.name:
            layers["Link frames"].append(
                scene.add_frame(f"{path}/axes", axes_length=reach, axes_radius=reach / 25, visible=False)
            )
            layers["Names"].append(scene.add_label(f"{path}/name", make_visible(body.name), visible=False))
        for number, axis in enumerate(body.axes):
            ends = np.stack((axis.start - reach * axis.along, axis.start + reach * axis.along))
            layers["Joint axes"].append(
                scene.add_arrows(
                    f"{path}/joint{number}", points=ends[None].astype(np.float32), colors=_AXIS[axis.motion],
                    shaft_radius=reach / 25, head_radius=reach / 10, head_length=reach / 4, visible=False,
                )
            )  # fmt: skip
        for site in body.sites:
            layers["Sites"].append(
                scene.add_frame(
                    f"{path}/site {_segment(site.name)}", axes_length=reach / 2, axes_radius=reach / 50,
                    position=tuple(site.pose.p), wxyz=tuple(site.pose.q), visible=False,
                )
            )  # fmt: skip
        for camera in body.cameras:
            width, height = camera.resolution if all(camera.resolution) else (4, 3)
            # viser's cameras look along +Z with +Y down, ours along -Z with +Y up
            pose = camera.pose @ Pose.of(q=(0.0, 1.0, 0.0, 0.0))
            layers["Cameras"].append(
                scene.add_camera_frustum(
                    f"{path}/camera {_segment(camera.name)}", fov=camera.fov_y, aspect=width / height, scale=reach,
                    position=tuple(pose.p), wxyz=tuple(pose.q), visible=False,
                )
            )  # fmt: skip

    def _add_controls(self) -> None:
        gui, asset = self.server.gui, self._configuration.asset
        dofs = self._configuration.dofs
        gui.add_markdown(
            f"**{_plain(asset.name)}**  \n{len(asset.bodies)} links, {len(asset.joints)} joints, "
            f"{len(dofs)} of them to move, {sum(each.mass for each in self._inertials.values()):.4g} kg"
        )
        with gui.add_folder("Show", expand_by_default=True):
            for name, shown in LAYERS.items():
                if self._layers[name]:
                    box = gui.add_checkbox(name, shown)
                    box.on_update(lambda event, name=name: self._show(name, event.target.value))
        if dofs:
            with gui.add_folder("Joints", expand_by_default=len(dofs) <= 40):
                self._add_sliders(dofs)
                self._gap = self.server.gui.add_markdown("")
        with gui.add_folder("Selected"):
            names = [make_visible(body.name) for body in asset.bodies]
            self._names = dict(zip(names, (body.name for body in asset.bodies), strict=True))
            if names:
                self._links = gui.add_dropdown("Link", ("", *names), initial_value="")
                self._links.on_update(lambda event: self.pick(self._names.get(event.target.value, "")))
            self._facts = gui.add_markdown("Click a link, or choose one here.")
        with gui.add_folder("Tree", expand_by_default=False):
            self._tree = gui.add_markdown(self._describe_tree())
        if self._findings:
            with gui.add_folder(f"Findings ({len(self._findings)})", expand_by_default=False):
                gui.add_markdown("\n\n".join(map(_describe_finding, self._findings[:200])))
        self._add_buttons()

    def _add_sliders(self, dofs: Mapping[str, MovableDof]) -> None:
        gui = self.server.gui
        for name, dof in dofs.items():
            lower, upper = dof.range
            value = float(np.clip(self._configuration.get(name), lower, upper))
            unit = "rad" if dof.dof.motion is Motion.HINGE else "m"
            step = max((upper - lower) / 1000, 1e-6)
            slider = gui.add_slider(
                f"{make_visible(name)} [{unit}]", lower, max(upper, lower + step), step, value,
                hint="follows another joint" if name in self._configuration.followers else None,
            )  # fmt: skip
            slider.on_update(lambda event, name=name: self._drag(name, event))
            self._sliders[name] = slider

    def _add_buttons(self) -> None:
        gui = self.server.gui
        if self._sliders:
            reset = gui.add_button("Reset joints")
            reset.on_click(lambda _: self._reset())
        picture = gui.add_button("Save a picture")
        picture.on_click(lambda event: self._save_picture(event.client))

    def _save_picture(self, client: Any) -> None:
        """What a person sees, as a file that their browser saves."""
        if client is not None:
            pixels = client.get_render(height=1080, width=1440)
            client.send_file_download("view.png", _encode_png(np.asarray(pixels)))

    def _show(self, layer: str, shown: bool) -> None:
        for node in self._layers[layer]:
            node.visible = shown

    def _drag(self, name: str, event: Any) -> None:
        if event.client is None:  # our own update, not a person's
            return
        self.move({name: float(event.target.value)})

    def move(self, values: Mapping[str, float]) -> None:
        """Move joints by name [rad or m], and what is coupled to them."""
        with self._lock:
            self._configuration.move(values)
            self.place()
            self._update_sliders(set(values))
            gap = self._configuration.gap
            # joints of a loop that is dragged too far stop at what they can reach
            self._gap.content = f"A loop is open by {gap:.3g} (m or rad)." if gap > _OPEN else ""

    def _reset(self) -> None:
        with self._lock:
            self._configuration.reset()
            self._gap.content = ""
            self.place()
            self._update_sliders(set())

    def _update_sliders(self, dragged: set[str]) -> None:
        for name, slider in self._sliders.items():
            value = float(np.clip(self._configuration.get(name), slider.min, slider.max))
            if name not in dragged and abs(value - slider.value) > 1e-9:
                slider.value = value

    def place(self) -> None:
        """Put all bodies where the configuration has them."""
        poses = self._configuration.pose()
        with self.server.atomic():
            for name, pose in poses.items():
                frame = self._frames[name]
                frame.position, frame.wxyz = tuple(map(float, pose.p)), tuple(map(float, pose.q))
        if self._picked:
            self._describe_picked(poses)

    def pick(self, name: str) -> None:
        """Select a link: in the scene, in the list and in the tree; none for the world."""
        with self._lock:
            if name == self._picked:
                return
            self._picked = name
            for mark in self._marks:
                mark.remove()
            self._marks = []
            if self._links is not None:
                self._links.value = make_visible(name)
            self._tree.content = self._describe_tree()
            if not name:
                self._facts.content = "Click a link, or choose one here."
                return
            self._mark(name)
            self._describe_picked(self._configuration.pose())

    def _mark(self, name: str) -> None:
        """Show the frame and name of what is selected, whatever else is shown."""
        path, reach = f"/bodies/{_segment(name)}/picked", 0.12 * self._drawing.size
        scene = self.server.scene
        self._marks = [
            scene.add_frame(
                path, axes_length=reach, axes_radius=reach / 20, origin_radius=reach / 8, origin_color=_PICKED
            ),
            scene.add_label(f"{path} name", make_visible(name)),
        ]

    def _describe_picked(self, poses: Mapping[str, Pose]) -> None:
        # one row of the table after the other, each where there is something to say
        name = self._picked
        body = self._configuration.asset.body(name)
        pose = poses[name]
        rows = [("position [m]", _numbers(pose.p)), ("rotation w x y z", _numbers(pose.q))]
        inertial = self._inertials.get(name)
        if inertial is not None:
            rows += _describe_inertial(inertial)
        edge = next((edge for edge in self._configuration.tree.edges if edge.child == name), None)
        if edge is not None:
            joint = edge.joint
            rows.append(
                ("joint", f"{_plain(joint.name)}, {joint.kind.value}, from {_plain(edge.parent or 'world')}")
            )
            rows += [
                (f"limits {_plain(dof.name)}", f"{dof.lower:.4g} to {dof.upper:.4g}")
                for dof in joint.dofs
                if dof.is_limited
            ]
        if body.path:
            rows.append(("prim", f"`{_plain(body.path)}`"))
        table = "\n".join(f"| {key} | {value} |" for key, value in rows)
        found = [each for each in self._findings if body.path and each.where.prim.startswith(body.path)]
        notes = "\n\n".join(map(_describe_finding, found[:10]))
        self._facts.content = f"**{_plain(name)}**\n\n| | |\n|---|---|\n{table}\n\n{notes}"

    def _describe_tree(self) -> str:
        tree = self._configuration.tree
        children = tree.children()
        lines: list[str] = []

        def add(name: str, depth: int, joint: str) -> None:
            text = f"**{_plain(name)}**" if name == self._picked else _plain(name)
            by = f" _{_plain(joint)}_" if joint else ""
            lines.append(f"{'  ' * min(depth, 30)}- {text}{by}")

        pending = [(name, 0, "") for name in reversed(tree.roots)]
        pending += [(edge.child, 0, edge.joint.name) for edge in reversed(children.get(WORLD, []))]
        while pending and len(lines) < 500:
            name, depth, joint = pending.pop()
            add(name, depth, joint)
            pending += [(edge.child, depth + 1, edge.joint.name) for edge in reversed(children.get(name, []))]
        return "\n".join(lines) + ("\n\n..." if pending else "")


def _describe_inertial(inertial: Inertial) -> list[tuple[str, str]]:
    return [
        ("mass [kg]", f"{inertial.mass:.6g}"),
        ("centre of mass [m]", _numbers(inertial.com)),
        ("inertia xx yy zz", _numbers(np.diag(inertial.inertia))),
    ]


def _describe_finding(finding: Diagnostic) -> str:
    place = f" at `{_plain(finding.where.prim)}`" if finding.where.prim else ""
    return f"**{finding.level.name.lower()}** {_plain(finding.kind)}: {_plain(finding.message)}{place}"


def _numbers(values: Array) -> str:
    return " ".join(f"{value:.4g}" for value in np.asarray(values).tolist())


def _plain(text: str) -> str:
    """A name as Markdown shows it: no control characters, and nothing that Markdown or HTML would act on."""
    return _MARKS.sub(lambda found: f"&#{ord(found[0])};", make_visible(text))


def _segment(name: str) -> str:
    """A name as one part of a path in the scene."""
    return make_visible(name).replace("/", "|")


def _encode_png(pixels: Array) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()
