"""Weights on disk, and how they get there."""

import hashlib
import shutil
import subprocess
import sys
import threading
import zipfile

import pytest

from hermes_core import HermesError

MODEL = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture
def wheel(tmp_path):
    """A wheel with a small model in it."""
    path = tmp_path / "fake-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("fake/tiny.gguf", MODEL)
    return path


@pytest.fixture
def source(part, wheel):
    """Where that model comes from."""
    return part("weights").Source(
        requirement="fake==1",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member="fake/tiny.gguf",
        size=len(MODEL),
        sha256=hashlib.sha256(MODEL).hexdigest(),
    )


@pytest.fixture
def log(tmp_path):
    """Where a tool writes down that it ran."""
    return tmp_path / "runs"


@pytest.fixture
def copying(wheel, log):
    """A tool that "downloads" the wheel, in half a second."""
    code = "import os,shutil,sys,time; os.makedirs(sys.argv[2]); time.sleep(.5); shutil.copy(sys.argv[1], sys.argv[2])"
    note = f"; open({str(log)!r}, 'a').write('x')"
    return lambda _requirements, target: [[sys.executable, "-c", code + note, str(wheel), str(target)]]


@pytest.fixture
def pull(part, tmp_path, source, copying):
    """Pull the small model into ``tmp_path / "home"``."""

    def call(**changes):
        return part("pull").pull(tmp_path / "home", **{"source": source, "tools": copying, **changes})

    return call


def left_in(folder):
    """Names of what is in a folder, but for the lock."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def test_pull(pull, tmp_path):
    """A pull leaves the model, whole, and nothing else."""
    assert pull().read_bytes() == MODEL
    assert left_in(tmp_path / "home/models") == ["tiny.gguf"]


def test_pull_again(pull, log):
    """What is here and whole is not fetched again, unless forced."""
    pull()
    pull()
    assert log.read_text() == "x"
    pull(force=True)
    assert log.read_text() == "xx"


def test_pull_repairs(pull):
    """What is here but damaged is fetched again."""
    path = pull()
    path.write_bytes(MODEL[:-1] + b"?")
    assert pull().read_bytes() == MODEL


def test_installed_tree(pull, source):
    """A tool may leave an installed folder in place of a wheel, as uv does."""
    code = "import sys,pathlib; p=pathlib.Path(sys.argv[1],'fake/tiny.gguf'); p.parent.mkdir(parents=True); "
    code += f"p.write_bytes(bytes.fromhex({MODEL.hex()!r}))"
    assert pull(tools=lambda _r, target: [[sys.executable, "-c", code, str(target)]]).read_bytes() == MODEL


@pytest.mark.parametrize(("field", "what"), [("wheel_sha256", "wheel"), ("sha256", "model")])
def test_hash_mismatch(pull, source, tmp_path, field, what):
    """A wheel or model with another hash is refused, and nothing of it stays."""
    changed = {**vars(source), field: "0" * 64}
    with pytest.raises(HermesError, match=f"the {what} that came has sha256"):
        pull(source=type(source)(**changed))
    assert left_in(tmp_path / "home/models") == []


def test_next_tool(pull, copying):
    """When a tool fails or is not there, the next one is tried."""

    def tools(requirements, target):
        yield [sys.executable, "-c", "raise SystemExit('first failed')"]
        yield ["/no/such/tool"]
        yield from copying(requirements, target)

    assert pull(tools=tools).read_bytes() == MODEL


def test_failures_are_quoted(pull):
    """When all tools fail, the error quotes each, and says what to do."""
    tools = [[sys.executable, "-c", f"raise SystemExit('{word} said this')"] for word in ("one", "two")]
    with pytest.raises(HermesError, match=r"(?s)one said this.*two said this") as caught:
        pull(tools=lambda *_: tools)
    assert "embedded.model_path" in caught.value.hint


def test_no_tool(pull):
    """Without any tool, the error says so."""
    with pytest.raises(HermesError, match="neither pip nor uv"):
        pull(tools=lambda *_: [])


def test_requirements_are_pinned_by_hash(pull, source, copying, tmp_path):
    """A tool is handed one requirement, with its hash."""
    seen = []

    def tools(requirements, target):
        seen.append(requirements.read_text())
        return copying(requirements, target)

    pull(tools=tools)
    assert seen == [f"fake==1 --hash=sha256:{source.wheel_sha256}\n"]


def test_two_at_once(part, tmp_path, source, copying, log):
    """Of two that pull at once, one fetches and the other waits, saying so."""
    said = []
    threads = [
        threading.Thread(
            target=part("pull").pull,
            args=(tmp_path / "home",),
            kwargs={"source": source, "tools": copying, "say": said.append},
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.read_text() == "x"
    assert "waiting for another process that is pulling the model" in said


def test_two_processes_at_once(part, tmp_path, source, copying, log):
    """Two processes that pull at once fetch once."""
    code = f"""
import importlib.util, sys
from pathlib import Path
folder = Path({str(part("pull").__file__)!r}).parent
spec = importlib.util.spec_from_file_location("p", folder / "__init__.py", submodule_search_locations=[str(folder)])
sys.modules["p"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["p"])
from p.pull import pull
from p.weights import Source
pull(Path({str(tmp_path / "home")!r}), source=Source(**{vars(source)!r}), tools=lambda r, t: [
    [*{copying(None, "")[0][:-1]!r}, str(t)]])
"""
    run = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"]
    processes = [subprocess.Popen(run, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[1] for process in processes] == ["", ""]
    assert log.read_text() == "x"
    assert (tmp_path / "home/models/tiny.gguf").read_bytes() == MODEL


def test_leftovers_of_a_killed_pull(pull, tmp_path):
    """What a killed pull left is cleared away by the next one."""
    (tmp_path / "home/models/.pull-dead").mkdir(parents=True)
    pull()
    assert left_in(tmp_path / "home/models") == ["tiny.gguf"]


def test_folder_that_cannot_be_made(pull, tmp_path):
    """A home that cannot be written is an error that names the folder."""
    (tmp_path / "home").write_text("a file")
    with pytest.raises(HermesError, match="home/models"):
        pull()


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "there is no model"), (b"GG", "is no GGUF model"), (MODEL[:100], "has 100 of 10,244 bytes")],
    ids=["missing", "no model", "truncated"],
)
def test_check(part, source, tmp_path, content, says):
    """A missing, foreign or truncated file is told at once, with the command that helps."""
    path = tmp_path / "tiny.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(HermesError, match=says) as caught:
        part("weights").check(path, source)
    assert "hermes embedded pull" in caught.value.hint


def test_check_of_an_operators_file(part, tmp_path):
    """A file of the operator's own that is no model is named together with its key."""
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with pytest.raises(HermesError, match=r"notes\.txt' \(config\.yaml: embedded\.model_path\) is no GGUF"):
        part("weights").check(path, None)


def test_verify(part, source, tmp_path):
    """Damage that keeps size and head is found by hash."""
    path = tmp_path / "tiny.gguf"
    path.write_bytes(MODEL[:-1] + b"?")
    part("weights").check(path, source)
    with pytest.raises(HermesError, match="damaged"):
        part("weights").verify(path, source)


def test_remove(part, pull, source, tmp_path):
    """Removing says how much it freed; there is nothing to remove twice."""
    pull()
    remove = part("weights").remove
    assert [remove(tmp_path / "home", source), remove(tmp_path / "home", source)] == [len(MODEL), 0]


def test_tools_of_this_environment(part, tmp_path):
    """Pip comes first, and is told to check hashes and to leave dependencies alone."""
    first = next(part("download").available_tools(tmp_path / "r.txt", tmp_path / "t"))
    assert first[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--require-hashes"} <= {*first}


def test_bundled_pip_runs(part):
    """The pip that Python keeps for new environments can be run as it is."""
    wheel = part("download").bundled_pip()
    if wheel is None:
        pytest.skip("this Python was built without it")
    done = subprocess.run([sys.executable, str(wheel / "pip"), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pip ")


@pytest.mark.embedded
def test_bundled_pip_pulls(part, tmp_path):
    """It pulls the real weights."""
    download = part("download")

    def tools(requirements, target):
        first = next(download.available_tools(requirements, target))
        return [[sys.executable, str(download.bundled_pip() / "pip"), *first[3:]]]

    part("weights").verify(part("pull").pull(tmp_path, tools=tools))


@pytest.mark.embedded
@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
def test_uv_pulls(part, tmp_path):
    """Uv pulls the real weights."""

    def tools(requirements, target):
        return [tool for tool in part("download").available_tools(requirements, target) if tool[1] == "pip"]

    part("weights").verify(part("pull").pull(tmp_path, tools=tools))
