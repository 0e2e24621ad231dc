"""Runs the program of a peer, with a limit, and says what machine it ran on."""
import os
import platform
import signal
import subprocess
import tempfile
import time


def end(child):
    """Ends all that a child has started: mpirun ends its ranks when it is asked to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(child.pid, number)
        try:
            child.communicate(timeout=3)
            return
        except subprocess.TimeoutExpired:
            pass


def run(command, timeout, environment=None):
    """Standard output of a command, or None and why; all that it started ends with it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [folder if word == "FOLDER" else word for word in command]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True, env={**os.environ, **(environment or {})}) as child:
            try:
                out, err = child.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                end(child)
                return None, f"more than {timeout:g} s"
            except KeyboardInterrupt:
                end(child)
                raise
        if child.returncode != 0:
            return None, f"exit code {child.returncode}: {(err or out).strip()[-300:]}"
        return out, None


def machine():
    return {"date": time.strftime("%Y-%m-%d"), "cores": len(os.sched_getaffinity(0)),
            "system": platform.platform(), "load_average": [round(x, 2) for x in os.getloadavg()]}
