"""Bytes and seconds as people read them."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size_in_words(count: float) -> str:
    """Return bytes with three figures and a decimal unit: "1.12 GB", "491 MB", "12 bytes"."""
    unit = 0
    # 999.5 would be written as 1000 of the smaller unit.
    while count >= 999.5 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    if unit == 0:
        return "1 byte" if round(count) == 1 else f"{count:.0f} bytes"
    digits = 2 if count < 9.995 else 1 if count < 99.95 else 0
    return f"{count:.{digits}f} {_UNITS[unit]}"


def duration_in_words(seconds: float) -> str:
    """Return a length of time with its two largest units: "8 s", "2 min 05 s", "1 h 12 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
