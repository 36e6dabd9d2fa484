"""The estimate of tokens: near the count of a real tokenizer for each kind of text, never below the rule of thumb."""

import base64
import importlib.util
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from smith_core.tokens import text_quarters, whole_tokens

LITELLM = importlib.util.find_spec("litellm")
RANDOM = random.Random(7)
BYTES = RANDOM.randbytes(6000)

KINDS = {
    "prose": "The window is fitted before each call, so that what is sent stays below the limit. " * 40,
    "code": Path(__file__).read_text("utf-8"),
    "chinese": "上下文窗口管理在每次调用模型之前应用，旧的工具输出被省略，最旧的整轮对话被丢弃。" * 40,
    "japanese": "古いツールの出力は省略され、最も古いラウンドから削除されます。" * 40,
    "korean": "오래된 도구 출력은 생략되고 가장 오래된 라운드부터 삭제됩니다." * 40,
    "emoji": "😀🎉🚀🔥✨🐍💡📦🧪🤖🌈" * 60,
    "base64": base64.b64encode(BYTES).decode(),
    "hex": BYTES.hex(),
    "digits": "".join(str(RANDOM.randrange(10)) for _ in range(6000)),
    "table": "\n".join(",".join(str(RANDOM.randrange(10**5)) for _ in range(8)) for _ in range(200)),
    "json": json.dumps([{"id": number, "name": f"user{number}", "score": RANDOM.random()} for number in range(200)]),
    "minified": "".join(
        f"function a{n}(t,e){{var n=t[{n}];return n?e.x+=n.y*{n % 7}:(e.z=null,void 0)}}" for n in range(99)
    ),
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    assert LITELLM is not None and LITELLM.origin is not None
    folder = Path(LITELLM.origin).parent / "litellm_core_utils" / "tokenizers"
    return Tokenizer.from_file(str(folder / "anthropic_tokenizer.json"))


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_text_is_counted_far_too_low_or_high(kind: str, tokenizer: Tokenizer) -> None:
    text = KINDS[kind]
    counted = len(tokenizer.encode(text, add_special_tokens=False).ids)
    assert 0.75 <= whole_tokens(text_quarters(text)) / counted <= 1.4


@given(st.text(st.characters(), max_size=400) | st.text("aA0 {\n漢😀", max_size=400))
def test_never_below_four_characters_to_a_token(text: str) -> None:
    assert text_quarters(text) >= len(text)


def test_one_sign_over_and_over_is_no_dense_text() -> None:
    assert text_quarters("x" * 600_000) == text_quarters("=" * 600_000) == 600_000
