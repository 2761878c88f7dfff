"""An ssh server on the loopback interface, with keys and a port of its own, for tests that reach "other machines"."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def run_sshd(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what `asyncssh.connect` needs to reach a server that lets this user in by a key; skip where there is none."""
    pytest.importorskip("asyncssh")
    sshd, keygen = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin"), shutil.which("ssh-keygen")
    if sshd is None or keygen is None:
        pytest.skip("no sshd here (apt-get install openssh-server)")
    for name in ("host", "user"):
        subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True, stdin=subprocess.DEVNULL)
    shutil.copy(folder / "user.pub", folder / "authorized")
    (folder / "authorized").chmod(0o600)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lines = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized",
        "PidFile": folder / "pid",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PubkeyAuthentication": "yes",
        "PermitRootLogin": "prohibit-password",
        "StrictModes": "no",
        "UsePAM": "no",
    }
    (folder / "config").write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
    Path("/run/sshd").mkdir(exist_ok=True)  # where it puts itself for a moment, without rights
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen([sshd, "-D", "-e", "-f", folder / "config"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield {"port": port, "username": getpass.getuser(), "client_keys": [str(folder / "user")], "known_hosts": None}
    finally:
        server.terminate()
        server.wait(10)
