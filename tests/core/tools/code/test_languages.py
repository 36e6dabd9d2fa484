"""What is found in each language: kinds, names, where they are inside of, and their lines."""

import pytest

from smith_core.tools.code.grammars import parse_symbols
from smith_core.tools.code.heuristics import find_symbols
from smith_core.tools.code.languages import language_of, symbol_globs
from smith_core.tools.code.symbols import KINDS, Symbol, kinds_meant, signature

GRAMMARS = {
    "python": (
        "LIMIT = 3\n\n@dec\nclass A(B):\n    def m(self, a: int) -> str:\n        def inner(): pass\n        return a\n"
        "\nasync def f(\n    x,\n):\n    pass\n\nlower: int = 2\n",
        "constant LIMIT 1-1|class A 4-7|method A.m 5-7|function f 9-12|variable lower 14-14",
    ),
    "javascript": (
        "const LIMIT = 3;\nlet a = b(1);\nexport const go = async (x) => {\n  return x\n};\n"
        "export default class K extends B {\n  constructor() {}\n  static m(a) {}\n  arrow = () => {}\n}\n"
        "function* gen() {}\nmodule.exports.foo = function () {};\n",
        "constant LIMIT 1-1|variable a 2-2|function go 3-5|class K 6-10|method K.constructor 7-7|method K.m 8-8"
        "|method K.arrow 9-9|function gen 11-11|function foo 12-12",
    ),
    "typescript": (
        "export interface I {\n  m(): void;\n}\ntype T = string;\n"
        "enum E { A }\nnamespace N {\n  export function q() {}\n}\n"
        "abstract class K<T> {\n  private x = () => 1;\n  async go<T>(): Promise<T> {\n  }\n}\n",
        "interface I 1-3|method I.m 2-2|type T 4-4|enum E 5-5"
        "|module N 6-8|function N.q 7-7|class K 9-13|method K.x 10-10"
        "|method K.go 11-12",
    ),
    "tsx": (
        "export const App: React.FC = () => <div>hi</div>;\nfunction P(props: X) {\n  return <b/>;\n}\n",
        "function App 1-1|function P 2-4",
    ),
    "go": (
        "package main\n\ntype S struct {\n\ta int\n}\ntype I interface{ M() }\n"
        "type F func(int) error\nconst (\n\tC = 1\n\tD = 2\n)\n"
        "var v, w int\n\nfunc (s *S) Method(a int) error {\n\treturn nil\n"
        "}\n\nfunc (s G[T]) Gen() {}\nfunc main() {}\n",
        "struct S 3-5|interface I 6-6|type F 7-7|constant C 9-9|constant D 10-10|variable v 12-12|variable w 12-12"
        "|method S.Method 14-16|method G.Gen 18-18|function main 19-19",
    ),
    "rust": (
        "mod m {\n    pub fn g() {}\n}\npub struct S<T> { a: T }\nenum E { A }\ntrait T {\n    fn sig(&self);\n}\n"
        "impl<T> S<T> {\n    pub fn new() -> Self { }\n}\n"
        "macro_rules! mac { () => {} }\nconst C: u8 = 1;\ntype Al = u8;\n",
        "module m 1-3|function m.g 2-2|struct S 4-4|enum E 5-5|trait T 6-8|method T.sig 7-7|method S.new 10-10"
        "|macro mac 12-12|constant C 13-13|type Al 14-14",
    ),
    "c": (
        "#define LIM 3\n#define SQ(x) ((x)*(x))\nstruct p {\n  int x;\n};\ntypedef struct { int y; } q_t;\n"
        "typedef int (*cb)(int);\nenum col { RED };\nstatic const int tbl[] = {1};\nint proto(int);\n"
        "static int add(int a)\n{\n  return a;\n}\nchar *name(void) { return 0; }\n",
        "constant LIM 1-1|macro SQ 2-2|struct p 3-5|type q_t 6-6|type cb 7-7|enum col 8-8|variable tbl 9-9"
        "|function proto 10-10|function add 11-14|function name 15-15",
    ),
    "cpp": (
        "namespace n {\nclass K : public B {\n public:\n"
        "  int m(int a) const { return a; }\n  virtual void v() = 0;\n};\n"
        "template <class T>\nT id(T t) { return t; }\n}\nvoid n::K::other(int x) {\n}\nK::~K() {}\n"
        "bool operator==(const K& a, const K& b) { return true; }\nusing Al = int;\n",
        "module n 1-9|class n.K 2-6|method n.K.m 4-4|method n.K.v 5-5|function n.id 8-8|method K.other 10-11"
        "|method K.~K 12-12|function operator== 13-13|type Al 14-14",
    ),
    "java": (
        "public class K<T> extends B {\n  static final int MAX = 1;\n  public K() {}\n"
        "  public int m(int a) {\n    return a;\n  }\n"
        "  enum In { A }\n}\ninterface I { void q(); }\nrecord R(int a) {}\n",
        "class K 1-8|constant K.MAX 2-2|method K.K 3-3|method K.m 4-6|enum K.In 7-7|interface I 9-9|method I.q 9-9"
        "|class R 10-10",
    ),
    "lua": (
        "local M = {}\nlocal function loc(a)\nend\n"
        "function M.f(a, b) end\nfunction M:meth() end\nM.g = function() end\n",
        "variable M 1-1|function loc 2-3|function M.f 4-4|method M.meth 5-5|function M.g 6-6",
    ),
    "ruby": (
        "module Mo\n  class K < B\n    LIMIT = 3\n    def initialize(a)\n    end\n"
        "    def self.build; end\n  end\nend\ndef top; end\n",
        "module Mo 1-8|class Mo.K 2-7|constant Mo.K.LIMIT 3-3|method Mo.K.initialize 4-5|method Mo.K.build 6-6"
        "|function top 9-9",
    ),
}
HEURISTICS = {
    "shell": (
        "readonly A=3\nfunction one {\n  y=2\n}\ntwo() {\n  x\n}\n",
        "constant A 1-1|function one 2-4|function two 5-7",
    ),
    "php": (
        "<?php\nnamespace A\\B;\nabstract class K {\n    const C = 1;\n"
        "    public static function m($a) {\n    }\n}\nfunction f() {}\n",
        "module A\\B 2-2|class K 3-7|constant K.C 4-4|method K.m 5-6|function f 8-8",
    ),
    "csharp": (
        "namespace A.B\n{\n    public sealed class K : I\n    {\n"
        "        public K(int a)\n        {\n            foo(3);\n        }\n"
        "        static int N(int a) => 1;\n    }\n    struct S { }\n}\n",
        "module A.B 1-12|class A.B.K 3-10|method A.B.K.K 5-8|method A.B.K.N 9-9|struct A.B.S 11-11",
    ),
    "kotlin": (
        "data class K(val a: Int) {\n    fun m(): Int {\n        return 1\n    }\n}\nobject O\nfun String.ext() = 1\n",
        "class K 1-5|method K.m 2-4|class O 6-6|function ext 7-7",
    ),
    "swift": (
        "protocol P { }\nstruct S: P {\n    init(a: Int) {\n    }\n    func q() -> Int { 1 }\n}\n",
        "interface P 1-1|struct S 2-6|method S.init 3-4|method S.q 5-5",
    ),
    "scala": ("object O {\n  def f(a: Int) = {\n    a\n  }\n}\ntrait T\n", "class O 1-5|method O.f 2-4|trait T 6-6"),
    "perl": ("package A::B;\nsub one {\n  1;\n}\n", "module A::B 1-1|function one 2-4"),
    "sql": (
        "CREATE TABLE IF NOT EXISTS users (\n  id int\n);\ncreate or replace function f(a int)\n",
        "type users 1-1|function f 4-4",
    ),
    "make": ("CC := gcc\nall: a b\n\techo\n%.o: %.c\n\tcc\n", "variable CC 1-1|target all 2-3|target %.o 4-5"),
    "markdown": (
        "# One\ntext\n## Two\n```\n# not\n```\n# Three\n",
        "heading One 1-6|heading Two 3-6|heading Three 7-7",
    ),
}


def _told(symbols: tuple[Symbol, ...]) -> list[str]:
    return [
        f"{symbol.kind} {'.'.join(filter(None, (symbol.container, symbol.name)))} {symbol.line}-{symbol.end_line}"
        for symbol in symbols
    ]


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_symbols_of_a_language_with_a_grammar(grammar: str) -> None:
    source, expected = GRAMMARS[grammar]
    symbols, is_whole = parse_symbols(source.encode(), grammar)
    assert _told(symbols) == expected.split("|")
    assert is_whole and {symbol.kind for symbol in symbols} <= set(KINDS)


@pytest.mark.parametrize("rules", HEURISTICS)
def test_symbols_of_a_language_without_a_grammar(rules: str) -> None:
    source, expected = HEURISTICS[rules]
    assert _told(find_symbols(source, rules)) == expected.split("|")


def test_what_parses_of_a_broken_file_is_kept() -> None:
    symbols, is_whole = parse_symbols(b"def good():\n    pass\n\nclass (((\n\ndef also():\n    pass\n", "python")
    assert not is_whole and "function good 1-2" in _told(symbols) and "also" in {symbol.name for symbol in symbols}


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_no_bytes_break_a_parser(grammar: str) -> None:
    for data in (b"", b"\xff\xfe\x00", GRAMMARS[grammar][0].encode()[:-20] + b"\xc3", b"(" * 5_000):
        parse_symbols(data, grammar)


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/b.py", "Python"), ("x.H", "C++"), ("Makefile", "Make"), ("a.tsx", "TypeScript"), (".py", None), ("x", None)],
)
def test_the_name_of_a_file_tells_its_language(path: str, name: str | None) -> None:
    found = language_of(path)
    assert (found.name if found else None) == name


def test_globs_name_the_files_with_symbols() -> None:
    assert "Makefile" in symbol_globs(with_documents=False)
    assert ",md," not in symbol_globs(with_documents=False)[0] and ",md," in symbol_globs(with_documents=True)[0]


@pytest.mark.parametrize(
    ("word", "kind"),
    [("Functions", "method"), ("fn", "function"), ("classes", "class"), ("types", "enum"), ("trait", "trait")],
)
def test_a_filter_may_be_a_word_of_another_language(word: str, kind: str) -> None:
    assert kind in (kinds_meant(word) or ())
    assert kinds_meant("banana") is None


def test_a_signature_is_one_line_without_the_body() -> None:
    assert signature("async def f(\n    a,\n    b,\n) -> int:") == "async def f(a, b) -> int"
    assert signature("const f = (x) => {") == "const f = (x)"
    assert len(signature("def f(" + "a, " * 500)) == 160
