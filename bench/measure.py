"""Running commands: wall time, CPU time and peak memory of whole processes, children included."""

import ctypes
import os
import statistics
import subprocess
import time


# A worker process that ends after the command would otherwise be counted nowhere: this process adopts it.
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_rest():
    """CPU seconds and peak resident kilobytes of the processes that a command left."""
    seconds, peak = 0.0, 0
    while True:
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return seconds, peak
        seconds += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss)


def run(command, environment=None):
    """One run. Returns (wall seconds, CPU seconds, peak resident bytes of the largest process)."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    process.stderr.close()
    rest, peak = wait_for_rest()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}: {errors.decode(errors='replace')[-500:]}")
    return wall, usage.ru_utime + usage.ru_stime + rest, max(usage.ru_maxrss, peak) * 1024


def side_by_side(commands, runs=5, before=lambda: None):
    """Runs the commands in turn, `runs` times each after one warm-up; medians a command. `before`: called before each
    run, outside of what is measured."""
    results = [[] for _ in commands]
    for turn in range(runs + 1):
        for i, command in enumerate(commands):
            before()
            sample = run(command)
            if turn:
                results[i].append(sample)
    return [tuple(statistics.median(column) for column in zip(*samples)) for samples in results]


def cpu_name():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown CPU"
