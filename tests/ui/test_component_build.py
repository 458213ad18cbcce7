"""The built call screen is what its source builds, and its logic does what its tests say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ui.node import Node, find_node

COMPONENT = Path(__file__).resolve().parents[2] / "ui" / "component"
BUILT = COMPONENT / "dist"


@pytest.fixture(scope="module")
def node() -> Node:
    """Node.js, with the packages of the lock file installed."""
    found = find_node()
    installed = COMPONENT / "node_modules" / ".package-lock.json"
    if not installed.exists() or not _same_packages(installed, COMPONENT / "package-lock.json"):
        found.run(*found.npm, "ci", "--no-audit", "--no-fund", cwd=COMPONENT)
    return found


def _same_packages(installed: Path, wanted: Path) -> bool:
    """Whether what is installed is what is locked; packages for other systems are left out."""
    here = json.loads(installed.read_text())["packages"]
    locked = {name: one for name, one in json.loads(wanted.read_text())["packages"].items() if name}
    missing = {name for name, one in locked.items() if not one.get("optional")} - here.keys()
    return not missing and all(
        name in locked and locked[name]["version"] == one["version"] for name, one in here.items()
    )


def test_the_committed_build_is_what_the_source_builds(node: Node, tmp_path: Path) -> None:
    node.run(*node.node, "build.mjs", "--out", str(tmp_path), cwd=COMPONENT)
    built = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    committed = {file.name: file.read_bytes() for file in BUILT.iterdir()}
    assert built.keys() == committed.keys()
    changed = [name for name in built if built[name] != committed[name]]
    assert not changed, (
        f"{changed} in ui/component/dist are not what ui/component/src builds; "
        "run `npm run build` in ui/component and commit the result"
    )


def test_the_source_passes_its_type_and_format_checks(node: Node) -> None:
    node.run(*node.npm, "run", "--silent", "check", cwd=COMPONENT)


def test_the_logic_passes_its_own_tests(node: Node) -> None:
    said = node.run(*node.npm, "test", "--silent", cwd=COMPONENT)
    assert "fail 0" in said


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((COMPONENT / "package-lock.json").read_text())
    assert not [name for name, one in lock["packages"].items() if "resolved" in one]
    assert all("integrity" in one for name, one in lock["packages"].items() if name)
