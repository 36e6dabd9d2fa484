"""The one table of all figures: what is measured, in which unit, its goal, and against what.

A new figure is a function in a module of this folder that returns one reading for each of its rows, and an entry here.
"""

from tests.bench.reading import Part, Row

_EMPTY = "empty Textual app"
_A = "Markdown widgets (A)"
_START = "empty start"

PARTS: tuple[Part, ...] = (
    Part(
        "first_ink",
        "start",
        (
            Row("exec → first ink", "×", 0.15, _EMPTY),
            Row("exec → full live paint", "×", 1.2, _EMPTY),
            Row("the same without a kept picture", "×", 1.3, _EMPTY),
        ),
    ),
    Part("keys_while_the_host_starts", "start", (Row("key echo while the model host starts, slowest", "ms", 50),)),
    Part("resume", "start", (Row("2,000 messages: exec → shown", "ms", 50, _START),)),
    Part("resume_long", "start", (Row("20,000 messages: exec → live paint", "ms", 50, _START),)),
    Part(
        "enter_to_answer",
        "asking",
        (
            Row("Enter → request on the wire, host warm", "ms", 30),
            Row("server's first byte → first character on screen", "ms", 40),
            Row("Enter → first token on screen", "×", 1.2, "line floor"),
            Row("the same by itself", "ms", 50),
        ),
    ),
    Part("first_request", "asking", (Row("`smith-tui run`: exec → request, host waiting", "ms", 300),)),
    Part("first_request_of_the_app", "asking", (Row("app: exec → request of a prompt typed at once", "ms"),)),
    Part("twenty_steps", "tasks", (Row("20 instant tool steps", "s", 1.0),)),
    Part("thousand_steps", "tasks", (Row("1,000 tool steps: last 50", "×", 1.2, "first 50"),)),
    Part("cancel_stream", "tasks", (Row("Ctrl+C → prompt takes keys, stream running", "ms", 300),)),
    Part("cancel_tool", "tasks", (Row("Ctrl+C → prompt takes keys, tool running", "ms", 300),)),
    Part(
        "cancel_children",
        "tasks",
        (Row("Ctrl+C → four children ended, slowest", "ms", 500), Row("requests after it", "", 0)),
    ),
    Part(
        "key_echo",
        "streams",
        (
            Row("key echo at 200 tokens/s, p50", "×", 4, "idle text area"),
            Row("key echo at 200 tokens/s, p95", "×", 5, "idle text area"),
            Row("the same by itself", "ms", 15),
        ),
    ),
    Part(
        "against_markdown",
        "streams",
        (
            Row("screen alone: CPU per token at 200 tokens/s", "×", 0.3, _A),
            Row("screen alone: CPU per token at 1,000 tokens/s", "×", 0.15, _A),
            Row("bytes to the tty", "×", 0.3, _A),
        ),
    ),
    Part("whole_app", "streams", (Row("the whole app: CPU per token at 200 tokens/s", "µs"),)),
    Part("long_history", "streams", (Row("streaming CPU behind 5,000 messages", "×", 1.2, "behind 100"),)),
    Part("steady", "streams", (Row("200 tokens/s: share of a core, app and host", "%", 20),)),
    Part(
        "burst",
        "streams",
        (Row("20,000 tokens as fast as sent: wall", "s", 1.2), Row("the same: CPU of app and host", "s", 1.4)),
    ),
    Part("slow_line", "streams", (Row("key echo on a line of 150 KB/s, pages turning, p95", "ms", 100),)),
    Part(
        "far_start",
        "far",
        (
            Row("line of 200 ms and 50 KB/s: exec → first ink, behind the line", "ms", 150, "a near line, difference"),
            Row("the same: exec → live paint, behind the line", "ms", 250, "a near line, difference"),
        ),
    ),
    Part(
        "far_echo",
        "far",
        (
            Row("line of 200 ms and 50 KB/s: key echo p95, idle", "ms", 50, "a near line and 400 ms, difference"),
            Row("the same at 200 tokens/s", "ms", 100, "a near line and 400 ms, difference"),
            Row("the same with pages turning", "ms", 400, "400 ms, difference"),
            Row("200 tokens/s on that line: written a second", "bytes", 15_000),
        ),
    ),
    Part("far_cancel", "far", (Row("Ctrl+C on that line → cancelled on screen", "ms", 300, "400 ms, difference"),)),
    Part(
        "chunk_cost",
        "host",
        (
            Row("host: CPU per chunk, OpenAI-compatible", "µs", 40),
            Row("host: CPU per chunk, litellm's wrapper", "µs", 600),
        ),
    ),
    Part(
        "four_children",
        "panes",
        (
            Row("four children at 200 tokens/s: key echo p95", "ms", 40),
            Row("the same: share of a core", "%", 60),
        ),
    ),
    Part("four_panes", "panes", (Row("four panes at 50 tokens/s each: CPU of the whole app", "×", 0.3, f"four {_A}"),)),
    Part(
        "rain_cost",
        "rain",
        (
            Row("rain through shared memory: share of a core", "%", 2.5, "no rain, difference"),
            Row("rain through the line: share of a core", "%", 4, "no rain, difference"),
            Row("rain in cells: share of a core", "%", 12, "no rain, difference"),
            Row("rain: frames a second", "", 10.5),
            Row("rain through shared memory: a frame", "bytes", 130),
            Row("rain through the line: a frame", "bytes", 10_000),
        ),
    ),
    Part("rain_width", "rain", (Row("CPU with rain at 80, 200 and 300 columns: spread", "%", 20),)),
    Part("rain_echo", "rain", (Row("key echo while it rains, p95", "×", 1.2, "no rain"),)),
    Part(
        "after_rain",
        "rain",
        (
            Row("after a turn with rain: pictures", "", 0),
            Row("a minute of it: CPU", "s", 1.2),
            Row("a minute of it: written", "bytes", 60_000),
        ),
    ),
    Part(
        "memory",
        "standing",
        (
            Row("app with host: resident memory at the prompt", "×", 1.6, _EMPTY),
            Row("the same after a turn", "×", 1.6, _EMPTY),
            Row("host: resident memory", "MB"),
        ),
    ),
    Part("memory_of_a_long_conversation", "standing", (Row("resident memory, 5,000 messages", "×", 1.6, _EMPTY),)),
    Part("idle", "standing", (Row("idle for 60 s: CPU", "s", 0.5), Row("idle for 60 s: written", "bytes", 1000))),
    Part("cat_20_mb", "floods", (Row("20 MB printed: last line shown behind the command", "s", 1.0),)),
    Part(
        "flood_200_mb",
        "floods",
        (
            Row("200 MB printed while keys are typed", "s", 20),
            Row("the same: memory", "MB", 300),
            Row("the same: slowest key", "ms", 200),
        ),
    ),
    Part(
        "many_messages",
        "floods",
        (
            Row("100,000 messages: exec → shown", "s", 1.0, _START),
            Row("the same: memory", "MB", 300, _START),
            Row("the same: page up, p95", "ms", 30),
        ),
    ),
    Part(
        "inspect",
        "views",
        (Row("inspect 20,000 messages: open", "ms", 150), Row("the same: a key that moves, p95", "ms", 16)),
    ),
    Part("page", "views", (Row("conversation view of 20,000 messages: open", "ms", 500),)),
    Part("find", "views", (Row("find in 20,000 messages: key → match in view, p95", "ms", 100),)),
    Part("popup_of_files", "views", (Row("100,000 files: key → list in the popup, p95", "ms", 30),)),
    Part("paths_as_typed", "code", (Row("fuzzy search of 100,000 paths, p95", "ms", 30),)),
    Part("grep_against_ripgrep", "code", (Row("code_grep over 50,000 files", "×", 1.3, "rg"),)),
    Part(
        "symbols_in_the_library",
        "code",
        (Row("code_symbols in Python's library, cold", "s", 3), Row("the same, warm", "s", 0.3)),
    ),
    Part(
        "symbols_in_many_files",
        "code",
        (Row("code_symbols over 50,000 files, cold", "s", 3), Row("the same, warm", "s", 0.3)),
    ),
    Part("fit_window", "window", (Row("window policy on 20,000 messages, slowest kind", "ms", 20),)),
    Part(
        "append_message",
        "store",
        (
            Row("append 1 KB at 20,000 messages, p50", "×", 1.25, "sqlite WAL FULL"),
            Row("append 1 KB at 20,000 messages, p99", "×", 1.5, "sqlite WAL FULL"),
        ),
    ),
    Part("save_turn", "store", (Row("save a turn of 10 messages, p50", "×", 1.3, "sqlite WAL FULL"),)),
    Part(
        "open_conversation",
        "store",
        (
            Row("open 20,000 messages, read the last 200", "×", 4, "sqlite"),
            Row("open 20,000 messages, read the last 200", "×", 0.2, "parsing JSON lines"),
        ),
    ),
    Part(
        "word_in_a_million",
        "search",
        (
            Row("word among 1,000,000 messages, p50", "×", 0.1, "FTS5 bm25"),
            Row("word among 1,000,000 messages, p50", "×", 0.01, "rg"),
        ),
    ),
    Part("search_as_typed", "search", (Row("search as typed at 1,000,000 messages, p95", "ms", 30),)),
    Part(
        "crashes",
        "crashes",
        (
            Row("killed writers: lost or partial", "", 0),
            Row("power cuts: lost or partial", "", 0),
            Row("three writers of one file, killed: lost or partial", "", 0),
        ),
    ),
)
"""All parts; a part is measured as a whole."""
