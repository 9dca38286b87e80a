# SPDX-License-Identifier: BSD-3-Clause
#
# The end-to-end harness: registers tests, runs each in a fresh folder with a time limit, prints
# TAP. Every process that a test starts carries a mark in its environment; by it the harness finds
# and ends what is left, and nothing else. Standard library only.
"""End-to-end test harness."""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

MARK = "MWTEST_MARK"
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.join(SOURCE, "tests", "e2e", "programs")
STUBS = os.path.join(SOURCE, "tests", "stubs")


class Skip(Exception):
    """The test cannot be run here; the text says why."""


class Failure(Exception):
    """The test found something wrong; the text says what."""


class StillRunning(Failure):
    """A command did not end in its time; its processes were ended."""


def check(condition, *text):
    """Fails the test with `text` unless `condition` holds."""
    if not condition:
        raise Failure(" ".join(str(part) for part in text) or "not so")


def same(found, expected, what):
    """Fails the test unless both are equal; shows the first difference of lists."""
    if found == expected:
        return
    if isinstance(found, list) and isinstance(expected, list):
        for i in range(max(len(found), len(expected))):
            left = found[i] if i < len(found) else "(nothing)"
            right = expected[i] if i < len(expected) else "(nothing)"
            if left != right:
                raise Failure(
                    "%s: entry %d of %d\n  found    %s\n  expected %s"
                    % (what, i, len(expected), left, right)
                )
    raise Failure("%s\n  found    %r\n  expected %r" % (what, found, expected))


_notes = []


def note(text):
    """Something to know about the test that runs, whether it passes or not."""
    _notes.append(text)


def setting(name):
    """A path that the build hands over in the environment (meson sets it, see meson.build)."""
    value = os.environ.get(name)
    if not value:
        raise Skip("%s is not set: run by meson" % name)
    if not os.path.exists(value):
        raise Failure("%s=%s does not exist" % (name, value))
    return value


def library(mpi3=False):
    return setting("MW_LIBRARY_MPI3" if mpi3 else "MW_LIBRARY")


# ---- Processes


def marked(mark):
    """The ids of all living processes whose environment carries the mark."""
    wanted = ("%s=%s" % (MARK, mark)).encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/environ" % entry, "rb") as file:
                if wanted not in file.read().split(b"\0"):
                    continue
            with open("/proc/%s/stat" % entry) as file:
                if file.read().rpartition(")")[2].split()[0] in "ZX":
                    continue
        except OSError:
            continue
        found.append(int(entry))
    return found


def process_name(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "?"


def end_marked(mark):
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


class Job:
    """A command that runs, or ran, in a folder, with its own mark."""

    def __init__(self, argv, folder, env=None, timeout=60, cwd=None, clean=()):
        self.argv = [str(part) for part in argv]
        self.mark = uuid.uuid4().hex
        self.timeout = timeout
        self.began = time.monotonic()
        full = dict(os.environ)
        for name in list(full):
            if name.startswith(("MPIWATCH_", "LD_PRELOAD")) or name in clean:
                del full[name]
        full.update(
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            LC_ALL="C",
            PATH="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        )
        full[MARK] = self.mark
        for name, value in (env or {}).items():
            if value is None:
                full.pop(name, None)
            else:
                full[name] = str(value)
        self.out = tempfile.TemporaryFile(dir=folder)
        self.err = tempfile.TemporaryFile(dir=folder)
        self.process = subprocess.Popen(
            self.argv,
            cwd=cwd or folder,
            env=full,
            stdin=subprocess.DEVNULL,
            stdout=self.out,
            stderr=self.err,
            start_new_session=True,
        )
        self.code = None

    def _text(self, file):
        file.seek(0)
        # mpirun of Open MPI 5 puts zero bytes before some of what it forwards, now and then
        return file.read().replace(b"\0", b"").decode(errors="replace")

    @property
    def stdout(self):
        return self._text(self.out)

    @property
    def stderr(self):
        return self._text(self.err)

    def pids(self, program):
        """Living processes of this job that run `program` (a path)."""
        found = []
        for pid in marked(self.mark):
            try:
                if os.path.samefile("/proc/%d/exe" % pid, program):
                    found.append(pid)
            except OSError:
                pass
        return sorted(found)

    def wait(self, timeout=None, orphans=True):
        """Waits for the end; fails on a time-out or when marked processes outlive the command."""
        limit = timeout or self.timeout
        try:
            self.code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            living = ["%d %s" % (pid, process_name(pid)) for pid in marked(self.mark)]
            end_marked(self.mark)
            self.code = self.process.wait(20)
            raise StillRunning(
                "still running after %d s: %s\n  processes: %s\n%s"
                % (limit, " ".join(self.argv), living, self.describe())
            )
        self.seconds = time.monotonic() - self.began
        for _ in range(100):
            left = marked(self.mark)
            if not left:
                return self
            time.sleep(0.05)
        names = [process_name(pid) for pid in left]
        end_marked(self.mark)
        if orphans and self.code != -signal.SIGSEGV:  # a launcher that crashed cannot end its ranks
            raise Failure("left processes behind: %s" % names)
        return self

    def stop(self):
        """Ends whatever is left of the job and waits until it is gone."""
        end_marked(self.mark)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        for _ in range(200):
            if not marked(self.mark):
                break
            time.sleep(0.02)

    def describe(self):
        return "exit %s of %s\nstdout:\n%s\nstderr:\n%s" % (
            self.code,
            " ".join(self.argv),
            self.stdout[-3000:],
            self.stderr[-3000:],
        )

    def expect(self, code=0):
        """Fails unless the command ended with this code (negative: signal)."""
        check(self.code == code, "expected exit %d: %s" % (code, self.describe()))
        return self


def command(argv, folder, **options):
    """Runs a command to its end."""
    return Job(argv, folder, **options).wait()


def remove_mappings(folder):
    """What the killed processes of a test left in /dev/shm, told by the path of their trace;
    nothing else there is touched."""
    for path in glob.glob("/dev/shm/mpiwatch-%d-*" % os.getuid()):
        try:
            # Not blocking: a test may have left a FIFO of such a name.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            with open(descriptor, "rb") as file:
                if (folder + os.sep).encode() in file.read(4096):
                    os.unlink(path)
        except OSError:
            pass


def tidy(text):
    """Output without what differs from run to run: process ids, addresses, which rank came first;
    lines sorted. Open MPI 4.1.4 shows its framed help texts or fails to, by chance, without us, too: they are
    left out."""
    text = re.sub(r"-{60,}\n.*?-{60,}\n", "", text, flags=re.DOTALL)
    text = re.sub(r".*ORTE_ERROR_LOG: .*show_help\.c .*\n", "", text)
    text = re.sub(r"0x[0-9a-f]+", "0xADDRESS", text)
    text = re.sub(r"\[\[\d+,\d+\],\d+\]", "[[JOB],RANK]", text)
    text = re.sub(r"\[[^\]\s]+?(\s*:\d+\s*)+\]", "[HOST:PID]", text)
    text = re.sub(r"\b(PID|pid|tid|rank|process|job)(:?\s+)\d+\b", r"\1\2N", text)
    return sorted(line.rstrip() for line in text.splitlines() if line.strip())


# ---- Registration and the run

_tests = []


def test(function):
    """Registers a test that takes the folder it may use."""
    _tests.append((function.__name__, function, None))
    return function


def mpi_test(function=None, *, only=None, variants=(None,)):
    """Registers a test once for each MPI (and variant); it takes (mpi, folder[, variant])."""

    def register(body):
        from mpi import ALL

        for mpi in ALL:
            if only and mpi.name != only:
                continue
            for variant in variants:
                name = "%s: %s" % (mpi.name, body.__name__)
                if variant is not None:
                    name += " %s" % (", ".join(variant) if isinstance(variant, tuple) else variant)
                arguments = (mpi,) if variant is None else (mpi, variant)
                _tests.append((name, body, arguments))
        return body

    return register(function) if function else register


def _run_one(body, arguments, folder):
    if arguments is None:
        body(folder)
        return
    mpi = arguments[0]
    reason = mpi.missing()
    if reason:
        raise Skip(reason)
    body(mpi, folder, *arguments[1:])


def _outcome(body, arguments, folder):
    """(why the test was skipped, why it failed): None where it was not."""
    os.mkdir(folder)
    try:
        _run_one(body, arguments, folder)
    except Skip as reason:
        return str(reason), None
    except Failure as problem:
        return None, str(problem)
    except Exception:  # a defect of the test itself: shown like a failure
        return None, traceback.format_exc()
    return None, None


def _outcome_of_two(body, arguments, folder):
    """A test that fails is begun once more: launchers and busy machines fail, too. What only the second run
    passes is said to be so, and tests/count.py lets no more than a few do that."""
    skipped, failure = _outcome(body, arguments, folder)
    if failure is None or os.environ.get("MWTEST_ONCE"):
        return skipped, failure
    skipped, second = _outcome(body, arguments, folder + "-again")
    if second is None and skipped is None:
        note("again: %s" % failure)
        return None, None
    return None, failure


def main():
    """Runs the registered tests; arguments, if any, are parts of their names."""
    os.environ["LC_ALL"] = "C"
    chosen = [
        entry
        for entry in _tests
        if not sys.argv[1:] or any(part in entry[0] for part in sys.argv[1:])
    ]
    base = tempfile.mkdtemp(prefix="mwtest-")
    keep = bool(os.environ.get("MWTEST_KEEP"))
    failed = 0
    print("TAP version 13")
    print("1..%d" % len(chosen), flush=True)
    for number, (name, body, arguments) in enumerate(chosen, 1):
        folder = os.path.join(base, "%d" % number)
        began = time.monotonic()
        skipped, failure = _outcome_of_two(body, arguments, folder)
        failed += failure is not None
        print(
            "%sok %d - %s%s"
            % (
                "not " if failure is not None else "",
                number,
                name,
                skipped and " # SKIP %s" % skipped or "",
            )
        )
        print("".join("# %s\n" % line for line in (failure or "").splitlines()), end="")
        for text in _notes:
            print("# note: %s" % "\n#   ".join(text.splitlines()))
        _notes.clear()
        print("# %.1f s" % (time.monotonic() - began), flush=True)
        if not keep:
            for used in (folder, folder + "-again"):
                remove_mappings(used)
                shutil.rmtree(used, ignore_errors=True)
    if keep:
        print("# kept %s" % base)
    else:
        shutil.rmtree(base, ignore_errors=True)
    sys.exit(1 if failed else 0)
