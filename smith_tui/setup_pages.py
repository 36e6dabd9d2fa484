"""The pages of the setup screen as data: what each asks, and what there is to choose."""

from collections.abc import Iterable, Sequence

import msgspec

from smith_core.embedded.catalog import MODELS, EmbeddedModel
from smith_core.embedded.label import SCRIPTED_MODEL
from smith_core.embedded.words import size_in_words
from smith_core.endpoints import PRESETS, LocalEndpoint, Preset
from smith_core.text import shorten

Choice = Preset | LocalEndpoint | EmbeddedModel | str
"""What a row stands for; a word is an action of the screen."""

_SHOWN_MODELS = 3


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to choose: its name, and what is said beside it."""

    choice: Choice
    name: str
    detail: str = ""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One question. entry: None without a field to type in, else what stands in it at first.

    placeholder: what an empty field shows. has_filter: typing narrows the rows, and what was typed is a row itself.
    wraps_rows: what is said beside a name is worth a second line where it is cut otherwise.
    """

    title: str
    hint: str = ""
    rows: tuple[Row, ...] = ()
    entry: str | None = None
    placeholder: str = ""
    has_filter: bool = False
    wraps_rows: bool = False


def source_page(found: Sequence[LocalEndpoint], *, is_looking: bool) -> Page:
    """Return the first page; found: what listens on this machine."""
    rows = [
        *(Row(choice=endpoint, name=endpoint.program, detail=_found_in_words(endpoint)) for endpoint in found),
        *(Row(choice=preset, name=preset.label, detail=_address_in_words(preset)) for preset in PRESETS),
        Row(choice="custom", name="Another endpoint", detail="any OpenAI-compatible address"),
        Row(choice="embedded", name="On this machine", detail="a small model, without endpoint or key"),
        Row(choice="file", name="A GGUF file of yours", detail="run on this machine"),
        Row(choice="tour", name="Only look around", detail=f"a {SCRIPTED_MODEL}"),
    ]
    looking = "Looking for model servers on this machine …" if is_looking else ""
    return Page(title="Which model shall work for you?", hint=looking, rows=tuple(rows))


def _found_in_words(endpoint: LocalEndpoint) -> str:
    where = endpoint.api_url.removeprefix("http://").removesuffix("/v1")
    if endpoint.needs_key:
        return f"answers at {where}, wants a key"
    if not endpoint.models:
        return f"answers at {where}, has no model yet"
    shown = ", ".join(shorten(model, 40) for model in endpoint.models[:_SHOWN_MODELS])
    more = f" and {len(endpoint.models) - _SHOWN_MODELS} more" if len(endpoint.models) > _SHOWN_MODELS else ""
    return f"answers at {where}: {shown}{more}"


def _address_in_words(preset: Preset) -> str:
    return preset.api_url.removeprefix("https://").partition("/")[0] if preset.api_url else preset.models[0]


ADDRESS_PAGE = Page(
    title="Where is the endpoint?",
    hint="The base address of an OpenAI-compatible endpoint, which most often ends in /v1.",
    entry="",
    placeholder="http://127.0.0.1:8080/v1",
)
FILE_PAGE = Page(
    title="Which file?",
    hint="The path of a GGUF file; it runs on this machine's processor, so a small one answers sooner.",
    entry="",
    placeholder="~/models/model.gguf",
)


def key_page(variable: str, *, is_optional: bool) -> Page:
    """Return the page that asks for the name of the key's variable."""
    hint = "The key itself is never asked for and never written down, only the name of the variable that holds it."
    if is_optional:
        hint += " Leave it empty for an endpoint that needs no key."
    return Page(title="Which environment variable holds the key?", hint=hint, entry=variable, placeholder="LLM_API_KEY")


def model_page(models: Iterable[str], *, hint: str) -> Page:
    """Return the page that asks for the model."""
    rows = tuple(Row(choice=model, name=model) for model in models)
    return Page(
        title="Which model?",
        hint=hint,
        rows=rows,
        entry="",
        placeholder="type to search, or a model id",
        has_filter=True,
    )


def embedded_page(problem: str) -> Page:
    """Return the page that asks which embedded model; problem: why none can run here, or ""."""
    rows = [
        Row(choice=model, name=f"{model.name}, {size_in_words(model.size)}", detail=model.limits) for model in MODELS
    ]
    return Page(
        title="Which model on this machine?",
        hint=problem or "It is fetched once, checked by its SHA-256, and kept in the cache folder.",
        rows=() if problem else tuple(rows),
        wraps_rows=True,
    )


def failed_page(model: str) -> Page:
    """Return the page behind a test that failed."""
    rows = (
        Row(choice="again", name="Try again"),
        Row(choice="back", name="Choose another model"),
        Row(choice="begin", name="Begin again"),
        Row(choice="keep", name="Keep it all the same"),
    )
    return Page(title=f"{model} did not answer.", rows=rows)


def not_installed_page(model: EmbeddedModel) -> Page:
    """Return the page behind an installation that failed."""
    rows = (Row(choice="back", name="Go back"), Row(choice="begin", name="Begin again"))
    return Page(title=f"{model.label} could not be installed.", rows=rows)


UNSAVED_PAGE = Page(
    title="The settings could not be written.",
    rows=(Row(choice="again", name="Try again"), Row(choice="leave", name="Go on without them")),
)


def narrowed(rows: Sequence[Row], typed: str) -> tuple[Row, ...]:
    """Return the rows whose names hold all typed words, an exact one first, and what was typed as the last row."""
    typed = typed.strip()
    if not typed:
        return tuple(rows)
    words = typed.casefold().split()
    matching = [row for row in rows if all(word in row.name.casefold() for word in words)]
    if any(row.name == typed for row in matching):
        return tuple(sorted(matching, key=lambda row: row.name != typed))
    return (*matching, Row(choice=typed, name=typed, detail="as you typed it"))
