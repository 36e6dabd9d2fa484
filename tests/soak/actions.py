"""All that a soak does with an app, each action by itself and weighted; each may leave the app anywhere."""

from collections.abc import Callable

import msgspec

from tests.soak import looking, talking
from tests.soak.app import App

Action = Callable[[App], None]


class Weighted(msgspec.Struct, frozen=True):
    """An action and how often it is chosen, compared with others."""

    weight: int
    act: Action


ACTIONS: tuple[Weighted, ...] = (
    Weighted(30, talking.send),
    Weighted(6, talking.queue),
    Weighted(6, talking.steer),
    Weighted(8, talking.cancel),
    Weighted(5, looking.inspect),
    Weighted(4, talking.edit_history),
    Weighted(3, talking.undo),
    Weighted(5, looking.pager),
    Weighted(3, looking.find),
    Weighted(3, looking.search),
    Weighted(6, looking.views),
    Weighted(4, looking.completions),
    Weighted(4, talking.settings),
    Weighted(5, talking.commands),
    Weighted(1, talking.delete_and_take_back),
    Weighted(2, talking.ask),
    Weighted(4, talking.paste),
    Weighted(6, looking.mouse),
    Weighted(2, looking.stop_and_go),
    Weighted(4, looking.resize),
    Weighted(5, looking.panes),
    Weighted(5, looking.keys),
)
