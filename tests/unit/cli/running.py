"""Runs ``quarry`` as a person does: in a process of its own, at a terminal where a test asks for one."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

from click.testing import CliRunner

from api.cli.main import main

COMMAND = [sys.executable, "-c", "from api.cli.main import main; main()"]


def environment(data: Path | None, **more: str) -> dict[str, str]:
    """That of this process without settings of ours."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("QUARRY_", "ANTHROPIC_", "OPENAI_"))}
    return kept | ({} if data is None else {"QUARRY_DATA": str(data)}) | more


def quarry(
    *arguments: str, data: Path | None, stdin: str = "", cwd: Path | None = None, code: str = COMMAND[-1], **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND[:-1], code, *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        env=environment(data, **more),
        cwd=cwd,
        timeout=120,
        check=False,
    )


def invoked(
    *arguments: str, data: Path | None, stdin: str = "", cwd: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """As `quarry`, in this process: quicker, for tests of what a command says."""
    variables: dict[str, str | None] = {
        name: None for name in os.environ if name.startswith(("QUARRY_", "ANTHROPIC_", "OPENAI_"))
    }
    variables |= ({} if data is None else {"QUARRY_DATA": str(data)}) | more
    before = Path.cwd()
    os.chdir(cwd or before)
    try:
        done = CliRunner().invoke(main, arguments, input=stdin, env=variables, prog_name="quarry")
    finally:
        os.chdir(before)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def at_terminal(*arguments: str, data: Path, columns: int = 80, typed: str = "", until: str = "", **more: str) -> str:
    """What a terminal of `columns` shows, both streams in order.

    Args:
        typed: what the person types at once.
        until: what the person waits for before Ctrl-C; empty lets the command end by itself.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = environment(data, **{"TERM": "xterm", **more})
    variables.pop("COLUMNS", None)
    process = subprocess.Popen([*COMMAND, *arguments], stdin=slave, stdout=slave, stderr=slave, env=variables)
    os.close(slave)
    if typed:
        os.write(master, typed.encode())
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            # The way a terminal says that its last writer left.
            break
        if not part:
            break
        shown += part
        if until and until in shown.decode(errors="replace"):
            process.send_signal(signal.SIGINT)
            until = ""
    process.wait(60)
    os.close(master)
    return shown.decode().replace("\r\n", "\n")
