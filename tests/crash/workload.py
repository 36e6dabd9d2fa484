"""Batches of records that follow from a number, so that a process that has died can be asked what it had done."""

import random

from smith_core.messages import ChildTranscript, Message, ToolCall, TurnRecord, TurnResult

Record = tuple[str, str, bytes | None]
State = dict[tuple[str, str], bytes]
COUNTER = ("config", "last")
CONVERSATION = "crash"


def batch(number: int) -> list[Record]:
    """Return batch `number`: some records of a few tables, small and large, new, changed and deleted."""
    rng = random.Random(number)
    records: dict[tuple[str, str], bytes | None] = {}
    for _ in range(rng.randint(1, 6)):
        key = (rng.choice(("conversation", "conversation", "usage")), f"k{rng.randint(0, 60)}")
        size = rng.randint(20_000, 90_000) if rng.random() < 0.08 else rng.randint(10, 1500)
        text = rng.choice("abcé日") * size
        records[key] = None if rng.random() < 0.15 else f'{{"n":{number},"x":"{text}"}}'.encode()
    records[COUNTER] = b'{"n":%d}' % number
    return [(table, key, value) for (table, key), value in records.items()]


def apply(state: State, number: int) -> State:
    """Return the state after batch `number`."""
    after = dict(state)
    for table, key, value in batch(number):
        if value is None:
            after.pop((table, key), None)
        else:
            after[table, key] = value
    return after


def prompt(number: int) -> Message:
    """Return the prompt of turn `number`."""
    return Message(role="user", content=f"prompt {number}", created_at=float(number))


def turn(number: int) -> TurnRecord:
    """Return turn `number`: a prompt, one tool round with output of some size, an answer, and a child."""
    output = "x" * random.Random(number).choice((10, 1000, 50_000))
    turn_id = f"turn-{number}"
    return TurnRecord(
        turn_id=turn_id,
        conversation_id=CONVERSATION,
        project_id="project",
        cwd="/work",
        started_at=float(number),
        messages=(
            prompt(number),
            Message(role="assistant", tool_calls=(ToolCall(id=f"c{number}", name="bash"),)),
            Message(role="tool", tool_call_id=f"c{number}", content=output),
            Message(role="assistant", content=f"answer {number}"),
        ),
        result=TurnResult(turn_id=turn_id, conversation_id=CONVERSATION, role="direct", stop_reason="completed"),
        children=(ChildTranscript(job_id=f"job-{number}", messages=(prompt(number), Message(role="assistant"))),),
    )
