"""Writes the generated parts of the guide and the manual page: `make docs`."""

from docs.generate.pages import write_all

if __name__ == "__main__":
    for path in write_all():
        print(path)
