"""The app in a real pseudo terminal over its store: killed and started again, quit in the middle, two at once."""

import stat

from tests.e2e.conftest import SMITH, Place
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal


def test_run_saves_and_the_store_command_looks_at_it(place: Place) -> None:
    def smith(*arguments: str) -> str:
        with Terminal([SMITH, *arguments], cwd=place.project, environ=place.environ, columns=200) as terminal:
            assert terminal.wait_for_exit() == 0, terminal.text()
            return terminal.text()

    with ServerThread(["done it"], strict=True) as server:
        smith("--set", f"llm_config.api_url={server.url}", "run", "do it")
    assert "Everything is whole" in smith("store", "check")
    assert "2 documents" in smith("store", "rebuild-index")
    target = place.home / "out.jsonl"
    assert "1 conversations" in smith("store", "export", str(target))
    assert b"done it" in target.read_bytes() and stat.S_IMODE(target.stat().st_mode) == 0o600
