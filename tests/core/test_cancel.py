"""The cancel tree."""

import asyncio

import pytest

from smith_core.cancel import new_root
from smith_core.errors import AgentFailure


def test_cancelling_a_parent_reaches_every_descendant_once() -> None:
    root = new_root()
    child = root.new_child()
    grandchild = child.new_child()
    seen: list[str] = []
    grandchild.on_cancel(lambda: seen.append("grandchild"))
    root.request()
    root.request()
    assert grandchild.is_cancelled
    assert seen == ["grandchild"]


def test_cancelling_a_child_leaves_the_parent_alone() -> None:
    root = new_root()
    first, second = root.new_child(), root.new_child()
    first.request()
    assert not root.is_cancelled
    assert not second.is_cancelled


def test_a_child_of_a_cancelled_token_is_cancelled_from_the_start() -> None:
    root = new_root()
    root.request()
    child = root.new_child()
    with pytest.raises(AgentFailure) as caught:
        child.check()
    assert caught.value.error.kind == "cancelled"


def test_a_released_child_is_forgotten() -> None:
    root = new_root()
    child = root.new_child()
    child.release()
    root.request()
    assert not child.is_cancelled


def test_an_unsubscribed_callback_is_not_called() -> None:
    root = new_root()
    seen: list[int] = []
    root.on_cancel(lambda: seen.append(1))()
    root.request()
    assert seen == []


async def test_a_sleep_ends_when_cancelled() -> None:
    root = new_root()
    sleeper = asyncio.create_task(root.sleep(3600))
    await asyncio.sleep(0)
    root.request()
    with pytest.raises(AgentFailure):
        await asyncio.wait_for(sleeper, 1)


async def test_a_sleep_that_is_not_cancelled_ends_by_itself() -> None:
    await asyncio.wait_for(new_root().sleep(0.001), 1)
