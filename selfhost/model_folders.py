"""Folders that the user named for a model's files, in MODEL_SERVER_MODEL_FOLDERS.

For a machine that reaches no model hub, and for weights of one's own. Such files are used as they
are: whoever names a folder answers for what is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from selfhost import hub_models
from selfhost.catalogue import CATALOGUE
from selfhost.errors import SetupError

SETTING = "MODEL_SERVER_MODEL_FOLDERS"


class _Setting(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="MODEL_SERVER_", env_file=".env", extra="ignore", env_ignore_empty=True
    )

    model_folders: str = ""


def given() -> Mapping[str, Path]:
    """The folder for each model that the user named one for, by this product's name for it.

    Raises:
        SetupError: the setting cannot be read, or a folder lacks a file that its model needs.
    """
    return parse(_Setting().model_folders)


def parse(setting: str) -> dict[str, Path]:
    """Read `name=folder` pairs, separated by commas; a name is this product's or the hub's."""
    folders: dict[str, Path] = {}
    for pair in filter(None, (part.strip() for part in setting.split(","))):
        name, _, folder = (part.strip() for part in pair.partition("="))
        hub_model = hub_models.known(name)
        if not folder or (hub_model is None and name not in CATALOGUE):
            names = ", ".join([*CATALOGUE, *hub_models.HUB_MODELS])
            raise SetupError(
                f"{SETTING}: expected NAME=FOLDER pairs separated by commas, with a name of: "
                f"{names}; got {pair!r}"
            )
        path = Path(folder).expanduser()
        if hub_model is not None:
            lacking = hub_models.missing(hub_model, path, as_published=False)
        else:
            files = [file.name for file in CATALOGUE[name].files]
            lacking = [file for file in files if not (path / file).is_file()]
        if lacking:
            raise SetupError(
                f"{SETTING}: {path} lacks {', '.join(lacking)}, which {name} needs to be loaded"
            )
        folders[hub_model.name if hub_model is not None else name] = path
    return folders
