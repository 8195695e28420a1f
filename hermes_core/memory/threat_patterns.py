"""What orders to a model look like, by scope and id.

A blank stands for anything between two words, ``…`` for up to eight words more, and everything else is a regular
expression. Letters match in either case, and a pattern begins and ends at the edge of a word where it has a letter
there.
"""

from __future__ import annotations

import re
from functools import cache

_ORDERS = "(instructions?|prompts?|rules?|guidelines?|directives?|restrictions?)"
_CONTROLLER = "(controller|master|c2|c&c|command server|control server)"
_CHANGE = "(edit|modify|change|update|write|append|overwrite|rewrite|add|insert|patch)"
_C2_THING = "(servers?|channels?|beacons?|implants?|nodes?|infrastructure|domains?)"
_SECRET_IN_SHELL = r"[^\n]{0,300}\$\{?\w*(key|token|secret|passw|credential|auth)\w*"  # noqa: S105
_SECRET_FILE = r"(\.env|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.git-credentials|credentials|/etc/shadow)"  # noqa: S105
_UNSEEN = r"(display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]))"

PATTERNS: dict[str, dict[str, tuple[str, ...]]] = {
    "all": {
        "prompt_injection": (
            f"(ignore|forget|override|disregard) … (previous|prior|above|earlier|preceding) … {_ORDERS}",
            "(ignore|forget|override) (all|any|your|the) … (instructions|prompts)",
        ),
        "sys_prompt_override": (
            "(override|replace) … system (prompt|message)",
            "(new|updated) system (prompt|message)",
            "system prompt (override|replacement|update)",
        ),
        "disregard_rules": (f"(disregard|violate|abandon|ignore|break) … (your|safety|these) … {_ORDERS}",),
        "bypass_restrictions": (
            "(bypass|circumvent|evade|get around) … (restrictions?|safety|safeguards?|filters?|guardrails?|policy)",
            "as (if|though) you (have|had) no … (restrictions?|rules?|limits?)",
        ),
        "html_comment_injection": (r"<!--[^>]{0,500}?\b(ignore|override|system|secret|hidden|instructions?|execute)",),
        "hidden_div": (rf"style\s*=\s*[\"']?[^\"'>]{{0,200}}?{_UNSEEN}",),
        "translate_execute": ("translate … (and|then) (execute|run|eval|evaluate)",),
        "deception_hide": (
            "(do not|don.?t|never) (tell|inform|mention|notify|alert|reveal|show) … (user|human|operator)s?",
            "without (telling|informing|notifying|alerting|showing) … (user|human|operator)s?",
        ),
        "exfil_curl": (f"curl{_SECRET_IN_SHELL}",),
        "exfil_wget": (f"wget{_SECRET_IN_SHELL}",),
        "read_secrets": (rf"(cat|less|more|head|tail|type|strings|xxd|base64)\s[^\n]{{0,200}}?{_SECRET_FILE}",),
    },
    "context": {
        "role_hijack": ("you are (now|no longer) (an?|the|my|in|acting|dan|bound|called|named|free)",),
        "role_pretend": (
            "(pretend|behave|act|respond) (that|as|as if|as though|like) you (are|were|have)",
            "pretend (to be|you are)",
        ),
        "leak_system_prompt": (
            (
                "(reveal|print|output|show|repeat|leak|dump|disclose|recite) … (system|initial|hidden|original) "
                "(prompts?|instructions?|messages?)"
            ),
        ),
        "remove_filters": (
            (
                "(remove|disable|drop|lift|switch off|turn off) … "
                "(content filters?|safety filters?|censorship|moderation|guardrails?|safety)"
            ),
            "(respond|answer|reply) without … (filters?|filtering|censorship|moderation|restrictions?)",
        ),
        "fake_update": (
            "you (have been|were|are being)( now| just)? (updated|upgraded|patched|reprogrammed|reconfigured)",
            "you.?ve been( now| just)? (updated|upgraded|patched|reprogrammed|reconfigured)",
        ),
        "identity_override": (
            "your (new|true|real|actual) (name|identity|role|persona|purpose|goal|instructions?|task) (is|are)",
        ),
        "c2_node_registration": (
            f"(register|enrol|enroll|enlist) … (node|bot|agent|implant|beacon|yourself) … ({_CONTROLLER}|https?)",
        ),
        "c2_heartbeat": (
            f"(send|post|emit|report) … (heart.?beats?|beacons?|check.?ins?) … (every|{_CONTROLLER}|server|https?)",
        ),
        "c2_task_pull": (
            f"(fetch|pull|poll|retrieve|download) … (tasks?|commands?|orders?|instructions?) … ({_CONTROLLER}|https?)",
        ),
        "c2_network_connect": ("(connect|join|attach) … (botnet|c2|c&c|command server|control server)",),
        "forced_action": (
            (
                "you (must|have to|are required to|are ordered to) (now|immediately|at once|first) "
                "(execute|run|send|delete|download|install|register|connect|post|upload|forward|obey|follow)"
            ),
        ),
        "anti_forensic_oneliner": (
            r"history\s+-c",
            r"unset\s+HISTFILE",
            r"HIST(FILE)?SIZE\s*=\s*0",
            r"HISTFILE\s*=\s*/dev/null",
            r"set\s+\+o\s+history",
            r"(rm|shred)\b[^\n]{0,80}\.(bash|zsh|python)_history",
        ),
        "anti_forensic_disk": (
            r"(shred|wipe|srm)\b[^\n]{0,80}(/var/log|/dev/sd|/dev/nvme)",
            r"dd\b[^\n]{0,40}\bif=/dev/(zero|u?random)\b[^\n]{0,80}\bof=/dev/",
            r"rm\b[^\n]{0,40}\s/var/log",
            "leave no (traces?|evidence)",
        ),
        "env_var_unset_agent": (r"unset\s+\w*(AGENT|HERMES|SANDBOX|GUARD|SAFETY|APPROVAL)\w*",),
        "known_c2_framework": (
            "(cobalt.?strike|meterpreter|brute.?ratel|posh.?c2)",
            "(sliver|havoc|mythic|covenant|empire|merlin) (c2|implants?|beacons?|listeners?|team.?server)",
        ),
        "c2_explicit": (f"(c2|c&c) {_C2_THING}",),
        "c2_explicit_long": (f"command (and|&) control {_C2_THING}",),
    },
    "strict": {
        "send_to_url": ("(send|post|upload|forward|transmit|submit|exfiltrate|leak) … https?",),
        "context_exfil": (
            (
                "(send|include|append|copy|share|upload|forward|leak) … "
                "(conversation|chat history|context window|transcript|system prompt) … "
                "(https?|url|webhook|endpoint|server|e.?mail)"
            ),
        ),
        "ssh_backdoor": ("authorized_keys",),
        "ssh_access": (r"(~|\$HOME|/root|/home/\w+)/\.ssh", "id_(rsa|dsa|ecdsa|ed25519)"),
        "hermes_env": (r"(\.hermes|\$\{?HERMES_HOME\}?)/\.env",),
        "agent_config_mod": (
            rf"{_CHANGE} … (AGENTS\.md|CLAUDE\.md|SOUL\.md|\.?cursorrules|\.?windsurfrules|copilot-instructions\.md)",
        ),
        "hermes_config_mod": (
            rf"{_CHANGE}\b[^\n]{{0,200}}?(\.hermes|\$\{{?HERMES_HOME\}}?)/(config\.yaml|auth\.json|plugins)",
        ),
    },
}

HINTS = {
    "prompt_injection": "instruction prompt rule guideline directive restriction",
    "sys_prompt_override": "system",
    "disregard_rules": "instruction prompt rule guideline directive restriction",
    "bypass_restrictions": "restriction safety safeguard filter guardrail policy rule limit",
    "html_comment_injection": "<!--",
    "hidden_div": "style",
    "translate_execute": "translate",
    "deception_hide": "user human operator",
    "exfil_curl": "curl",
    "exfil_wget": "wget",
    "read_secrets": ".env .netrc .pgpass .npmrc .pypirc credentials shadow",
    "role_hijack": "now longer",
    "role_pretend": "pretend behave act respond",
    "leak_system_prompt": "system initial hidden original",
    "remove_filters": "filter censorship moderation guardrail safety restriction",
    "fake_update": "updated upgraded patched reprogrammed reconfigured",
    "identity_override": "your",
    "c2_node_registration": "regist enrol enlist",
    "c2_heartbeat": "heart beacon check",
    "c2_task_pull": "task command order instruction",
    "c2_network_connect": "connect join attach",
    "forced_action": "now immediately once first",
    "anti_forensic_oneliner": "hist",
    "anti_forensic_disk": "/var/log /dev/ trace evidence",
    "env_var_unset_agent": "unset",
    "known_c2_framework": "strike meterpreter ratel c2 implant beacon listener team",
    "c2_explicit": "c2 c&c",
    "c2_explicit_long": "control",
    "send_to_url": "http",
    "context_exfil": "http url webhook endpoint server mail",
    "ssh_backdoor": "authorized_keys",
    "ssh_access": ".ssh id_",
    "hermes_env": "/.env",
    "agent_config_mod": ".md rules copilot",
    "hermes_config_mod": ".hermes hermes_home",
}
"""Id → what is in every such text, one of these in lower case: so most patterns are never compiled."""


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    r"""A pattern as ``re`` takes it.

    Example:
        >>> compiled("leave … traces?").pattern
        '\\bleave(?:\\W+\\w+){0,8}?\\W+traces?(?!\\w)'
    """
    spelled = pattern.replace(" … ", r"(?:\W+\w+){0,8}?\W+").replace(" ", r"\W+")
    start = r"\b" if pattern[0].isalpha() else r"(?<!\w)" if pattern[0] == "(" else ""
    end = r"\b" if pattern[-1].isalpha() else r"(?!\w)" if pattern[-1] in ")?" else ""
    return re.compile(f"{start}{spelled}{end}", re.IGNORECASE)
