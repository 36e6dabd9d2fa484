"""Languages by file name: what they are called, and how their symbols are found."""

from collections.abc import Mapping

import msgspec


class Language(msgspec.Struct, frozen=True):
    """A language; `grammar` names its tree-sitter grammar, `rules` its line patterns; neither if it has no symbols."""

    name: str
    grammar: str = ""
    rules: str = ""

    @property
    def has_symbols(self) -> bool:
        """Whether symbols are looked for in its files."""
        return bool(self.grammar or self.rules)


_LANGUAGES: Mapping[str, tuple[Language, str]] = {
    "python": (Language("Python", "python"), "py pyi pyw SConstruct SConscript"),
    "javascript": (Language("JavaScript", "javascript"), "js jsx mjs cjs"),
    "typescript": (Language("TypeScript", "typescript"), "ts mts cts"),
    "tsx": (Language("TypeScript", "tsx"), "tsx"),
    "go": (Language("Go", "go"), "go"),
    "rust": (Language("Rust", "rust"), "rs"),
    "c": (Language("C", "c"), "c"),
    "cpp": (Language("C++", "cpp"), "cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl cu cuh ino h"),
    "java": (Language("Java", "java"), "java"),
    "lua": (Language("Lua", "lua"), "lua rockspec"),
    "ruby": (Language("Ruby", "ruby"), "rb rake gemspec Rakefile Gemfile"),
    "shell": (Language("Shell", rules="shell"), "sh bash zsh ksh"),
    "php": (Language("PHP", rules="php"), "php"),
    "csharp": (Language("C#", rules="csharp"), "cs"),
    "kotlin": (Language("Kotlin", rules="kotlin"), "kt kts"),
    "swift": (Language("Swift", rules="swift"), "swift"),
    "scala": (Language("Scala", rules="scala"), "scala sc"),
    "perl": (Language("Perl", rules="perl"), "pl pm t"),
    "sql": (Language("SQL", rules="sql"), "sql"),
    "make": (Language("Make", rules="make"), "mk Makefile makefile GNUmakefile"),
    "markdown": (Language("Markdown", rules="markdown"), "md markdown mdx"),
    "elixir": (Language("Elixir", rules="elixir"), "ex exs"),
    "dart": (Language("Dart", rules="csharp"), "dart"),
    "groovy": (Language("Groovy", rules="csharp"), "groovy gradle"),
    "zig": (Language("Zig", rules="zig"), "zig"),
    "r": (Language("R", rules="r"), "r R"),
    "vim": (Language("Vim script", rules="vim"), "vim"),
    "haskell": (Language("Haskell", rules="haskell"), "hs"),
    "ocaml": (Language("OCaml", rules="haskell"), "ml mli"),
    "proto": (Language("Protocol Buffers", rules="proto"), "proto"),
    "terraform": (Language("Terraform", rules="terraform"), "tf"),
    "objc": (Language("Objective-C", rules="objc"), "m mm"),
}
_WITHOUT_SYMBOLS: Mapping[str, str] = {
    "HTML": "html htm xhtml",
    "CSS": "css scss sass less",
    "JSON": "json jsonc json5 jsonl",
    "YAML": "yaml yml",
    "TOML": "toml",
    "XML": "xml xsd xsl svg",
    "reStructuredText": "rst",
    "text": "txt",
    "CSV": "csv tsv",
    "Dockerfile": "Dockerfile",
    "Nix": "nix",
    "Vue": "vue",
    "Svelte": "svelte",
    "Jupyter": "ipynb",
    "CMake": "cmake CMakeLists.txt",
    "Assembly": "s S asm",
    "images": "png jpg jpeg gif webp ico",
}
_BY_ENDING: Mapping[str, Language] = {
    **{ending: language for language, endings in _LANGUAGES.values() for ending in endings.split()},
    **{ending: Language(name) for name, endings in _WITHOUT_SYMBOLS.items() for ending in endings.split()},
}


def language_of(path: str) -> Language | None:
    """Return the language that a file's name tells, or None."""
    name = path.rpartition("/")[2]
    if name in _BY_ENDING:
        return _BY_ENDING[name]
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem:
        return None
    return _BY_ENDING.get(ending) or _BY_ENDING.get(ending.lower())


def symbol_globs(*, with_documents: bool) -> tuple[str, ...]:
    """Return globs for the names of files that may have symbols; documents have headings alone."""
    endings: list[str] = []
    names: list[str] = []
    for ending, language in _BY_ENDING.items():
        if language.has_symbols and (with_documents or language.rules != "markdown"):
            (names if (ending[0].isupper() and len(ending) > 1) or ending == "makefile" else endings).append(ending)
    return (f"*.{{{','.join(sorted({*endings, *(e.upper() for e in endings)}))}}}", *sorted(names), "GNUmakefile")
