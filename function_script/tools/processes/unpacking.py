"""Unpack the layers of an image below a directory, and never outside of it.

Layers are as the OCI image specification has them: a name that begins with ``.wh.`` removes what a
lower layer has. Symbolic links in the path of a file are followed inside the image only. Owners
and the bits setuid and setgid are not taken over. Device files are refused, except for those below
/dev, which the confinement covers: they are left out.
"""

import os
import shutil
import stat
import tarfile
import time
from pathlib import Path
from typing import Final

from function_script.tools.xpkg import archives

_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_MAX_ENTRIES: Final = 500_000
# Of this thread: a slow disk is no fault of the image.
_MAX_CPU_SECONDS: Final = 60.0
_MAX_LINKS: Final = 40
# Trees are removed by recursion.
_MAX_DEPTH: Final = 256
_MAX_SHOWN: Final = 200
_CHUNK_BYTES: Final = 1 << 20
_HOSTS: Final = "127.0.0.1\tlocalhost\n::1\tlocalhost\n"
# Directories that the confinement mounts something on.
_MOUNT_POINTS: Final = ("proc", "dev", "tmp")


class Unpacker:
    """Writes layers below ``root``, an empty directory of ours; ``max_bytes`` bounds all files.

    All methods raise ValueError for an archive that no image has, and OSError.
    """

    def __init__(self, root: Path, max_bytes: int) -> None:
        self._root = str(root)
        self._max_bytes = self._remaining_bytes = max_bytes
        self._entries = 0
        self._end_seconds = time.thread_time() + _MAX_CPU_SECONDS
        # The paths of the present layer, with the directories above them.
        self._layer: set[str] = set()

    def add(self, data: bytes) -> None:
        """Unpack a layer, an archive that may be compressed with gzip or zstd."""
        self._layer.clear()
        with archives.open_layer(data, archives.Budget(self._max_bytes)) as archive:
            for member in archive:
                self._add(archive, member)

    def complete(self, working_directory: str = "/") -> None:
        """Add what every container has: directories to mount on, and the name localhost."""
        self._locate(f"{working_directory}/.keep")
        for name in _MOUNT_POINTS:
            path = f"{self._root}/{name}"
            if not _is_directory(path):
                _remove(path)
                os.mkdir(path, 0o755)  # noqa: PTH102 - see `_locate`
        hosts = f"{self._root}/etc/hosts"
        if not os.path.lexists(f"{self._root}/etc"):
            os.mkdir(f"{self._root}/etc", 0o755)  # noqa: PTH102 - see `_locate`
        if _is_directory(f"{self._root}/etc") and not os.path.lexists(hosts):
            with open(hosts, "x") as file:  # noqa: PTH123 - see `_locate`
                file.write(_HOSTS)

    def _add(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        self._entries += 1
        if self._entries > _MAX_ENTRIES:
            raise ValueError(f"it holds more than {_MAX_ENTRIES:,} files")
        if time.thread_time() > self._end_seconds:
            raise ValueError(f"its files take more than {_MAX_CPU_SECONDS:.0f} s of CPU time")
        path = self._locate(member.name)
        if path is None or (member.isdev() and path.startswith(f"{self._root}/dev/")):
            return
        directory, _, name = path.rpartition("/")
        if name == _OPAQUE:
            self._remove_lower(directory)
        elif name.startswith(_WHITEOUT):
            target = name.removeprefix(_WHITEOUT)
            if target in {"", ".", ".."}:
                raise ValueError(f"its file {name!r} is outside of it")
            _remove(f"{directory}/{target}")
        else:
            self._write(archive, member, path)
            # The directories above are of this layer, too: an opaque mark must not remove them.
            while len(path) > len(self._root) and path not in self._layer:
                self._layer.add(path)
                path = path.rpartition("/")[0]

    def _write(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        if member.isdir():
            if not _is_directory(path):
                _remove(path)
                os.mkdir(path)  # noqa: PTH102 - see `_locate`
            os.chmod(path, member.mode & 0o777 | 0o755)  # noqa: PTH101, S103 - see `cache`
            return
        if member.isdev():
            kind = "a named pipe" if member.isfifo() else "a device"
            raise ValueError(f"its file {member.name!r} is {kind}, which is not unpacked")
        if member.issparse():
            raise ValueError(f"its file {member.name!r} is sparse, which no image has")
        source = ""
        if member.islnk():
            source = self._locate(member.linkname) or ""
            if not source or not os.path.lexists(source) or _is_directory(source):
                text = "is a link to a file that it does not have"
                raise ValueError(f"its file {member.name!r} {text}")
        if source == path:
            return
        _remove(path)
        if source:
            os.link(source, path, follow_symlinks=False)
        elif member.issym():
            os.symlink(member.linkname, path)  # noqa: PTH211 - see `_locate`
        else:
            self._write_file(archive, member, path)

    def _write_file(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        self._remaining_bytes -= member.size
        if member.size < 0 or self._remaining_bytes < 0:
            raise ValueError(
                f"its files have more than {self._max_bytes // archives.MIB:,} MiB together"
            )
        content = archive.extractfile(member)
        with open(path, "xb") as file:  # noqa: PTH123 - see `_locate`
            if content is not None:
                shutil.copyfileobj(content, file, _CHUNK_BYTES)
        # Everyone may read, and execute what the owner may: see `cache`.
        executable = 0o111 if member.mode & 0o100 else 0
        os.chmod(path, member.mode & 0o777 | 0o444 | executable)  # noqa: PTH101 - see `_locate`
        # Compiled Python files are for sources of this time.
        seconds = min(max(member.mtime, 0), 1 << 33)
        os.utime(path, (seconds, seconds))

    def _locate(self, name: str) -> str | None:
        """Return the path of a file of the image; make its directories. None: the image's root.

        Texts instead of `Path`, which is slow for the hundred thousand files of an image.
        """
        parts = [part for part in name.split("/") if part not in {"", "."}]
        if ".." in parts or "\0" in name:
            raise ValueError(f"its file {name[:_MAX_SHOWN]!r} is outside of it")
        if not parts:
            return None
        return f"{self._make_directory(parts[:-1], name)}/{parts[-1]}"

    def _make_directory(self, parts: list[str], name: str) -> str:
        pending, current, links = parts[::-1], [self._root], 0
        while pending:
            part = pending.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                # Only targets of links have it. The root's parent is the root.
                del current[max(1, len(current) - 1) :]
                continue
            path = "/".join((*current, part))
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                # A name of 500 bytes can make 250 of them.
                self._entries += 1
                os.mkdir(path, 0o755)  # noqa: PTH102 - see `_locate`
                mode = stat.S_IFDIR
            if stat.S_ISLNK(mode):
                links += 1
                target = os.readlink(path)  # noqa: PTH115 - see `_locate`
                if links > _MAX_LINKS:
                    raise ValueError(f"its file {name!r} is below a loop of links")
                if target.startswith("/"):
                    del current[1:]
                pending += target.split("/")[::-1]
            elif stat.S_ISDIR(mode):
                current.append(part)
                if len(current) > _MAX_DEPTH:
                    text = f"is more than {_MAX_DEPTH} directories deep"
                    raise ValueError(f"its file {name[:_MAX_SHOWN]!r} {text}")
            else:
                raise ValueError(f"its file {name!r} is below a file that is no directory")
        return "/".join(current)

    def _remove_lower(self, directory: str) -> None:
        """Remove what lower layers have in a directory."""
        for name in os.listdir(directory):  # noqa: PTH208 - see `_locate`
            path = f"{directory}/{name}"
            if path not in self._layer:
                _remove(path)
            elif _is_directory(path):
                self._remove_lower(path)


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def _remove(path: str) -> None:
    if _is_directory(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)  # noqa: PTH108 - see `_locate`
