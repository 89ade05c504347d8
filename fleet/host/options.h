/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of an operator's options a host sets for its own session. */
#ifndef FLEET_HOST_OPTIONS_H
#define FLEET_HOST_OPTIONS_H

enum fl_option_use {
	FL_OPTION_UNKNOWN,
	FL_OPTION_HOST,     /* it shapes what is compiled, enabled or recorded */
	FL_OPTION_OPERATOR, /* it is about output, or names what is on the operator's machine: nothing here */
};

enum fl_option_use fl_option_use(const char *name);

#endif
