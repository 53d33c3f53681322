# SPDX-License-Identifier: Apache-2.0
"""Finds the txmill program, runs it, and reads its JSON lines as they are printed."""
from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Union

StrPath = Union[str, "os.PathLike[str]"]
Json = Dict[str, Any]

# More is not a version, and not a line of JSON.
_ANSWER_BYTES = 1 << 16
_LINE_CHARACTERS = 1 << 26
_ERROR_CHARACTERS = 1 << 24
# From this many paths on they are passed as a list on standard input, because the length of a command line is limited.
_MANY_PATHS = 200


class TxmillError(Exception):
    """The program failed as a whole: wrong arguments, a missing config, a crash.

    Failures of single files do not raise it; they are part of a function's result.
    """

    def __init__(self, message: str, exit_code: Optional[int] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ProgramMissing(TxmillError):
    """There is no txmill program to run."""


def _environment() -> Dict[str, str]:
    """The environment of the program: USD scenes are read with this Python if it has the USD library."""
    environment = dict(os.environ)
    if "TXMILL_PYTHON" not in environment and sys.executable and importlib.util.find_spec("pxr"):
        environment["TXMILL_PYTHON"] = sys.executable
    return environment


class Cancel:
    """Stops a run from another thread: pass it as `cancel=`, then call `cancel()`.

    The program keeps complete files and removes its temporary ones. If it has not exited ten seconds later, the next call
    of `cancel()` kills it.
    """

    _PATIENCE_SECONDS = 10.0

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._process: Optional["subprocess.Popen[str]"] = None
        self._since = 0.0

    def cancel(self) -> None:
        with self._lock:
            if self._event.is_set():  # not signalled again: a second signal ends the program without cleaning up
                if self._process is not None and time.monotonic() - self._since >= self._PATIENCE_SECONDS:
                    self._process.kill()
                return
            self._event.set()
            self._since = time.monotonic()
            if self._process is not None:
                _interrupt(self._process)

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def _attach(self, process: "Optional[subprocess.Popen[str]]") -> None:
        with self._lock:
            self._process = process
            if process is not None and self._event.is_set():
                _interrupt(process)


def _interrupt(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)


# ---- where the program and the library are --------------------------------------------------------------------------

_PACKAGE = Path(__file__).resolve().parent


def library_folder() -> Optional[Path]:
    """LIBDIR, if this is LIBDIR/python3.X/dist-packages/txmill: `make install` and Debian's packages have it there."""
    packages, python = _PACKAGE.parent, _PACKAGE.parent.parent
    if packages.name in ("dist-packages", "site-packages") and re.fullmatch(r"python3(\.\d+t?)?", python.name):
        return python.parent
    return None


def _own_program() -> Iterator[Path]:
    """A wheel has the program in the package; `make install` puts it into PREFIX/bin. Other folders above the package are
    not looked at, because they may belong to anybody."""
    yield _PACKAGE / "bin" / "txmill"
    libraries = library_folder()
    for folder in (libraries, libraries.parent) if libraries else ():
        if folder.name in ("lib", "lib64"):
            yield folder.parent / "bin" / "txmill"


def _allow_own() -> None:
    """Blender unpacks wheels without the permission to run the programs in them. Their owner gets it back."""
    for folder in (_PACKAGE / "bin", _PACKAGE / "lib" / "txmill"):
        for file in folder.iterdir() if folder.is_dir() else ():
            found = file.lstat()
            if not file.suffix and stat.S_ISREG(found.st_mode) and not found.st_mode & stat.S_IXUSR and found.st_uid == os.geteuid():
                try:
                    file.chmod(stat.S_IMODE(found.st_mode) | (found.st_mode & 0o444) >> 2)
                except OSError as error:
                    raise ProgramMissing(f"{file}: may not be run, and the permission cannot be changed: {error.strerror}; run: "
                                         f"chmod +x {shlex.quote(str(file))}") from error


def _own_users() -> Set[int]:
    """The users whose files may run here: root, the caller, under sudo the user who ran the command, and the owner of this
    package, who could change the package as well."""
    users = {0, os.geteuid(), os.stat(__file__).st_uid}
    sudo = os.environ.get("SUDO_UID", "")
    return users | {int(sudo)} if os.geteuid() == 0 and sudo.isdigit() else users


def trusted(path: StrPath, in_path: bool = False) -> bool:
    """Whether a program or library may be used: it belongs to us, and so does its folder, in which others cannot replace it.
    For a link both owners count, because the owner of the link chose the file. A folder that the user named, in PATH, is
    taken as it is, unless everybody may write to it: then the file must be ours, as a settings file must."""
    try:
        link, file, folder = os.lstat(path), os.stat(path), os.stat(os.path.dirname(path) or os.curdir)
    except OSError:
        return False
    users = _own_users()
    ours = link.st_uid in users and file.st_uid in users
    if in_path:
        return ours or not folder.st_mode & stat.S_IWOTH
    return ours and folder.st_uid in users and folder.st_mode & (stat.S_IWOTH | stat.S_ISVTX) != stat.S_IWOTH


def _on_path(name: str, refused: List[str]) -> Optional[str]:
    """The first program of this name on PATH that is trusted; the others are added to `refused`."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(name, path=folder) if folder else None
        if found is not None:
            if trusted(found, in_path=True):
                return found
            refused.append(found)
    return None


def _missing(refused: List[str], otherwise: str) -> ProgramMissing:
    if not refused:
        return ProgramMissing(otherwise)
    return ProgramMissing(f"{refused[0]}: not run, because it belongs to another user, or is in a folder that everybody may write "
                          "to; if you trust it, set TXMILL to this path")


def find_program(program: Optional[StrPath] = None) -> str:
    """Returns the program to run: `program`, else $TXMILL, else the one of this installation, else the first on PATH. A
    program of another user is passed over, unless its path is given, or it is in a folder of PATH that not everybody may
    write to."""
    refused: List[str] = []
    named = os.fspath(program) if program is not None else os.environ.get("TXMILL", "")
    if named:
        found = shutil.which(named) if os.path.dirname(named) else _on_path(named, refused)
        if found is None:
            raise _missing(refused, f"{named}: no such program; give the path of the txmill program" if program is not None else
                           f"$TXMILL: {named}: no such program; set it to the path of the txmill program, or unset it")
        return found
    _allow_own()
    for own in _own_program():
        if own.is_file() and os.access(own, os.X_OK):
            if trusted(own):
                return str(own)
            refused.append(str(own))
    found = _on_path("txmill", refused)
    if found is None:
        raise _missing(refused, "the txmill program was found neither with this package nor on PATH; install it, or set $TXMILL")
    return found


def _short_answer(argv: List[str], timeout: Optional[float]) -> Optional[Tuple[int, str, str]]:
    """Exit code and output of a program that should end soon. None: it did not in this time. One that prints too much, or whose
    pipes somebody else keeps open, is not waited for either."""
    until = None if timeout is None else time.monotonic() + timeout

    def left() -> Optional[float]:
        return None if until is None else max(0.0, until - time.monotonic())

    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    texts = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    try:
        with process.stdout, process.stderr, selectors.DefaultSelector() as waiting:
            for pipe in texts:
                waiting.register(pipe, selectors.EVENT_READ)
            while waiting.get_map() and max(map(len, texts.values())) < _ANSWER_BYTES:
                ready = waiting.select(left())
                if not ready:
                    return None
                for key, _ in ready:
                    read = os.read(key.fd, 4096)
                    texts[key.fd] += read
                    if not read:
                        waiting.unregister(key.fd)
        code = process.wait(left())
    except subprocess.TimeoutExpired:
        return None
    finally:
        process.kill()
        process.wait()
    out, errors = (text.decode("utf-8", "replace") for text in texts.values())
    return code, out, errors


def version(program: Optional[StrPath] = None, timeout: Optional[float] = None) -> str:
    """The version of the program, such as "0.1.0". After `timeout` seconds the program is killed, and TxmillError raised."""
    path = find_program(program)
    try:
        answer = _short_answer([path, "--version"], timeout)
    except OSError as error:
        raise TxmillError(f"{path}: cannot be run: {error.strerror}") from error
    if answer is None:
        raise TxmillError(f"{path}: does not answer")
    code, out, errors = answer
    words, said = out.split(), errors.strip().splitlines()
    if code != 0 or len(words) < 2 or words[0] != "txmill":
        # The last line may be the loader's, which misses a library or finds one too old.
        raise TxmillError(f"{path}: not a txmill program, or one that does not run here" + (f": {said[-1][:400]}" if said else ""), code)
    return words[1]


def path_arguments(paths: Union[StrPath, Sequence[StrPath]]) -> List[str]:
    """One path or many as arguments that cannot be mistaken for options or lists."""
    one_or_many = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    texts = [os.fspath(p) for p in one_or_many]
    return [p if not p.startswith(("-", "@")) else os.path.join(os.curdir, p) for p in texts]


@contextmanager
def list_file(paths: Union[StrPath, Sequence[StrPath]]) -> Iterator[List[str]]:
    """The paths as values of an option; if they are many, the name of a list of them, which exists in this context."""
    arguments = path_arguments(paths)
    if len(arguments) <= _MANY_PATHS:
        yield arguments
        return
    with tempfile.NamedTemporaryFile(prefix="txmill-") as names:
        names.write(os.fsencode("\0".join(arguments)))
        names.flush()
        yield ["@" + names.name]


class Run:
    """One run of the program: iterate to get its JSON objects as they are printed, then call `expect`."""

    def __init__(
        self,
        command: str,
        options: Sequence[str],
        paths: Sequence[str],
        *,
        program: Optional[StrPath] = None,
        cancel: Optional[Cancel] = None,
        on_error_line: Optional[Callable[[str], None]] = None,
    ) -> None:
        self.code = 0
        self.errors = ""
        self._failure: Optional[str] = None
        self._cancel = cancel
        self._on_error_line = on_error_line
        self._argv = [find_program(program), command, *options]
        self._list: Optional[str] = None
        if len(paths) > _MANY_PATHS:
            # NUL-separated, because a name may contain any other byte.
            self._list = "\0".join(paths)
            self._argv += ["-"]
        else:
            self._argv += ["--", *paths]

    def __iter__(self) -> Iterator[Json]:
        stdin: Any = subprocess.DEVNULL
        with tempfile.TemporaryFile() as names:
            if self._list is not None:
                names.write(os.fsencode(self._list))
                names.seek(0)
                stdin = names
            try:
                process = subprocess.Popen(self._argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                           encoding="utf-8", errors="surrogateescape", env=_environment())
            except OSError as error:
                raise TxmillError(f"{self._argv[0]}: cannot be run: {error.strerror}") from error
        assert process.stdout is not None and process.stderr is not None
        lines: List[str] = []
        # A thread reads the other pipe, because a full pipe would block the program.
        reader = threading.Thread(target=self._read_errors, args=(process.stderr, lines), daemon=True)
        reader.start()
        if self._cancel is not None:
            self._cancel._attach(process)
        try:
            for line in iter(functools.partial(process.stdout.readline, _LINE_CHARACTERS), ""):
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise TxmillError(f"txmill printed something that is not JSON: {line.strip()[:200]}") from error
                if not isinstance(found, dict):
                    raise TxmillError(f"txmill printed something that is not a JSON object: {line.strip()[:200]}")
                if found.get("type") == "error":  # the whole run failed, for instance because of its OpenColorIO config
                    self._failure = str((found.get("error") or {}).get("message") or "txmill failed")
                else:
                    yield found
        finally:
            # Also ends the program if the caller stops iterating early.
            _interrupt(process)
            process.stdout.close()
            self.code = process.wait()
            reader.join()
            process.stderr.close()
            if self._cancel is not None:
                self._cancel._attach(None)
            self.errors = "".join(lines)

    def expect(self, *accepted: int) -> None:
        """Raises TxmillError if the run failed as a whole, or its exit code is not one of those accepted."""
        if self._failure is None and self.code in accepted:
            return
        lines = [line for line in self.errors.splitlines() if not line.startswith("TXMILL-ERROR")]
        prefix = "txmill: error: "
        # The last line of a run only counts failures, so a line with a cause is preferred.
        causes = [line[len(prefix):] for line in lines if line.startswith(prefix)]
        message = self._failure or (causes or lines or [""])[-1]
        if self.code < 0:
            message = message or f"txmill was killed by signal {-self.code}"
        raise TxmillError(message or f"txmill failed with exit code {self.code} and printed no message", self.code)

    def _read_errors(self, stream: Any, lines: List[str]) -> None:
        kept = 0
        for line in iter(functools.partial(stream.readline, _ANSWER_BYTES), ""):
            kept += len(line)
            if kept <= _ERROR_CHARACTERS:
                lines.append(line)
            if self._on_error_line is not None:
                try:
                    self._on_error_line(line.rstrip("\n"))
                except Exception as error:  # A caller's progress function must not stop the pipe from being drained.
                    sys.excepthook(type(error), error, error.__traceback__)
                    self._on_error_line = None


def text_of(o: Json, name: str) -> Optional[str]:
    """A path or name of an object, with its exact bytes if it is not UTF-8 (NAME_encoded, percent-encoded)."""
    encoded = o.get(name + "_encoded")
    if isinstance(encoded, str):
        from urllib.parse import unquote_to_bytes

        return os.fsdecode(unquote_to_bytes(encoded))
    value = o.get(name)
    return value if isinstance(value, str) else None
