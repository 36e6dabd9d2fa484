"""`smith-tui doctor`: what works on this machine, one line for each thing, and what to do about the rest."""

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TextIO

import msgspec

from smith_core.embedded.label import SCRIPTED_MODEL, label_of
from smith_core.embedded.local_models import is_local
from smith_core.errors import AgentFailure
from smith_core.llm.host_control import running_hosts
from smith_core.model import ModelChoice, has_no_listing
from smith_core.roles import ROLES
from smith_core.runtime import Runtime
from smith_core.secrets import key_variables
from smith_tui.bootstrap import Engine, open_engine
from smith_tui.exit_status import EXIT_ERROR, EXIT_OK
from smith_tui.host_command import describe
from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cell_width

State = Literal["ok", "note", "problem"]
_OPEN = "whether the endpoint takes the key and the model, the first task shows"
MARKS: dict[State, str] = {"ok": "✓", "note": "·", "problem": "✗"}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report; a `problem` makes the exit status 1.

    is_open: what a task needs was not tried, so nothing says that it works.
    """

    subject: str
    state: State
    text: str
    is_open: bool = False


def run_doctor(arguments: argparse.Namespace) -> int:
    """Print the report and return 0, or 1 if something keeps Smith from working."""
    try:
        return asyncio.run(_report(open_engine(arguments)))
    except AgentFailure as caught:
        print(literal(caught.error.message), file=sys.stderr)
        return EXIT_ERROR


async def _report(engine: Engine) -> int:
    # Looked for first: what follows would find the host that it starts itself.
    hosts = tuple(_hosts(engine))
    runtime = engine.open_runtime()
    shown: list[Finding] = []
    try:
        for finding in (*_machine(), _rain(engine), *_settings(engine), *_programs(), _web_search(engine), *hosts):
            shown.append(_show(finding))
        for findings in (_safety(runtime), _store(engine, runtime), _models(engine, runtime)):
            async for finding in findings:
                shown.append(_show(finding))
    finally:
        await runtime.stop_session("finished")
    print()
    if any(finding.state == "problem" for finding in shown):
        _print("Smith cannot work yet; the lines marked ✗ say why.", "", sys.stdout)
        return EXIT_ERROR
    is_open = any(finding.is_open for finding in shown)
    end = f"Nothing is wrong that can be seen here; {_OPEN}." if is_open else "Everything that a task needs works."
    _print(end, "", sys.stdout)
    return EXIT_OK


def _show(finding: Finding, stream: TextIO | None = None) -> Finding:
    _print(finding.text, f"{MARKS[finding.state]} {finding.subject:<12} ", stream or sys.stdout)
    return finding


def _print(text: str, head: str, stream: TextIO) -> None:
    # What is piped is for a program, which counts lines.
    columns = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else None
    indent = " " * len(head)
    for line in text.splitlines() or [""]:
        shown = literal(line)
        for row in _rows(shown, columns - len(indent)) if columns else (shown,):
            print(f"{head}{row}", file=stream, flush=True)
            head = indent


def _rows(text: str, cells: int) -> Iterator[str]:
    """Break a line between words; a longer word, such as a path, stays whole."""
    row, *words = text.split(" ")
    for word in words:
        longer = f"{row} {word}"
        if row.strip() and cell_width(longer) > cells:
            yield row
            row = word
        else:
            row = longer
    yield row


def _machine() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding(subject="python", state="ok", text=f"{python} ({sys.executable})")
    if not sys.stdout.isatty():
        yield Finding(subject="terminal", state="note", text="standard output is no terminal; smith-tui run works here")
        return
    size = os.get_terminal_size()
    term = os.environ.get("TERM", "")
    colours = "24-bit colour" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256 colours or fewer"
    usable = term not in ("", "dumb")
    yield Finding(
        subject="terminal",
        state="ok" if usable else "problem",
        text=f"TERM={term or 'not set'}, {size.columns}×{size.lines}, {colours}"
        + ("" if usable else "; use a terminal with cursor control, or smith-tui run"),
    )


def _rain(engine: Engine) -> Finding:
    from smith_tui.graphics.ask import ask_terminal
    from smith_tui.graphics.desk import mode_of
    from smith_tui.graphics.support import WORDS, Dialogue

    mode, why_off = mode_of(engine.config.ui, os.environ)
    if mode == "off":
        return Finding(subject="rain", state="note", text=f"none: {why_off}")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding(subject="rain", state="note", text="there is no terminal to ask what it shows")
    dialogue = Dialogue(forced=mode == "kitty")
    verdict = ask_terminal(dialogue)
    if mode == "cells":
        return Finding(subject="rain", state="ok", text=f"{WORDS['none']}: ui.rain is cells")
    if mode == "kitty" and verdict.way == "none":
        text = f"none: ui.rain is kitty, and {verdict.reason}; set it to auto for {WORDS['none']}"
        return Finding(subject="rain", state="note", text=text)
    return Finding(subject="rain", state="ok", text=f"{WORDS[verdict.way]}: {verdict.reason}")


def _settings(engine: Engine) -> Iterator[Finding]:
    path = engine.user_file.path
    if engine.config_message:
        yield Finding(subject="settings", state="note", text=engine.config_message)
    else:
        there = "read" if path.exists() else "not there, defaults are used"
        yield Finding(subject="settings", state="ok", text=f"{path} ({there})")


async def _safety(runtime: Runtime) -> AsyncIterator[Finding]:
    from smith_core.tools.sandbox.words import PERMISSION_WORDS, sandbox_words

    session, tools = runtime.session, runtime.services.config.effective.tools
    yield Finding(subject="permission", state="ok", text=PERMISSION_WORDS[tools.permission])
    probe = await session.sandboxes.probe()
    layout = await session.sandboxes.plan((await session.recompute_turn_scope()).project.root)
    state = session.sandboxes.state(tools)
    marks: dict[str, State] = {"on": "ok", "refused": "problem"}
    yield Finding(subject="sandbox", state=marks.get(state, "note"), text=sandbox_words(tools, state, probe, layout))


async def _store(engine: Engine, runtime: Runtime) -> AsyncIterator[Finding]:
    folder = engine.store_folder
    try:
        listed = await runtime.shelf.list_conversations()
    except AgentFailure as caught:
        yield Finding(subject="store", state="note", text=f"nothing is saved: {caught.error.message}")
        return
    notices = [notice.text for notice in runtime.services.persistence.take_notices()]
    if folder is None:
        yield Finding(subject="store", state="note", text="there is no home folder; conversations end with the program")
        return
    text = f"{folder}: {len(listed)} conversation{'s' * (len(listed) != 1)}, {_in_bytes(_size_of(listed))}"
    state: State = "note" if notices or not os.access(folder, os.W_OK) else "ok"
    if not os.access(folder, os.W_OK):
        notices.append("the folder cannot be written; nothing is saved until it can be")
    yield Finding(subject="store", state=state, text="\n".join([text, *notices]))
    yield await _index(runtime)


async def _index(runtime: Runtime) -> Finding:
    assert runtime.session.search is not None
    status = await runtime.session.search.status()
    if status.notice is not None:
        return Finding(subject="index", state="note", text=status.notice.message)
    behind = f", {_in_bytes(status.lag_bytes)} of conversations not read yet" if status.lag_bytes else ""
    return Finding(subject="index", state="ok", text=f"{status.indexed} messages and notes can be searched{behind}")


def _size_of(listed: Iterable[Any]) -> int:
    return sum(meta.size_bytes for meta in listed)


def _in_bytes(count: int) -> str:
    return f"{count:,} bytes".replace(",", " ")


def _programs() -> Iterator[Finding]:
    for name, purpose in (("bash", "commands"), ("git", "projects"), ("rg", "search")):
        found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
        yield Finding(
            subject=name,
            state="ok" if found else "note",
            text=found or f"not found; install {name} for {purpose}" + (" (sh is used instead)" * (name == "bash")),
        )


def _hosts(engine: Engine) -> Iterator[Finding]:
    linger_s = engine.config.llm_config.host_linger_s
    reports = running_hosts()
    for report in reports:
        text = f"{describe(report)}; smith-tui host stop ends it"
        yield Finding(subject="model host", state="ok" if report.status else "note", text=text)
    if not reports:
        waits = f"the next start leaves one that waits {linger_s:g} s" if linger_s else "each start has one of its own"
        yield Finding(subject="model host", state="ok", text=f"none is waiting; {waits} (llm_config.host_linger_s)")


def _web_search(engine: Engine) -> Finding:
    variable = key_variables(engine.config)[1]
    if os.environ.get(variable, "").strip():
        return Finding(subject="web search", state="ok", text=f"{variable} is set")
    return Finding(
        subject="web search",
        state="note",
        text=f"{variable} is not set; set it to a key of linkup.so to search the web (fetching needs none)",
    )


async def _models(engine: Engine, runtime: Runtime) -> AsyncIterator[Finding]:
    config = engine.config
    variable = key_variables(config)[0]
    has_key = bool(os.environ.get(variable, "").strip())
    yield Finding(
        subject="key",
        state="ok" if has_key else "note",
        text=f"{variable} is {'set' if has_key else 'not set; endpoints on this machine usually need no key'}",
    )
    runtime.services.model.on_opening_local(_say_what_takes_long)
    if config.llm_config.api_url:
        yield await _endpoint(runtime, config.llm_config.api_url)
    try:
        chosen = await runtime.session.select_model(ModelChoice(), ROLES[runtime.session.active_role])
        runtime.services.model.endpoint(config, chosen.model)
    except AgentFailure as caught:
        yield Finding(subject="model", state="problem", text=caught.error.message)
        yield Finding(subject="tour", state="note", text=f"smith-tui tour needs no model ({SCRIPTED_MODEL})")
        return
    if not config.llm_config.api_url and not is_local(chosen.model):
        text = f"the one that the model id {chosen.model} names; it was not asked: {_OPEN}"
        yield Finding(subject="endpoint", state="note", text=text, is_open=True)
    text = f"{chosen.model} (from {chosen.source}, {chosen.context_window} tokens)"
    yield Finding(subject="model", state="ok", text="\n".join(filter(None, (text, label_of(chosen.model).notice))))


def _say_what_takes_long(model: str) -> None:
    """Tell a person who watches why nothing comes for a while; what the report says of the model follows."""
    if model and sys.stderr.isatty():
        from smith_core.embedded.runtime.supervisor import LOAD_TIMEOUT_S

        text = f"trying {model} …; if it does not load within {LOAD_TIMEOUT_S:g} s, that is said"
        _show(Finding(subject="model", state="note", text=text), sys.stderr)


async def _endpoint(runtime: Runtime, address: str) -> Finding:
    model = runtime.services.model
    config = runtime.services.config.effective
    try:
        listed = await model.list_models(config)
    except AgentFailure as caught:
        if not has_no_listing(caught.error):
            return Finding(subject="endpoint", state="problem", text=caught.error.message)
        return Finding(
            subject="endpoint", state="note", text=f"no list of models: {caught.error.message}", is_open=True
        )
    names = ", ".join(info.id for info in listed[:5]) or "none"
    return Finding(subject="endpoint", state="ok", text=f"{address} answers; models: {names}")
