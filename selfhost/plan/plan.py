"""The plan: what each model takes on a card, what all take together, and whether that fits.

Pure. "The models fit" and "the workload fits" are two answers: weights, activations and overhead
say the first, and the cache for so many sequences of such a length the second.
"""

from __future__ import annotations

from collections.abc import Sequence

from selfhost.plan import flags, overhead, small_models
from selfhost.plan.architecture import Architecture
from selfhost.plan.cards import Card
from selfhost.plan.estimate import Estimate, gib, total
from selfhost.plan.flags import VllmFlags
from selfhost.plan.generator import Generator, process_name, row, work_out
from selfhost.plan.outcome import Plan, Row, Verdict, verdict
from selfhost.plan.small_models import SmallModel
from selfhost.plan.start_order import Starter, order, started_together
from selfhost.plan.wanted import Engine, Wanted

MODEL_SERVER = "model server"


def plan(
    card: Card,
    wanted: Sequence[Wanted],
    *,
    others: Sequence[tuple[str, int]] = (),
) -> Plan:
    """Plan a card, or a machine's memory.

    Args:
        card: what there is.
        wanted: the models.
        others: further processes with what they take, in bytes.

    Raises:
        SetupError: a model or its workload makes no sense.
    """
    generators = [work_out(one, card) for one in wanted if isinstance(one.model, Architecture)]
    small = [one.model for one in wanted if isinstance(one.model, SmallModel)]
    in_use = max(0, card.total_bytes - card.free_bytes) if card.free_bytes is not None else 0
    room = max(0, card.total_bytes - in_use - flags.MARGIN_BYTES)
    other_rows = [*_small_rows(small, card), *_other_rows(others)]
    fixed = total(
        [row.fixed for row in other_rows] + [one.fixed_inside + one.outside for one in generators]
    )
    needed = total([Estimate.exact(one.needed_bytes) for one in generators])
    rows = [
        *(row(one, card, room, fixed, needed.bytes) for one in generators),
        *other_rows,
    ]
    workload_fits = verdict(fixed + needed, room)
    for one in generators:
        # A share that the user set may be too small for it, however much room there is.
        if (share_bytes := one.share_bytes(card)) is not None:
            in_share = verdict(one.fixed_inside + Estimate.exact(one.needed_bytes), share_bytes)
            workload_fits = min(workload_fits, in_share, key=list(Verdict).index)
    starters = _starters(rows, card, generators)
    return Plan(
        card=card,
        in_use_bytes=in_use,
        room_bytes=room,
        rows=tuple(rows),
        models_fit=verdict(fixed, room),
        workload_fits=workload_fits,
        start_order=order(starters),
        started_together=started_together(starters) if len(starters) > 1 else (),
        notes=_notes(generators, small, card),
    )


def _small_rows(models: Sequence[SmallModel], card: Card) -> list[Row]:
    none = Estimate.exact(0)
    on_gpu = not card.is_cpu
    rows = [
        Row(
            name=model.name,
            process=MODEL_SERVER,
            weights=small_models.weights(model, on_gpu=on_gpu),
            cache=none,
            activations=small_models.scratch(model, on_gpu=on_gpu),
            overhead=none,
        )
        for model in models
    ]
    if rows:
        process = overhead.CONTEXT if on_gpu else overhead.MODEL_SERVER
        rows.append(Row("model server itself", MODEL_SERVER, none, none, none, process))
    return rows


def _other_rows(others: Sequence[tuple[str, int]]) -> list[Row]:
    none = Estimate.exact(0)
    return [
        Row(name, name, none, none, none, Estimate.within(size_bytes, 0.3))
        for name, size_bytes in others
    ]


def _starters(
    rows: Sequence[Row], card: Card, generators: Sequence[Generator]
) -> tuple[Starter, ...]:
    on_card = not card.is_cpu
    starters = [
        Starter(
            name=process_name(one.engine, one.architecture),
            measures_the_card=on_card and one.engine is Engine.VLLM,
            on_card=on_card,
            fixed_bytes=one.fixed_inside.bytes,
            share_bytes=_share_bytes(row, card),
        )
        for one, row in zip(generators, rows, strict=False)
    ]
    server = [row for row in rows if row.process == MODEL_SERVER]
    if server:
        starters.append(
            Starter(
                MODEL_SERVER,
                measures_the_card=False,
                on_card=on_card,
                fixed_bytes=total([row.fixed for row in server]).bytes,
            )
        )
    return tuple(starters)


def _share_bytes(row: Row, card: Card) -> int | None:
    used = row.generation.flags if row.generation else None
    if not isinstance(used, VllmFlags) or used.gpu_memory_utilization is None:
        return None
    return int(card.total_bytes * used.gpu_memory_utilization)


def _notes(
    generators: Sequence[Generator], small: Sequence[SmallModel], card: Card
) -> tuple[str, ...]:
    notes = []
    shared = [one for one in generators if one.wanted.ranks > 1]
    if shared:
        notes.append(
            "Sizes are those of each card. The engine takes the smallest cache over its cards, so "
            "the other models belong on the card with the most room."
        )
    for one in generators:
        name = one.wanted.precision
        if name in ("int8", "w8a8", "int4") and one.architecture.quantisation is None:
            notes.append(
                f"vLLM makes no {name} of {one.architecture.name} while it loads: serve a "
                "checkpoint that is quantised so."
            )
    if small and not card.is_cpu:
        notes.append(
            "What the model server's models need besides their weights was not measured on a card."
        )
    if card.free_bytes is not None:
        used = gib(card.total_bytes - card.free_bytes)
        notes.append(
            f"Others have {used} of it now, which the plan leaves them. If that is this product "
            "itself, stop it and plan again."
        )
    if any(one.engine is Engine.VLLM for one in generators) and card.is_cpu:
        notes.append("vLLM takes its cache on CPU in whole GiB, and all of it when it starts.")
    return tuple(notes)
