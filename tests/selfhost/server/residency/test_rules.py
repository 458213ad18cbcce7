"""Who is evicted for whom: against every possible choice, and the cases that others got wrong."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from selfhost.server.residency.rules import (
    Evict,
    Phase,
    Refuse,
    Reserve,
    Resident,
    Wait,
    after_measuring,
    choose_victims,
    decide,
    held_bytes,
    idle_too_long,
)


def loaded(id_: str, memory_bytes: int, idle_since_s: float = 0.0, **more: object) -> Resident:
    return Resident(id_, memory_bytes, Phase.LOADED, idle_since_s=idle_since_s, **more)  # type: ignore[arg-type]


@st.composite
def resident_lists(draw: st.DrawFn) -> list[Resident]:
    return [
        Resident(
            f"m{number}",
            draw(st.integers(1, 12)),
            draw(st.sampled_from([Phase.LOADED] * 5 + list(Phase))),
            users=draw(st.sampled_from([0, 0, 0, 1, 3])),
            is_pinned=draw(st.sampled_from([False, False, False, True])),
            idle_since_s=draw(st.integers(0, 5)),
        )
        for number in range(draw(st.integers(0, 7)))
    ]


def best(
    needed_bytes: int, residents: list[Resident]
) -> tuple[int, list[tuple[float, str]]] | None:
    """By trying every choice: the fewest, and of these the longest idle, the last used first."""
    found = [
        (len(chosen), sorted(((one.idle_since_s, one.id) for one in chosen), reverse=True))
        for count in range(1, len(residents) + 1)
        for chosen in combinations([one for one in residents if one.is_evictable], count)
        if held_bytes(chosen) >= needed_bytes
    ]
    return min(found, default=None)


@given(resident_lists(), st.integers(1, 40))
def test_the_victims_are_the_best_of_all_choices(
    residents: list[Resident], needed_bytes: int
) -> None:
    victims = choose_victims(needed_bytes, residents)
    by_id = {one.id: one for one in residents}
    expected = best(needed_bytes, residents)
    if expected is None:
        assert victims == ()
    else:
        chosen = sorted(((by_id[id_].idle_since_s, id_) for id_ in victims), reverse=True)
        assert (len(victims), chosen) == expected


@given(resident_lists(), st.integers(1, 60), st.integers(1, 60), st.integers(0, 20))
def test_no_decision_promises_bytes_twice_or_touches_what_is_used(
    residents: list[Resident], wanted_bytes: int, budget_bytes: int, promised_bytes: int
) -> None:
    decision = decide(
        wanted_bytes, residents, budget_bytes=budget_bytes, promised_bytes=promised_bytes
    )
    by_id = {one.id: one for one in residents}
    # What remains once every model that is closing is gone.
    staying = [one for one in residents if one.phase is not Phase.CLOSING]
    match decision:
        case Reserve():
            assert held_bytes(residents) + wanted_bytes <= budget_bytes
            assert held_bytes(staying) + promised_bytes + wanted_bytes <= budget_bytes
        case Evict(victims):
            gone = {by_id[id_] for id_ in victims}
            assert all(one.phase is Phase.LOADED for one in gone)
            assert not any(one.users or one.is_pinned for one in gone)
            kept = [one for one in staying if one not in gone]
            assert held_bytes(kept) + promised_bytes + wanted_bytes <= budget_bytes
            for one in gone:  # none of them needlessly
                assert (
                    held_bytes(kept) + one.memory_bytes + promised_bytes + wanted_bytes
                    > budget_bytes
                )
        case Wait(is_promised=True):
            assert held_bytes(staying) + promised_bytes + wanted_bytes <= budget_bytes
        case Wait(is_promised=False):
            stuck = [one for one in staying if not one.is_evictable]
            assert held_bytes(stuck) + promised_bytes + wanted_bytes > budget_bytes
        case Refuse(reason):
            pinned = [one for one in residents if one.is_pinned and one.phase is Phase.LOADED]
            assert wanted_bytes > budget_bytes - held_bytes(pinned)
            assert "MB" in reason


def test_one_is_evicted_where_one_suffices_and_not_the_three_that_were_used_longer_ago() -> None:
    residents = [loaded("a", 2, 1), loaded("b", 2, 2), loaded("c", 2, 3), loaded("d", 6, 4)]
    assert decide(6, residents, budget_bytes=12) == Evict(("d",))


def test_of_several_that_suffice_the_least_recently_used_goes() -> None:
    residents = [loaded("new", 4, 9), loaded("old", 4, 1), loaded("older but small", 1, 0)]
    assert decide(4, residents, budget_bytes=9) == Evict(("old",))


def test_a_load_in_flight_holds_what_it_was_promised() -> None:
    """Of two loads that would fit one at a time, the second may not begin beside the first."""
    in_flight = Resident("a", 6, Phase.LOADING)
    assert decide(6, [in_flight], budget_bytes=10) == Wait(is_promised=False)


def test_what_is_being_closed_is_not_free_yet_but_nobody_else_is_evicted_for_it() -> None:
    residents = [Resident("a", 6, Phase.CLOSING), loaded("b", 4)]
    assert decide(6, residents, budget_bytes=10) == Wait(is_promised=True)
    assert decide(6, residents, budget_bytes=10, promised_bytes=6) == Wait(is_promised=False)
    assert decide(4, residents, budget_bytes=10, promised_bytes=6) == Evict(("b",))


def test_nothing_in_use_loading_pinned_or_ending_is_evicted() -> None:
    residents = [
        loaded("in use", 2, users=1),
        loaded("pinned", 2, is_pinned=True),
        Resident("loading", 2, Phase.LOADING),
        Resident("draining", 2, Phase.DRAINING, users=1),
    ]
    assert decide(4, residents, budget_bytes=8) == Wait(is_promised=False)


def test_what_never_fits_is_refused_and_says_why() -> None:
    too_large = decide(11_000_000, [], budget_bytes=10_000_000)
    assert isinstance(too_large, Refuse)
    assert "11 MB" in too_large.reason
    assert "MODEL_SERVER_MEMORY_BYTES" in too_large.reason
    beside_pinned = decide(
        8_000_000, [loaded("ears", 3_000_000, is_pinned=True)], budget_bytes=10_000_000
    )
    assert isinstance(beside_pinned, Refuse)
    assert "ears" in beside_pinned.reason


def test_a_model_larger_than_thought_makes_room_or_cannot_stay() -> None:
    grown = Resident("grown", 8, Phase.LOADING)
    assert after_measuring([grown, loaded("idle", 2)], budget_bytes=10) == ()
    assert after_measuring([grown, loaded("idle", 4)], budget_bytes=10) == ("idle",)
    assert after_measuring([grown, loaded("busy", 4, users=1)], budget_bytes=10) is None


def test_idle_time_counts_from_the_end_of_the_last_use() -> None:
    residents = [loaded("idle", 1, 10), loaded("busy", 1, 0, users=1), loaded("fresh", 1, 15)]
    assert idle_too_long(residents, now_s=20, limit_s=10) == ("idle",)
