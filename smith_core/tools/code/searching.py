"""How every code tool begins: its place is found in a thread, and expected failures become outcomes."""

from collections.abc import Callable

from smith_core.plainfile import NotRegularFileError
from smith_core.text import clean_text
from smith_core.tools.base import ToolContext, ToolOutcome, failed
from smith_core.tools.code.children import Children, run_with_children
from smith_core.tools.code.place import Place, find_place
from smith_core.tools.file_access import PathRefusedError, explain, resolve_path
from smith_core.tools.sandbox.reach import OutOfReachError, layout_of, reached


async def search_place(
    work: Callable[[Place, Children], ToolOutcome], verb: str, raw_path: str | None, ctx: ToolContext
) -> ToolOutcome:
    """Run blocking `work` on the place that `raw_path` means; a place that cannot be used is an outcome as well."""
    layout = await layout_of(ctx)

    def guarded(children: Children) -> ToolOutcome:
        try:
            place = find_place(raw_path, ctx)
            if layout is not None:
                found = reached(layout, place.folder / place.name, writes=False)
                place = find_place(str(found), ctx) if found != place.folder / place.name else place
        except OutOfReachError as error:
            return failed(f"Cannot {verb} it: {error}", code="out_of_reach", kind="policy")
        except PathRefusedError as error:
            return failed(f"Cannot {verb} it: {error}", code="bad_path")
        except (OSError, NotRegularFileError) as error:
            path = resolve_path(raw_path, ctx.cwd) if raw_path and raw_path.strip() else ctx.cwd
            code = "not_found" if isinstance(error, FileNotFoundError) else "file_error"
            return failed(explain(error, verb, path, ctx.cwd), code=code, path=clean_text(str(path)))
        return work(place, children)

    return await run_with_children(guarded, ctx)
