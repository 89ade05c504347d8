/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of a fleet's messages, and their size; message.h has their order and their contents. */
#ifndef FLEET_WIRE_KIND_H
#define FLEET_WIRE_KIND_H

#define FL_MESSAGE_MAX (16u << 20) /* bytes of one message; PROGRAM is the largest. The link splits it */

enum fl_kind {
	FL_HELLO = 1,
	FL_RUN,
	FL_REFUSED,
	FL_PROGRAM,
	FL_ENABLED, /* a list */
	FL_READY,
	FL_START,
	FL_STARTED,
	FL_NAMES,      /* a list */
	FL_AGGREGATES, /* a list */
	FL_RECORDS,    /* a clock, then a list */
	FL_FAULTS,     /* a list */
	FL_DROPS,      /* a list */
	FL_OVERLOAD,
	FL_GUEST,
	FL_SAY,
	FL_STOP,
	FL_ENDED,
	FL_MEMBER,
	FL_OF,
	FL_GONE,
};

/** "RUN"; "?" for none of them. */
const char *fl_kind_name(unsigned kind);

#endif
