"""Conversations and passages with long, wide and foreign text in them."""

from tests.support.shelf import NOW, Conversation, Hit

CONVERSATIONS = [
    Conversation(conversation_id="c0", title="Fix the parser of folded headers"),
    Conversation(
        conversation_id="c1",
        title="Why does the request [/] fail? 漢字",
        cwd="/srv/a/very/long/folder/name/with/many/parts",
        updated_at=NOW - 90_000,
        message_count=1234,
        size_bytes=1_230_000,
    ),
    Conversation(conversation_id="c2", message_count=1, size_bytes=300, updated_at=NOW - 86_400 * 12),
]
ANSWER = "I read **the parser**:\n\n```python\ndef parse(text):\n    return text\n```\n\nThat is all."
HITS = [
    Hit(excerpt="Please fix parseHTTPRequest, so that it reads folded headers.", highlights=((11, 27),)),
    Hit(
        role="assistant",
        time=NOW - 90_000,
        conversation_id="c1",
        excerpt="…the function parseHTTPRequest splits at the first colon only, which is right for any header but the "
        "folded ones that RFC 9112 forbids; I changed the loop, and http_test.py covers both [/foo] 漢字, so that…",
        highlights=((14, 30), (160, 164)),
    ),
    Hit(role="tool", tool="bash", kind="tool_result", excerpt="http_test.py ..F \x1b[31m[100%]", highlights=((0, 4),)),
    Hit(kind="note", role="", note_id="http-plan", excerpt="http-plan first the parser", highlights=((0, 4),)),
    Hit(kind="project_memory", role="", conversation_id="", note_id="style", excerpt="no http", highlights=((3, 7),)),
]
