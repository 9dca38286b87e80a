# SPDX-License-Identifier: BSD-3-Clause
"""Completion, --help and the manual pages know the same commands and options."""

import os
import re
import shutil
import subprocess

from cli import MPIWATCH, ROOT, CliTest, main

SCRIPTS = os.path.join(ROOT, "analyzer", "completion")
EVERYWHERE = {"--help", "--usage", "--version", "-V"}


class CompletionTest(CliTest):
    def ask(self, *words):
        """What may stand for the last word: {word: what it means}; ":paths" and the like have None."""
        lines = self.run_cli("--complete", *words).out.splitlines()
        return {word: what if tab else None for word, tab, what in (line.partition("\t") for line in lines)}

    def commands(self):
        return re.findall(r"^  (\w+) +\S", self.run_cli("--help").out, re.M)

    def helped(self, command):
        """{"--format": "-f"} as --help has it."""
        lines = self.run_cli(command, "--help").out.splitlines()
        found = [re.match(r"\s+(?:(-\w), |-\?, )?(?:\s*)(--[a-z-]+)(?:=(\w+))?", line) for line in lines]
        return {match.group(2): match.group(1) for match in found if match}


class Completion(CompletionTest):
    def test_commands(self):
        commands = self.commands()
        self.assertIn("report", commands)
        self.assertEqual(set(self.ask("")), {*commands, "help", "--help", "--version", "-V"})
        self.assertEqual(set(self.ask("help", "")), set(commands))
        self.assertEqual(self.ask("frobnicate", ""), {})
        self.assertEqual(set(self.ask()), set(self.ask("")))

    def test_options_are_those_of_help(self):
        for command in self.commands():
            with self.subTest(command):
                options = self.helped(command)
                self.assertIn("--help", options)
                letters = {letter for letter in options.values() if letter}
                self.assertEqual(set(self.ask(command, "-")), set(options) | letters)
                self.assertTrue(all(self.ask(command, "--").values()))

    def test_words_of_options(self):
        """The words that are offered are all that the command takes."""
        tried = 0
        for command in self.commands():
            for option, letter in self.helped(command).items():
                offered = self.ask(command, option, "")
                takes_none = offered == self.ask(command, "")
                if command == "run" or takes_none or not offered or None in offered.values():
                    continue
                tried += 1
                with self.subTest(command, option=option):
                    error = self.run_cli(command, option, "no-such-word", "x", code=129).err
                    known = re.search("known: (.*)", error).group(1).split(", ")
                    self.assertEqual(list(offered), known)
                    self.assertEqual(list(self.ask(command, option + "=")),
                                     [option + "=" + word for word in known])
                    self.assertEqual(self.ask(command, letter, ""), offered)
        self.assertGreaterEqual(tried, 9)

    def test_where_the_last_word_stands(self):
        paths, commands = {":paths": None}, {":commands": None}
        for words, expected in ((["report", ""], paths), (["report", "-o", ""], paths),
                                (["report", "--output="], paths), (["report", "-n", ""], {}),
                                (["report", "--top", ""], {}), (["report", "-n5", ""], paths),
                                (["report", "--top=5", ""], paths), (["report", "--", "--format="], paths),
                                (["report", "--", "-"], paths), (["report", "--no-such", ""], paths),
                                (["report", "--no-such="], {}), (["report", "a.mpiw", ""], paths),
                                (["run", ""], commands), (["run", "-v", ""], commands),
                                (["run", "-vo", ""], paths), (["run", "-o", "x", ""], commands),
                                (["run", "--", ""], commands), (["run", "mpirun", "-"], paths),
                                (["run", "mpirun", "-n", "2", ""], paths)):
            with self.subTest(words):
                self.assertEqual(self.ask(*words), expected)
        actions = {word: "" for word in ("add", "list", "show", "html")}
        self.assertEqual(self.ask("history", ""), actions)
        self.assertEqual(self.ask("history", "-t", "a=b", ""), actions)
        self.assertEqual(self.ask("history", "add", ""), paths)
        self.assertIn("json", self.ask("report", "-n5", "-f", ""))
        self.assertIn("--format", self.ask("report", "a.mpiw", "-"))


class Shells(CompletionTest):
    """The scripts hand on what mpiwatch says."""

    def shell(self, *command, **options):
        folder = os.path.dirname(os.path.abspath(MPIWATCH))
        environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], HOME=self.folder)
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                              cwd=self.folder, timeout=60, check=True, **options).stdout.decode()

    def bash(self, *words):
        """words: as bash cuts them."""
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_mpiwatch mpiwatch; printf "%s\\n" "${COMPREPLY[@]}"')
        out = self.shell("bash", "--norc", "-c", script, "bash", os.path.join(SCRIPTS, "mpiwatch.bash"),
                         "mpiwatch", *words)
        return out.split()

    def test_bash(self):
        self.assertIn("bash", self.shell("bash", "-c", "complete() { :; }; source '%s'; echo bash"
                                         % os.path.join(SCRIPTS, "mpiwatch.bash")))
        self.assertEqual(self.bash("rep"), ["report"])
        self.assertEqual(self.bash("report", "--fo"), ["--format"])
        self.assertEqual(self.bash("report", "--format", "="), ["text", "json"])
        self.assertEqual(self.bash("report", "--format", "=", "j"), ["json"])
        self.assertEqual(self.bash("matrix", "-f", ""), ["text", "csv", "json"])
        self.assertEqual(self.bash("report", "job"), [])
        self.assertIn("bash", self.bash("run", "bas"))

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("no fish")
        def fish(line):
            out = self.shell("fish", "--no-config", "-c", "source %s; complete -C '%s'"
                             % (os.path.join(SCRIPTS, "mpiwatch.fish"), line))
            return [entry.partition("\t")[0] for entry in out.splitlines()]
        open(self.path("job.mpiw"), "w", encoding="utf-8").close()
        self.assertEqual(fish("mpiwatch rep"), ["report"])
        self.assertEqual(fish("mpiwatch report --fo"), ["--format"])
        self.assertEqual(fish("mpiwatch report --format=j"), ["--format=json"])
        self.assertEqual(fish("mpiwatch report --format j"), ["json"])
        self.assertEqual(fish("mpiwatch report jo"), ["job.mpiw"])

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        # A completion function runs only inside the line editor: one on a terminal of its own. What
        # follows the typed word must appear there; the run ends by its time limit if it does not.
        script = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word; echo r''eady"
zpty -r -m shell out "*ready*"
zpty -w -n shell "$2"$'\t'
zpty -r -m shell out "*$3*"
zpty -d shell
"""
        for line, rest in (("mpiwatch rep", "ort"), ("mpiwatch report --usa", "ge"),
                           ("mpiwatch report -f j", "son"), ("mpiwatch report --format=j", "son")):
            self.shell("zsh", "-f", "-c", script, "zsh", SCRIPTS, line, rest, stdin=subprocess.DEVNULL)


class ManualPages(CompletionTest):
    def page(self, name):
        with open(os.path.join(ROOT, "docs", "man", name + ".1.scd"), encoding="utf-8") as file:
            return file.read()

    def test_each_command_has_one(self):
        overview = self.page("mpiwatch")
        for command in self.commands():
            self.assertIn("mpiwatch-%s - " % command, self.page("mpiwatch-" + command))
            self.assertIn("*%s*\n" % command, overview)
            self.assertIn("*mpiwatch-%s*(1)" % command, overview)
        pages = [name for name in os.listdir(os.path.join(ROOT, "docs", "man")) if name != "mpiwatch.1.scd"]
        self.assertEqual(sorted(pages), sorted("mpiwatch-%s.1.scd" % name for name in self.commands()))

    def test_options(self):
        for command in self.commands():
            with self.subTest(command):
                text = self.page("mpiwatch-" + command)
                lines = re.findall(r"^(\*-.*)$", text, re.M)
                told = {word for line in lines for word in re.findall(r"\*(--?[\w-]+)\*", line)}
                options = self.helped(command)
                known = set(options) | {letter for letter in options.values() if letter}
                self.assertEqual(told, known - EVERYWHERE)


if __name__ == "__main__":
    main()
