"""The models that a machine with a GPU serves, by their name on the model hub.

Their files come from the hub's own cache, or are fetched into it with the hub's own client, which
reads HF_ENDPOINT, HF_HOME, HF_TOKEN and HF_HUB_OFFLINE. Where the checksum of a file is known, the
file is checked against it before it is first used.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from selfhost.errors import SetupError


@dataclass(frozen=True)
class HubFile:
    """A file that a model needs.

    Args:
        path: inside the repository.
        sha256: None where it is not known; such a file is taken as the hub gives it.
        may_differ: another export of the same model may do without it, such as weights outside
            their graph's file.
    """

    path: str
    sha256: str | None = None
    may_differ: bool = False


@dataclass(frozen=True)
class HubModel:
    """A model on the hub.

    Args:
        name: what this product calls it.
        repository: what the hub calls it.
        files: what must be there to load it.
        patterns: further files to fetch, such as voices, of which any number may be there.
        size_bytes: of all that is fetched.
        size_from: where that figure is from; it begins with "about" where it is not the exact sum.
        revision: the commit that was checked, or None for the newest.
    """

    name: str
    repository: str
    job: str
    files: tuple[HubFile, ...]
    size_bytes: int
    size_from: str
    licence: str
    revision: str | None = None
    patterns: tuple[str, ...] = ()

    @property
    def weights(self) -> str:
        """The file with the weights, or for a model in several such files their index."""
        return self.files[0].path

    @property
    def size_text(self) -> str:
        about = "about " if self.size_from.startswith("about") else ""
        return f"{about}{self.size_bytes / 1e6:,.0f} MB"


_HUB_LISTING = "the hub's file listing at that revision"

HUB_MODELS: dict[str, HubModel] = {
    model.name: model
    for model in (
        HubModel(
            name="whisper-large-v3-turbo",
            repository="mobiuslabsgmbh/faster-whisper-large-v3-turbo",
            job="speech to text",
            files=(
                HubFile(
                    "model.bin", "e76620f83d5f5b69efd3d87e3dc180c1bd21df9fbebacfd4335e5e1efcc018da"
                ),
                HubFile("config.json"),
                HubFile("preprocessor_config.json", may_differ=True),
                HubFile("tokenizer.json"),
                HubFile("vocabulary.json"),
            ),
            size_bytes=1_621_665_983,
            size_from=_HUB_LISTING,
            licence="MIT",
            revision="0a363e9161cbc7ed1431c9597a8ceaf0c4f78fcf",
        ),
        HubModel(
            name="kokoro-82m-fp32",
            repository="onnx-community/Kokoro-82M-v1.0-ONNX",
            job="speech",
            files=(
                HubFile(
                    "onnx/model.onnx",
                    "8fbea51ea711f2af382e88c833d9e288c6dc82ce5e98421ea61c058ce21a34cb",
                ),
                HubFile(
                    "tokenizer.json",
                    "77a02c8e164413299b4b4c403b14f8e0e1c1b727db4d46a09d6327b861060a34",
                ),
                HubFile("voices/af_heart.bin", may_differ=True),
            ),
            patterns=("voices/*.bin",),
            size_bytes=325_532_232 + 3_497 + 54 * 522_240,
            size_from="about: the listed size of the weights, and 54 voices of 522,240 bytes",
            licence="Apache-2.0",
            revision="1939ad2a8e416c0acfeecc08a694d14ef25f2231",
        ),
        HubModel(
            name="qwen3-4b-instruct-2507",
            repository="Qwen/Qwen3-4B-Instruct-2507",
            job="generation",
            files=(
                HubFile("model.safetensors.index.json"),
                HubFile("config.json"),
                HubFile("generation_config.json"),
                HubFile("tokenizer.json"),
                HubFile("tokenizer_config.json"),
            ),
            patterns=("*.safetensors", "*.json", "merges.txt"),
            size_bytes=8_060_917_568,
            size_from="about: the whole repository at that revision",
            licence="Apache-2.0",
            revision="cdbee75f17c01a7cc42f958dc650907174af0554",
        ),
        HubModel(
            name="bge-m3",
            repository="BAAI/bge-m3",
            job="embeddings",
            files=(
                HubFile(
                    "onnx/model.onnx",
                    "f84251230831afb359ab26d9fd37d5936d4d9bb5d1d5410e66442f630f24435b",
                ),
                HubFile(
                    "onnx/model.onnx_data",
                    "1eebfb28493f67bba03ce0ef64bfdc7fc5a3bd9d7493f818bb1d78cd798416b4",
                    may_differ=True,
                ),
                HubFile(
                    "onnx/Constant_7_attr__value",
                    "cdf16f72c5d07b36484056e601ed9687f78477e5d85cee85a34f2406b7fb5906",
                    may_differ=True,
                ),
                HubFile(
                    "tokenizer.json",
                    "21106b6d7dab2952c1d496fb21d5dc9db75c28ed361a05f5020bbba27810dd08",
                ),
                HubFile("config.json"),
            ),
            size_bytes=2_284_709_878,
            size_from=_HUB_LISTING,
            licence="MIT",
            revision="5617a9f61b028005a4858fdac845db406aefb181",
        ),
        HubModel(
            name="bge-reranker-v2-m3",
            repository="onnx-community/bge-reranker-v2-m3-ONNX",
            job="reranking",
            files=(
                HubFile("onnx/model.onnx"),
                HubFile("onnx/model.onnx_data", may_differ=True),
                HubFile("tokenizer.json"),
                HubFile("config.json"),
            ),
            size_bytes=2_288_000_000,
            size_from="about: 567,755,777 parameters of 4 bytes (its model card) and a tokenizer",
            licence="Apache-2.0",
        ),
        HubModel(
            name="gliner-medium-v2.1",
            repository="onnx-community/gliner_medium-v2.1",
            job="entities",
            files=(
                HubFile("onnx/model.onnx"),
                HubFile("gliner_config.json"),
                HubFile("tokenizer.json"),
            ),
            size_bytes=791_000_000,
            size_from="about: 195 M parameters of 4 bytes (its model card) and a tokenizer",
            licence="Apache-2.0",
        ),
    )
}


def known(name: str, catalogue: Mapping[str, HubModel] = HUB_MODELS) -> HubModel | None:
    """The model that is meant by this product's name for it or by the hub's, if there is one."""
    if name in catalogue:
        return catalogue[name]
    return next((model for model in catalogue.values() if model.repository == name), None)


def missing(model: HubModel, folder: Path, *, as_published: bool = True) -> list[str]:
    """The files that `folder` lacks to be this model; [] if it can be loaded.

    Args:
        as_published: it is what the hub has, and not an export of the user's own.
    """
    needed = [file.path for file in model.files if as_published or not file.may_differ]
    lacking = [path for path in needed if not (folder / path).is_file()]
    if lacking:
        return lacking
    index = folder / model.weights
    if index.name.endswith(".index.json"):
        shards = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
        return sorted(shard for shard in shards if not (folder / shard).is_file())
    return []


def cached(model: HubModel) -> Path | None:
    """The model's folder in the hub's cache, or None if it is not wholly there."""
    # Imported where needed: the hub's client takes a while to load, and most commands need none.
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(
        model.repository, model.weights, revision=model.revision or "main"
    )
    if not isinstance(found, str):  # not there, or known not to exist
        return None
    folder = Path(found.removesuffix(model.weights))
    return None if missing(model, folder) else folder


def fetch(model: HubModel) -> Path:
    """Bring the model into the hub's cache. What has arrived of it already is kept.

    Raises:
        SetupError: the hub cannot be reached, refuses, or lacks a file that is needed.
    """
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        folder = Path(
            snapshot_download(
                model.repository,
                revision=model.revision,
                allow_patterns=[*(file.path for file in model.files), *model.patterns],
            )
        )
    except (
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        httpx.HTTPError,
        OSError,
    ) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        raise SetupError(
            f"could not fetch {model.name} from the model hub: {reason}\n{how_to_get(model)}"
        ) from error
    if lacking := missing(model, folder):
        raise SetupError(
            f"the hub's {model.repository} lacks {', '.join(lacking)}, which {model.name} needs"
        )
    return folder


def verify(model: HubModel, folder: Path, marker: Path) -> None:
    """Check the files whose checksum is known, unless they are the ones that `marker` says were.

    Args:
        marker: a file that remembers the sizes and times of what was checked, since hashing some
            gigabytes at each start would take as long as loading them.

    Raises:
        SetupError: a file is not the one that this product was made for.
    """
    known_files = {file.path: file.sha256 for file in model.files if file.sha256 is not None}
    marks = {path: _mark(folder / path, sha256) for path, sha256 in known_files.items()}
    try:
        if json.loads(marker.read_text()) == marks:
            return
    except (OSError, ValueError):
        pass
    for path, expected in known_files.items():
        with (folder / path).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise SetupError(
                f"wrong checksum: {folder / path}\n"
                f"  expected SHA-256 {expected}\n"
                f"  found            {found}\n"
                f"It was not used. Remove that file and run: python -m selfhost models {model.name}"
            )
    marker.parent.mkdir(parents=True, exist_ok=True)
    arriving = marker.with_name(f"{marker.name}.{os.getpid()}")
    arriving.write_text(json.dumps(marks, indent=1))
    arriving.replace(marker)


def how_to_get(model: HubModel) -> str:
    """What a user without the model's files can do, with its size and licence."""
    return (
        f"It is {model.repository} ({model.size_text}, {model.licence}).\n"
        f"Where a model hub can be reached (HF_ENDPOINT names another): "
        f"python -m selfhost models {model.name}\n"
        f"With files that you copied: MODEL_SERVER_MODEL_FOLDERS={model.name}=/path/to/folder"
    )


def _mark(path: Path, sha256: str) -> dict[str, int | str]:
    status = path.stat()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": sha256}
