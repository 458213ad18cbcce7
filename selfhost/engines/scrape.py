"""Reading an engine's metrics page. What is missing is an error and never zero: a renamed metric
would otherwise look like an engine at rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families


class MissingMetricError(Exception):
    """The page does not have a metric that it must."""


def samples(page: str) -> Mapping[str, float]:
    """Each sample's value by its exact name, added up over its labels (such as engine numbers).

    Args:
        page: text in Prometheus' exposition format.

    Raises:
        MissingMetricError: the page is in another format.
    """
    totals: dict[str, float] = defaultdict(float)
    try:
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                totals[sample.name] += sample.value
    except ValueError as error:
        raise MissingMetricError(f"the metrics page cannot be read: {error}") from error
    return dict(totals)


def value(found: Mapping[str, float], name: str) -> float:
    """
    Raises:
        MissingMetricError: there is no such sample.
    """
    try:
        return found[name]
    except KeyError:
        raise MissingMetricError(
            f"the engine's metrics have no {name}; this release of it was not tested here"
        ) from None
