"""How near a path is to what people work on: the code itself, then documents, tests, and what is not written here."""

from smith_core.patterns import later

SOURCE, DOCUMENT, TEST, FOREIGN = range(4)
"""The classes, the most relevant first."""

_FOREIGN = later(
    r"(^|/)(node_modules|vendor|third_party|thirdparty|external|site-packages|dist|build|target|out|generated|gen"
    r"|__generated__|\.venv|venv|__pycache__|__snapshots__|snapshots|\.next|coverage|Pods)/"
    r"|\.min\.\w+$|\.(lock|map|snap|svg|csv|ipynb)$|(^|/)(package-lock\.json|pnpm-lock\.yaml|go\.sum)$"
    r"|[._]pb2?\.\w+$|\.generated\.\w+$",
)
_TEST = later(
    r"(^|/)(tests?|specs?|__tests__|__mocks__|testdata|fixtures|testing|benches|benchmarks?|e2e)/"
    r"|(^|/)(test_[^/]*|conftest\.py)$|[._-](test|tests|spec|bench)\.\w+$|Tests?\.(java|kt|cs|swift)$",
)
_DOCUMENT = later(r"(^|/)(docs?|documentation|examples?|samples?)/|\.(md|rst|txt|adoc|html?)$")


def path_class(path: str) -> int:
    """Return the class of a path relative to the project; it is a guess from names alone."""
    if _FOREIGN.search(path):
        return FOREIGN
    if _TEST.search(path):
        return TEST
    return DOCUMENT if _DOCUMENT.search(path) else SOURCE
