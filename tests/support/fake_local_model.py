"""The local model's process with a scripted server in place of llama.cpp; started by LocalModelServer in tests.

What the weights file holds behind its first four bytes decides what happens: "refuse" fails to load, "die" ends the
process while loading, "hang" never loads, "deaf" neither, and keeps Python from running; "slow" loads once there is a
file `go` beside it. Anything else loads, and every reply is the answer "ready".
"""

import asyncio
import ctypes
import os
import threading
import time
from pathlib import Path

from smith_core.embedded.runtime.machine import not_a_model
from smith_core.embedded.runtime.orders import Order
from smith_core.embedded.runtime.process import Engine, LoadError, run
from tests.support.model_server import ModelServer


def load_fake(order: Order) -> Engine:
    """Do what the weights file says."""
    print("chatter on standard output", flush=True)
    what = Path(order.weights).read_text()[4:]
    if what == "refuse":
        raise LoadError(not_a_model(Path(order.weights)))
    if what == "die":
        os._exit(3)
    if what == "hang":
        time.sleep(3600)
    if what == "deaf":
        # Called in this way, a C function keeps the interpreter's lock, as loading weights may.
        ctypes.PyDLL(None).sleep(3600)
    while what == "slow" and not Path(order.weights).with_name("go").exists():
        time.sleep(0.02)
    return Engine(url=_serve_in_thread(), key="fake-key")


def _serve_in_thread() -> str:
    addresses: list[str] = []
    is_up = threading.Event()

    async def serve() -> None:
        async with ModelServer(lambda _: '{"tool":"answer","text":"ready"}') as server:
            addresses.append(server.url)
            is_up.set()
            await asyncio.Event().wait()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    is_up.wait()
    return addresses[0]


if __name__ == "__main__":
    run(load_fake)
