# SPDX-License-Identifier: Apache-2.0
"""Finding the txmill program, running it, and reading its JSON lines as they come."""
from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Union

StrPath = Union[str, "os.PathLike[str]"]
Json = Dict[str, Any]

# Files on the command line would run into its length limit; from this many on they go through a list on standard input.
_MANY_PATHS = 200


class TxmillError(Exception):
    """The program could not do what was asked: wrong arguments, a missing config, a crash.

    Failures of single files are no exception: they are part of what a function returns.
    """

    def __init__(self, message: str, exit_code: Optional[int] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ProgramMissing(TxmillError):
    """There is no txmill program to run."""


def _environment() -> Dict[str, str]:
    """USD scenes are read in this Python, where it has what that takes."""
    environment = dict(os.environ)
    if "TXMILL_PYTHON" not in environment and sys.executable and importlib.util.find_spec("pxr"):
        environment["TXMILL_PYTHON"] = sys.executable
    return environment


class Cancel:
    """Stops a run from another thread: pass it as `cancel=`, then call `cancel()`.

    The program finishes nothing half-way: files that are complete stay, no temporary is left. One that has not ended
    ten seconds later is killed by the next call.
    """

    _PATIENCE_SECONDS = 10.0

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._process: Optional["subprocess.Popen[str]"] = None
        self._since = 0.0

    def cancel(self) -> None:
        with self._lock:
            if self._event.is_set():  # a second signal would end the program where it is
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


def find_program(program: Optional[StrPath] = None) -> str:
    """The program to run: `program`, else $TXMILL, else the one of this installation, else the first on PATH."""
    if program is not None:
        named = os.fspath(program)
        found = shutil.which(named)
        if found is None:
            raise ProgramMissing(f"{named}: no such program; give the path of txmill")
        return found
    named = os.environ.get("TXMILL", "")
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramMissing(f"$TXMILL is {named}, where there is no program")
        return found
    # A wheel has it in the package, txmill/bin/txmill; PREFIX/lib/python3/dist-packages/txmill/_program.py belongs to
    # PREFIX/bin/txmill.
    for parent in Path(__file__).resolve().parents:
        beside = parent / "bin" / "txmill"
        if beside.is_file() and os.access(beside, os.X_OK):
            return str(beside)
    found = shutil.which("txmill")
    if found is None:
        raise ProgramMissing("txmill is not installed: it is neither beside this package nor on PATH; set $TXMILL")
    return found


def version(program: Optional[StrPath] = None, timeout: Optional[float] = None) -> str:
    """The version of the program, as "0.1.0". `timeout`: seconds after which it is ended and given up."""
    try:
        done = subprocess.run([find_program(program), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              encoding="utf-8", errors="surrogateescape", check=False, timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise TxmillError(f"{find_program(program)}: does not answer") from error
    except OSError as error:
        raise TxmillError(f"{find_program(program)}: cannot be run: {error.strerror}") from error
    words = done.stdout.split()
    if done.returncode != 0 or len(words) < 2 or words[0] != "txmill":
        raise TxmillError(f"{find_program(program)}: not a txmill program", done.returncode)
    return words[1]


def path_arguments(paths: Union[StrPath, Sequence[StrPath]]) -> List[str]:
    """Paths as arguments: one path or many, none that could be taken for an option or a list."""
    one_or_many = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    texts = [os.fspath(p) for p in one_or_many]
    return [p if not p.startswith(("-", "@")) else os.path.join(os.curdir, p) for p in texts]


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
        list_argument: Optional[str] = None,
    ) -> None:
        self.code = 0
        self.errors = ""
        self._failure: Optional[str] = None
        self._cancel = cancel
        self._on_error_line = on_error_line
        self._argv = [find_program(program), command, *options]
        self._list: Optional[str] = None
        if list_argument is not None and len(paths) > _MANY_PATHS:
            # NUL-separated: a name may hold any other byte.
            self._list = "\0".join(paths)
            self._argv += [list_argument]
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
        # Both pipes are drained at once, or a full one would stop the program.
        reader = threading.Thread(target=self._read_errors, args=(process.stderr, lines), daemon=True)
        reader.start()
        if self._cancel is not None:
            self._cancel._attach(process)
        try:
            for line in process.stdout:
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise TxmillError(f"txmill printed what is not JSON: {line.strip()[:200]}") from error
                if not isinstance(found, dict):
                    raise TxmillError(f"txmill printed what is no JSON object: {line.strip()[:200]}")
                if found.get("type") == "error":  # of the run as a whole: an OpenColorIO config that cannot be read
                    self._failure = str((found.get("error") or {}).get("message") or "txmill failed")
                else:
                    yield found
        finally:
            # An abandoned iteration ends the program as well.
            _interrupt(process)
            process.stdout.close()
            self.code = process.wait()
            reader.join()
            process.stderr.close()
            if self._cancel is not None:
                self._cancel._attach(None)
            self.errors = "".join(lines)

    def expect(self, *accepted: int) -> None:
        """Raises TxmillError where the run failed as a whole, or ended with an exit code that is not accepted."""
        if self._failure is None and self.code in accepted:
            return
        said = [line for line in self.errors.splitlines() if not line.startswith("TXMILL-ERROR")]
        prefix = "txmill: error: "
        causes = [line[len(prefix):] for line in said if line.startswith(prefix)]
        # The line that closes a run only counts what failed.
        message = self._failure or (causes or said or [""])[-1]
        if self.code < 0:
            message = message or f"txmill was ended by signal {-self.code}"
        raise TxmillError(message or f"txmill ended with exit code {self.code}", self.code)

    def _read_errors(self, stream: Any, lines: List[str]) -> None:
        for line in stream:
            lines.append(line)
            if self._on_error_line is not None:
                try:
                    self._on_error_line(line.rstrip("\n"))
                except Exception as error:  # A caller's progress function must not stop the pipe from being drained.
                    sys.excepthook(type(error), error, error.__traceback__)
                    self._on_error_line = None


def text_of(o: Json, name: str) -> Optional[str]:
    """A path or name of an object, with its exact bytes where it is not UTF-8 (NAME_encoded, percent-encoded)."""
    encoded = o.get(name + "_encoded")
    if isinstance(encoded, str):
        from urllib.parse import unquote_to_bytes

        return os.fsdecode(unquote_to_bytes(encoded))
    value = o.get(name)
    return value if isinstance(value, str) else None
