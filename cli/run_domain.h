/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight run --libvirt XML [-c URI] [-- dtrace options] */
#ifndef CLI_RUN_DOMAIN_H
#define CLI_RUN_DOMAIN_H

/** Start a libvirt domain that can be traced; trace it if there is a "--", else leave it running. argv[1] is
 * "--libvirt". Returns the exit status. */
int cli_run_domain(int argc, char **argv);

#endif
