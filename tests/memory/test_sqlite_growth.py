"""The memory provider sqlite: what a store costs when it has grown; ``benchmarks/memory_growth.py`` takes the time."""

import random
import threading
import time

import pytest

WORDS = [f"{start}{middle}{end}" for start in "bdfgklmnprst" for middle in "aeiou" for end in ("nd", "rk", "lt", "mp")]


def tell(provider, count, chance):
    """Tell so many turns of random words, a session for every ten."""
    for number in range(count):
        said, answered = (" ".join(chance.choices(WORDS, k=20)) for _ in range(2))
        provider.sync_turn(said, answered, session_id=f"s{number // 10}")
    provider.flush()


def steps_of_a_turn(provider, chance):
    """How many steps of its virtual machine SQLite takes to write a turn, the mean of a hundred."""
    steps = []
    with provider._store.writing() as connection:
        connection.set_progress_handler(lambda: steps.append(1), 1)
    for _ in range(100):
        tell(provider, 1, chance)
    with provider._store.writing() as connection:
        connection.set_progress_handler(None, 1)
    return len(steps) / 100


@pytest.mark.parametrize("semantic", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_writing_costs_the_same_in_a_store_twenty_times_as_large(memory, semantic):
    """A turn is written in about as many steps among 8,000 messages as among 400; one scan would take thousands."""
    chance = random.Random(3)
    provider = memory(settings={"semantic": semantic})
    tell(provider, 200, chance)
    small = steps_of_a_turn(provider, chance)
    tell(provider, 3_800, chance)
    assert 0 < steps_of_a_turn(provider, chance) < 5 * small


@pytest.mark.slow
def test_who_is_faster_than_the_disk_waits_instead_of_filling_the_memory(told):
    """Turns that are not written yet are bounded; handing over more waits for room, and none is lost."""
    provider = told("hello")
    handed = []

    def hand_over():
        for number in range(25_000):
            provider.sync_turn(f"turn {number}", "", session_id="many")
            handed.append(number)

    with provider._store.writing():
        thread = threading.Thread(target=hand_over)
        thread.start()
        time.sleep(2)
        assert len(handed) < 25_000
    thread.join()
    provider.flush()
    assert sum(row["session"] == "many" for row in provider.export_records()) == 25_000
