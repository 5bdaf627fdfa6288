#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command on a pseudo-terminal of its own.

    terminal.py [-o FILE] [-e FILE] [-i FILE] [-q TEXT] [-c] COMMAND...

Standard output and standard error are the terminal, or the files of -o and -e.  The content of the file of -i arrives
on standard input in two parts, the second when the terminal has shown something.  -c: interrupts the command when the
terminal has shown a line.  -q: types q when it has shown the text.  Prints what the terminal shows at the end; the file
that the environment variable RAW names gets all that was written to it.  The exit status is that of the command.
"""
import fcntl
import os
import re
import signal
import sys
import termios
import threading

# What is written to the terminal when the command has ended; it writes no NUL itself.
END = b"\0"


def screen(raw):
    """What a terminal shows: carriage return, erasing to the end of the line, new line."""
    lines, column = [""], 0
    for part in re.findall(r"\x1b\[\?7[hl]|\x1b\[K|.", raw, re.S):
        if part == "\r":
            column = 0
        elif part == "\n":
            lines.append("")
            column = 0
        elif part == "\x1b[K":
            lines[-1] = lines[-1][:column]
        elif len(part) == 1:
            lines[-1] = lines[-1][:column].ljust(column) + part + lines[-1][column + 1:]
            column += 1
    return "\n".join(lines)


def start(words, files):
    """Starts the command; returns its process id, both ends of the terminal, and its standard input, a pipe or None."""
    source, sink = os.pipe() if "-i" in files else (None, None)
    terminal, slave = os.openpty()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for descriptor in 0, 1, 2:
            os.dup2(slave, descriptor)
        os.close(slave)
        os.close(terminal)
        for option, descriptor in (("-o", 1), ("-e", 2)):
            if option in files:
                os.dup2(os.open(files[option], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
        if source is not None:
            os.dup2(source, 0)
            os.close(sink)
        os.execv(words[0], words)
    if source is not None:
        os.close(source)
    return pid, terminal, slave, sink


def mark_end(pid, slave, status):
    """Waits for the end of the command.  While the slave is open the kernel loses nothing that was written to it."""
    status.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os.write(slave, END)


def main():
    words, files, interrupt = sys.argv[1:], {}, False
    while words[0].startswith("-"):
        if words[0] == "-c":
            interrupt, words = True, words[1:]
        else:
            files[words[0]], words = words[1], words[2:]
    pid, terminal, slave, sink = start(words, files)
    signal.alarm(300)  # it ends this program
    status = []
    threading.Thread(target=mark_end, args=(pid, slave, status)).start()
    if sink is not None:
        with open(files["-i"], "rb") as file:
            data = file.read()
        os.write(sink, data[:len(data) // 2])
    raw = b""
    while END not in raw:
        raw += os.read(terminal, 65536)
        if sink is not None:
            os.write(sink, data[len(data) // 2:])
            os.close(sink)
            sink = None
        if interrupt and b"\n" in raw:
            os.kill(pid, signal.SIGINT)
            interrupt = False
        if "-q" in files and files["-q"].encode() in raw:
            os.write(terminal, b"q")
            del files["-q"]
    text = raw.rstrip(END).decode("ascii")
    if "RAW" in os.environ:
        with open(os.environ["RAW"], "w", encoding="ascii") as file:
            file.write(text)
    sys.stdout.write(screen(text.replace("\r\n", "\n")).rstrip("\n") + "\n")
    sys.exit(status[0])


main()
