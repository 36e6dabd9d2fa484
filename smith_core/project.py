"""Where a turn works: folder, git root, origin, its normalised form, and the project id derived from them."""

import msgspec


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """The git project around a folder; `root` is the folder itself outside of git.

    origin: as git has it; normalized: the same for SSH, HTTPS and file forms of one repository;
    index_text: content of the index file, "" without one; index_notice: why it was left out or cut, "" if it was not.
    """

    root: str
    is_git: bool = False
    branch: str = ""
    origin: str = ""
    normalized: str = ""
    project_id: str = ""
    index_file: str = ""
    index_text: str = ""
    index_notice: str = ""
