"""What memory a card has, as its driver shows it to a process.

Makers print powers of ten and keep some for error correction and for the driver, so that a card of
"80 GB" shows 79 GiB. Figures are the total that vLLM, PyTorch or the driver prints on a machine
with that card; drivers differ by some tens of MiB.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from selfhost.errors import SetupError
from selfhost.plan.estimate import GIB, gib


@dataclass(frozen=True)
class Card:
    """One card, or the memory of a machine that has none.

    Args:
        name: for people.
        total_bytes: as the driver shows it.
        free_bytes: now, if it was asked; None for a card that was only named.
        is_cpu: the machine's own memory.
        count: of cards of this kind in the machine, if it was asked.
    """

    name: str
    total_bytes: int
    free_bytes: int | None = None
    is_cpu: bool = False
    count: int = 1


# In GiB, as start-up logs of vLLM print total_gpu_memory, or torch.cuda.get_device_properties.
_GIB: Mapping[str, float] = {
    "T4": 14.56,
    "V100-16": 15.77,
    "V100-32": 31.74,
    "A10": 22.06,
    "A10G": 22.06,
    "L4": 22.03,
    "RTX 3060": 11.76,
    "RTX 3090": 23.56,
    "RTX 4060 Ti 16": 15.60,
    "RTX 4070 Ti": 11.73,
    "RTX 4080": 15.70,
    "RTX 4090": 23.53,
    "RTX 5080": 15.48,
    "RTX 5090": 31.36,
    "RTX A5000": 23.68,
    "A6000": 47.41,
    "RTX 6000 Ada": 47.49,
    "RTX PRO 6000": 94.97,
    "A40": 44.42,
    "L40": 44.39,
    "L40S": 44.39,
    "A100-40": 39.39,
    "A100-80": 79.15,
    "H100-80": 79.19,
    "H100 NVL": 93.02,
    "H200": 139.80,
    "B200": 178.36,
}
_ALIASES: Mapping[str, str] = {
    "a100": "A100-80",
    "h100": "H100-80",
    "v100": "V100-16",
    "rtx a6000": "A6000",
}


def named(name: str) -> Card:
    """A card by its name, with or without "NVIDIA", "GeForce" or spaces.

    Raises:
        SetupError: it is not in the list.
    """
    if name.strip().lower() == "cpu":
        return this_machine()
    wanted = _plain(name)
    for known, size_gib in _GIB.items():
        # "4090" alone is enough.
        if wanted in (_plain(known), _plain(known).removeprefix("rtx")):
            return Card(known, int(size_gib * GIB))
    if alias := _ALIASES.get(name.strip().lower()):
        return named(alias)
    raise SetupError(
        f"The plan does not know a card named {name!r}. Known: {', '.join(_GIB)}, or cpu for this "
        "machine's own memory. For another, give its memory as the driver shows it, such as "
        "--card 24GiB."
    )


def parse(text: str) -> Card:
    """A card by name, or by its memory ("24GiB").

    Raises:
        SetupError: it is neither.
    """
    plain = text.strip().lower().replace(" ", "")
    if plain.endswith(("gib", "gb")) and plain.removesuffix("gib").removesuffix("gb"):
        number = plain.removesuffix("gib").removesuffix("gb")
        try:
            size_gib = float(number)
        except ValueError:
            return named(text)
        if size_gib <= 0:
            raise SetupError(f"Expected a card with more than 0 GiB, got {text!r}.")
        factor = GIB if plain.endswith("gib") else 1_000_000_000
        return Card(f"card of {text.strip()}", int(size_gib * factor))
    return named(text)


def this_machine() -> Card:
    """The machine's own memory."""
    memory = psutil.virtual_memory()
    return Card("this machine's memory", memory.total, free_bytes=memory.available, is_cpu=True)


def found() -> Card:
    """The first card that the driver shows to this process, or the machine's memory."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return this_machine()
    try:
        count = int(pynvml.nvmlDeviceGetCount())
        if not count:
            return this_machine()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
        name = pynvml.nvmlDeviceGetName(handle)
        return Card(str(name), int(memory.total), free_bytes=int(memory.free), count=count)
    except pynvml.NVMLError as error:
        raise SetupError(
            f"The driver is there but does not tell of its first card: {error}. Name the card "
            "with --card."
        ) from None
    finally:
        pynvml.nvmlShutdown()


def describe(card: Card) -> str:
    """For people."""
    count = f"{card.count} x " if card.count > 1 else ""
    return f"{count}{card.name}, {gib(card.total_bytes)}"


def _plain(name: str) -> str:
    words = name.lower().replace("nvidia", "").replace("geforce", "").replace("gb", "")
    return "".join(letter for letter in words if letter.isalnum())
