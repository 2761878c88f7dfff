"""A second user of this machine, for tests that run as root: what he can read, and whether he can have code run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user: this needs a second one"
)

OTHER = 65534

BECOME = f"os.setgroups([]); os.setgid({OTHER}); os.setuid({OTHER})"

INTRUDE = f"""
import encodings.idna, logging, os, sys
import distributed.comm.tcp
from distributed import Client
from distributed.security import Security
own = Security.temporary()
os.chdir("/")
{BECOME}
logging.disable(logging.CRITICAL)
for address in sys.argv[1:]:
    place = address.partition("://")[2]
    for target, security in ((f"tcp://{{place}}", None), (f"tls://{{place}}", own)):
        try:
            with Client(target, timeout=3, security=security, set_as_default=False) as client:
                print("ran as", client.run_on_scheduler(os.getuid), flush=True)
        except Exception as error:
            print("refused", flush=True)
"""

LOOK = f"""
import os, sys
{BECOME}
for path in sys.argv[1:]:
    try:
        print("read", os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError as error:
        print("refused")
"""


ASK = f"""
import contextlib, os, sys
from pipeline.cli import main

def ask(words, runs):
    sys.argv = ["pipeline", *words.format(runs=runs).split()]
    try:
        with contextlib.redirect_stderr(sys.stdout):
            main()
    except SystemExit as ended:
        return ended.code

own, closed, *commands = sys.argv[1:]
for words in commands:
    ask(words, own)  # loads what the other user may not read: he need not reach this interpreter
print("as another")
{BECOME}
for words in commands:
    print("exit", ask(words, closed), "of", words)
"""


def as_other(code: str, *arguments: object) -> list[str]:
    """Run one of the programs above and give the lines that it printed."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
