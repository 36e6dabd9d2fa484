"""Calls to a scripted endpoint through litellm, in this process, with all that came of them."""

from typing import Any

from smith_core.errors import AgentError, AgentFailure
from smith_core.llm import provider
from smith_core.llm.coalescer import merge
from smith_core.llm.protocol import AnyStreamPart, Completion, Endpoint, ModelRequest, StreamText, Timeouts
from smith_core.llm.wire import MessageEncoder
from smith_core.messages import Message
from tests.support.model_server import ModelServer
from tests.support.model_steps import Answer

KEY = "sk-test-SECRET123"
LIMITS = Timeouts(timeout=5.0, connect_timeout=1.0, send_timeout=1.0, recv_timeout=0.4, stream_stall_timeout=0.4)


class Played:
    """What one call gave: its parts (neighbours joined), and the completion or the error."""

    def __init__(self, parts: list[AnyStreamPart], result: Completion | AgentError) -> None:
        self.parts = merge(parts)
        self.result = result

    @property
    def completion(self) -> Completion:
        assert isinstance(self.result, Completion), self.result
        return self.result

    @property
    def error(self) -> AgentError:
        assert isinstance(self.result, AgentError), self.result
        return self.result

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, StreamText))

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(call.name, call.arguments) for call in self.completion.tool_calls]


class Endpointed:
    """A model server and calls to it."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server

    def request(self, **fields: Any) -> ModelRequest:
        values: dict[str, Any] = {
            "model": "m1",
            "messages": (Message(role="user", content="hello"),),
            "endpoint": Endpoint(api_url=self.server.url, api_key=KEY),
            "timeouts": LIMITS,
        }
        return ModelRequest(**{**values, **fields})

    async def play(self, answer: Answer, *, use_wrapper: bool = False, **fields: Any) -> Played:
        self.server.push(answer)
        parts: list[AnyStreamPart] = []
        try:
            request = MessageEncoder().encode(self.request(**fields))
            completion = await provider.complete(request, parts.extend, use_wrapper=use_wrapper)
            return Played(parts, completion)
        except AgentFailure as failure:
            return Played(parts, failure.error)
