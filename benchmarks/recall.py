"""How much of what was said the memory provider sqlite brings back: ``python benchmarks/recall.py locomo10.json``.

The file is ``data/locomo10.json`` of https://github.com/snap-research/locomo. Each of its conversations is told turn by
turn to a provider in a temporary home, which is then closed, opened again, and asked each question in a new session.
"""

import json
import re
import sys
import tempfile
from datetime import datetime
from statistics import mean, median
from time import perf_counter

from hermes_core import Host

BUDGETS = (500, 1000, 2000)
RUN = 5
SHARE = 0.6
MISLEADING = 5
"""The category of questions that are made to mislead; they are left out."""


def words(text):
    return re.findall(r"[^\W_]+", text.lower().replace("'", "").replace("\u2019", ""))


def runs(found):
    return {tuple(found[place : place + RUN]) for place in range(len(found) - RUN + 1)}


def is_told(said, speaker, text):
    """Whether a message stands in a text: most of its runs of words, or a short one as a whole."""
    wanted = words(said)
    if len(wanted) > RUN:
        return len(runs(wanted) & runs(words(text))) >= SHARE * len(runs(wanted))
    short = [*words(speaker), *wanted] if len(wanted) < 4 else wanted
    return f" {' '.join(short)} " in f" {' '.join(words(text))} "


def sessions(conversation):
    """Session by session: its name and its messages, each an id, a speaker, a text and what the provider is told."""
    number = 1
    while f"session_{number}_date_time" in conversation:
        when = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        stamp = f"{when.day} {when:%B %Y %H:%M}"
        messages = []
        for turn in conversation.get(f"session_{number}", ()):
            caption = f" [shared a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            told = f"[{stamp}] {turn['speaker']}: {turn['text']}{caption}"
            messages.append((turn["dia_id"], turn["speaker"], turn["text"], told))
        yield f"s{number}", messages
        number += 1


def opened(host, session):
    provider = host.memory_provider("sqlite")
    provider.initialize(session, hermes_home=str(host.home))
    return provider


def measure(raw):
    """Recall of each question at each budget, and the milliseconds that each recall took."""
    recalls, took = [], []
    with tempfile.TemporaryDirectory() as home, Host.load(home) as host:
        known = {}
        provider = opened(host, "s1")
        for name, messages in sessions(raw["conversation"]):
            known |= {id_: (said, speaker) for id_, speaker, said, _ in messages}
            told = [message[3] for message in messages] + [""]
            for place in range(0, len(messages), 2):
                provider.sync_turn(told[place], told[place + 1], session_id=name)
        provider.shutdown()
        provider = opened(host, "ask")
        provider.prefetch("the model is loaded first")
        for question in raw["qa"]:
            marked = {id_ for id_ in re.findall(r"D\d+:\d+", " ".join(question.get("evidence", ()))) if id_ in known}
            if not marked or question["category"] == MISLEADING:
                continue
            row = []
            for budget in BUDGETS:
                provider.prefetch_tokens = budget
                start = perf_counter()
                text = provider.prefetch(question["question"], session_id="ask")
                took.append((perf_counter() - start) * 1000)
                row.append(mean(is_told(*known[id_], text) for id_ in marked))
            recalls.append(row)
        provider.shutdown()
    return recalls, took


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        conversations = json.load(file)
    recalls, took = [], []
    for raw in conversations:
        found, times = measure(raw)
        print(
            raw["sample_id"], *(f"{budget}: {100 * mean(column):.1f}%" for budget, column in zip(BUDGETS, zip(*found)))
        )
        recalls += found
        took += times
    shares = (f"{budget}: {100 * mean(column):.1f}%" for budget, column in zip(BUDGETS, zip(*recalls)))
    print(f"all {len(recalls)} questions", *shares, f"recall p50 {median(took):.2f} ms")


if __name__ == "__main__":
    main()
