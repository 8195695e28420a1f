"""The memory provider sqlite: what a store costs when it has grown."""

import random
import threading
import time
from statistics import median

import pytest

WORDS = [f"{start}{middle}{end}" for start in "bdfgklmnprst" for middle in "aeiou" for end in ("nd", "rk", "lt", "mp")]


def fill(provider, count, chance):
    """Tell so many turns; returns the seconds of processor time that writing one took."""
    start = time.process_time()
    for number in range(count):
        said, answered = (" ".join(chance.choices(WORDS, k=20)) for _ in range(2))
        provider.sync_turn(said, answered, session_id=f"s{number // 10}")
    provider.flush()
    return (time.process_time() - start) / count


def seconds_of(call, repeat=9):
    """Processor time of a call in this thread, the median of several."""
    taken = []
    for _ in range(repeat):
        start = time.thread_time()
        call()
        taken.append(time.thread_time() - start)
    return median(taken)


@pytest.mark.slow
@pytest.mark.parametrize("semantic", [False, True])
def test_writing_opening_and_handing_over_cost_the_same_in_a_store_twenty_times_as_large(memory, semantic):
    """A turn is written, handed over and a file opened as fast among 40,000 messages as among 2,000."""
    chance = random.Random(3)
    settings = {"semantic": semantic}
    provider = memory(settings=settings)
    fill(provider, 500, chance)
    small = [fill(provider, 500, chance), seconds_of(lambda: memory(settings=settings))]
    fill(provider, 18_500, chance)
    large = [fill(provider, 500, chance), seconds_of(lambda: memory(settings=settings))]
    assert large[0] < 2 * small[0]
    assert large[1] < max(2 * small[1], 0.05)
    assert seconds_of(lambda: provider.sync_turn("hello", "there"), 99) < 0.001
    assert seconds_of(lambda: provider.prefetch(" ".join(WORDS[:4])), 99) < 0.05


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
