"""``hermes memory``: what is remembered, what waits, what is wrong, and what leaves the machine."""

import json
import sys

import pytest

from hermes_core.config.settings import Config
from hermes_core.memory.builtin import BuiltinMemory
from hermes_core.memory.changes import Operation
from hermes_core.memory.entries import entry_id
from hermes_core.memory.tool import MemoryTool

SUSPICIOUS = "the key is in ~/.ssh"

NOTES = """
from hermes_core import MemoryProvider

ASKED = []


class Notes(MemoryProvider):
    name = "notes"

    def is_available(self):
        return {is_available}

    def unavailable_reason(self):
        return "the server is away"

    def initialize(self, session_id, **kwargs):
        self.home = kwargs["hermes_home"]

    def get_tool_schemas(self):
        return [{"name": "notes_find"}]

    def get_config_schema(self):
        return [
            {"key": "api_key", "secret": True, "required": True, "env_var": "NOTES_API_KEY", "url": "https://notes.test"},
            {"key": "place", "default": "here"},
        ]

    def prefetch(self, query, *, session_id=""):
        return f"about {query}: nothing"
{more}


def register(ctx):
    ctx.register_memory_provider(Notes())
"""


@pytest.fixture
def notes(home):
    """Install the provider ``notes`` and make it the active one."""

    def install(more="", is_available=True, **manifest):
        code = NOTES.replace("{more}", more).replace("{is_available}", str(is_available))
        home.plugin("notes", code, name="notes", kind="exclusive", version="1.5", description="Notes", **manifest)
        home.config({"memory": {"provider": "notes", "notes": {"place": "there", "api_key": "k-secret-1"}}})

    return install


@pytest.fixture
def entries(home):
    """Write MEMORY.md and USER.md."""
    home.write("memories/MEMORY.md", f"uses tabs\n§\n{SUSPICIOUS}")
    home.write("memories/USER.md", "likes tea")


@pytest.fixture
def waiting(home):
    """Writes that wait for approval: an ordinary one and a suspicious one; their ids."""
    memory = BuiltinMemory(home.path, lambda: Config(tree={"memory": {"write_approval": True}}))
    tool = MemoryTool(memory)
    return [
        json.loads(tool.call({"target": "user", "action": "add", "content": content}))["pending_id"]
        for content in ("likes coffee", SUSPICIOUS)
    ]


def test_the_status_of_a_new_home(hermes):
    """Without anything, both files are empty, and the line for the provider says how to get one."""
    for words in (["memory"], ["memory", "status"]):
        assert hermes(*words).out.splitlines() == [
            "MEMORY.md       0 entries, 0% — 0/2,200 chars",
            "USER.md         0 entries, 0% — 0/1,375 chars",
            "write approval  off",
            "provider        none: hermes memory setup",
        ]


def test_the_status_of_everything(hermes, home, notes, entries, waiting):
    """Files, what waits, the provider with its settings and variables; set or not set, and never a value."""
    notes()
    home.write(".env", "NOTES_API_KEY=k-secret-1\n")
    lines = dict(line.split("  ", 1) for line in hermes("memory").out.splitlines())
    found = {name: text.strip() for name, text in lines.items()}
    assert found["MEMORY.md"] == "2 entries, 1% — 32/2,200 chars, 1 kept out of the prompt"
    assert found["waiting"] == "2: see `hermes memory pending`"
    assert found["provider"] == "notes (ready)"
    assert found["settings"] == "place=there, api_key=[configured]"
    assert found["variables"] == "NOTES_API_KEY set"
    assert found["leaves this machine"].startswith("it does not say; count on everything")
    shown = hermes("memory", "status", "--json")
    assert shown.json["provider"]["env"] == [
        {"name": "NOTES_API_KEY", "set": True, "required": True, "url": "https://notes.test"}
    ]
    assert "k-secret-1" not in shown.out


def test_the_status_of_a_provider_that_cannot_run(hermes, notes):
    """Why it cannot run, and what helps, is said; a variable that is not set comes with where to get its value."""
    notes(is_available=False, data_leaves="turns go to notes.test")
    out = hermes("memory").out
    assert "notes (unavailable)" in out
    assert "the server is away" in out
    assert "NOTES_API_KEY not set (required) https://notes.test" in out
    assert "turns go to notes.test" in out


def test_providers_that_are_asked_too_are_told_of(hermes, home, notes):
    """Those of ``memory.also`` get questions too, so the status says where these go, and the doctor looks at them."""
    notes(is_available=False)
    home.config({"memory": {"also": ["notes", "none-such"]}})
    shown = hermes("memory", "--json").json
    assert [(row["name"], row["state"]) for row in shown["also"]] == [("notes", "unavailable"), ("none-such", "failed")]
    assert "notes (unavailable, the server is away; it does not say; count on everything" in hermes("memory").out
    places = {row["place"] for row in hermes("memory", "doctor", "--json").json if row["level"] == "error"}
    assert places == {"notes", "none-such"}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "    def get_status_config(self, provider_config):\n        return {'place': provider_config['place']}",
            "there",
        ),
        (
            "    def get_status_config(self, provider_config):\n        raise RuntimeError('oh')",
            "raised RuntimeError: oh",
        ),
    ],
)
def test_a_provider_may_have_a_status_of_its_own(hermes, notes, more, said):
    """It is shown; when it fails, its error is."""
    notes(more)
    done = hermes("memory")
    assert (done.code, said in done.out) == (0, True)


@pytest.mark.parametrize(
    ("code", "said"),
    [("raise SystemExit(3)", "SystemExit: 3"), ("def register(ctx): pass", "offers no memory provider")],
    ids=["that exits", "that offers nothing"],
)
def test_the_status_of_a_broken_provider(hermes, home, code, said):
    """A provider that cannot be loaded is a failed one, with its reason, and costs no command."""
    home.plugin("notes", code, name="notes", kind="exclusive")
    home.config({"memory": {"provider": "notes"}})
    done = hermes("memory", "status")
    assert done.code == 0
    assert "notes (failed)" in done.out
    assert said in done.out


def test_the_status_imports_the_active_provider_alone_r29_03(shell, home, notes):
    """Neither the help nor a list imports a provider; the status imports the one that is active."""
    mark = home.path / "imported"
    for name in ("one", "two"):
        home.plugin(name, f"open({str(mark)!r}, 'a').write({name!r})", name=name, kind="exclusive")
    for words in (["--help"], ["plugins", "list"], ["memory", "list"], ["memory", "status"]):
        assert shell(*words).code == 0
        assert not mark.exists()
    home.config({"memory": {"provider": "one"}})
    assert shell("--help").code == shell("memory", "list").code == 0
    assert not mark.exists()
    assert shell("memory", "status").code == 0
    assert mark.read_text() == "one"


def test_the_list_says_what_each_provider_needs(hermes, home, notes):
    """Every provider is a row: which one is active, which lacks something, and the command that changes that."""
    notes()
    home.plugin("needy", "", name="needy", kind="exclusive", pip_dependencies=["no-such-package-of-needy>=2"])
    home.plugin("off", "", name="off", kind="exclusive")
    home.config({"memory": {"provider": "notes"}, "plugins": {"disabled": ["off"]}})
    rows = {row["name"]: row for row in hermes("memory", "list", "--json").json}
    assert {name: row["state"] for name, row in rows.items()} == {
        "notes": "active",
        "needy": "available",
        "off": "off",
        "sqlite": "available",
    }
    assert rows["needy"]["needs"] == ["no-such-package-of-needy>=2"]
    assert rows["needy"]["remedy"] == f"{sys.executable} -m pip install 'no-such-package-of-needy>=2'"
    assert rows["off"]["remedy"] == "hermes plugins enable off"
    assert rows["sqlite"]["remedy"] == "hermes memory setup sqlite"
    assert [row["name"] for row in hermes("memory", "list").rows] == [*rows]


def test_entries_are_shown_with_their_ids(hermes, entries):
    """Each entry has the id that the tool takes, and what keeps it out of the prompt."""
    assert hermes("memory", "show", "--json").json == [
        {"id": entry_id("uses tabs"), "target": "memory", "entry": "uses tabs", "blocked": []},
        {"id": entry_id(SUSPICIOUS), "target": "memory", "entry": SUSPICIOUS, "blocked": ["ssh_access"]},
        {"id": entry_id("likes tea"), "target": "user", "entry": "likes tea", "blocked": []},
    ]
    assert [row["entry"] for row in hermes("memory", "show", "user").rows] == ["likes tea"]


def test_a_provider_is_shown_with_what_it_asks(hermes, notes):
    """Its tools and settings are listed without making it the active one."""
    notes()
    shown = hermes("memory", "show", "notes", "--json").json
    assert shown["tools"] == ["notes_find"]
    assert [(row["key"], row["kind"], row["default"]) for row in shown["settings"]] == [
        ("api_key", "secret", None),
        ("place", "text", "here"),
    ]
    assert "api_key (secret), place (text)" in hermes("memory", "show", "notes").out
    assert "no memory provider 'notess'; did you mean 'notes'?" in hermes("memory", "show", "notess").err


def test_off_leaves_the_built_in_memory(hermes, home, notes):
    """The provider is taken out of the configuration; its settings stay for another day."""
    notes()
    assert "memory provider notes is off; what it keeps stays" in hermes("memory", "off").out
    assert '"place": "there"' in (home.path / "config.yaml").read_text()
    assert hermes("memory", "status", "--json").json["provider"] is None
    assert hermes("memory", "off").out.startswith("no provider was active.")


def test_off_does_not_guess_what_a_broken_file_says(hermes, home, notes):
    """A configuration that cannot be read is an error: a provider may well be active in it."""
    notes()
    broken = f"{(home.path / 'config.yaml').read_text()}\n- ["
    home.write("config.yaml", broken)
    done = hermes("memory", "off")
    assert (done.code, done.out) == (1, "")
    assert f"cannot read {home.path / 'config.yaml'}" in done.err
    assert (home.path / "config.yaml").read_text() == broken


@pytest.mark.parametrize(("target", "left"), [("all", set()), ("memory", {"USER.md"}), ("user", {"MEMORY.md"})])
def test_a_reset_deletes_what_it_says(hermes, home, entries, target, left):
    """Only the files that are meant go; backups stay."""
    home.write("memories/MEMORY.md.bak.5", "old")
    done = hermes("memory", "reset", "--target", target, "--yes")
    assert done.code == 0
    there = {path.name for path in (home.path / "memories").iterdir() if path.suffix == ".md"}
    assert there == left
    assert (home.path / "memories" / "MEMORY.md.bak.5").exists()
    assert "backups and writes that wait stay" in done.out


def test_a_reset_is_not_done_unasked(hermes, home, entries):
    """Without a terminal it wants --yes; when there is nothing, it says so."""
    done = hermes("memory", "reset")
    assert (done.code, done.err.splitlines()[1]) == (1, "hint: say --yes if that is meant")
    assert (home.path / "memories" / "MEMORY.md").exists()
    hermes("memory", "reset", "-y")
    assert hermes("memory", "reset").out == "there is nothing to delete\n"


def test_a_search_looks_into_everything(hermes, notes, entries):
    """Entries that hold all words, whatever their case, and what the provider recalls."""
    notes()
    rows = hermes("memory", "search", "TEA", "likes", "--json").json
    assert [(row["source"], row["text"]) for row in rows] == [
        ("USER.md", "likes tea"),
        ("notes", "about TEA likes: nothing"),
    ]


def test_a_search_needs_no_provider(hermes, entries):
    """The built-in memory alone is searched when there is no other."""
    assert [row["source"] for row in hermes("memory", "search", "tabs").rows] == ["MEMORY.md"]


def test_what_goes_out_comes_in_again(hermes, home, tmp_path):
    """The provider that comes along takes a MEMORY.md in, and gives everything out as JSON lines."""
    home.config({"memory": {"provider": "sqlite"}})
    (tmp_path / "M.md").write_bytes("likes tea\r\n§\r\nlives in Kyoto".encode())
    assert hermes("memory", "import", tmp_path / "M.md", "--target", "user").out == "2 new\n"
    assert hermes("memory", "export", "-o", tmp_path / "e.jsonl").out.endswith("e.jsonl: 2 written\n")
    assert (tmp_path / "e.jsonl").stat().st_mode & 0o777 == 0o600
    records = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text().splitlines()]
    assert [record["text"] for record in records] == ["likes tea", "lives in Kyoto"]
    lines = hermes("memory", "export").out
    assert [json.loads(line) for line in lines.splitlines()] == records
    assert hermes("memory", "import", "-", stdin=lines).out == "0 new\n"
    rows = hermes("memory", "search", "tea", "--json").json
    assert (rows[0]["text"], rows[0]["source"], rows[0]["when"][:2]) == ("likes tea", "sqlite", "20")


@pytest.mark.parametrize("text", ["tea\u2028or\x85coffee", "tea\r\nor\ncoffee", "tea\x1cor\x0bcoffee", "茶 🍵 \u2029"])
def test_a_line_is_what_a_newline_ends(hermes, home, text):
    """What a message may hold that some programs take for the end of a line comes in again as it went out."""
    home.config({"memory": {"provider": "sqlite"}})
    line = json.dumps({"session": "s", "role": "user", "text": text}, ensure_ascii=False)
    assert hermes("memory", "import", "-", stdin=f"{line}\r\n{line}\n").out == "1 new\n"
    lines = hermes("memory", "export").out
    assert json.loads(lines)["text"] == text
    assert hermes("memory", "import", "-", stdin=lines).out == "0 new\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export"], "memory provider 'notes' offers no export"),
        (["import", "{path}/x.jsonl"], "memory provider 'notes' imports no JSON lines"),
        (["import", "{path}/x.md"], "memory provider 'notes' imports no MEMORY.md"),
        (["import", "{path}/none.md"], "cannot read"),
        (["import", "{path}/odd.md"], "is not UTF-8 text"),
    ],
)
def test_what_a_provider_does_not_offer_is_said(hermes, notes, tmp_path, words, said):
    """The error names the provider, or the file."""
    notes()
    for name, content in {"x.jsonl": b"", "x.md": b"", "odd.md": b"\xff"}.items():
        (tmp_path / name).write_bytes(content)
    done = hermes("memory", *(word.replace("{path}", str(tmp_path)) for word in words))
    assert (done.code, said in done.err) == (1, True)


@pytest.mark.parametrize("action", ["export", "import"])
def test_without_a_provider_there_is_nothing_to_move(hermes, tmp_path, action):
    """The error says how to get one."""
    path = tmp_path / "x.md"
    path.write_text("a")
    done = hermes("memory", action, *([path] if action == "import" else []))
    assert done.err.splitlines() == [
        f"error: there is nothing to {action}{' into' if action == 'import' else ''}: no memory provider is active",
        "hint: run `hermes memory setup`",
    ]


def test_each_user_has_memories_of_their_own(hermes, home, tmp_path):
    """``--user`` imports, finds and exports what is one user's; without it, what belongs to nobody in particular."""
    home.config({"memory": {"provider": "sqlite", "sqlite": {"semantic": False}}})
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"session": "s", "role": "user", "speaker": "Ann", "time": 5, "text": "I like tea"}\n')
    assert hermes("memory", "import", str(lines), "--user", "ann").out == "1 new\n"
    found = {user: hermes("memory", "search", "tea", "--json", "--user", user).json for user in ("ann", "bob", "")}
    assert [[row["text"] for row in rows] for rows in found.values()] == [["I like tea"], [], []]
    exported = [hermes("memory", "export", *words).out.count("I like tea") for words in (("--user", "ann"), ())]
    assert exported == [1, 0]


def test_an_export_overwrites_nothing(hermes, home, tmp_path):
    """A file that is there stays as it is."""
    home.config({"memory": {"provider": "sqlite"}})
    (tmp_path / "e").write_text("mine")
    assert "exists already" in hermes("memory", "export", "--output", tmp_path / "e").err
    assert (tmp_path / "e").read_text() == "mine"


def test_what_waits_is_listed(hermes, waiting):
    """Each write has its id, what it would do, and what is suspicious in it."""
    rows = hermes("memory", "pending", "--json").json
    assert [(row["id"], row["target"], row["change"], row["threats"]) for row in rows] == [
        (waiting[0], "user", ["add: likes coffee"], []),
        (waiting[1], "user", [f"add: {SUSPICIOUS}"], ["ssh_access"]),
    ]
    assert [row["id"] for row in hermes("memory", "pending").rows] == waiting


def test_what_waits_is_approved_or_rejected(hermes, home, waiting):
    """Each decision is said; what is suspicious needs to be confirmed."""
    done = hermes("memory", "approve", *waiting)
    assert done.code == 1
    assert done.out.splitlines()[0] == f"{waiting[0]}: added: likes coffee"
    assert f"hermes memory approve {waiting[1]} --confirm" in done.out
    assert hermes("memory", "reject", waiting[1]).out == f"{waiting[1]}: rejected\n"
    assert (home.path / "memories" / "USER.md").read_text() == "likes coffee"


def test_all_that_waits_is_decided_at_once(hermes, home, waiting):
    """--all takes everything; without it, something has to be named."""
    assert "name what to decide on, or say --all" in hermes("memory", "approve").err
    assert hermes("memory", "approve", "--all", "--confirm").code == 0
    assert (home.path / "memories" / "USER.md").read_text() == f"likes coffee\n§\n{SUSPICIOUS}"
    assert hermes("memory", "reject", "--all").out == "nothing waits\n"


def test_an_entry_that_was_kept_out_is_let_in(hermes, entries):
    """The id of the entry is enough, with a confirmation."""
    word = entry_id(SUSPICIOUS)
    assert hermes("memory", "approve", word).code == 1
    assert "allowed" in hermes("memory", "approve", word, "--confirm").out
    assert [row["blocked"] for row in hermes("memory", "show", "memory", "--json").json] == [[], []]


def test_what_is_approved_here_is_told_in_the_next_session(hermes, home, waiting):
    """The command line has no provider at hand; the next session mirrors the entry."""
    session = BuiltinMemory(home.path, Config)
    told = []
    session.store.subscribe(lambda write: told.append(write.content))
    session.snapshot()
    hermes("memory", "approve", waiting[0])
    assert told == []
    session.snapshot()
    assert told == ["likes coffee"]


def test_a_healthy_home_has_no_findings(hermes, home):
    """Nothing is wrong with a new home, or one with the provider that comes along."""
    assert hermes("memory", "doctor").out == "nothing is wrong\n"
    home.config({"memory": {"provider": "sqlite"}})
    assert (hermes("memory", "doctor").code, hermes("memory", "doctor", "--json").json) == (0, [])


@pytest.mark.parametrize(
    ("config", "files", "level", "said"),
    [
        pytest.param({"provider": "none-such"}, {}, "error", "no memory provider 'none-such'", id="no provider"),
        pytest.param({"write_approval": "maybe"}, {}, "warning", "neither on nor off, so it is on", id="odd switch"),
        pytest.param({}, {"MEMORY.md": b"\xff"}, "error", "not UTF-8 text", id="no text"),
        pytest.param({}, {"MEMORY.md": b"a\n\n\xc2\xa7\n\nb"}, "warning", "add to, but not change", id="another form"),
        pytest.param({"memory_char_limit": 3}, {"MEMORY.md": b"abcd"}, "warning", "it holds 4 characters", id="full"),
        pytest.param({"memory_enabled": False}, {"MEMORY.md": b"a"}, "note", "is switched off", id="switched off"),
        pytest.param({}, {"USER.md": SUSPICIOUS.encode()}, "warning", "ssh_access", id="suspicious"),
        pytest.param({}, {"USER.md": "a\u202eb".encode()}, "warning", "U+202E", id="hidden direction"),
        pytest.param({}, {"pending.json": b"["}, "error", "not what this program wrote", id="broken list"),
        pytest.param({"provider": "sqlite"}, {"memory.db": b"junk" * 2000}, "error", "is damaged", id="no database"),
        pytest.param({"provider": "sqlite"}, {"memory.db/x": b""}, "error", "cannot be used", id="a folder for it"),
    ],
)
def test_the_doctor_finds(hermes, home, config, files, level, said):
    """Each finding has a level, a place, a sentence and a remedy; the exit code tells errors from the rest."""
    home.config({"memory": config})
    for name, content in files.items():
        home.write(f"memories/{name}", content)
    found = [row for row in hermes("memory", "doctor", "--json").json if said in row["message"]]
    assert [row["level"] for row in found] == [level]
    assert found[0]["place"]
    assert found[0]["remedy"]
    done = hermes("memory", "doctor")
    assert done.code == (level == "error")
    assert said in done.out


def test_the_doctor_looks_at_what_waits_and_at_the_provider(hermes, home, notes, waiting):
    """What a provider lacks is found, be it a package, a program, a variable or its own word."""
    programs = [{"name": "brew", "check": "false", "install": "get brew"}]
    notes(is_available=False, pip_dependencies=["no-such-package-of-notes"], external_dependencies=programs)
    home.config({"memory": {"provider": "notes"}})
    found = {row["message"]: row["remedy"] for row in hermes("memory", "doctor", "--json").json}
    assert found == {
        "2 writes wait for you": "hermes memory pending",
        "it needs no-such-package-of-notes": f"{sys.executable} -m pip install no-such-package-of-notes",
        "it needs the program brew": "get brew",
        "it cannot run here: the server is away": "hermes memory setup notes",
        "the variable NOTES_API_KEY is not set": "hermes memory setup notes",
    }


def test_a_broken_configuration_is_found(hermes, home):
    """The doctor says so, and nothing is written without approval meanwhile."""
    home.write("config.yaml", "memory: [")
    done = hermes("memory", "doctor")
    assert done.code == 1
    assert "config.yaml: error: cannot read" in done.out


def test_words_that_no_action_takes_are_refused(hermes):
    """Only setup takes words that it does not know."""
    assert "unrecognized arguments: --zap" in hermes("memory", "status", "--zap").err
    assert hermes("memory", "nonsense").code == 2


def test_writing_by_hand_and_by_tool_meet(hermes, home):
    """What a program writes is what the command shows."""
    BuiltinMemory(home.path, Config).write("memory", [Operation("add", "uses tabs")])
    assert hermes("memory", "show").rows[0]["entry"] == "uses tabs"
