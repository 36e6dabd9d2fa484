"""The card of changed files: what it shows, and that a key or a click takes changes back and puts them again."""

from pathlib import Path

from smith_tui.app import app_around
from smith_tui.transcript.files_card import FilesCard
from tests.support.engine import command, open_stored_engine
from tests.support.scripted_client import ScriptedClient, calls
from tests.tui.test_queueing import send, shown, until


async def test_key_and_click_move_the_files_and_the_card_says_how_it_stands(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old\n")
    client = ScriptedClient(calls(("bash", {"command": "echo x > new.txt; echo y >> old.txt"})), "finished")
    runtime = open_stored_engine(tmp_path, client)
    app = app_around(runtime)
    async with app.run_test(size=(80, 30)) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: "take these changes back" in shown(app))
        text = shown(app)
        assert "± 2 files changed" in text
        assert "+ new.txt" in text
        assert "~ old.txt" in text
        assert "Alt+U undo files" in app.chat.query_one("#hints").render_line(0).text

        (tmp_path / "new.txt").write_text("by hand")
        await pilot.press("alt+u")
        await until(pilot, lambda: "put these changes again" in shown(app))
        assert (tmp_path / "old.txt").read_text() == "old\n"
        assert "2 files changed  taken back  1 file left alone" in shown(app)
        assert "new.txt  it has changed since" in shown(app)

        transcript = app.chat.transcript
        row = next(y for y, row in enumerate(transcript.shown_rows) if "put these changes again" in row.line.text)
        await pilot.click(transcript, offset=(8, row))
        await until(pilot, lambda: "take these changes back" in shown(app))
        assert (tmp_path / "old.txt").read_text() == "old\ny\n"
    identity = runtime.services.conversation.conversation_id

    again = open_stored_engine(tmp_path, ScriptedClient("x"))
    app = app_around(again)
    async with app.run_test(size=(80, 30)) as pilot:
        await send(pilot, f"/load {identity}")
        await until(pilot, lambda: "take these changes back" in shown(app))
        await pilot.press("alt+u")
        await until(pilot, lambda: "put these changes again" in shown(app))
        assert (tmp_path / "old.txt").read_text() == "old\n"
        assert sum(isinstance(block, FilesCard) for block in app.chat.transcript.document.blocks) == 1
        await send(pilot, "/undo")
        await until(pilot, lambda: "out of this conversation" in shown(app))
        assert "put these changes again" not in shown(app)
        assert await command(again, "/redo")
        assert (tmp_path / "old.txt").read_text() == "old\ny\n"
