"""``hermes llm``: one question to the model, from the shell."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.cli.commands.run import read_piped, read_text
from hermes_core.cli.output import add_json_flag, print_json, print_text
from hermes_core.cli.session import open_host
from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

CALLER = "hermes-cli"
"""The plugin id of these calls, for the trust gate and the audit."""


INTERMIXED = True
"""Options may stand among the words."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("prompt", nargs="*", help="what to ask; standard input is added to it when piped")
    parser.add_argument("--system", help="a system message")
    parser.add_argument("--schema", metavar="FILE", help="a JSON schema the answer must match")
    parser.add_argument("--image", metavar="FILE", action="append", default=[], help="an image to send along")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="limit of the answer, in tokens")
    parser.add_argument("--temperature", type=float, metavar="T", help="0 to 2")
    parser.add_argument("--purpose", help="why, for the audit log")
    add_json_flag(parser)


def run(args: Namespace) -> int:
    """Ask, and print the answer."""
    asked, piped = " ".join(args.prompt).strip(), read_piped().strip()
    if not asked and not piped:
        raise HermesError("no prompt", hint='write one: hermes llm "your question", or pipe it in')
    sampling = {"max_tokens": args.max_tokens, "temperature": args.temperature, "purpose": args.purpose or "cli"}
    with open_host() as host:
        llm = host.llm(CALLER)
        try:
            if args.schema or args.image:
                material = [{"type": "text", "text": piped}] if piped else []
                if not material and not args.image:  # the words are sent once, as what the answer is about
                    material, asked = [{"type": "text", "text": asked}], ""
                result: Any = llm.complete_structured(
                    instructions=asked or "Answer in the requested shape.",
                    input=[*material, *map(_image, args.image)],
                    json_schema=_schema(args.schema) if args.schema else None,
                    system_prompt=args.system,
                    **sampling,
                )
            else:
                system = [{"role": "system", "content": args.system}] if args.system else []
                prompt = "\n\n".join(part for part in (asked, piped) if part)
                result = llm.complete([*system, {"role": "user", "content": prompt}], **sampling)
        except ValueError as error:
            if isinstance(error, HermesError):
                raise
            raise HermesError(str(error), hint="see hermes llm --help") from error
    if args.schema and result.content_type != "json":
        raise HermesError(f"the answer is not JSON: {result.text[:200]!r}", hint="ask again, or choose another model")
    if args.json:
        print_json(asdict(result))
    elif args.schema:
        print_text(json.dumps(result.parsed, indent=2, ensure_ascii=False))
    else:
        print_text(result.text)
    return 0


def _image(path: str) -> dict[str, Any]:
    try:
        return {"type": "image", "data": Path(path).read_bytes()}
    except OSError as error:
        raise HermesError(f"cannot read {path}: {error.strerror}", hint="name a readable image") from error


def _schema(path: str) -> Any:
    try:
        schema = json.loads(read_text(path))
    except ValueError as error:
        raise HermesError(f"{path} is not JSON: {error}", hint="give a JSON schema") from error
    if schema is None:
        raise HermesError(f"{path} holds null, which is no JSON schema", hint="give a JSON schema")
    return schema
