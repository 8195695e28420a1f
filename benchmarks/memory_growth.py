"""What the memory provider sqlite costs when it has grown: ``python benchmarks/memory_growth.py [TURNS ...]``.

Each line is one size of the same store, in a temporary home. Writing is processor time of the whole process, a turn;
handing over, recalling and opening are wall time, the median of several.
"""

import random
import sys
import tempfile
from statistics import median
from time import perf_counter, process_time

from hermes_core import Host

WORDS = [f"{start}{middle}{end}" for start in "bdfgklmnprst" for middle in "aeiou" for end in ("nd", "rk", "lt", "mp")]
MEASURED = 500


def tell(provider, count, chance):
    """Tell so many turns of random words; returns the milliseconds of processor time that writing one took."""
    start = process_time()
    for number in range(count):
        said, answered = (" ".join(chance.choices(WORDS, k=20)) for _ in range(2))
        provider.sync_turn(said, answered, session_id=f"s{number // 10}")
    provider.flush()
    return (process_time() - start) * 1000 / count


def milliseconds(call, repeat):
    """How long a call takes, the median of several."""
    taken = []
    for _ in range(repeat):
        start = perf_counter()
        call()
        taken.append(perf_counter() - start)
    return median(taken) * 1000


def measure(host, provider, chance):
    """One line: ms to write a turn, to hand one over, to recall by four words, to open the file."""

    def reopen():
        other = host.memory_provider("sqlite")
        other.initialize("another", hermes_home=str(host.home))
        other.shutdown()

    written = tell(provider, MEASURED, chance)
    handed = milliseconds(lambda: provider.sync_turn("hello", "there"), 99)
    provider.flush()
    recalled = milliseconds(lambda: provider.prefetch(" ".join(chance.sample(WORDS, 4))), 99)
    return written, handed, recalled, milliseconds(reopen, 9)


def main(sizes):
    for semantic in (False, True):
        print(f"{'by words and meaning' if semantic else 'by words':20}   write ms  hand over ms  recall ms  open ms")
        config = {"memory": {"provider": "sqlite", "sqlite": {"semantic": semantic}}}
        with tempfile.TemporaryDirectory() as home, Host.load(home, config) as host:
            provider, chance, told = host.memory_provider("sqlite"), random.Random(3), 0
            provider.initialize("growth", hermes_home=home)
            for size in sizes:
                tell(provider, size - told, chance)
                written, handed, recalled, opened = measure(host, provider, chance)
                told = size + MEASURED + 99
                print(f"{size:14,} turns {written:10.2f} {handed:13.4f} {recalled:10.1f} {opened:8.1f}", flush=True)
            provider.shutdown()


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000, 20_000])
