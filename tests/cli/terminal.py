# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program prints on a terminal."""
import os
import pty
import subprocess
import termios

# C0 but tab, newline, and carriage return, which is checked separately; DEL.
CONTROLS = {*range(0x20), 0x7f} - {9, 10, 13}


def on_terminal(args, **more):
    """(status, bytes), nothing of them changed on the way."""
    master, slave = pty.openpty()
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    with subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, **more) as process:
        os.close(slave)
        out = b""
        try:
            while data := os.read(master, 65536):
                out += data
        except OSError:  # the other end is closed
            pass
        os.close(master)
    return process.returncode, out


def is_harmless(out):
    """Nothing in it that a terminal obeys; and it is UTF-8."""
    text = out.decode("utf-8")
    return not any(ord(c) in CONTROLS or 0x80 <= ord(c) < 0xa0 or c in "\u061c\u200e\u200f\u202e\u2066\u2028" for c in text) \
        and "\r" not in text.replace("\r\n", "")
