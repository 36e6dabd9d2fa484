"""The session report as plain text: tokens by role and child, their price, and where the time went, with bars."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from smith_core.llm.model_table import Prices
from smith_core.messages import Usage
from smith_core.session.spending import Spender, TimeSpent
from smith_core.text import shorten

BAR_CELLS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEADINGS = ("", "in", "cached", "out", "requests", "cost", "")
_MOST_CHILDREN = 20


class UsageRow(msgspec.Struct, frozen=True):
    """One row: whose tokens, and what they cost in US dollars, None where no price is known."""

    name: str
    usage: Usage
    cost: float | None = None
    depth: int = 0


def usage_rows(tokens: Mapping[Spender, Usage], prices: Mapping[str, Prices | None]) -> tuple[UsageRow, ...]:
    """Return a row for each role, below it one for each of its children, and the sum last."""
    by_role: dict[str, list[tuple[Spender, Usage]]] = {}
    for spender, usage in tokens.items():
        by_role.setdefault(spender.role, []).append((spender, usage))
    rows: list[UsageRow] = []
    for role, spent in by_role.items():
        rows.append(_sum(role, spent, prices))
        children: dict[str, list[tuple[Spender, Usage]]] = {}
        for spender, usage in spent:
            if spender.job_id:
                children.setdefault(spender.job_id, []).append((spender, usage))
        rows += [
            _sum(f"child {job_id[:8]}", items, prices, depth=1)
            for job_id, items in list(children.items())[-_MOST_CHILDREN:]
        ]
    if len(by_role) > 1:
        rows.append(_sum("all together", list(tokens.items()), prices))
    return tuple(rows)


def render_usage(rows: Sequence[UsageRow], time_spent: TimeSpent, saved: Sequence[UsageRow] = ()) -> str:
    """Return the report; saved: of all saved turns of the conversation, told where that is not the same."""
    if not rows and not saved:
        return "nothing was asked of a model yet"
    has_more = bool(saved) and _counts(saved) != _counts(rows)
    parts = []
    if rows:
        parts.append(_token_table(rows, "this session" if has_more else ""))
    if time_spent.total > 0:
        parts.append(_time_table(time_spent))
    if has_more:
        parts.append(_token_table(saved, "this conversation"))
    if any(row.usage.estimated for row in (*rows, *saved)):
        parts.append("~ estimated: the endpoint did not report all of its tokens")
    return "\n\n".join(parts)


def bar(share: float, cells: int = BAR_CELLS) -> str:
    """Return a bar for a share between 0 and 1, as wide as `cells` at most and at least a sliver above 0."""
    eighths = min(cells * 8, max(round(share * cells * 8), 1 if share > 0 else 0))
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def format_cost(cost: float | None) -> str:
    """Return dollars with as many digits as say something, "" where no price is known."""
    if cost is None:
        return ""
    return f"${cost:.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"


def _sum(
    name: str, spent: Sequence[tuple[Spender, Usage]], prices: Mapping[str, Prices | None], *, depth: int = 0
) -> UsageRow:
    cost: float | None = None
    for spender, usage in spent:
        price = prices.get(spender.model)
        if price is not None:
            paid = price.cost(usage.input_tokens, usage.output_tokens, usage.cached_tokens)
            cost = paid if cost is None else cost + paid
    return UsageRow(name, sum((usage for _, usage in spent), Usage()), cost, depth)


def _token_table(rows: Sequence[UsageRow], title: str) -> str:
    most = max(_tokens(row.usage) for row in rows) or 1
    cells = [
        (
            "  " * row.depth + shorten(row.name, 30),
            f"{row.usage.input_tokens:,}",
            f"{row.usage.cached_tokens:,}",
            f"{row.usage.output_tokens:,}",
            f"{'~' if row.usage.estimated else ''}{row.usage.requests}",
            format_cost(row.cost),
            bar(_tokens(row.usage) / most),
        )
        for row in rows
    ]
    return _table([(title, *_HEADINGS[1:]), *cells], left=(0, 6))


def _time_table(spent: TimeSpent) -> str:
    rows = [("model", spent.model), ("tools", spent.tools), ("waiting", spent.waiting)]
    return _table(
        [("time in", "", "", "")]
        + [
            (name, format_seconds(seconds), f"{100 * seconds / spent.total:.0f} %", bar(seconds / spent.total))
            for name, seconds in rows
        ],
        left=(0, 3),
    )


def format_seconds(seconds: float) -> str:
    """Return a duration with one decimal below a minute, and as minutes and seconds above."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


def _table(rows: Sequence[tuple[str, ...]], left: tuple[int, ...]) -> str:
    """Align columns, those of `left` to the left and the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _counts(rows: Sequence[UsageRow]) -> Counter[tuple[str, Usage]]:
    return Counter((row.name, row.usage) for row in rows)
