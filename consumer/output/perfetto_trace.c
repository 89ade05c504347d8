/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of a Perfetto trace. The numbers of fields are those of protos/perfetto/trace of
 * github.com/google/perfetto. */
#include "consumer/output/perfetto_trace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/utf8.h"

#define WRITE_AT 65536u

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_CLOCK = 58,
	PACKET_TRACK = 60,
};
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2, CLOCK_NUMBER = 1, CLOCK_TIME = 2 };
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_VALUE = 30,
	EVENT_STACK = 55,
};
enum { ANNOTATION_INT = 4, ANNOTATION_STRING = 6, ANNOTATION_NAME = 10 };
enum { STACK_FRAME = 1, FRAME_FUNCTION = 1 };
/* Its numbers of clocks. */
enum { CLOCK_IS_REALTIME = 1, CLOCK_IS_MONOTONIC = 3, CLOCK_IS_BOOTTIME = 6 };

#define SEQUENCE 1u

/* --- strings ------------------------------------------------------------------------------------------- */

static void put_name(struct con_pb *pb, unsigned field, const char *name, size_t len)
{
	struct ot_buf text;

	ot_buf_init(&text);
	ot_utf8_append(&text, name, len);
	con_pb_bytes(pb, field, ot_buf_str(&text), text.len);
	pb->buf.failed |= text.failed;
	ot_buf_deinit(&text);
}

/* --- packets ------------------------------------------------------------------------------------------- */

static size_t begin_packet(struct con_perfetto_trace *t)
{
	size_t packet = con_pb_begin(&t->pb, TRACE_PACKET);

	con_pb_int(&t->pb, PACKET_SEQUENCE, SEQUENCE);
	return packet;
}

static void put_clock(struct con_pb *pb, uint64_t number, clockid_t id)
{
	size_t clock = con_pb_begin(pb, SNAPSHOT_CLOCK);
	struct timespec now;

	clock_gettime(id, &now);
	con_pb_int(pb, CLOCK_NUMBER, number);
	con_pb_int(pb, CLOCK_TIME, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
	con_pb_end(pb, clock);
}

void con_perfetto_begin(struct con_perfetto_trace *t)
{
	if (t->begun)
		return;
	t->begun = true;
	ot_map_init(&t->tracks);
	ot_arena_init(&t->arena);
	t->base = ot_now_ns() << 20;
	size_t packet = begin_packet(t), clocks = con_pb_begin(&t->pb, PACKET_CLOCKS);
	put_clock(&t->pb, CLOCK_IS_BOOTTIME, CLOCK_BOOTTIME);
	put_clock(&t->pb, CLOCK_IS_MONOTONIC, CLOCK_MONOTONIC);
	put_clock(&t->pb, CLOCK_IS_REALTIME, CLOCK_REALTIME);
	con_pb_int(&t->pb, SNAPSHOT_PRIMARY, CLOCK_IS_BOOTTIME);
	con_pb_end(&t->pb, clocks);
	con_pb_end(&t->pb, packet);
}

static struct con_perfetto_track *track_at(const struct con_perfetto_trace *t, size_t i)
{
	return t->tracks.entries[i]->value;
}

void con_perfetto_deinit(struct con_perfetto_trace *t)
{
	if (!t->begun)
		return;
	for (size_t i = 0; i < t->tracks.count; i++)
		free(track_at(t, i)->open);
	ot_map_deinit(&t->tracks);
	ot_arena_deinit(&t->arena);
	con_pb_deinit(&t->pb);
	t->begun = false;
}

struct ot_err *con_perfetto_write(struct con_perfetto_trace *t, FILE *fp, bool all)
{
	OT_TRY(con_pb_error(&t->pb));
	if (t->failed)
		return ot_err_nomem();
	if (!all && t->pb.buf.len < WRITE_AT)
		return NULL;
	fwrite(ot_buf_str(&t->pb.buf), 1, t->pb.buf.len, fp);
	ot_buf_clear(&t->pb.buf);
	return NULL;
}

/* --- tracks -------------------------------------------------------------------------------------------- */

static void describe(struct con_perfetto_trace *t, uint64_t uuid, const struct con_perfetto_descriptor *d)
{
	struct con_pb *pb = &t->pb;
	size_t packet = begin_packet(t), track = con_pb_begin(pb, PACKET_TRACK);

	con_pb_int(pb, TRACK_UUID, uuid);
	put_name(pb, TRACK_NAME, d->name, strlen(d->name));
	if (d->parent)
		con_pb_int(pb, TRACK_PARENT, d->parent);
	if (d->pid) {
		size_t owner = con_pb_begin(pb, d->tid ? TRACK_THREAD : TRACK_PROCESS);
		con_pb_int(pb, d->tid ? THREAD_PID : PROCESS_PID, d->pid);
		if (d->tid)
			con_pb_int(pb, THREAD_TID, d->tid);
		put_name(pb, d->tid ? THREAD_NAME : PROCESS_NAME, d->name, strlen(d->name));
		con_pb_end(pb, owner);
	}
	if (d->is_counter)
		con_pb_end(pb, con_pb_begin(pb, TRACK_COUNTER));
	con_pb_end(pb, track);
	con_pb_end(pb, packet);
}

struct con_perfetto_track *con_perfetto_find(const struct con_perfetto_trace *t, const void *key, size_t len)
{
	return ot_map_get(&t->tracks, key, len);
}

struct con_perfetto_track *con_perfetto_add(struct con_perfetto_trace *t, const void *key, size_t len,
					    const struct con_perfetto_descriptor *d)
{
	struct con_perfetto_track *track;

	if (t->tracks.count >= CON_PERFETTO_TRACKS) {
		t->full = true;
		return NULL;
	}
	track = ot_arena_new(&t->arena, struct con_perfetto_track);
	if (!track || !ot_map_put(&t->tracks, key, len, track)) {
		t->failed = true;
		return NULL;
	}
	*track = (struct con_perfetto_track){ .uuid = t->base + t->tracks.count };
	describe(t, track->uuid, d);
	return track;
}

/* --- events -------------------------------------------------------------------------------------------- */

static size_t begin_event(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
			  enum con_perfetto_type type, size_t *ret_packet)
{
	track->last_ns = time_ns > track->last_ns ? time_ns : track->last_ns;
	*ret_packet = begin_packet(t);
	con_pb_int(&t->pb, PACKET_TIME, track->last_ns);
	con_pb_int(&t->pb, PACKET_CLOCK, CLOCK_IS_MONOTONIC);
	size_t event = con_pb_begin(&t->pb, PACKET_EVENT);
	con_pb_int(&t->pb, EVENT_TYPE, type);
	con_pb_int(&t->pb, EVENT_TRACK, track->uuid);
	return event;
}

void con_perfetto_event(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
			enum con_perfetto_type type, const char *name, const struct con_pb *fields)
{
	size_t packet, event = begin_event(t, track, time_ns, type, &packet);

	if (name)
		put_name(&t->pb, EVENT_NAME, name, strlen(name));
	if (fields)
		con_pb_append(&t->pb, fields);
	con_pb_end(&t->pb, event);
	con_pb_end(&t->pb, packet);
}

void con_perfetto_counter(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
			  int64_t value)
{
	if (track->shown && track->value == value)
		return;
	size_t packet, event = begin_event(t, track, time_ns, CON_PERFETTO_COUNTER, &packet);

	track->shown = true;
	track->value = value;
	con_pb_int(&t->pb, EVENT_VALUE, (uint64_t)value);
	con_pb_end(&t->pb, event);
	con_pb_end(&t->pb, packet);
}

/* --- slices -------------------------------------------------------------------------------------------- */

static bool has_room(struct con_perfetto_trace *t, struct con_perfetto_track *track)
{
	uint32_t cap = track->cap ? 2 * track->cap : 4;

	if (track->nopen < track->cap)
		return true;
	if (cap > CON_PERFETTO_DEPTH)
		return false;
	const void **open = realloc(track->open, cap * sizeof(*open));
	if (!open) {
		t->failed = true;
		return false;
	}
	track->open = open;
	track->cap = cap;
	return true;
}

bool con_perfetto_open(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
		       const void *what, const char *name, const struct con_pb *fields)
{
	if (!has_room(t, track))
		return false;
	track->open[track->nopen++] = what;
	con_perfetto_event(t, track, time_ns, CON_PERFETTO_BEGIN, name, fields);
	return true;
}

bool con_perfetto_close(struct con_perfetto_trace *t, struct con_perfetto_track *track, uint64_t time_ns,
			const void *what, const struct con_pb *fields)
{
	uint32_t depth = track->nopen;

	while (depth && track->open[depth - 1] != what)
		depth--;
	if (!depth)
		return false;
	for (; track->nopen > depth; track->nopen--)
		con_perfetto_event(t, track, time_ns, CON_PERFETTO_END, NULL, NULL);
	track->nopen--;
	con_perfetto_event(t, track, time_ns, CON_PERFETTO_END, NULL, fields);
	return true;
}

void con_perfetto_close_all(struct con_perfetto_trace *t, uint64_t time_ns)
{
	for (size_t i = 0; i < t->tracks.count; i++)
		for (struct con_perfetto_track *track = track_at(t, i); track->nopen; track->nopen--)
			con_perfetto_event(t, track, time_ns, CON_PERFETTO_END, NULL, NULL);
}

/* --- what an event has --------------------------------------------------------------------------------- */

static size_t begin_annotation(struct con_pb *fields, const char *name)
{
	size_t annotation = con_pb_begin(fields, EVENT_ANNOTATION);

	con_pb_string(fields, ANNOTATION_NAME, name);
	return annotation;
}

void con_perfetto_put_number(struct con_pb *fields, const char *name, int64_t value)
{
	size_t annotation = begin_annotation(fields, name);

	con_pb_int(fields, ANNOTATION_INT, (uint64_t)value);
	con_pb_end(fields, annotation);
}

void con_perfetto_put_text(struct con_pb *fields, const char *name, const char *text, size_t len)
{
	size_t annotation = begin_annotation(fields, name);

	put_name(fields, ANNOTATION_STRING, text, len);
	con_pb_end(fields, annotation);
}

void con_perfetto_put_stack(struct con_pb *fields, const char *frames, size_t len)
{
	size_t stack = con_pb_begin(fields, EVENT_STACK);
	const char *end = frames + len;

	while (frames < end) {
		const char *semicolon = memchr(frames, ';', (size_t)(end - frames));
		const char *last = semicolon ? semicolon : end;
		size_t frame = con_pb_begin(fields, STACK_FRAME);
		put_name(fields, FRAME_FUNCTION, frames, (size_t)(last - frames));
		con_pb_end(fields, frame);
		frames = semicolon ? semicolon + 1 : end;
	}
	con_pb_end(fields, stack);
}
