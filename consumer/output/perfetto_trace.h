/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perfetto's packets: tracks, and events on them. Times are CLOCK_MONOTONIC's, in ns. A failure is kept, and
 * reported by con_perfetto_write().
 */
#ifndef CONSUMER_OUTPUT_PERFETTO_TRACE_H
#define CONSUMER_OUTPUT_PERFETTO_TRACE_H

#include <stdio.h>

#include "base/map.h"
#include "consumer/output/protobuf.h"

/* A program that names threads, or keys of aggregations, gets no more tracks than this. */
#define CON_PERFETTO_TRACKS 65536u
/* Slices within each other on a track: a function that is entered and never left opens one each time. */
#define CON_PERFETTO_DEPTH  256u

/* TrackEvent.Type */
enum con_perfetto_type {
	CON_PERFETTO_BEGIN = 1,
	CON_PERFETTO_END = 2,
	CON_PERFETTO_INSTANT = 3,
	CON_PERFETTO_COUNTER = 4,
};

struct con_perfetto_track {
	uint64_t uuid;
	uint64_t last_ns;  /* of its last event: no later one is before it */
	const void **open; /* what its open slices are of, the innermost last; owned */
	uint32_t nopen, cap;
	int64_t value; /* of a counter, as last shown */
	bool shown;
};

struct con_perfetto_trace {
	struct con_pb pb;     /* packets that were not written yet */
	struct ot_map tracks; /* key → struct con_perfetto_track, of the arena */
	struct ot_arena arena;
	uint64_t base; /* seed of the tracks' numbers, which must differ from other traces' */
	bool begun, failed;
	bool full; /* more tracks were requested than are possible */
};

/** Before the first packet, which has the clocks' relations; may be called again. */
void con_perfetto_begin(struct con_perfetto_trace *t);
void con_perfetto_deinit(struct con_perfetto_trace *t);

/* The description of a track: members that are 0 or NULL are left out. */
struct con_perfetto_descriptor {
	const char *name;  /* any bytes */
	uint64_t parent;   /* uuid */
	uint32_t pid, tid; /* this host's; pid alone: a process */
	bool is_counter;
};

/** The track of a key. NULL: there is none yet. */
struct con_perfetto_track *con_perfetto_find(const struct con_perfetto_trace *t, const void *key, size_t len);
/** A track for a key that has none. NULL: there are too many, or no memory. */
struct con_perfetto_track *con_perfetto_add(struct con_perfetto_trace *t, const void *key, size_t len,
					    const struct con_perfetto_descriptor *d);

/** An event on a track. @p name: any bytes; NULL: none. @p fields: encoded fields of TrackEvent; NULL: none.
 */
void con_perfetto_event(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
			enum con_perfetto_type type, const char *name, const struct con_pb *fields);
/** A counter's value, unless it is unchanged. */
void con_perfetto_counter(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
			  int64_t value);

/** A slice of @p what begins, named @p name. False: too many are open, nothing was done. */
bool con_perfetto_open(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
		       const void *what, const char *name, const struct con_pb *fields);
/** The innermost slice of @p what ends, and those in it. False: none is open. */
bool con_perfetto_close(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
			const void *what, const struct con_pb *fields);
/** All open slices of all tracks end. */
void con_perfetto_close_all(struct con_perfetto_trace *t, uint64_t time_ns);

/** Fields of TrackEvent: an annotation of the event, a number or any bytes. */
void con_perfetto_put_number(struct con_pb *fields, const char *name, int64_t value);
void con_perfetto_put_text(struct con_pb *fields, const char *name, const char *text, size_t len);
/** … and its stack: names from the outermost frame on, each with a ';' behind all but the last. */
void con_perfetto_put_stack(struct con_pb *fields, const char *frames, size_t len);

/** Write the packets to @p fp if there are many, or if @p all. NOMEM; LIMIT. */
OT_MUST_CHECK struct ot_err *con_perfetto_write(struct con_perfetto_trace *t, FILE *fp, bool all);

#endif
