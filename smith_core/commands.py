"""The slash commands: one table, and what each of them does."""

from smith_core.command_table import Command
from smith_core.errors import failure
from smith_core.events import CommandOutput, QuitRequested, SetupRequested
from smith_core.messages import Usage
from smith_core.model import ModelChoice
from smith_core.roles import ROLES
from smith_core.secrets import hide_from_proc, key_variables
from smith_core.session import Emit, Session
from smith_core.text import shorten


class CommandContext:
    """What a command works with: the session, and the way to report."""

    def __init__(self, session: Session, emit: Emit) -> None:
        self.session = session
        self.services = session.services
        self.emit = emit

    def say(self, command: str, text: str) -> None:
        """Show plain text as the command's output."""
        self.emit(CommandOutput(command=command, text=text))


async def _help(context: CommandContext, arguments: str) -> None:
    rows = [
        (f"/{command.name} {command.usage}".rstrip(), command.summary) for command in context.services.command.list()
    ]
    width = max(len(call) for call, _ in rows)
    lines = [f"{call.ljust(width)}  {summary}" for call, summary in rows]
    context.say("help", "\n".join(lines))


async def _new(context: CommandContext, title: str) -> None:
    context.services.conversation.reset(title=title)
    context.emit(context.session.changed(cleared=True))
    if title:
        await context.services.persistence.set_title(context.services.conversation.conversation_id, title)


async def _clear(context: CommandContext, arguments: str) -> None:
    context.services.conversation.reset()
    context.emit(context.session.changed(cleared=True))


async def _role(context: CommandContext, name: str) -> None:
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


async def _model(context: CommandContext, model: str) -> None:
    session = context.session
    if model:
        session.choice = ModelChoice(model=model)
    selected = await session.select_model(ModelChoice(), ROLES[session.active_role])
    context.emit(session.changed())
    context.say(
        "model",
        f"{selected.model}\n"
        f"chosen by: {selected.source}{f' ({selected.key})' if selected.key else ''}\n"
        f"context window: {selected.context_window} tokens",
    )


async def _config(context: CommandContext, arguments: str) -> None:
    verb, _, rest = arguments.partition(" ")
    path, _, value = rest.strip().partition(" ")
    config = context.services.config
    if verb in ("", "show"):
        text = config.describe(path)
    elif verb == "set" and path and value.strip():
        text = await config.set(path, value.strip())
    elif verb == "unset" and path:
        text = await config.unset(path)
    else:
        raise failure("policy", "usage", "usage: /config [show [path] | set path value | unset path]")
    context.say("config", text)
    if verb in ("set", "unset"):
        hide_from_proc(key_variables(config.effective))
        context.session.active_role_from_config(path)
        context.emit(context.session.changed())


async def _usage(context: CommandContext, arguments: str) -> None:
    tracker = context.session.usage
    rows = [("this session", tracker.parent), *tracker.children.items()]
    context.say("usage", "\n".join(_usage_line(name, usage) for name, usage in rows))


def _usage_line(name: str, usage: Usage) -> str:
    estimated = " (estimated)" if usage.estimated else ""
    return (
        f"{name}: {usage.input_tokens} tokens in ({usage.cached_tokens} cached), "
        f"{usage.output_tokens} out, {usage.requests} requests{estimated}"
    )


async def _tools(context: CommandContext, arguments: str) -> None:
    role = context.session.active_role
    lines = [f"{spec.name}: {shorten(spec.description, 90)}" for spec in context.services.tool.list(role)]
    context.say("tools", "\n".join(lines) or f"the role {role} has no tools")


async def _prompt(context: CommandContext, arguments: str) -> None:
    session = context.session
    scope = await session.recompute_turn_scope()
    role = ROLES[session.active_role]
    context.say("prompt", context.services.prompt.build_system_prompt(role, scope.cwd, scope.project))


async def _cancel(context: CommandContext, arguments: str) -> None:
    if not context.session.cancel():
        context.say("cancel", "no turn is running")


async def _setup(context: CommandContext, arguments: str) -> None:
    context.emit(SetupRequested())


async def _quit(context: CommandContext, arguments: str) -> None:
    context.emit(QuitRequested())


COMMANDS: tuple[Command, ...] = (
    Command(name="help", summary="list the commands", handler=_help, while_running=True),
    Command(name="new", usage="[title]", summary="start a new conversation", handler=_new),
    Command(name="clear", summary="empty the transcript and start afresh", handler=_clear),
    Command(name="role", usage="[name]", summary="show or switch the role: direct or orchestrator", handler=_role),
    Command(name="model", usage="[id]", summary="show or choose the model of this session", handler=_model),
    Command(name="setup", summary="choose endpoint and model, and keep them in the settings", handler=_setup),
    Command(
        name="config",
        usage="[show [path] | set path value | unset path]",
        summary="show and change settings",
        handler=_config,
    ),
    Command(name="usage", summary="tokens used in this session", handler=_usage, while_running=True),
    Command(name="tools", summary="list the tools of the current role", handler=_tools, while_running=True),
    Command(name="prompt", summary="show the system prompt", handler=_prompt),
    Command(name="cancel", summary="cancel the running turn", handler=_cancel, while_running=True),
    Command(name="quit", summary="leave", handler=_quit, while_running=True),
)
