# SPDX-License-Identifier: MIT
"""System calls of a running server that fail or take long, by strace."""
import contextlib
import subprocess
import threading

from suite import holds

PATIENCE_SECONDS = 10


@contextlib.contextmanager
def injected(server, calls, what, files=()):
    """Until the block ends, these calls (on these files) have this done to them:
    `error=ENOSPC`, `delay_enter=1000000`."""
    strace = subprocess.Popen(
        ["strace", "-f", "-o", "/dev/null", *(word for file in files for word in ("-P", str(file))),
         "-e", f"trace={calls}", "-e", f"inject={calls}:{what}", "-p", str(server.process_id())],
        stderr=subprocess.PIPE, text=True)
    line = strace.stderr.readline()
    holds("attached" in line, f"strace must be allowed to attach: {line}")
    threading.Thread(target=strace.stderr.read, daemon=True).start()
    try:
        yield
    finally:
        strace.terminate()
        try:
            strace.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:  # it does not let go of a process that has ended
            strace.kill()
            strace.wait()
