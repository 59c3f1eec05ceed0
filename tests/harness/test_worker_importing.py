from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loopcheck.harness.worker.client import WorkerFailure, python_worker
from loopcheck.harness.worker.importing import ImportProblem, import_target

PLAIN = """
from loopcheck.harness.target import loop
from loopcheck.harness.task import final

@loop(dialects=["chat"])
def agent(task):
    return final("")

def plain(task):
    return final("")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


def write(folder: Path, name: str, text: str) -> str:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return str(folder / f"{name}.py")


def problem(reference: str) -> tuple[str, str]:
    with pytest.raises(ImportProblem) as raised:
        import_target(reference)
    return raised.value.kind, str(raised.value)


def test_a_target_is_found(folder: Path) -> None:
    write(folder, "mine", PLAIN)
    assert import_target("mine:agent").name == "agent"


@pytest.mark.parametrize("reference", ["mine", "mine:", ":agent", ""])
def test_a_reference_has_two_parts(reference: str) -> None:
    assert problem(reference) == (
        "ValueError",
        f"{reference!r} is not of the form module:attribute",
    )


def test_what_is_no_target(folder: Path) -> None:
    write(folder, "mine", PLAIN)
    write(folder, "other", "")
    assert problem("mine:agnet") == (
        "LookupError",
        "mine has no 'agnet'; targets there: agent",
    )
    assert problem("mine:plain") == (
        "LookupError",
        "mine:plain is a function, no target; declare it with @loopcheck.loop(dialects=[...])",
    )
    assert problem("other:agent") == (
        "LookupError",
        "other has no 'agent'; it holds no target at all",
    )


def test_a_module_that_is_not_there(folder: Path) -> None:
    assert problem("nowhere.at_all:agent") == (
        "ModuleNotFoundError",
        "cannot import nowhere.at_all: ModuleNotFoundError: No module named 'nowhere' "
        "(no such module on sys.path)",
    )


@pytest.mark.parametrize(
    ("text", "line", "seen"),
    [
        ("x = 1\n1 / 0\n", 2, "ZeroDivisionError: division by zero"),
        ("def f(:\n", 1, "SyntaxError: invalid syntax"),
        ("import sys\n\nsys.exit('no key')\n", 3, "SystemExit: no key"),
        ("raise ValueError('two\\nlines')\n", 1, "ValueError: two lines"),
        ("import json\njson.loads('')\n", 2, "JSONDecodeError: Expecting value"),
    ],
)
def test_a_module_that_fails(folder: Path, text: str, line: int, seen: str) -> None:
    path = write(folder, "mine", text)
    kind, message = problem("mine:agent")
    assert kind == seen.partition(":")[0]
    assert message.startswith(f"cannot import mine: {seen}")
    assert message.endswith(f"({path}:{line})")


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("agents", "openai-agents"),
        ("langchain_openai.chat_models", "langchain"),
        ("litellm", "litellm"),
        ("openai", "openai"),
        ("pydantic_ai.models", "pydantic-ai"),
    ],
)
def test_a_missing_package_names_the_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    top = module.partition(".")[0]
    text = f'raise ModuleNotFoundError("No module named {top!r}", name={module!r})\n'
    path = write(folder, "mine", text)
    assert problem("mine:agent") == (
        "ModuleNotFoundError",
        f"cannot import mine: ModuleNotFoundError: No module named {top!r} ({path}:1); "
        f"pip install 'loopcheck[{extra}]'",
    )


@pytest.mark.parametrize(
    ("target", "missing", "extra"),
    [
        ("reference", "httpx2", "reference"),
        ("reference", "anthropic", "reference"),
        ("openai_sdk", "openai", "openai"),
        ("anthropic_sdk", "anthropic", "anthropic"),
        ("langchain", "langchain", "langchain"),
        ("pydantic_ai", "anthropic", "pydantic-ai"),
        ("openai_agents", "agents", "openai-agents"),
        ("litellm", "litellm", "litellm"),
    ],
)
def test_a_ready_made_target_names_its_own_extra(
    monkeypatch: pytest.MonkeyPatch, target: str, missing: str, extra: str
) -> None:
    module = f"loopcheck.harness.targets.{target}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not installed
    kind, message = problem(f"{module}:{target}")
    assert kind == "ModuleNotFoundError"
    assert message.endswith(f"; pip install 'loopcheck[{extra}]'")


def test_a_wrong_description_is_told_with_the_line_of_the_user(folder: Path) -> None:
    text = "import loopcheck\n\n@loopcheck.loop(dialects=['chatt'])\ndef agent(task): ...\n"
    path = write(folder, "mine", text)
    assert problem("mine:agent")[1].endswith(f"did you mean 'chat'? ({path}:3)")


def test_another_missing_package_has_no_extra(folder: Path) -> None:
    path = write(folder, "mine", "import no_such_package\n")
    assert problem("mine:agent")[1].endswith(f"No module named 'no_such_package' ({path}:1)")


def test_a_worker_reports_it_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path, "mine", "print('loading')\n1 / 0\n")
    with (
        python_worker("mine:agent", name="mine", cwd=tmp_path) as worker,
        pytest.raises(WorkerFailure) as raised,
    ):
        worker.start(10)
    assert raised.value.kind == "import"
    assert raised.value.message == (
        f"cannot import mine: ZeroDivisionError: division by zero ({path}:2)"
    )
    assert raised.value.stderr == "loading\n"
    assert not worker.is_running
