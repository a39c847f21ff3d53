# SPDX-License-Identifier: Apache-2.0
"""Sparse checkouts: fetched once, only added to, refused offline, one process at a time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnsafePathError
from simwright.core.limits import is_offline
from simwright.scenes import sources
from simwright.scenes.document_sources import GitSource
from simwright.scenes.sources import GitCache, GitError, find_cache, name_repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def run_git(folder, *arguments):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """(address, commit) of a repository with three folders."""
    folder = tmp_path / "upstream"
    for name in ("a", "b", "c/deep"):
        (folder / name).mkdir(parents=True)
        (folder / name / "robot.urdf").write_text(f"<robot name='{name}'/>")
    (folder / "top.urdf").write_text("<robot name='top'/>")
    run_git(folder, "init", "--quiet", "-b", "main")
    run_git(folder, "config", "uploadpack.allowFilter", "true")
    run_git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "first")
    return f"file://{folder}", run_git(folder, "rev-parse", "HEAD")


def source_of(repository, path="a/robot.urdf", **more):
    return GitSource(repo=repository[0], rev=more.pop("rev", repository[1]), path=path, **more)


def test_a_file_is_fetched_with_its_folder_only(repository, tmp_path):
    cache = GitCache(tmp_path / "cache", offline=False)
    file = cache.find(source_of(repository))
    assert file.read_text() == "<robot name='a'/>"
    checkout = cache.find_checkout(source_of(repository))
    assert checkout == tmp_path / "cache/git" / name_repository(repository[0]) / repository[1]
    assert not (checkout / "b").exists()
    assert not [path.name for path in checkout.parent.iterdir() if path.name.endswith(str(os.getpid()))]


def test_a_second_scene_takes_nothing_from_the_first(repository, tmp_path):
    cache = GitCache(tmp_path / "cache", offline=False)
    cache.find(source_of(repository, sparse=["a"]))
    cache.find(source_of(repository, "b/robot.urdf", sparse=["b", "c"]))
    cache.find(source_of(repository, "top.urdf"))
    offline = GitCache(tmp_path / "cache", offline=True)
    for path in ("a/robot.urdf", "b/robot.urdf", "c/deep/robot.urdf", "top.urdf"):
        assert offline.find(source_of(repository, path)).is_file()


def test_more_folders_of_the_same_file_are_fetched(repository, tmp_path):
    cache = GitCache(tmp_path / "cache", offline=False)
    cache.find(source_of(repository))
    file = cache.find(source_of(repository, sparse=["a", "c"]))
    assert (file.parents[1] / "c/deep/robot.urdf").is_file()


def test_a_file_outside_of_the_folders_is_fetched_with_its_own(repository, tmp_path):
    cache = GitCache(tmp_path / "cache", offline=False)
    cache.find(source_of(repository))
    # its folders are there already, and the file is not
    assert cache.find(source_of(repository, "b/robot.urdf", sparse=["a"])).read_text() == "<robot name='b'/>"


def test_a_file_that_is_nowhere_is_refused_and_the_checkout_stays(repository, tmp_path):
    cache = GitCache(tmp_path / "cache", offline=False)
    cache.find(source_of(repository))
    for path in ("gone.urdf", "a/gone.urdf"):
        with pytest.raises(NotFoundError, match=r"gone\.urdf"):
            cache.find(source_of(repository, path))
    assert cache.find(source_of(repository)).is_file()


def test_a_branch_is_a_revision(repository, tmp_path):
    file = GitCache(tmp_path / "cache", offline=False).find(source_of(repository, rev="main"))
    assert file.parents[1].name == "main"


def test_offline_needs_the_cache(repository, tmp_path):
    with pytest.raises(NotFoundError, match="fetching is switched off") as caught:
        GitCache(tmp_path / "cache", offline=True).find(source_of(repository), Where("s.yaml", 3, 1))
    assert str(caught.value.where) == "s.yaml:3:1"
    assert not (tmp_path / "cache").exists()


def test_a_folder_without_git_is_a_cache_too(tmp_path):
    source = GitSource(repo="https://e.org/a/b.git", rev="abc", path="x/r.urdf")
    folder = tmp_path / "git/https_e.org_a_b.git/abc/x"
    folder.mkdir(parents=True)
    (folder / "r.urdf").write_text("<robot/>")
    assert GitCache(tmp_path, offline=False).find(source) == folder / "r.urdf"


def test_files_put_there_by_hand_stay(repository, tmp_path):
    cache = GitCache(tmp_path / "cache", offline=False)
    checkout = cache.find_checkout(source_of(repository))
    (checkout / "mine").mkdir(parents=True)
    (checkout / "mine/x.txt").write_text("kept")
    cache.find(source_of(repository))
    assert (checkout / "mine/x.txt").read_text() == "kept"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"path": "a/none.urdf"}, "has no file 'a/none.urdf'"),
        ({"rev": "0" * 40}, "git fetch failed"),
        ({"rev": "no-such-branch"}, "git fetch failed"),
    ],
)
def test_what_is_not_there(repository, tmp_path, change, message):
    with pytest.raises((NotFoundError, GitError), match=message):
        GitCache(tmp_path / "cache", offline=False).find(source_of(repository, **change))


def test_a_failed_fetch_leaves_nothing_behind(tmp_path):
    source = GitSource(repo=f"file://{tmp_path}/nowhere", rev="main", path="a.urdf")
    cache = GitCache(tmp_path / "cache", offline=False)
    with pytest.raises(GitError, match="git fetch failed") as caught:
        cache.find(source)
    assert "check repo, rev and network" in caught.value.hint
    assert not cache.find_checkout(source).exists()
    assert [path.name for path in cache.find_checkout(source).parent.iterdir()] == [".main.lock"]


def test_links_do_not_lead_out(repository, tmp_path):
    folder = Path(repository[0].removeprefix("file://"))
    (folder / "a/link.urdf").symlink_to("/etc/hostname")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "link")
    source = source_of(repository, "a/link.urdf", rev=run_git(folder, "rev-parse", "HEAD"))
    file = GitCache(tmp_path / "cache", offline=False).find(source)
    assert file.read_text() == "/etc/hostname"  # the text of the link, not what it points at
    file.unlink()
    file.symlink_to(tmp_path / "upstream/top.urdf")
    with pytest.raises(UnsafePathError, match="leads out"):
        GitCache(tmp_path / "cache", offline=True).find(source)


def test_hooks_and_remote_helpers_do_not_run(repository, tmp_path, monkeypatch):
    template = tmp_path / "template/hooks"
    template.mkdir(parents=True)
    hook = template / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template.parent))
    GitCache(tmp_path / "cache", offline=False).find(source_of(repository))
    assert not (tmp_path / "ran").exists()


def test_git_that_is_not_there(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(sources.shutil, "which", lambda name: None)
    with pytest.raises(GitError, match="git is not installed") as caught:
        GitCache(tmp_path / "cache", offline=False).find(source_of(repository))
    assert "install git" in caught.value.hint


def test_a_lock_is_waited_for(repository, tmp_path):
    cache = GitCache(tmp_path / "cache", offline=False, timeout=0.3)
    checkout = cache.find_checkout(source_of(repository))
    checkout.parent.mkdir(parents=True)
    lock = checkout.with_name(f".{checkout.name}.lock")
    code = (
        f"import fcntl, sys; f = open({str(lock)!r}, 'w'); fcntl.flock(f, fcntl.LOCK_EX)\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(GitError, match="locked"):
            cache.find(source_of(repository))
        holder.stdin.close()
        holder.wait()
    cache.timeout = 60
    assert cache.find(source_of(repository)).is_file()


def test_where_the_cache_is():
    assert find_cache({"SIMWRIGHT_ASSET_CACHE": "/a", "SAP_WARP_ASSET_CACHE": "/b"}) == Path("/a")
    assert find_cache({"SAP_WARP_ASSET_CACHE": "/b"}) == Path("/b")
    assert find_cache({"XDG_CACHE_HOME": "/c"}) == Path("/c/simwright/assets")
    assert find_cache({}).parts[-3:] == (".cache", "simwright", "assets")
    assert is_offline({"SAP_WARP_ASSET_OFFLINE": "Yes"})
    assert is_offline({"SIMWRIGHT_OFFLINE": "1"})
    assert not is_offline({"SIMWRIGHT_OFFLINE": "0"})
    repo = "https://github.com/newton-physics/newton-assets.git"
    assert name_repository(repo) == "https_github.com_newton-physics_newton-assets.git"
    assert name_repository("///") == "repository"
