"""What tests from end to end start the program with."""

from tests.support.place import SMITH, Place

__all__ = ["SMITH", "Place"]
