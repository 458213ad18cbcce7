"""Models by their hub name: fetched by the hub's real client from a small hub on this machine, or
taken from a folder that the user named."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from selfhost import hub_models, model_folders, models
from selfhost.catalogue import CATALOGUE
from selfhost.errors import SetupError
from selfhost.hub_models import HUB_MODELS, HubFile, HubModel

GLINER = HUB_MODELS["gliner-medium-v2.1"]
TURBO = HUB_MODELS["whisper-large-v3-turbo"]


@dataclass
class Hub:
    """Speaks as much of the hub's protocol as its client needs to fetch a repository."""

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        if "/resolve/" in path:
            revision, _, name = path.partition("/resolve/")[2].partition("/")
            self._send_file(request, name, _commit(revision))
        elif "/tree/" in path:
            _send_json(request, [_described(name, data) for name, data in self.files.items()])
        else:
            names = [{"rfilename": name} for name in self.files]
            commit = _commit(path.rpartition("/")[2])
            _send_json(request, {"id": "any/thing", "sha": commit, "siblings": names})

    def _send_file(self, request: BaseHTTPRequestHandler, name: str, commit: str) -> None:
        data = self.files.get(name)
        request.send_response(404 if data is None else 200)
        if data is None:
            request.send_header("X-Error-Code", "EntryNotFound")
        request.send_header("X-Repo-Commit", commit)
        request.send_header("ETag", f'"{hashlib.sha256(data or b"").hexdigest()}"')
        request.send_header("Content-Length", str(len(data or b"")))
        request.end_headers()
        if request.command == "GET":
            self.sent.append(name)
            request.wfile.write(data or b"")


def _commit(revision: str) -> str:
    return revision if len(revision) == 40 else "c" * 40


def _described(name: str, data: bytes) -> dict[str, object]:
    return {
        "type": "file",
        "path": name,
        "size": len(data),
        "oid": hashlib.sha256(data).hexdigest(),
    }


def _send_json(request: BaseHTTPRequestHandler, content: object) -> None:
    body = json.dumps(content).encode()
    request.send_response(200)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    if request.command == "GET":
        request.wfile.write(body)


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.answer(self)

        def do_HEAD(self) -> None:
            hub.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield hub
    server.shutdown()


def fetch(
    name: str, root: Path, hub: Hub | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    """`python -m selfhost models NAME`, in a process of its own: the client reads where its hub is
    when it is imported."""
    where = {"HF_ENDPOINT": f"http://127.0.0.1:{hub.port}"} if hub else {"HF_HUB_OFFLINE": "1"}
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    folders = {"HF_HOME": str(root / "hf"), "HOTEL_VOICE_CACHE": str(root / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "selfhost", "models", name],
        env=kept | folders | where | settings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def files_of(model: HubModel) -> dict[str, bytes]:
    return {file.path: f"what {file.path} holds".encode() for file in model.files}


def test_a_model_is_fetched_from_the_hub_that_is_named_and_only_what_it_needs(
    hub: Hub, tmp_path: Path
) -> None:
    hub.files = files_of(GLINER) | {"onnx/model_fp16.onnx": b"another form"}
    first = fetch(GLINER.name, tmp_path, hub)
    assert first.returncode == 0, first.stderr
    folder = Path(first.stdout.strip().removeprefix(f"{GLINER.name}: "))
    for name, data in files_of(GLINER).items():
        assert (folder / name).read_bytes() == data
    assert sorted(set(hub.sent)) == sorted(files_of(GLINER))
    # Once it is there, no hub is needed.
    again = fetch(GLINER.name, tmp_path)
    assert (again.returncode, again.stdout) == (0, first.stdout)


def test_a_file_that_is_not_the_known_one_is_not_used(hub: Hub, tmp_path: Path) -> None:
    hub.files = files_of(TURBO)
    ended = fetch(TURBO.name, tmp_path, hub)
    assert ended.returncode == 1
    assert "wrong checksum" in ended.stderr
    assert TURBO.files[0].sha256 is not None
    assert TURBO.files[0].sha256 in ended.stderr
    assert hashlib.sha256(hub.files["model.bin"]).hexdigest() in ended.stderr


def test_a_repository_that_lacks_a_file_is_said_to(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"onnx/model.onnx": b"weights", "tokenizer.json": b"{}"}
    ended = fetch(GLINER.name, tmp_path, hub)
    assert ended.returncode == 1
    assert "gliner_config.json" in ended.stderr


def test_without_a_hub_the_size_the_licence_and_both_ways_out_are_said(tmp_path: Path) -> None:
    ended = fetch("bge-m3", tmp_path)
    assert ended.returncode == 1
    for part in (
        "BAAI/bge-m3 (2,285 MB, MIT)",
        "HF_ENDPOINT",
        "python -m selfhost models bge-m3",
        "MODEL_SERVER_MODEL_FOLDERS=bge-m3=",
    ):
        assert part in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_list_tells_hub_models_from_packages_and_which_are_here(tmp_path: Path) -> None:
    (tmp_path / "mine" / "onnx").mkdir(parents=True)
    for name in ("onnx/model.onnx", "tokenizer.json", "config.json"):
        (tmp_path / "mine" / name).touch()
    ended = subprocess.run(
        [sys.executable, "-m", "selfhost", "models"],
        env=os.environ
        | {
            "COLUMNS": "200",
            "HF_HOME": str(tmp_path),
            "MODEL_SERVER_MODEL_FOLDERS": f"bge-m3={tmp_path / 'mine'}",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    lines = {line.split()[0]: line.split()[1:] for line in ended.stdout.splitlines()}
    assert set(lines) >= {*CATALOGUE, *HUB_MODELS}
    assert lines["bge-m3"][0] == "yours"
    assert lines["gliner-medium-v2.1"][:4] == ["no", "about", "791", "MB"]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's with an export of bge-m3 whose weights are in the graph's file."""
    (tmp_path / "onnx").mkdir()
    for name in ("onnx/model.onnx", "tokenizer.json", "config.json"):
        (tmp_path / name).touch()
    monkeypatch.setenv("MODEL_SERVER_MODEL_FOLDERS", f" BAAI/bge-m3 = {tmp_path} ,")
    return tmp_path


def test_a_folder_that_the_user_named_goes_before_hub_and_packages(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert models.path("bge-m3") == models.ensure("BAAI/bge-m3") == mine
    assert models.weights("bge-m3") == mine / "onnx" / "model.onnx"
    assert models.is_present("bge-m3")
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"):
        (mine / name).touch()
    monkeypatch.setenv("MODEL_SERVER_MODEL_FOLDERS", f"whisper-base={mine}")
    assert models.path("whisper-base") == mine


def test_a_folder_that_lacks_a_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"lacks onnx/model\.onnx, tokenizer\.json"):
        model_folders.parse(f"bge-m3={tmp_path}")
    with pytest.raises(SetupError, match=r"lacks model\.bin"):
        model_folders.parse(f"whisper-base={tmp_path}")


@pytest.mark.parametrize("setting", ["bge-m3", "=", "bge-m3=", "no-such-model=/tmp"])
def test_a_setting_that_cannot_be_read_says_what_is_expected(setting: str) -> None:
    with pytest.raises(SetupError, match="expected NAME=FOLDER pairs"):
        model_folders.parse(setting)


def test_an_unknown_name_says_which_are_known() -> None:
    with pytest.raises(SetupError, match=r"whisper-base, .*bge-m3"):
        models.path("no-such-model")


def test_weights_in_several_files_are_all_needed(tmp_path: Path) -> None:
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    model = HubModel(
        "sharded", "an/owner", "generation", (HubFile("x.index.json"),), 1, "about: a test", "MIT"
    )
    assert hub_models.missing(model, tmp_path) == ["x.index.json"]
    (tmp_path / "x.index.json").write_text(json.dumps(index))
    (tmp_path / "model-1.safetensors").touch()
    assert hub_models.missing(model, tmp_path) == ["model-2.safetensors"]
    (tmp_path / "model-2.safetensors").touch()
    assert hub_models.missing(model, tmp_path) == []


def test_a_file_that_was_checked_is_hashed_again_only_when_it_changed(tmp_path: Path) -> None:
    weights, marker = tmp_path / "weights", tmp_path / "marks" / "model.json"
    weights.write_bytes(b"right")
    digest = hashlib.sha256(b"right").hexdigest()
    model = HubModel("m", "an/owner", "job", (HubFile("weights", digest),), 5, "a test", "MIT")
    hub_models.verify(model, tmp_path, marker)
    assert digest in marker.read_text()
    weights.write_bytes(b"wrong")
    with pytest.raises(SetupError, match="wrong checksum"):
        hub_models.verify(model, tmp_path, marker)


@pytest.mark.parametrize("model", HUB_MODELS.values(), ids=lambda model: model.name)
def test_every_hub_model_has_a_size_a_licence_and_a_name_of_its_own(model: HubModel) -> None:
    assert model.size_bytes > 0
    assert model.licence
    assert model.name not in CATALOGUE
    assert hub_models.known(model.repository) is model
    assert model.revision is None or len(model.revision) == 40
    # A size is exact only for a fixed revision.
    assert model.revision is not None or model.size_text.startswith("about")
    for file in model.files:
        assert file.sha256 is None or len(file.sha256) == 64
