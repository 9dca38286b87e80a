# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch run: what it makes of each launcher's command line, with stand-ins for the launchers."""

import os
import shutil
import signal
import subprocess
import sys
import time

import build_trace as b
from cli import MPIWATCH, CliTest, main

# Prints what it was given, and whether the library is in itself.
FAKE = r"""#!/bin/sh
if [ "$1" = --version ]; then echo "@VERSION@"; exit 0; fi
for argument in "$@"; do printf 'arg %s\n' "$argument"; done
env | grep -E '^(LD_PRELOAD|MPIWATCH|SLURM_EXPORT)' | sed 's/^/env /'
exit ${FAKE_EXIT:-0}
"""


def compile_c(folder, name, source, *options):
    path = os.path.join(folder, name)
    subprocess.run(["gcc", "-x", "c", "-", "-o", path, *options], input=source.encode(), check=True)
    return path


class RunTest(CliTest):
    def setUp(self):
        super().setUp()
        self.library = compile_c(self.folder, "libwatch.so", "int nothing;", "-shared", "-fPIC")
        self.env = {"PATH": self.folder + ":" + os.environ["PATH"], "LD_PRELOAD": "",
                    "FAKE_EXIT": "0"}

    def fake(self, name, version="nothing"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(FAKE.replace("@VERSION@", version))
        os.chmod(self.path(name), 0o755)

    def run_job(self, *command, options=(), code=0, **env):
        result = self.run_cli("run", "--library", self.library, *options, "--", *command, code=code,
                              env={**self.env, **env})
        words = [line.split(" ", 1) for line in result.out.splitlines()]
        self.arguments = [text for kind, text in words if kind == "arg"]
        self.variables = dict(text.split("=", 1) for kind, text in words if kind == "env")
        return result


class Launchers(RunTest):
    def assert_openmpi(self, *rest):
        self.assertEqual(self.arguments[:8:2], ["-x"] * 4)
        self.assertEqual(self.arguments[1], "LD_PRELOAD=" + self.library)
        self.assertEqual(sorted(self.arguments[3:8:2]),
                         ["MPIWATCH_COMMAND", "MPIWATCH_JOB", "MPIWATCH_OUT"])
        self.assertEqual(self.arguments[8:], list(rest))
        self.assertEqual(self.variables.get("LD_PRELOAD", ""), "")
        self.assertTrue(self.variables["MPIWATCH_OUT"].startswith("/"))

    def test_openmpi_by_version(self):
        for version in ("mpirun (Open MPI) 5.0.7", "mpirun.openmpi (OpenRTE) 4.1.4",
                        "prterun (PRRTE) 3.0.8"):
            self.fake("mpirun", version)
            self.run_job("mpirun", "-n", "2", "./app", "--x")
            self.assert_openmpi("-n", "2", "./app", "--x")

    def test_openmpi_by_the_name_behind_links(self):
        self.fake("orterun")
        os.symlink("orterun", self.path("mpiexec"))
        os.symlink("mpiexec", self.path("launch-it"))
        for name in ("mpiexec", "launch-it", self.path("orterun")):
            self.run_job(name, "./app")
            self.assert_openmpi("./app")

    def test_openmpi_for_each_program(self):
        """-x holds for one program of an MPMD line only."""
        self.fake("mpirun", "mpirun (Open MPI) 4.1.4")
        self.run_job("mpirun", "-n", "1", "./a", ":", "-n", "2", "./b", ":", "./c")
        self.assertEqual(self.arguments.count("LD_PRELOAD=" + self.library), 3)
        at = [place for place, word in enumerate(self.arguments) if word == ":"]
        for place in at:
            self.assertEqual(self.arguments[place + 1:place + 3], ["-x", "LD_PRELOAD=" + self.library])
        self.assertEqual(self.arguments[at[0] - 3:at[0]], ["-n", "1", "./a"])

    def test_openmpi_with_a_preload_of_the_user(self):
        self.fake("mpirun", "mpirun (Open MPI) 4.1.4")
        self.run_job("mpirun", "-x", "LD_PRELOAD=/x/tool.so", "./app")
        self.assertEqual(self.arguments[1], f"LD_PRELOAD={self.library}:/x/tool.so")
        self.assertEqual(self.arguments[8:], ["./app"])

    def test_hydra(self):
        for name, version in (("mpiexec", "HYDRA build details:"),
                              ("mpirun", "Intel(R) MPI Library for Linux* OS, Version 2021.6"),
                              ("mpiexec.hydra", "")):
            self.fake(name, version)
            self.run_job(name, "-n", "2", "./a", ":", "./b")
            genv = {self.arguments[i + 1]: self.arguments[i + 2]
                    for i, word in enumerate(self.arguments) if word == "-genv"}
            self.assertEqual(set(genv), {"LD_PRELOAD", "MPIWATCH_OUT", "MPIWATCH_JOB",
                                         "MPIWATCH_COMMAND"})
            self.assertEqual(genv["LD_PRELOAD"], self.library)
            self.assertEqual(genv["MPIWATCH_COMMAND"], f"{name} -n 2 ./a : ./b")
            self.assertEqual(self.arguments[12:], ["-n", "2", "./a", ":", "./b"])
            self.assertEqual(self.variables.get("LD_PRELOAD", ""), "")
            os.remove(self.path(name))

    def test_verbose_shows_our_own_variables_and_no_secrets(self):
        for name, version in (("mpiexec.hydra", ""), ("mpirun", "mpirun (Open MPI) 4.1.4")):
            self.fake(name, version)
            result = self.run_job(name, "--password=hunter2", "./a", "--token",
                                  "0123456789abcdef0123456789abcdef", options=("-v",))
            self.assertNotIn("hunter2", result.err)
            self.assertNotIn("0123456789abcdef", result.err)
            self.assertNotIn("MPIWATCH_JOB <", result.err)
            if name == "mpiexec.hydra":
                self.assertRegex(result.err, "MPIWATCH_JOB [0-9a-f]{16}")

    def test_hydra_with_a_preload_of_the_user(self):
        self.fake("mpiexec.hydra")
        self.run_job("mpiexec.hydra", "-genv", "LD_PRELOAD", "/x/tool.so", "-env", "A", "b", "./a")
        self.assertEqual(self.arguments[12:],
                         ["-genv", "LD_PRELOAD", f"{self.library}:/x/tool.so", "-env", "A", "b", "./a"])

    def test_srun(self):
        self.fake("srun", "slurm 22.05.8")
        self.run_job("srun", "-n", "2", "./app")
        exported = self.arguments[0]
        self.assertTrue(exported.startswith(f"--export=ALL,LD_PRELOAD={self.library},"))
        self.assertEqual(set(exported.split(",")[2:]),
                         {"MPIWATCH_OUT", "MPIWATCH_JOB", "MPIWATCH_COMMAND"})
        self.assertEqual(self.arguments[1:], ["-n", "2", "./app"])
        self.assertEqual(self.variables.get("LD_PRELOAD", ""), "")

    def test_srun_with_an_export_of_the_user(self):
        self.fake("srun", "slurm 22.05.8")
        self.run_job("srun", "--export=PATH,FOO=1", "./app")
        self.assertTrue(self.arguments[0].startswith(f"--export=PATH,FOO=1,LD_PRELOAD={self.library},"))
        self.assertEqual(self.arguments[1:], ["./app"])
        self.run_job("srun", "-n", "1", "--export", "NONE", "./app")
        self.assertTrue(self.arguments[0].startswith(f"--export=LD_PRELOAD={self.library},"))
        self.assertEqual(self.arguments[1:], ["-n", "1", "./app"])
        self.run_job("srun", "./app", SLURM_EXPORT_ENV="PATH")
        self.assertTrue(self.arguments[0].startswith("--export=PATH,LD_PRELOAD="))

    def test_anything_else_gets_it_in_the_environment(self):
        self.fake("myapp")
        self.run_job("myapp", "-n", "1")
        self.assertEqual(self.arguments, ["-n", "1"])
        self.assertEqual(self.variables["LD_PRELOAD"], self.library)
        self.assertIn("MPIWATCH_OUT", self.variables)

    def test_only_launchers_are_asked_for_their_version(self):
        with open(self.path("myapp"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho run >> runs\n")
        os.chmod(self.path("myapp"), 0o755)
        self.run_job(self.path("myapp"))
        with open(self.path("runs"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "run\n")

    def test_a_launcher_that_hangs_when_asked(self):
        with open(self.path("mpirun"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nif [ "$1" = --version ]; then exec sleep 60; fi\necho "arg $1"\n')
        os.chmod(self.path("mpirun"), 0o755)
        begin = time.time()
        self.run_job("mpirun", "go")
        self.assertEqual(self.arguments, ["go"])
        self.assertLess(time.time() - begin, 30)


class Environment(RunTest):
    def setUp(self):
        super().setUp()
        self.fake("app")

    def test_a_preload_that_is_there_stays_behind_ours(self):
        other = compile_c(self.folder, "libother.so", "int other;", "-shared", "-fPIC")
        self.run_job("app", LD_PRELOAD=other)
        self.assertEqual(self.variables["LD_PRELOAD"], f"{self.library}:{other}")

    def test_names_of_traces(self):
        self.run_job("app")
        out = self.variables["MPIWATCH_OUT"]
        self.assertRegex(os.path.basename(out), r"^mpiwatch-app-\d{8}-\d{6}\.mpiw$")
        self.assertEqual(os.path.realpath(os.path.dirname(out)), os.path.realpath(self.folder))
        for given in ("named", "named.mpiw", "named.mpiw/"):
            self.run_job("app", options=("-o", given))
            self.assertEqual(os.path.basename(self.variables["MPIWATCH_OUT"]), "named.mpiw")
        self.run_job("app", MPIWATCH_OUT="fromenv")
        self.assertEqual(os.path.basename(self.variables["MPIWATCH_OUT"]), "fromenv.mpiw")

    def test_a_trace_that_exists(self):
        os.mkdir(self.path("there.mpiw"))
        result = self.run_job("app", options=("-o", "there"), code=1)
        self.assertIn("there.mpiw: exists already", result.err)
        self.assertEqual(result.out, "")

    def test_jobs_have_different_keys(self):
        keys = set()
        for _ in range(3):
            self.run_job("app")
            keys.add(self.variables["MPIWATCH_JOB"])
        self.assertEqual(len(keys), 3)

    def test_settings(self):
        self.run_job("app", options=("--stack", "3"), MPIWATCH_FILES="process")
        self.assertEqual((self.variables["MPIWATCH_STACK"], self.variables["MPIWATCH_FILES"]),
                         ("3", "process"))
        self.run_cli("run", "--stack", "33", "--", "true", code=129)

    def test_settings_reach_other_nodes(self):
        self.fake("mpirun", "mpirun (Open MPI) 4.1.4")
        self.run_job("mpirun", "./x", MPIWATCH_FILES="process")
        self.assertIn("MPIWATCH_FILES", self.arguments)

    def test_the_command_line_is_kept_without_secrets(self):
        self.run_job("app", "--password=hunter2", "two words", "it's")
        command = self.variables["MPIWATCH_COMMAND"]
        self.assertNotIn("hunter2", command)
        self.assertTrue(command.startswith("app --password="))
        self.assertTrue(command.endswith(r"'two words' 'it'\''s'"))

    def test_verbose(self):
        result = self.run_job("app", "--token", "hunter2", options=("-v",))
        self.assertIn("no launcher that is known", result.err)
        self.assertIn(self.library, result.err)
        self.assertNotIn("hunter2", result.err)

    def test_without_a_trace_it_says_so(self):
        self.assertIn("no process initialised MPI", self.run_job("app").err)

    def test_a_library_that_is_missing(self):
        result = self.run_cli("run", "--library", "gone.so", "--", "app", code=1, env=self.env)
        self.assertIn("gone.so: No such file", result.err)
        os.mkdir(self.path("a b"))
        shutil.copy(self.library, self.path("a b/lib.so"))
        result = self.run_cli("run", "--library", self.path("a b/lib.so"), "--", "app", code=1,
                              env=self.env)
        self.assertIn("cannot be preloaded", result.err)

    def test_options_of_the_command_are_not_ours(self):
        result = self.run_cli("run", "--library", self.library, "app", "-o", "x", "--help",
                              env=self.env)
        self.assertIn("arg -o\narg x\narg --help\n", result.out)


class Ends(RunTest):
    def test_exit_codes(self):
        self.fake("app")
        self.run_job("app", FAKE_EXIT="7", code=7)
        self.run_job("no-such-program-anywhere", code=127)
        self.run_job(self.path("libwatch.so.not"), code=127)
        b.write(self.path("data"), b"no program")
        self.run_job(self.path("data"), code=126)
        self.run_job("sh", "-c", "kill -SEGV $$", code=128 + signal.SIGSEGV)
        self.run_job("sh", "-c", "kill -KILL $$", code=128 + signal.SIGKILL)

    def start(self, script):
        process = subprocess.Popen(
            [MPIWATCH, "run", "--library", self.library, "--", "sh", "-c", script],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, start_new_session=True,
            env={**os.environ, **self.env})
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def end(self, process, code):
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, code, err)
        return out, err

    def test_ctrl_c_reaches_the_job_once(self):
        """The terminal sends it to the whole group: we must not send it a second time, and live on."""
        process = self.start('trap "echo int" INT; echo ready; n=0; '
                             'while [ $n -lt 20 ]; do sleep 0.1; n=$((n+1)); done; exit 5')
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        out, err = self.end(process, 5)
        self.assertIn(b"no trace", err)
        self.assertGreaterEqual(out.count(b"int"), 1)

    def test_sigterm_is_passed_on(self):
        process = self.start('trap "echo term; exit 9" TERM; echo ready; '
                             'n=0; while [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done')
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGTERM)
        out, err = self.end(process, 9)
        self.assertIn(b"term", out)
        self.assertIn(b"no trace", err)

    def test_signals_that_were_ignored_stay_so(self):
        result = subprocess.run(
            ["sh", "-c", 'trap "" INT; exec "$0" run --library "$1" -- sh -c "kill -INT \\$\\$; echo on"',
             MPIWATCH, self.library], cwd=self.folder, stdout=subprocess.PIPE, check=False,
            stderr=subprocess.PIPE, env={**os.environ, **self.env})
        self.assertIn(b"on\n", result.stdout)

    def test_stdin_is_the_jobs(self):
        done = subprocess.run([MPIWATCH, "run", "--library", self.library, "--", "cat"],
                              input=b"hello\n", stdout=subprocess.PIPE, cwd=self.folder, check=True,
                              stderr=subprocess.DEVNULL, env={**os.environ, **self.env})
        self.assertEqual(done.stdout, b"hello\n")


class Choice(RunTest):
    """Which library a program gets: told from its MPI library, without running it."""

    def mpi(self, name, functions):
        os.makedirs(self.path(name))
        source = "".join(f"int {function}(void) {{ return 0; }}\n" for function in functions)
        compile_c(self.path(name), "libmpi.so", source, "-shared", "-fPIC", "-Wl,-soname,libmpi.so")

    def program(self, name, mpi, *options):
        source = "int MPI_Init(void); int main(void) { return MPI_Init(); }"
        return compile_c(self.folder, name, source, "-L" + self.path(mpi), "-lmpi", *options)

    def chosen(self, *command, **env):
        """The reason and the library that run -v names; in the build tree both libraries exist."""
        result = self.run_cli("run", "-v", "--", *command, code=None, env={**self.env, **env})
        return result.err

    def setUp(self):
        super().setUp()
        old = ["MPI_Init", "PMPI_Init", "MPI_Send"]
        self.mpi("old", old)
        self.mpi("half", [*old, "MPI_Isendrecv", "MPI_Session_init"])
        self.mpi("new", [*old, "MPI_Isendrecv", "MPI_Session_init", "MPI_Send_c"])

    def test_by_the_mpi_library(self):
        for mpi, says, library in (("old", "does not have all functions", "libmpiwatch-mpi3.so"),
                                   ("half", "without large counts", "libmpiwatch-mpi4.so"),
                                   ("new", "has all functions", "libmpiwatch.so")):
            program = self.program("app-" + mpi, mpi, "-Wl,-rpath," + self.path(mpi))
            err = self.chosen(program)
            self.assertIn(self.path(mpi + "/libmpi.so"), err)
            self.assertIn(says, err)
            self.assertIn(library, err)

    def test_origin_and_library_path(self):
        program = self.program("app", "new", "-Wl,-rpath,$ORIGIN/new")
        self.assertIn("/new/libmpi.so, which has all", self.chosen(program))
        program = self.program("app", "new", "-Wl,-rpath,$ORIGIN/new")
        self.assertIn("/old/libmpi.so",
                      self.chosen(self.program("plain", "new"), LD_LIBRARY_PATH=self.path("old")))
        # RUNPATH comes after LD_LIBRARY_PATH, RPATH before.
        runpath = self.program("runpath", "new", "-Wl,-rpath,$ORIGIN/new", "-Wl,--enable-new-dtags")
        rpath = self.program("rpath", "new", "-Wl,-rpath,$ORIGIN/new", "-Wl,--disable-new-dtags")
        self.assertIn("/old/libmpi.so", self.chosen(runpath, LD_LIBRARY_PATH=self.path("old")))
        self.assertIn("/new/libmpi.so", self.chosen(rpath, LD_LIBRARY_PATH=self.path("old")))

    def test_behind_another_library(self):
        compile_c(self.path("new"), "libwork.so", "int MPI_Init(void); int work(void) { return MPI_Init(); }",
                  "-shared", "-fPIC", "-L" + self.path("new"), "-lmpi", "-Wl,-rpath,$ORIGIN",
                  "-Wl,-soname,libwork.so")
        program = compile_c(self.folder, "app", "int work(void); int main(void) { return work(); }",
                            "-L" + self.path("new"), "-lwork", "-Wl,-rpath," + self.path("new"),
                            "-Wl,--unresolved-symbols=ignore-in-shared-libs")
        self.assertIn("which has all", self.chosen(program))

    def test_among_the_words_of_a_launcher(self):
        self.fake("mpirun", "mpirun (Open MPI) 4.1.4")
        program = self.program("app", "new", "-Wl,-rpath," + self.path("new"))
        err = self.chosen("mpirun", "-n", "2", "--mca", "pml", "ob1", "./app", "input")
        self.assertIn("./app uses", err)
        self.assertIn(os.path.basename(program), err)

    def test_when_it_cannot_be_told(self):
        err = self.chosen("sh", "-c", "true")
        self.assertIn("cannot be told beforehand", err)
        self.assertIn("libmpiwatch-mpi3.so", err)


if __name__ == "__main__":
    if not shutil.which("gcc"):
        print("skipped: a C compiler is needed")
        sys.exit(77)
    main()
