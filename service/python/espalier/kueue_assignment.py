"""Assignments in the form of Kueue's API (v1beta2), as the status of a Workload has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from espalier.model import Assignment, Domain

_DOMAINS_PER_SLICE = 100_000  # the most that the API takes


def assignment_to_object(assignment: Assignment) -> dict[str, Any]:
    """Returns the `topologyAssignment` of an assignment: what all values of a level have in common
    at their ends stands once."""
    return {
        "levels": list(assignment.levels),
        "slices": [
            _slice(assignment.domains[first : first + _DOMAINS_PER_SLICE])
            for first in range(0, len(assignment.domains), _DOMAINS_PER_SLICE)
        ],
    }


def assignment_from_object(topology_assignment: Mapping[str, Any]) -> Assignment:
    """Returns the assignment of a `topologyAssignment`. KeyError and ValueError where it is not
    whole."""
    domains: list[Domain] = []
    for one in topology_assignment["slices"]:
        count = one["domainCount"]
        columns = [_values(level, count) for level in one["valuesPerLevel"]]
        pods = one["podCounts"]
        counts = [pods["universal"]] * count if "universal" in pods else pods["individual"]
        domains += (
            Domain(tuple(values), number) for *values, number in zip(*columns, counts, strict=True)
        )
    return Assignment(tuple(topology_assignment["levels"]), tuple(domains))


def _slice(domains: Sequence[Domain]) -> dict[str, Any]:
    counts = [one.pods for one in domains]
    return {
        "domainCount": len(domains),
        "valuesPerLevel": [
            _level(values) for values in zip(*(one.values for one in domains), strict=True)
        ],
        "podCounts": {"individual": counts} if len(set(counts)) > 1 else {"universal": counts[0]},
    }


def _level(values: Sequence[str]) -> dict[str, Any]:
    if len(set(values)) == 1:
        return {"universal": values[0]}
    suffix = _common_prefix([one[::-1] for one in values])[::-1]
    # Of the shortest value, which both ends may claim, the suffix is kept whole.
    prefix = _common_prefix([one.removesuffix(suffix) for one in values])
    individual: dict[str, Any] = {}
    if prefix:
        individual["prefix"] = prefix
    if suffix:
        individual["suffix"] = suffix
    individual["roots"] = [one.removesuffix(suffix)[len(prefix) :] for one in values]
    return {"individual": individual}


def _common_prefix(values: Sequence[str]) -> str:
    first, last = min(values), max(values)  # what these two share is shared by all between them
    for position, character in enumerate(first):
        if last[position] != character:
            return first[:position]
    return first


def _values(level: Mapping[str, Any], count: int) -> list[str]:
    if "universal" in level:
        return [level["universal"]] * count
    each = level["individual"]
    return [each.get("prefix", "") + root + each.get("suffix", "") for root in each["roots"]]
