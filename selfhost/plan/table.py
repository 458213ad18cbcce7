"""The plan and the check as tables for people."""

from __future__ import annotations

import shlex

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from selfhost.plan.cards import describe
from selfhost.plan.comparison import Check, Comparison
from selfhost.plan.estimate import GIB, Estimate, gib
from selfhost.plan.flags import VllmFlags
from selfhost.plan.outcome import Generation, Plan, Row, Verdict

_STYLE = {Verdict.YES: "green", Verdict.LIKELY: "yellow", Verdict.NO: "bold red"}
COLUMNS = ("weights", "KV", "activ.", "other", "total")


def print_plan(plan: Plan, console: Console) -> None:
    """Everything that the plan says."""
    console.print(Group(*_parts(plan)))


def _parts(plan: Plan) -> list[RenderableType]:
    parts: list[RenderableType] = [Text(describe(plan.card), style="bold"), _sizes(plan)]
    parts += [_verdicts(plan), Text("")]
    for row in plan.rows:
        if row.generation is not None:
            parts += [_generation(row.name, row.generation), Text("")]
    parts.append(_order(plan))
    parts += [Text(f"Note: {note}", style="dim") for note in plan.notes]
    return parts


def _sizes(plan: Plan) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("GiB", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column, justify="right")
    table.add_column("error band", justify="right", style="dim", no_wrap=True)
    for row in plan.rows:
        table.add_row(row.name, *_cells(row), _range(row.all))
    table.add_section()
    sums = [_sum(plan, name) for name in ("weights", "cache", "activations", "overhead")]
    table.add_row(
        "together",
        *[_number(one) for one in sums],
        _number(plan.all.bytes),
        _range(plan.all),
        style="bold",
    )
    return table


def _cells(row: Row) -> list[str]:
    parts = (row.weights, row.cache, row.activations, row.overhead, row.all)
    return [_number(part.bytes) for part in parts]


def _sum(plan: Plan, part: str) -> int:
    return sum(getattr(row, part).bytes for row in plan.rows)


def _number(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.2f}" if size_bytes else "–"


def _range(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return ""
    return f"{estimate.low / GIB:.2f}–{estimate.high / GIB:.2f}"


def _verdicts(plan: Plan) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    room = gib(plan.room_bytes)
    in_use = f" ({gib(plan.in_use_bytes)} in use by others)" if plan.in_use_bytes else ""
    table.add_row("Room for models", f"{room}{in_use}")
    for what, verdict, need in (
        ("The models fit", plan.models_fit, plan.fixed),
        ("The workload fits", plan.workload_fits, plan.all),
    ):
        answer = Text(verdict.value, style=_STYLE[verdict])
        if verdict is Verdict.NO:
            over = need.bytes - plan.room_bytes
            answer.append(f": {gib(over)} too much" if over > 0 else ": not in vLLM's share")
        table.add_row(what, answer)
    return table


def _generation(name: str, generation: Generation) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False, title=None)
    table.add_column(style="dim")
    table.add_column()
    least, most = generation.sequences_fit_least, generation.sequences_fit_most
    span = "" if least == most else f" (between {least:,} and {most:,})"
    table.add_row(
        "asked for",
        f"{generation.sequences:,} sequences of {generation.context_tokens:,} tokens at once",
    )
    table.add_row("fit", f"{generation.sequences_fit:,} of them{span}")
    if generation.flags is not None:
        table.add_row(
            "cache",
            f"{gib(generation.cache_bytes)}{_each(generation)} = {generation.cache_tokens:,} "
            f"tokens, {generation.concurrency:.2f}x",
        )
    for saving in generation.savings:
        table.add_row(
            saving.precision.upper(),
            f"would free {gib(saving.frees_bytes)}{_each(generation)}: "
            f"{saving.sequences_then:,} sequences",
        )
    if generation.flags is None:
        table.add_row("flags", Text("none: not even one sequence fits", style="bold red"))
    else:
        table.add_row(f"{generation.engine} flags", Text(_flags(generation), overflow="fold"))
    heading = Text(f"{name} ({generation.engine}, {generation.precision})", style="bold")
    return Group(heading, Padding(table, (0, 0, 0, 2)))


def _each(generation: Generation) -> str:
    return f" on each of {generation.ranks} cards" if generation.ranks > 1 else ""


def _flags(generation: Generation) -> str:
    flags = generation.flags
    assert flags is not None
    environment = flags.environment() if isinstance(flags, VllmFlags) else {}
    settings = [f"{key}={value}" for key, value in environment.items()]
    return " ".join([*settings, shlex.join(flags.arguments())])


def _order(plan: Plan) -> RenderableType:
    lines: list[RenderableType] = [Text("Start order", style="bold")]
    for number, step in enumerate(plan.start_order, 1):
        waits = f", once {' and '.join(step.waits_for)} is healthy" if step.waits_for else ""
        lines.append(Padding(f"{number}. {step.name}{waits}: {step.reason}", (0, 0, 0, 2)))
    for one in plan.started_together:
        if one.worst_bytes < one.in_order_bytes:
            crash = ": it would crash" if one.worst_bytes <= 0 else ""
            lines.append(
                Padding(
                    f"Without this order {one.name} could end up with {gib(one.worst_bytes)} of "
                    f"cache instead of {gib(one.in_order_bytes)}{crash}.",
                    (0, 0, 0, 2),
                )
            )
    return Group(*lines)


def print_check(check: Check, console: Console) -> None:
    """Predicted against actual."""
    version = f", vLLM {check.log.version}" if check.log.version else ""
    where = " on CPU" if check.log.on_cpu else ""
    console.print(Text(f"{check.model}{version}{where}", style="bold"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for column in ("predicted", "actual", "difference"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("")
    for one in check.comparisons:
        table.add_row(
            one.what,
            _amount(one, one.predicted),
            _amount(one, one.actual),
            "–" if one.difference is None else f"{one.difference:+.1%}",
            _holds(one),
        )
    console.print(table)
    for given in dict.fromkeys(one.given for one in check.comparisons if one.given):
        about = " and ".join(one.what for one in check.comparisons if one.given == given)
        console.print(Text(f"Predicted from {given}: {about}.", style="dim"))
    for what in check.not_found:
        console.print(f"Not in the log: {what}.")


def _holds(one: Comparison) -> Text:
    if one.tolerance is None and one.band is None:
        return Text("not promised", "dim")
    if one.holds:
        return Text("as promised" if one.tolerance is not None else "within its band", "green")
    if one.tolerance is not None:
        return Text(f"off by more than {one.tolerance:.0%}", "bold red")
    return Text("outside its band", "yellow")


def _amount(one: Comparison, value: float) -> str:
    if one.unit == "bytes":
        return gib(value)
    return f"{value:.2f}x" if one.unit == "x" else f"{value:,.0f} {one.unit}"
