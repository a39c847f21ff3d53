# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of the documentation: samples by ``simwright render``, pages of reports, the sample world.

    python scripts/make_pictures.py

needs headless Chromium, Node's package manager once, for three.js, and the engines of ``simwright engines install``.
``--only render``, ``film``, ``report``, ``prove``, ``view``, ``world`` or ``worlds`` draws those alone; ``view`` needs
the environment of ``make judge browser``.  Nothing is fetched
while a page is shown: it comes from a server of our own on this machine.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers import find_peer  # noqa: E402 - the folder has to be known first

WORLD = ROOT / "samples" / "simwright_samples" / "lab" / "lab.yaml"
SAMPLES = WORLD.parent.parent
ARM = SAMPLES / "arm" / "urdf" / "arm.urdf"
BENT = ("--q", "joint_2=0.7", "--q", "joint_3=-1.5", "--q", "joint_5=-0.9")
RENDERED = {
    "render-arm": ("arm/urdf/arm.urdf", *BENT),
    "render-quadruped": ("quadruped/quadruped.xml",),
    "render-colliders": ("quadruped/quadruped.xml", "--show", "collision"),
    "render-lab": ("lab/lab.yaml",),
}
"""Pictures by name: a sample, and what ``simwright render`` is told."""
FILMS = {
    "film-arm": ("render", "arm/urdf/arm.urdf", *BENT, "--size", "480x360", "--fps", "15", "-o"),
    "film-push": (
        "task",
        "run",
        "tabletop_push",
        "--robot",
        "sample_arm",
        "--policy",
        "push",
        "--fit",
        "--record",
    ),
    "film-playground": ("run", "playground/playground.yaml", "--frames", "1500", "--record"),
}
"""Films by name: the command that makes each, up to the name of the file; its samples are in the current folder."""
PICTURES = ROOT / "docs" / "img"
TOOLS = ROOT / ".parsers"
THREE = "0.187.0"
SIZE = (1280, 800)
PAGE_HEIGHT = 1900
"""How much of the page of prove is shown [px]."""
FRAME = 300
"""What a browser may take of its window for itself [px]."""
MAX_BYTES = 150_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """All pictures, or those that are asked for."""
    parts = {
        "render": draw_samples,
        "film": draw_films,
        "report": show_reports,
        "prove": draw_proof,
        "view": draw_pages,
        "world": draw_world,
        "worlds": draw_worlds,
    }
    wanted = sys.argv[sys.argv.index("--only") + 1 :] if "--only" in sys.argv else list(parts)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        with tempfile.TemporaryDirectory(prefix="simwright-") as folder:
            parts[name](Path(folder))
    return 0


def draw_samples(work: Path) -> None:
    """Samples as ``simwright render`` draws them."""
    from simwright.app.cli.main import run

    for name, (file, *options) in RENDERED.items():
        target = work / f"{name}.png"
        if run(["render", str(SAMPLES / file), "-o", str(target), "--size", "960x600", *options]):
            sys.exit(f"{file} cannot be drawn")
        shrink(target, PICTURES / f"{name}.png")


WORLDS = {"home": 7, "office": 10, "warehouse": 6, "hospital": 10}
"""Drawn worlds by style: how many rooms."""


def draw_worlds(work: Path) -> None:
    """Five worlds: from above, by MuJoCo's own renderer, and their glTF in a browser."""
    from simwright.app.world_build import build_world
    from simwright.app.worlds import generate_worlds, load_world, render_world

    files = {style: generate_worlds(work / style, style, rooms, 7)[0] for style, rooms in WORLDS.items()}
    for name, file in (files | {"lab": WORLD}).items():
        world = load_world(file, seed=7)
        built = build_world(world, work / f"{name}-built", ("mjcf", "glb"))
        top, shot, page = (work / f"{name}-{word}.png" for word in ("top", "mujoco", "glb"))
        render_world(world, top, size=1200, names=False, nav_poses=False)
        _shoot(built.entries["mjcf"], shot)
        folder = work / f"{name}-page"
        folder.mkdir()
        show_scene(built.entries["glb"], folder).replace(page)
        shrink(top, PICTURES / f"world-{top.name}")
        for picture in (shot, page):
            squash(picture, PICTURES / f"world-{picture.stem}.jpg")


def _shoot(file: Path, target: Path) -> None:
    """MuJoCo's picture from the camera of a world."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    import mujoco
    from PIL import Image

    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    option = mujoco.MjvOption()
    option.flags[mujoco.mjtVisFlag.mjVIS_RANGEFINDER] = False
    # twice as large and made smaller: edges of furniture are finer than a pixel
    with mujoco.Renderer(model, 1200, 1920, max_geom=50_000) as renderer:
        renderer.update_scene(data, "overview", option)
        Image.fromarray(renderer.render()).resize((960, 600), Image.Resampling.LANCZOS).save(target)


def draw_films(work: Path) -> None:
    """Films as the commands record them, made small enough for a page."""
    from simwright.app.cli.main import run

    with contextlib.chdir(SAMPLES):
        for name, command in FILMS.items():
            target = work / f"{name}.mp4"
            if run([*command, str(target)]):
                sys.exit(f"{name} cannot be made")
            squeeze(target, PICTURES / f"{name}.mp4")


def show_reports(work: Path) -> None:
    """A page of check with its 3D view: the four-bar sample with a mass that is none."""
    from simwright.app.cli.main import run

    copy = work / "fourbar"
    shutil.copytree(SAMPLES / "fourbar", copy)
    layer = copy / "physics.usda"
    parts = layer.read_text().split("physics:mass = ")
    # of the third body: the coupler
    layer.write_text(
        "physics:mass = ".join(parts[:3]) + "physics:mass = -" + "physics:mass = ".join(parts[3:])
    )
    page = work / "check.html"
    here = Path.cwd()
    os.chdir(work)
    try:
        run(["check", "fourbar/fourbar.usda", "--format", "html", "--output", str(page)])
    finally:
        os.chdir(here)
    target = work / "report.png"
    command = [
        find_browser(), "--headless=new", "--no-sandbox", "--hide-scrollbars", "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", f"--user-data-dir={work / 'profile'}",
        "--virtual-time-budget=10000", f"--window-size={SIZE[0]},{SIZE[1] + FRAME}", f"--screenshot={target}",
        page.as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    shrink(target, PICTURES / "report-page.png")


def draw_proof(work: Path) -> None:
    """The page of prove."""
    shrink(show_proof(work), PICTURES / "prove-page.png")


def draw_pages(work: Path) -> None:
    """Live pages: a link of the sample arm selected, two versions of it beside each other, a run of the lab."""
    # the whole package: its meshes are found by its name
    shutil.copytree(SAMPLES, work / SAMPLES.name)
    changed = work / SAMPLES.name / "arm" / "urdf" / "arm_b.urdf"
    text = ARM.read_text()
    # the upper arm is lighter, and the camera sees more
    text = text.replace('<mass value="5.9"/>', '<mass value="4.1"/>')
    changed.write_text(
        re.sub(r"<horizontal_fov>[^<]*</horizontal_fov>", "<horizontal_fov>1.5</horizontal_fov>", text)
    )
    bend = {"joint_2 [rad]": 0.6, "joint_3 [rad]": -1.2}
    pages: dict[str, tuple[list[str], dict[str, float], list[str], float]] = {
        "view-arm": (["view", str(ARM)], {}, ["upper_arm_link"], 2.0),
        "view-compare": (["view", str(changed.with_name(ARM.name)), str(changed)], bend, [], 2.0),
        "view-world": (
            ["world", "run", str(WORLD), "--plan", str(WORLD.with_name("plan.yaml")), "--view"],
            {},
            [],
            25.0,
        ),
    }
    python = find_peer("playwright") or sys.exit("`python scripts/judge browser` installs what is needed")
    with subprocess.Popen(
        [python, str(ROOT / "scripts" / "pictures" / "shoot.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as browser:
        assert browser.stdin is not None
        assert browser.stdout is not None
        for name, (command, fill, press, wait) in pages.items():
            target = work / f"{name}.png"
            with subprocess.Popen(
                [sys.executable, "-m", "simwright", *command, "--no-browser"],
                stdout=subprocess.PIPE,
                text=True,
            ) as shown:
                assert shown.stdout is not None
                address = next(line.strip() for line in shown.stdout if line.startswith("http://"))
                asked = {"address": address, "target": str(target)}
                print(
                    json.dumps(asked | {"fill": fill, "press": press, "wait": wait}),
                    file=browser.stdin,
                    flush=True,
                )
                browser.stdout.readline()
                shown.terminate()
            squash(target, PICTURES / f"{name}.jpg")
        browser.stdin.close()


def draw_world(work: Path) -> None:
    """The sample world from above, after its plan, and its glTF scene in a browser."""
    from simwright.app.world_build import build_world
    from simwright.app.worlds import load_world, render_world

    world = load_world(WORLD)
    top = render_world(world, work / "top.png", size=1200)
    shrink(draw_run(work), PICTURES / "world-run.png")
    scene = build_world(world, work / "built", ["glb"]).entries["glb"]
    browser = show_scene(scene, work)
    for file, name in ((top, "world-top.png"), (browser, "world-browser.png")):
        shrink(file, PICTURES / name)


def show_proof(work: Path) -> Path:
    """The upper part of the page of the sample arm, in all engines that are installed."""
    from simwright.app.cli.main import run

    page, target = work / "report.html", work / "page.png"
    run(["prove", str(ARM.relative_to(ROOT)), "-o", str(page)])
    command = [
        find_browser(), "--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu",
        "--disable-background-networking", f"--user-data-dir={work / 'profile'}",
        f"--window-size={SIZE[0]},{PAGE_HEIGHT + FRAME}", f"--screenshot={target}", page.as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    from PIL import Image

    # another width than that of the world: cut here
    Image.open(target).convert("RGB").crop((0, 0, SIZE[0], PAGE_HEIGHT)).resize(
        (SIZE[0] * 3 // 4, PAGE_HEIGHT * 3 // 4), Image.Resampling.LANCZOS
    ).save(target)
    return target


def draw_run(work: Path) -> Path:
    """The sample world after its plan, with the ways that the robots went."""
    from simwright.app.worlds import load_world, render_world, run_plans
    from simwright.worlds.acting.task_plan import read_plan

    world = load_world(WORLD)
    simulation, _ = run_plans(world, read_plan(WORLD.with_name("plan.yaml"), world))
    return render_world(world, work / "run.png", size=1000, nav_poses=False, paths=simulation.trails)


def show_scene(scene: Path, work: Path) -> Path:
    """A screenshot of a glTF file, by its own camera."""
    page = work / "page"
    page.mkdir()
    shutil.copy(ROOT / "scripts" / "pictures" / "viewer.html", page / "index.html")
    shutil.copy(scene, page / "scene.glb")
    (page / "three").symlink_to(find_three(), target_is_directory=True)
    target = work / "browser.png"
    with serve(page) as address:
        command = [
            find_browser(), "--headless=new", "--no-sandbox", "--hide-scrollbars", "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader", f"--user-data-dir={work / 'profile'}", "--virtual-time-budget=20000",
            f"--window-size={SIZE[0]},{SIZE[1] + FRAME}", f"--screenshot={target}", address,
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=240)
    return target


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """A server of a folder for this machine alone."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Says nothing on the terminal."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is given
        """Nothing."""


def find_browser() -> str:
    """The command of a browser."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    sys.exit(f"no browser found; install one of {', '.join(BROWSERS)}")


def find_three() -> Path:
    """The folder of three.js, installed if it is not there."""
    folder = TOOLS / "viewer" / "node_modules" / "three"
    if not folder.is_dir():
        npm = shutil.which("npm") or sys.exit("npm is not installed")
        command = [
            npm,
            "install",
            "--prefix",
            str(TOOLS / "viewer"),
            "--no-save",
            "--no-audit",
            "--no-fund",
            f"three@{THREE}",
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=240)
    return folder


def squeeze(source: Path, target: Path) -> None:
    """A film of 480 pixels width and 15 frames per second."""
    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-i", str(source), "-vf", "scale=480:-2", "-r", "15"]
    command += ["-crf", "30", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(target)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    size = target.stat().st_size
    print(f"wrote {target.relative_to(ROOT)} ({size / 1000:.0f} kB)")
    if size > 2 * MAX_BYTES:
        sys.exit(f"{target.name} has {size} bytes; {2 * MAX_BYTES} is the limit")


def squash(source: Path, target: Path) -> None:
    """A picture of many soft shades, as a photograph is kept."""
    from PIL import Image

    image = Image.open(source).convert("RGB")
    if image.width == SIZE[0]:
        image = image.crop((0, 0, *SIZE)).resize((960, 600), Image.Resampling.LANCZOS)
    image.save(target, quality=88, optimize=True)
    print(f"wrote {target.relative_to(ROOT)} ({target.stat().st_size / 1000:.0f} kB)", flush=True)


def shrink(source: Path, target: Path) -> None:
    """A picture as small as its colours allow."""
    from PIL import Image

    image = Image.open(source).convert("RGB")
    if image.width == SIZE[0]:
        image = image.crop((0, 0, *SIZE))
    image.save(target, optimize=True)
    if target.stat().st_size > MAX_BYTES:
        image.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)
    size = target.stat().st_size
    print(f"wrote {target.relative_to(ROOT)} ({size / 1000:.0f} kB)")
    if size > MAX_BYTES:
        sys.exit(f"{target.name} has {size} bytes; {MAX_BYTES} is the limit")


if __name__ == "__main__":
    sys.exit(main())
