#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Commands and awk that shell scripts need from the machine, for tests/source/lint.sh.  Prints one line for each fault.

    lint_shell.py awk FILE...       awk programs in scripts, and *.awk: mawk parses them, and they use POSIX awk only
    lint_shell.py commands FILE...  each command is essential in Debian, of a package that bootstrap installs for the
                                    command that runs the test (check, check-sanitizers, check-all) or of one that such
                                    a package depends on; or the script asks `have COMMAND` first.  A command that is not
                                    installed is a fault only if all of bootstrap's packages are.  Scripts of check-vm:
                                    also the commands of tests/vm/host-packages; scripts of a guest: only those of
                                    the guest in tests/vm/guests and of essential packages
    lint_shell.py every-command FILE...  likewise, and a command that is not installed is a fault on any machine
    lint_shell.py packages FILE...  each command of such a list is of the package before it or of a dependency, if that is installed
"""
import functools
import os
import pathlib
import re
import subprocess
import sys

DIRECTORIES = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
BUILTINS = set(". : [ alias bg break cd command continue echo eval exec exit export false fg getopts hash jobs kill "
               "local printf pwd read readonly return set shift test times trap true type ulimit umask unset wait".split())
# Words after which another command begins, and words that end one.
BEFORE = set("if then elif else do while until ! {".split())
AFTER = set("fi done esac }".split())
WHENS = ("build", "run", "check", "sanitizers", "all")  # in bootstrap's list: each has the packages of those before
PROGRAMS = {"netobsd", "netobsctl", "netobs"}  # of the package that the guest installs
# Commands that run the command after so many of their arguments.
RUNNERS = {"exec": 0, "wait_for": 0, "wait_up_to": 1, "check": 1, "nothing": 1, "timeout": 1, "in_near": 0, "in_far": 0,
           "inside": 0, "as_root": 0}


# ------------------------------------------------------------------------------------------------------------- the shell

class Script:
    """The words of a shell script in command position, and the programs that it gives to awk."""

    def __init__(self, text):
        self.text, self.at, self.line = text, 0, 1
        self.commands, self.functions, self.wanted, self.awk, self.heredocs = [], set(), set(), [], []
        self.list(end="")

    def peek(self, length=1):
        return self.text[self.at:self.at + length]

    def take(self, length=1):
        taken = self.text[self.at:self.at + length]
        self.line += taken.count("\n")
        self.at += length
        return taken

    def expansion(self):
        """Skips an expansion after a dollar sign."""
        if self.peek(2) == "((":
            depth = 0
            while True:
                depth += {"(": 1, ")": -1}.get(self.peek(), 0)
                self.take()
                if depth == 0:
                    return
        if self.peek() == "(":
            self.take()
            self.list(end=")")
        elif self.peek() == "{":
            while self.peek() not in ("}", ""):
                char = self.take()
                if char == "$":
                    self.expansion()
                elif char in "'\"":
                    self.quoted(char)
            self.take()

    def quoted(self, quote):
        begin = self.at
        while self.peek() not in (quote, ""):
            char = self.take()
            if char == "\\" and quote == '"':
                self.take()
            elif char == "$" and quote == '"':
                self.expansion()
        inside = self.text[begin:self.at]
        self.take()
        return inside

    def word(self):
        """The next word, and the text of it if it is one single-quoted string."""
        begin, single = self.at, None
        while (char := self.peek()) and char not in " \t\n;&|()<>":
            self.take()
            if char == "\\":
                self.take()
            elif char == "'":
                single = self.quoted(char)
            elif char == '"':
                self.quoted(char)
            elif char == "$":
                self.expansion()
        word = self.text[begin:self.at]
        return word, single if word.startswith("'") else None

    def here_document(self, begin):
        dash = self.peek() == "-" and self.take()
        while self.peek() in (" ", "\t"):
            self.take()
        word, _ = self.word()
        line = self.text[self.text.rfind("\n", 0, begin) + 1:begin]
        self.heredocs.append((word.strip("'\"\\"), bool(dash), '.sh"' in line))

    def skip_heredocs(self):
        for delimiter, dash, shell in self.heredocs:
            lines, first = [], self.line
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                line = self.take((end if end >= 0 else len(self.text)) + 1 - self.at).rstrip("\n")
                if (line.lstrip("\t") if dash else line) == delimiter:
                    break
                lines.append(line)
            if shell:
                inner = Script("\n".join(lines))
                self.commands += [(name, first + line - 1) for name, line in inner.commands]
                self.functions |= inner.functions
                self.wanted |= inner.wanted
                self.awk += [(program, first + line - 1) for program, line in inner.awk]
        self.heredocs = []

    def blanks(self):
        while True:
            if self.peek(2) == "\\\n":
                self.take(2)
            elif self.peek() in (" ", "\t"):
                self.take()
            else:
                return

    def list(self, end):
        """Commands up to the unquoted parenthesis that ends a $( ), or all."""
        cases = []  # of each `case` that is open: whether a pattern comes next
        words, single_of, line = [], {}, self.line
        subshells = 0

        def finish():
            nonlocal words, single_of
            self.command(words, single_of, line)
            words, single_of = [], {}

        while self.at < len(self.text):
            self.blanks()
            char = self.peek()
            if char == "":
                break
            if cases and cases[-1] and char not in "\n#":
                if self.text.startswith("esac", self.at):
                    cases.pop()
                else:
                    while self.peek() not in (")", ""):
                        self.word() if self.peek() not in " |(\t\n\\" else self.take()
                    self.take()
                    cases[-1] = False
                    continue
            if char == "#":
                while self.peek() not in ("\n", ""):
                    self.take()
            elif char == "\n":
                finish()
                self.take()
                self.skip_heredocs()
            elif char in ";&|":
                finish()
                if self.peek(2) == ";;":
                    self.take()
                    cases[-1] = True
                self.take()
            elif char == "(":
                if words and self.peek(2) == "()":
                    self.take(2)
                    self.functions.add(words[-1])
                    words = []
                else:
                    finish()
                    self.take()
                    subshells += 1
            elif char == ")":
                finish()
                self.take()
                if end and subshells == 0:
                    return
                subshells -= 1
            elif char in "<>":
                begin = self.at
                self.take()
                if char == "<" and self.peek() == "<":
                    self.take()
                    self.here_document(begin)
                    continue
                while self.peek() in ("<", ">", "&", " "):
                    self.take()
                self.word()
            else:
                if not words:
                    line = self.line
                word, single = self.word()
                if word.isdigit() and self.peek() in ("<", ">") or word in AFTER and not words:
                    continue
                if word == "in" and words[:1] == ["case"]:
                    cases.append(True)
                    words = []
                elif word in BEFORE and not words:
                    continue
                else:
                    if single is not None:
                        single_of[len(words)] = single
                    words.append(word)
        finish()

    def command(self, words, single_of, line):
        offset = 0
        while offset < len(words) and re.match(r"[A-Za-z_][A-Za-z0-9_]*=", words[offset]):
            offset += 1
        if offset == len(words) or words[offset] in ("for", "case"):
            return
        name = words[offset]
        if re.fullmatch(r"[A-Za-z0-9_.:\[+-]+", name):
            self.commands.append((name, line))
        if name == "have" or words[offset:offset + 2] == ["command", "-v"]:
            self.wanted.update(words[offset + 1:])
        if name == "awk":
            self.awk_program(words, single_of, offset, line)
        after = len(words)  # where another command begins
        if name in RUNNERS:
            after = offset + 1 + RUNNERS[name]
        elif words[offset:offset + 3] == ["ip", "netns", "exec"]:
            after = offset + 4
        elif name == "find" and "-exec" in words:
            after = words.index("-exec") + 1
        if after < len(words) and not words[after].startswith("-"):
            inner = {place - after: text for place, text in single_of.items() if place >= after}
            self.command(words[after:], inner, line)

    def awk_program(self, words, single_of, offset, line):
        place = offset + 1
        while place < len(words) and words[place].startswith("-"):
            if words[place] == "-f":
                return
            place += 2 if words[place] in ("-F", "-v") else 1
        if place in single_of:
            self.awk.append((single_of[place], line))
        elif place < len(words):
            self.awk.append((None, line))


# ------------------------------------------------------------------------------------------------------------------ awk

FORBIDDEN = {
    r"\b(strftime|systime|mktime|gensub|asorti?|patsplit|strtonum|and|or|xor|lshift|rshift|compl|typeof|isarray)\(":
        "a function that POSIX awk lacks",
    r"\b(BEGINFILE|ENDFILE|PROCINFO|IGNORECASE|FIELDWIDTHS|FPAT|RT|BINMODE|nextfile|switch|func)\b": "a word of gawk",
    r"\*\*": "POSIX awk has ^ for powers",
}
IN_PATTERNS = {
    r"\{[0-9]+(,[0-9]*)?\}": "an interval in a pattern, which mawk 1.3.4-20200120 takes for characters",
    r"\\[yBsSwW<>]": "an escape of gawk in a pattern",
}


def awk_without_texts(program):
    """The program without comments, its strings and patterns empty; and the patterns."""
    patterns, bare, at, operand = [], "", 0, False
    while at < len(program):
        char = program[at]
        if char == '"' or char == "/" and not operand:
            end = at + 1
            while end < len(program) and program[end] != char:
                if char == "/" and program[end] == "[":
                    end = program.index("]", end + (3 if program[end + 1] == "^" else 2))
                end += 2 if program[end] == "\\" else 1
            if char == "/" or bare.rstrip().endswith("~") or re.search(r"\b(g?sub|match)\($", bare.rstrip()):
                patterns.append(program[at + 1:end])
            bare, at, operand = bare + '""', end + 1, True
        elif char == "#":
            at = program.find("\n", at) if "\n" in program[at:] else len(program)
        else:
            operand = char.isalnum() or char in "_)]$" or (operand and char in " \t")
            bare, at = bare + char, at + 1
    return bare, patterns


def awk_complaints(program):
    bare, patterns = awk_without_texts(program)
    for pattern, why in FORBIDDEN.items():
        if match := re.search(pattern, bare):
            yield f"{match.group()}: {why}"
    for text in patterns:
        for pattern, why in IN_PATTERNS.items():
            if re.search(pattern, text):
                yield f"/{text}/: {why}"
    flat = bare
    while (inner := re.sub(r"\([^()]*\)", "", flat)) != flat:
        flat = inner
    for statement in re.findall(r"\bprintf?\b[^;\n}]*", flat):
        if re.search(r">(?!>? *(\"\"|file\b))", statement):
            yield f"{statement.strip()}: a comparison to be printed needs parentheses, or it is a redirection"
    sums = set(re.findall(r"\b([a-z_]+) *\+=", bare))
    for statement in re.findall(r"\bprint\b[^;\n}]*", flat) + re.findall(r"\bprintf\b[^;\n}]*%d[^;\n}]*", program):
        for name in sums & set(re.findall(r"[a-z_]+", statement)) if "%.0f" not in statement else ():
            yield f"{statement.strip()}: from 2147483648 on the sum {name} is printed wrong, but for printf \"%.0f\""
    if re.search(r"\blength\( *[a-z_]+ *\)", bare):
        for name in re.findall(r"\blength\( *([a-z_]+) *\)", bare):
            if re.search(rf"\b{name}\[", bare):
                yield f"length({name}): POSIX awk has no length of an array"


def mawk_complaints(program):
    """mawk's messages when it only parses the program."""
    done = subprocess.run(["mawk", "-W", "dump", "--", program], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        yield (done.stderr.strip().splitlines() or [f"mawk ends with status {done.returncode}"])[0]


def check_awk(texts):
    for path, text in texts.items():
        for program, line in [(text, 1)] if path.endswith(".awk") else Script(text).awk:
            if program is None:
                yield path, line, "the program of awk is not a single-quoted text, so that it cannot be checked"
                continue
            for complaint in [*awk_complaints(program), *mawk_complaints(with_functions(path, program))]:
                yield path, line, complaint


def with_functions(path, program):
    """The program after the file of functions that it needs, which a line of its own names: # Needs FILE."""
    needed = re.findall(r"^# Needs (\S+\.awk)\.$", program, re.M)
    return "".join((pathlib.Path(path).parent / file).read_text() for file in needed) + program


# ----------------------------------------------------------------------------------------------------------- the packages

def fields_of_packages():
    """Package, whether every Debian has it, what it provides, what it depends on; of all that is installed."""
    form = "${db:Status-Status}\t${Package}\t${Essential}${Priority}\t${Provides}\t${Pre-Depends}, ${Depends}\n"
    output = subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True).stdout
    for line in output.splitlines():
        status, package, essential, provides, depends = line.split("\t")
        if status != "installed":
            continue
        names = [set(re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", text)) for text in (provides, depends)]
        yield package, essential in ("yesrequired", "norequired", "required"), *names


@functools.cache
def essential_packages():
    """The packages of every Debian."""
    return {package for package, essential, _, _ in fields_of_packages() if essential}


@functools.cache
def listed_commands(path, guest=None):
    """Package by command, of a list of check-vm: lines of `PACKAGE: COMMAND...  # what for`; of one guest, or of all."""
    found, section = {}, "all"
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        if match := re.match(r"\[(.*)\]$", line):
            section = match[1]
        elif guest in (None, section) or section == "all":
            if match := re.match(r"([a-z0-9][a-z0-9.+-]*)(?:/[a-z]+)?:([^#]*)", line):
                found.update({command: match[1] for command in match[2].split()})
    return found


@functools.cache
def guest_of(path):
    """The guest that a script of check-vm needs; "all" if it is one that the others source."""
    if path.endswith("/guest.sh"):
        return "all"
    match = re.search(r"^# Guest: (.*)", pathlib.Path(path).read_text(encoding="utf-8"), re.M)
    return match[1] if match else "debian12"


@functools.cache
def listed_packages(when=None):
    """The packages of bootstrap's list, or those that it installs for one of its commands."""
    listed = pathlib.Path("bootstrap").read_text(encoding="ascii").split("PACKAGES='")[1].split("'")[0]
    whens = WHENS[:WHENS.index(when) + 1] if when else WHENS
    return {line.split()[1] for line in listed.splitlines() if line and line.split()[0] in whens}


@functools.cache
def homes():
    """The list of room.mk by test."""
    found = {}
    for room in pathlib.Path("tests").rglob("room.mk"):
        for name, tests in re.findall(r"^(\w+_tests) \+=((?:.*\\\n)*.*)", room.read_text(encoding="ascii"), re.M):
            found.update({str(room.parent / test): name for test in re.findall(r"%D%/(\S+)", tests)})
    return found


@functools.cache
def when_run(path):
    """The first command of bootstrap that runs a script, as a test or for a test that names it; "all" for others."""
    if home := homes().get(path):
        return {"quick_tests": "check", "check_tests": "check", "sanitizers_tests": "sanitizers"}.get(home, "all")
    folder, _, name = path.rpartition("/")
    users = [test for test in homes() if folder.startswith("tests/") and test.endswith(".sh") and
             name in pathlib.Path(test).read_text(encoding="utf-8")]
    return min(map(when_run, users), key=WHENS.index, default="all")


def with_dependencies(wanted):
    """These packages and all that they depend on, of those that are installed; also what provides such a name."""
    needs, providers = {}, {}
    for package, _, provides, depends in fields_of_packages():
        needs[package] = depends
        for name in provides | {package}:
            providers.setdefault(name, set()).add(package)
    found, todo = set(wanted), list(wanted)
    while todo:
        for name in needs.get(todo.pop(), ()):
            new = providers.get(name, set()) - found
            found |= new
            todo += new
    return found


@functools.cache
def every_debian():
    """Essential packages with their dependencies: any awk is one."""
    return with_dependencies(essential_packages())


@functools.cache
def packages(when):
    """The packages of a stock Debian after a command of bootstrap."""
    return with_dependencies(essential_packages() | listed_packages(when) | {"apt"})  # without apt there is no bootstrap


@functools.cache
def all_installed():
    """Whether every package of bootstrap is installed, as `./bootstrap check-all` leaves a machine."""
    return listed_packages() <= {package for package, *_ in fields_of_packages()}


def places(command):
    """The names under which dpkg may know the file of a command."""
    for directory in DIRECTORIES:
        path = f"{directory}/{command}"
        if os.access(path, os.X_OK):
            for name in path, os.path.realpath(path):
                yield from (name, name.removeprefix("/usr"))


def packages_of(commands):
    """Package by command, of those that are installed."""
    names = {command: list(places(command)) for command in commands}
    every = [name for several in names.values() for name in several]
    done = subprocess.run(["dpkg-query", "-S", *every], capture_output=True, text=True, check=False)
    owners = dict(line.split(": ")[::-1] for line in done.stdout.splitlines() if not line.startswith("diversion by "))
    return {command: next((re.split("[:,]", owners[name])[0] for name in several if name in owners), "no package")
            for command, several in names.items() if several}


def expected(path, name, owner):
    """Whether the machine on which a script runs has a command."""
    if path.startswith("tests/vm/guest/"):
        return name in PROGRAMS or name in listed_commands("tests/vm/guests", guest_of(path)) or owner in every_debian()
    return owner in packages(when_run(path)) or path.startswith("tests/vm/") and name in listed_commands("tests/vm/host-packages")


def list_of(path):
    """The list that a package for a command of a script belongs to."""
    if path.startswith("tests/vm/"):
        in_guest = path.startswith("tests/vm/guest/")
        return f"{guest_of(path)} in tests/vm/guests" if in_guest else "bootstrap's list or tests/vm/host-packages"
    return f"bootstrap's list for {when_run(path)}"


def check_commands(texts, every=False):
    every = every or all_installed()
    scripts = {path: Script(text) for path, text in texts.items() if not path.endswith(".awk")}
    known = BUILTINS.union(*(script.functions for script in scripts.values()))
    owners = packages_of({name for script in scripts.values() for name, _ in script.commands} - known)
    for path, script in scripts.items():
        for name, line in sorted(set(script.commands), key=lambda found: found[::-1]):
            owner = owners.get(name)
            if name in known or name in script.wanted or expected(path, name, owner):
                continue
            if owner is None and not every:
                continue
            yield path, line, (f"{name} is of {owner}" if owner else f"{name} is not installed") + \
                f": no package that is essential or of {list_of(path)}; without one, `have {name}` comes first"


def check_packages(texts):
    for path, text in texts.items():
        listed = listed_commands(path)
        owners = packages_of(listed)
        needs = {package: depends for package, _, _, depends in fields_of_packages()}
        for line, content in enumerate(text.splitlines(), 1):
            package, _, rest = content.partition(":")
            for name in rest.partition("#")[0].split() if package in needs else ():
                if owners.get(name) not in needs[package] | {package}:
                    yield path, line, f"{name} is of {owners.get(name, 'no package')}, not of {package}"


def main():
    what, paths = sys.argv[1], sys.argv[2:]
    texts = {path: pathlib.Path(path).read_text(encoding="utf-8") for path in paths}
    for path, line, complaint in CHECKS[what](texts):
        print(f"{path}:{line}: {complaint}")


CHECKS = {"awk": check_awk, "commands": check_commands, "packages": check_packages,
          "every-command": lambda texts: check_commands(texts, every=True)}

if __name__ == "__main__":
    main()
