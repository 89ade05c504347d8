/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the operator's options that a host sets for its own session. */
#ifndef FLEET_HOST_OPTIONS_H
#define FLEET_HOST_OPTIONS_H

enum fl_option_use {
	FL_OPTION_UNKNOWN,
	FL_OPTION_HOST, /* it affects what is compiled, enabled or recorded */
	/* it concerns output, or names something on the operator's machine: ignored here */
	FL_OPTION_OPERATOR,
};

enum fl_option_use fl_option_use(const char *name);

#endif
