"""``hermes setup``: from nothing to a first answer; what is there is found, tried out, and only then written."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.cli.choice import Choice, endpoint_of, obstacle, trial_host, write
from hermes_core.cli.choosing import configured, given, is_other, pick, pick_model, with_key
from hermes_core.cli.outcome import outcome, report
from hermes_core.cli.output import add_json_flag, print_json, print_line, print_text
from hermes_core.cli.picker import Option, choose, confirm, is_interactive
from hermes_core.cli.session import open_host
from hermes_core.config.edit import readable
from hermes_core.errors import HermesError, describe
from hermes_core.llm.model_lists import ModelLists
from hermes_core.llm.plan import Planner

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from hermes_core.host import Host

QUESTION = [{"role": "user", "content": "Say hello in one short sentence."}]
ANSWER_TOKENS = 512
ANSWER_SECONDS = 60.0
CALLER = "hermes-cli"
ANOTHER = "another provider"


class Found(NamedTuple):
    """A provider that could answer now, and what tells so; lowest ``rank`` first."""

    provider: str
    how: str
    rank: tuple[int, int, str]


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "--yes", action="store_true", help="ask nothing: take what is configured, else the best that is found"
    )
    parser.add_argument("--provider", help="take this one")
    parser.add_argument("--model", help="take this model of it")
    parser.add_argument("--base-url", metavar="URL", help="the address of a server of your own")
    parser.add_argument("--key-stdin", action="store_true", help="read a key from standard input, and store it in .env")
    parser.add_argument("--no-test", action="store_true", help="write the choice without asking the model anything")
    add_json_flag(parser)


def run(args: Namespace) -> int:
    """Find, choose, try out, write."""
    named = bool(args.provider or args.base_url)
    quiet = args.yes or named or args.json
    if not quiet and not is_interactive():
        hint = "add --yes to take the best that is found, or name --provider and --model"
        raise HermesError("nobody can be asked: this is no terminal", hint=hint)
    with open_host() as host:
        readable(host.home, host.environment)  # nobody is to answer questions for a file that cannot be written
        try:
            found = find(host)
            if not args.json:
                _tell(host, found)
            choice = _given(host, args) if named else _best(host, found, args) if quiet else _asked(host, found)
            answer = "" if args.no_test else _tried(host, choice, quiet=quiet, as_json=args.json)
        except KeyboardInterrupt:
            print("\nnothing was written", file=sys.stderr)
            return 130
        if answer is None:
            print("nothing was written", file=sys.stderr)
            return 1
        written = write(host, choice)
        if args.json:
            print_json({**outcome(written), "found": [row._asdict() for row in found], "answer": answer})
        else:
            report(host, choice, written)
            print_text('try it: hermes llm "hello"')
    return 0


def find(host: Host) -> list[Found]:
    """The providers that could answer now, best first: configured, with a key, on this machine, without need of one."""
    planner, config, main = Planner.of(host), host.config(), configured(host)
    answering, found = {*ModelLists(host).answering()}, []
    for row in host.providers:
        if row.name not in answering:
            continue
        order = 10**6 if row.auto_rank is None else row.auto_rank
        if row.name == host.providers.resolve(main):
            found.append(Found(row.name, "it is configured", (0, order, row.name)))
        elif row.tier == "config":
            found.append(Found(row.name, "it is in config.yaml", (1, order, row.name)))
        elif row.is_local:
            found.append(
                Found(row.name, f"a server listens at {endpoint_of(host, row.name).base_url}", (3, order, row.name))
            )
        elif row.auth_type == "none":
            profile = host.providers.get(row.name)
            problem = obstacle(host, profile) if profile is not None else None
            how = f"not ready: {problem}; {problem.hint}" if problem is not None else row.description
            found.append(Found(row.name, how, (4 if problem is None else 5, order, row.name)))
        else:
            key = planner.usable(config, row)
            found.append(
                Found(row.name, f"there is a key: {key.source if key is not None else ''}", (2, order, row.name))
            )
    return sorted(found, key=lambda row: row.rank)


def _tell(host: Host, found: list[Found]) -> None:
    print_text(f"the home is {host.home}")
    for row in found:
        print_line(f"found {row.provider}: {row.how}")


def _given(host: Host, args: Namespace) -> Choice:
    """The choice that the command line makes."""
    whole = Namespace(base_url=args.base_url, key_stdin=args.key_stdin)
    return given(host, whole, args.provider or "", args.model or "")


def _best(host: Host, found: list[Found], args: Namespace) -> Choice:
    """The best that was found, with the model that its list begins with.

    Raises:
        HermesError: Nothing was found.
    """
    for row in found:
        is_new = is_other(host, row.provider)
        model = args.model or ("" if is_new else host.config().text("model", "default"))
        if not model:
            (listed,) = host.models(row.provider, refresh=True)
            model = next(iter(listed.models), "")
        if model:
            name = row.provider if is_new else configured(host)
            return Choice(name, model, is_new=is_new)
    raise HermesError(
        "nothing was found that could answer", hint="put a key into .env, or name --provider and --base-url"
    )


def _asked(host: Host, found: list[Found]) -> Choice:
    """The choice that a person makes."""
    options = [Option(row.provider, row.how) for row in found]
    name = choose("Who shall answer?", [*options, Option(ANOTHER, "every provider there is")])
    if name == ANOTHER:
        return pick(host)
    choice = with_key(host, Choice(name, is_new=is_other(host, name)))
    return choice._replace(model=pick_model(host, choice))


def _tried(host: Host, choice: Choice, *, quiet: bool, as_json: bool) -> str | None:
    """What the model answers to a first question; None when it does not, and the choice is dropped."""
    begun = time.monotonic()
    if not as_json:
        print_text(f"asking {choice.provider} / {choice.model} …")
    try:
        with trial_host(host, choice) as trial:
            answer = trial.llm(CALLER).complete(
                QUESTION, max_tokens=ANSWER_TOKENS, timeout=ANSWER_SECONDS, purpose="setup"
            )
    except HermesError as error:
        if quiet:
            print("nothing was written", file=sys.stderr)
            raise
        print_text(f"it did not answer: {describe(error)}")
        print_text(f"hint: {error.hint}")
        return "" if confirm("write the choice all the same?", default=False) else None
    if not as_json:
        print_text(f"it answered within {time.monotonic() - begun:.1f} s: {answer.text}")
    return answer.text
