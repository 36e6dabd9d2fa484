"""The one table of slash commands."""

from smith_core.command_table import Command
from smith_core.commands import conversations, export, general, memory, turns, undo, views

COMMANDS: tuple[Command, ...] = (
    Command(name="help", summary="list the commands", handler=general.show_help, while_running=True),
    Command(name="new", usage="[title]", summary="start a new conversation", handler=conversations.begin_new),
    Command(name="clear", summary="empty the transcript and start afresh", handler=conversations.clear),
    Command(
        name="list",
        usage="[words]",
        summary="show all conversations",
        handler=conversations.list_all,
        while_running=True,
    ),
    Command(
        name="load",
        usage="[number | title | id]",
        summary="go on with another conversation",
        handler=conversations.load,
    ),
    Command(name="title", usage="[text]", summary="name this conversation", handler=conversations.rename),
    Command(
        name="fork",
        usage="[message number]",
        summary="go on with a copy of this conversation",
        handler=conversations.fork,
    ),
    Command(
        name="delete",
        usage="[number | title | id]",
        summary="delete this conversation, or another one",
        handler=conversations.delete,
    ),
    Command(name="undelete", usage="[id]", summary="take the last deletion back", handler=conversations.undelete),
    Command(name="follow", summary="watch a conversation that another smith-tui has", handler=conversations.follow),
    Command(
        name="undo",
        usage="[turns] | talk [turns] | files [turn] [force]",
        summary="take the last turn back, with what it did to files",
        handler=undo.undo,
    ),
    Command(
        name="redo",
        usage="[turn] [force]",
        summary="put the changes of files again that were taken back last",
        handler=undo.redo,
    ),
    Command(name="retry", summary="ask the last prompt again", handler=turns.retry),
    Command(
        name="export",
        usage="[markdown | html | json] [path]",
        summary="write this conversation into a file",
        handler=export.export,
        while_running=True,
    ),
    Command(name="inspect", summary="look at each message, edit and delete", handler=views.inspect, while_running=True),
    Command(name="pager", summary="show the whole conversation", handler=views.page, while_running=True),
    Command(
        name="search",
        usage="[words]",
        summary="search everything that was ever said",
        handler=memory.search,
        while_running=True,
    ),
    Command(
        name="record",
        usage="key value",
        summary="keep a text in the scratchpad",
        handler=memory.record,
        while_running=True,
    ),
    Command(
        name="recall",
        usage="[key | prefix | words]",
        summary="show the scratchpad, or search this project",
        handler=memory.recall,
        while_running=True,
    ),
    Command(
        name="note",
        usage="[list | get id | upsert id text | delete id]",
        summary="show and change the notes of this project",
        handler=memory.note,
        while_running=True,
    ),
    Command(
        name="role",
        usage="[name]",
        summary="show or switch the role: direct or orchestrator",
        handler=general.switch_role,
    ),
    Command(
        name="model", usage="[id]", summary="show or choose the model of this session", handler=general.choose_model
    ),
    Command(
        name="setup", summary="choose endpoint and model, and keep them in the settings", handler=general.open_setup
    ),
    Command(
        name="config",
        usage="[show [path] | set path value | unset path]",
        summary="show and change settings",
        handler=general.change_config,
        while_running=True,
    ),
    Command(
        name="usage",
        summary="tokens used in this session and conversation",
        handler=general.show_usage,
        while_running=True,
    ),
    Command(name="tools", summary="list the tools of the current role", handler=general.list_tools, while_running=True),
    Command(name="prompt", summary="show the system prompt", handler=general.show_prompt),
    Command(name="cancel", summary="cancel the running turn", handler=general.cancel_turn, while_running=True),
    Command(name="quit", summary="leave", handler=general.leave, while_running=True),
)
