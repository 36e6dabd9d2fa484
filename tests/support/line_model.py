"""A slow, obvious model of what lines of terminal output show: ASCII only, one character after the other."""


class LineModel:
    """Text, CR, BS, TAB and CSI C/D/G/K act; every other sequence and control shows nothing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.column = 0
        self.lines: list[list[str]] = [[]]

    def run(self) -> list[str]:
        while self.position < len(self.text):
            character = self.take()
            if character == "\x1b":
                self.sequence()
            elif character == "\n":
                self.lines.append([])
                self.column = 0
            elif character == "\r":
                self.column = 0
            elif character == "\b":
                self.column = max(0, self.column - 1)
            elif character == "\t":
                self.column = (self.column // 8 + 1) * 8
            elif " " <= character <= "~":
                row = self.lines[-1]
                row.extend(" " * (self.column - len(row)))
                row[self.column : self.column + 1] = character
                self.column += 1
        return ["".join(row) for row in self.lines]

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def take(self) -> str:
        self.position += 1
        return self.text[self.position - 1 : self.position]

    def take_between(self, low: str, high: str) -> str:
        start = self.position
        while self.peek() and low <= self.peek() <= high:
            self.position += 1
        return self.text[start : self.position]

    def sequence(self) -> None:
        kind = self.peek()
        if kind and kind in "]P_^X":
            self.position += 1
            self.string(kind)
        elif kind == "[":
            self.position += 1
            self.control()
        else:
            self.take_between(" ", "/")
            if self.peek() and "0" <= self.peek() <= "~":
                self.position += 1

    def string(self, kind: str) -> None:
        while self.peek():
            if self.peek() == "\x1b":
                if self.text[self.position + 1 : self.position + 2] == "\\":
                    self.position += 2
                return
            if self.peek() == "\n":
                return
            character = self.take()
            if character in "\x18\x1a" or (character == "\x07" and kind == "]"):
                return

    def control(self) -> None:
        parameters = self.take_between("0", "?")
        between = self.take_between(" ", "/")
        if not self.peek() or not "@" <= self.peek() <= "~":
            return
        final = self.take()
        if between or not (parameters == "" or parameters.isdecimal()):
            return
        amount = max(1, int(parameters or 0))
        if final == "K":
            self.erase(parameters)
        elif final in "CDG":
            self.column = max(0, {"C": self.column + amount, "D": self.column - amount, "G": amount - 1}[final])

    def erase(self, parameters: str) -> None:
        row = self.lines[-1]
        if parameters in ("", "0"):
            del row[self.column :]
        elif parameters == "1":
            row[: self.column + 1] = " " * min(self.column + 1, len(row))
        elif parameters == "2":
            row.clear()
