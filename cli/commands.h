/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs. argv[0] is the verb; the result is the exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

/** outsight run [VM options] -- [dtrace options]: boot a guest, trace it, stop it. */
int cli_cmd_run(int argc, char **argv);

/** outsight guests [-c URI] [--json | --xml DOMAIN]: what could be traced here, and how. */
int cli_cmd_guests(int argc, char **argv);

/** outsight attach [--plan] PID|NAME…, outsight detach PID|NAME…|--all: a running QEMU. */
int cli_cmd_attach(int argc, char **argv);
int cli_cmd_detach(int argc, char **argv);

/** outsight doctor: what this host can do. 0: guests can be traced here. */
int cli_cmd_doctor(int argc, char **argv);

/** outsight compare [dtrace options]: what a program sees from outside and from inside, side by side. */
int cli_cmd_compare(int argc, char **argv);

#endif
