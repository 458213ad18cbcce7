"""The plan and the check as data for tools: sizes in bytes, absent figures null."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from selfhost.plan.comparison import Check
from selfhost.plan.estimate import Estimate
from selfhost.plan.flags import VllmFlags
from selfhost.plan.outcome import Generation, Plan, Row


def plan_data(plan: Plan) -> dict[str, Any]:
    """The whole plan in JSON types."""
    return {
        "card": asdict(plan.card),
        "in_use_bytes": plan.in_use_bytes,
        "room_bytes": plan.room_bytes,
        "models": [_row(row) for row in plan.rows],
        "together": {"fixed": _estimate(plan.fixed), "all": _estimate(plan.all)},
        "models_fit": plan.models_fit.name.lower(),
        "workload_fits": plan.workload_fits.name.lower(),
        "start_order": [asdict(step) for step in plan.start_order],
        "started_together": [asdict(one) for one in plan.started_together],
        "notes": list(plan.notes),
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "process": row.process,
        "weights": _estimate(row.weights),
        "kv_cache": _estimate(row.cache),
        "activations": _estimate(row.activations),
        "overhead": _estimate(row.overhead),
        "total": _estimate(row.all),
        "generation": None if row.generation is None else _generation(row.generation),
    }


def _generation(generation: Generation) -> dict[str, Any]:
    data = asdict(generation)
    data["engine"] = generation.engine.value
    flags = generation.flags
    if flags is not None:
        data["flags"] = {
            "arguments": list(flags.arguments()),
            "environment": flags.environment() if isinstance(flags, VllmFlags) else {},
        }
    return data


def _estimate(estimate: Estimate) -> dict[str, int]:
    return {
        "bytes": estimate.bytes,
        "low_bytes": estimate.low,
        "high_bytes": estimate.high,
    }


def check_data(check: Check) -> dict[str, Any]:
    """The whole check in JSON types."""
    return {
        "model": check.model,
        "holds": check.holds,
        "comparisons": [
            {
                "what": one.what,
                "unit": one.unit,
                "predicted": one.predicted,
                "actual": one.actual,
                "difference": one.difference,
                "holds": one.holds,
                "tolerance": one.tolerance,
                "from": one.given,
            }
            for one in check.comparisons
        ],
        "not_found": list(check.not_found),
        "log": asdict(check.log),
    }
