"""Finds a Python target by name, and says in one line why it cannot be had."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Final

from loopcheck.harness import raised
from loopcheck.harness.target import Target, TargetError

_READY_MADE: Final = "loopcheck.harness.targets."

_EXTRAS: Final = {
    "agents": "openai-agents",
    "anthropic": "anthropic",
    "langchain": "langchain",
    "langchain_anthropic": "langchain",
    "langchain_core": "langchain",
    "langchain_openai": "langchain",
    "langgraph": "langchain",
    "litellm": "litellm",
    "openai": "openai",
    "pydantic_ai": "pydantic-ai",
}

# The extras of ready-made targets that are not called like their module.
_EXTRAS_OF_TARGETS: Final = {"openai_sdk": "openai", "anthropic_sdk": "anthropic"}


class ImportProblem(TargetError):
    """A target's module cannot be imported, or holds no such target. `kind` is the class of the
    exception behind it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def import_target(reference: str) -> Target:
    """The target that `module:attribute` names. Raises ImportProblem."""
    module_name, colon, attribute = reference.partition(":")
    if not module_name or not colon or not attribute:
        raise ImportProblem("ValueError", f"{reference!r} is not of the form module:attribute")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise ImportProblem(type(error).__name__, _why(module_name, error)) from error
    found = getattr(module, attribute, None)
    if isinstance(found, Target):
        return found
    raise ImportProblem("LookupError", _no_target(module, attribute, found))


def _why(module: str, error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    line = f"cannot import {module}: {text} ({_place(error)})"
    extra = _extra(module, error)
    return line if extra is None else f"{line}; pip install 'loopcheck[{extra}]'"


def _extra(module: str, error: BaseException) -> str | None:
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    missing = error.name.partition(".")[0]
    if module.startswith(_READY_MADE) and missing != "loopcheck":
        target = module.removeprefix(_READY_MADE)
        return _EXTRAS_OF_TARGETS.get(target, target.replace("_", "-"))
    return _EXTRAS.get(missing)


def _place(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    found = raised.place(error, beside=(__file__,), whole=True)
    return found or "no such module on sys.path"


def _no_target(module: ModuleType, attribute: str, found: object) -> str:
    where = f"{module.__name__}:{attribute}"
    if found is not None:
        kind = type(found).__name__
        return f"{where} is a {kind}, no target; declare it with @loopcheck.loop(dialects=[...])"
    targets = sorted(name for name, value in vars(module).items() if isinstance(value, Target))
    known = f"targets there: {', '.join(targets)}" if targets else "it holds no target at all"
    return f"{module.__name__} has no {attribute!r}; {known}"
