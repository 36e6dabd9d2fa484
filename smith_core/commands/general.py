"""Commands about the session itself: role, model, settings, tools, usage."""

import asyncio
import contextlib
from collections.abc import Mapping

from smith_core.commands.context import CommandContext
from smith_core.commands.usage_report import render_usage, usage_rows
from smith_core.config.settings import counts_from
from smith_core.embedded.local_models import is_local
from smith_core.errors import AgentFailure, failure
from smith_core.events import QuitRequested, SetupRequested
from smith_core.llm.model_table import prices_of
from smith_core.messages import Usage
from smith_core.model import ModelChoice, choose
from smith_core.roles import ROLES
from smith_core.secrets import hide_from_proc, key_variables
from smith_core.session.spending import Spender, child_roles, saved_tokens
from smith_core.text import shorten

_SOURCES: Mapping[str, str] = {
    "request": "/model or --model",
    **dict.fromkeys(("request_key", "role", "role_default_key"), "models in the settings"),
    "default_model": "default_model in the settings",
    "parent": "the agent that dispatched it",
    "endpoint": "being the first that the endpoint lists",
    "embedded": "being installed, while nothing names another",
}


async def show_help(context: CommandContext, arguments: str) -> None:
    """List all commands."""
    rows = [
        (f"/{command.name} {command.usage}".rstrip(), command.summary) for command in context.services.command.list()
    ]
    width = max(len(call) for call, _ in rows)
    lines = [f"{call.ljust(width)}  {summary}" for call, summary in rows]
    context.say("help", "\n".join(lines))


async def switch_role(context: CommandContext, name: str) -> None:
    """Show the roles, and work in another one."""
    session = context.session
    if name:
        session.switch_role(name)
        context.emit(session.changed())
    lines = [
        f"{'*' if role.name == session.active_role else ' '} {role.name} ({role.alias})"
        for role in ROLES.values()
        if role.user_facing
    ]
    context.say("role", "\n".join(lines))


async def choose_model(context: CommandContext, model: str) -> None:
    """Show which model is used and why, or choose another one for this session."""
    session = context.session
    if model:
        session.choice = ModelChoice(model=model)
    selected = await session.select_model(ModelChoice(), ROLES[session.active_role])
    context.emit(session.changed())
    source = _SOURCES.get(selected.source, selected.source)
    lines = [
        selected.model,
        f"chosen by: {source}{f' ({selected.key})' if selected.key else ''}",
        f"context window: {selected.context_window:,} tokens",
    ]
    listed = await context.services.model.listed_ids(context.services.config.effective) if model else ()
    kept, _, key = choose(ModelChoice(), ROLES[session.active_role], context.services.config.effective)
    if model and kept != selected.model:
        path = f"models.{key}" if key else "default_model"
        lines.append(f"for this session; /config set {path} {selected.model} keeps it")
    if listed and selected.model not in listed and not is_local(selected.model):
        lines.append("The endpoint does not list it; a blank after /model shows those that it does.")
    context.say("model", "\n".join(lines))


async def change_config(context: CommandContext, arguments: str) -> None:
    """Show settings, or change one of the stored ones."""
    verb, _, rest = arguments.partition(" ")
    path, _, value = rest.strip().partition(" ")
    config, session = context.services.config, context.session
    if verb in ("set", "unset") and counts_from(path) == "idle":
        session.require_idle(f"/config {verb} {path}")
    if verb in ("", "show"):
        text = config.describe(path)
    elif verb == "set" and path and value.strip():
        text = await config.set(path, value.strip())
    elif verb == "unset" and path:
        text = await config.unset(path)
    else:
        raise failure("policy", "usage", "usage: /config [show [path] | set path value | unset path]")
    if verb in ("set", "unset"):
        if session.current_turn is not None and counts_from(path) == "turn":
            text += "; the running turn goes on as it began"
        hide_from_proc(key_variables(config.effective))
        session.active_role_from_config(path)
        if path == "tools.permission":
            session.permissions.mode_changed()
    context.say("config", text)
    if verb in ("set", "unset"):
        await session.sandboxes.look(config.effective.tools)
        context.emit(session.changed())


async def show_usage(context: CommandContext, arguments: str) -> None:
    """Show by role and child what this session has spent, and what the whole conversation has."""
    spending = context.session.spending
    saved: dict[Spender, Usage] = {}
    with contextlib.suppress(AgentFailure):
        saved = await _saved_tokens(context)
    models = {spender.model for spender in (*spending.tokens, *saved)}
    prices = await asyncio.to_thread(lambda: {model: prices_of(model) for model in models})
    rows = usage_rows(spending.tokens, prices)
    context.say("usage", render_usage(rows, spending.time, usage_rows(saved, prices)))


async def _saved_tokens(context: CommandContext) -> dict[Spender, Usage]:
    """Return who used what of the saved turns of this conversation."""
    conversation, persistence = context.services.conversation, context.services.persistence
    saved = [one for one in await persistence.usage_of(conversation.conversation_id) if one.usage.requests]
    models = {}
    for job_id in {one.job_id for one in saved if one.job_id}:
        said = await persistence.load_child(conversation.conversation_id, job_id)
        models[job_id] = next((message.model for message in reversed(said) if message.model), "")
    return saved_tokens(saved, child_roles(conversation.messages), models)


async def list_tools(context: CommandContext, arguments: str) -> None:
    """List the tools of the current role."""
    role = context.session.active_role
    lines = [f"{spec.name}: {shorten(spec.description, 90)}" for spec in context.services.tool.list(role)]
    context.say("tools", "\n".join(lines) or f"the role {role} has no tools")


async def show_prompt(context: CommandContext, arguments: str) -> None:
    """Show the system prompt."""
    session = context.session
    scope = await session.recompute_turn_scope()
    role = ROLES[session.active_role]
    context.say("prompt", context.services.prompt.build_system_prompt(role, scope.cwd, scope.project))


async def cancel_turn(context: CommandContext, arguments: str) -> None:
    """Cancel the turn that runs."""
    if not context.session.cancel():
        context.say("cancel", "no turn is running")


async def open_setup(context: CommandContext, arguments: str) -> None:
    """Choose endpoint and model anew."""
    context.emit(SetupRequested())


async def leave(context: CommandContext, arguments: str) -> None:
    """Leave the program."""
    context.emit(QuitRequested())
