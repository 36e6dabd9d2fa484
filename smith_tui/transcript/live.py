"""An answer while it streams in: pieces become blocks as they end, and only the last block changes."""

from smith_tui.transcript.answers import Answer, Code, Prose
from smith_tui.transcript.blocks import Block, Notice, Reasoning
from smith_tui.transcript.calm import settled, settled_code
from smith_tui.transcript.model import Document
from smith_tui.transcript.splitter import Piece, Splitter


class LiveAnswer:
    """Writes one streamed answer into a document."""

    def __init__(self, document: Document, palette: str) -> None:
        self._document = document
        self._answer = Answer(palette)
        self._places: dict[int, Block] = {}
        """The answer's blocks by their index in the document."""
        self._splitter: Splitter | None = None
        self._reasoning: int | None = None
        self._tail: int | None = None
        self._opening: int | None = None
        """The first block of the text, which has a gap before it whatever its piece says."""
        self._previous: Code | None = None
        self._has_text = False

    @property
    def palette(self) -> str:
        """The palette of the role that answers."""
        return self._answer.palette

    def append_text(self, delta: str) -> None:
        """Take more of the answer's markdown; it ends the reasoning."""
        if self._splitter is None:
            delta = delta.lstrip("\n") if not self._has_text else delta
            if not delta:
                return
            self._end_reasoning()
            self._splitter = Splitter()
            self._opening = None
        for piece in self._splitter.feed(delta):
            self._complete(piece)
        self._show_tail(self._splitter)

    def append_reasoning(self, delta: str) -> None:
        """Take more of the reasoning; it ends the text before it."""
        if self._reasoning is None:
            if not delta.strip():
                return
            self._end_text()
            self._reasoning = self._add(Reasoning("", self.palette, is_live=True))
        reasoning = self._places[self._reasoning]
        assert isinstance(reasoning, Reasoning)
        reasoning.append(delta)
        self._document.changed(self._reasoning)

    def finish(self, *, interrupted: bool = False) -> None:
        """End the answer; an interrupted one says so."""
        self._end_reasoning()
        self._end_text()
        if interrupted:
            self._add(Notice("warning", "interrupted", self.palette))

    def discard(self) -> None:
        """Take everything that was streamed out of the document again; the answer is void."""
        self._document.remove(list(self._places.values()))

    def _end_reasoning(self) -> None:
        if self._reasoning is None:
            return
        reasoning = self._places[self._reasoning]
        assert isinstance(reasoning, Reasoning)
        reasoning.is_live = False
        self._document.changed(self._reasoning)
        self._reasoning = None

    def _end_text(self) -> None:
        if self._splitter is None:
            return
        pieces = self._splitter.finish()
        for piece in pieces:
            self._complete(piece)
        if not pieces and self._tail is not None:
            self._write(Piece(""))
        self._tail = None
        self._splitter = None

    def _complete(self, piece: Piece) -> None:
        """Give a piece its final form; the growing block becomes it, if there is one."""
        block = self._write(piece)
        self._tail = None
        if isinstance(block, Code):
            block.freeze()
            self._previous = block
        elif self._answer.note_definitions(piece.source):
            for index in self._places:
                self._document.changed(index)

    def _show_tail(self, splitter: Splitter) -> None:
        piece, partial = splitter.growing()
        if piece is None:
            self._tail = None
        elif piece.language is not None:
            self._write(piece, settled_code(partial))
        else:
            source = f"{piece.source}\n{settled(partial)}" if piece.source else settled(partial)
            self._write(piece._replace(source=source.rstrip("\n")))

    def _write(self, piece: Piece, partial: str = "") -> Prose | Code:
        """Put a piece into the growing block, which is made when there is none or it is of the other kind."""
        block = None if self._tail is None else self._places[self._tail]
        if isinstance(block, Code if piece.language is not None else Prose):
            block.take(piece)
        else:
            block = self._make(piece, is_first=block.is_first if isinstance(block, Prose | Code) else None)
            self._tail = self._put(block)
        if self._opening is None:
            self._opening = self._tail
        block.has_gap = piece.has_gap or self._tail == self._opening
        if isinstance(block, Code):
            block.partial = partial
            block.is_growing = True
        if self._tail is not None:
            self._document.changed(self._tail)
        return block

    def _put(self, block: Prose | Code) -> int:
        """Put a block in the place of the growing one, or at the end."""
        if self._tail is None:
            return self._add(block)
        self._places[self._tail] = block
        self._document.replace(self._tail, block)
        return self._tail

    def _make(self, piece: Piece, *, is_first: bool | None) -> Prose | Code:
        if is_first is None:
            is_first, self._has_text = not self._has_text, True
        if piece.language is None:
            return Prose(piece, self._answer, is_first=is_first)
        return Code(piece, self._answer, self._previous, is_first=is_first)

    def _add(self, block: Block) -> int:
        index = self._document.append(block)
        self._places[index] = block
        return index
