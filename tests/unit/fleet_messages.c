/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message of each kind. */
#include "tests/unit/fleet_messages.h"

/* Messages with everything that they can have. */
static const uint8_t some_bytes[] = { 0, 1, 0xff, 0x7f, 0, 0x80, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static const struct fl_clock clock_of_then = { .realtime = 1700000000000000001ull,
					       .boottime = 2,
					       .record = 0x0102030405060708ull,
					       .maxerror = UINT64_MAX };
static const struct fl_source sources[] = {
	{ .is_script = true, .name = "count.d", .text = { (const uint8_t *)"BEGIN\n{\n}\n", 10 } },
	{ .spec = 5, .name = "", .text = { (const uint8_t *)"tick-1s { }", 11 } },
};
static const struct fl_option options[] = { { "quiet", NULL }, { "bufsize", "4m" }, { "empty", "" } };
static const char *const args[] = { "outsight", "", "web01" };

#define BYTES                                  \
	{                                      \
		some_bytes, sizeof(some_bytes) \
	}
#define OTHER_BYTES               \
	{                         \
		some_bytes + 1, 7 \
	}

const struct fl_hello fleet_hello = { .protocol = FL_PROTOCOL, .name = "h17", .clock = { 1, 2, 3, 4 } };
const struct fl_run fleet_run = { "web*", sources, 2, options, 3, args, 3 };
static const struct fl_run empty_run = { .guests = "" };
static const struct fl_refused fleet_refused = { FL_REASON_POLICY, "line 1\nline 2\n" };
static const struct fl_program fleet_program = { BYTES, 256, 20, 50, 51, 0xffffffffu };
static const struct fl_ready fleet_ready = { UINT64_MAX, 2, { 1, UINT64_MAX } };
static const struct fl_overload fleet_overload = { 1, 2, 3, 0x80000000u };
static const struct fl_guest fleet_guest = {
	9, "web01", true, 4, "the guest has rebooted", 5, "a9ec73d2-9eee"
};
const struct fl_say fleet_say = { true, "gone: \xc3\xa4" };
const struct fl_ended fleet_ended = { true, INT32_MIN, false, "" };
static const uint8_t key[FL_MEMBER_KEY] = { 1, 2, 3, [31] = 0xfe };
const struct fl_member fleet_member = {
	FL_MEMBERS_MAX - 1, "h17", { key, sizeof(key) }, BYTES, 2, { OTHER_BYTES, BYTES },
};
const struct fl_of fleet_of = { 7, FL_ENDED, BYTES };
static const struct fl_gone fleet_gone = { 0, 10000000001ull, "it does not answer" };

static const struct fl_enabled enabled[] = { { 1, 2, 3, 4, "fbt", "vmlinux", "vfs_read", "entry" },
					     { 5, 0, 0, UINT32_MAX, "tick", "", "", "1s" } };
static const struct fl_name names[] = { { 0, 1, "vmlinux`vfs_read+0x1", "" },
					{ 2, UINT64_MAX, "", "python:f\npython:g" } };
static const struct fl_aggregate aggregates[] = { { 1, 2, OTHER_BYTES, BYTES },
						  { 3, 4, { NULL, 0 }, { NULL, 0 } } };
static const struct fl_record records[] = { { 7, 1, 99, BYTES }, { 8, UINT32_MAX, UINT64_MAX, OTHER_BYTES } };
static const struct fl_fault faults[] = { { 1, 2, 3, -1, 5, 6 }, { 0, 0, 0, INT32_MAX, 0, UINT64_MAX } };
static const struct fl_drop drops[] = { { 1, 2, 3 }, { 4, UINT32_MAX, UINT64_MAX } };

#define MESSAGE(name)                                                                              \
	static void write_##name(struct ot_buf *out)                                               \
	{                                                                                          \
		fl_put_##name(out, &fleet_##name);                                                 \
	}                                                                                          \
	static struct ot_err *rewrite_##name(const void *data, size_t len, struct ot_arena *arena, \
					     struct ot_buf *out)                                   \
	{                                                                                          \
		struct fl_##name m;                                                                \
		OT_TRY(fl_get_##name(data, len, arena, &m));                                       \
		fl_put_##name(out, &m);                                                            \
		return NULL;                                                                       \
	}

MESSAGE(hello)
MESSAGE(run)
MESSAGE(refused)
MESSAGE(program)
MESSAGE(ready)
MESSAGE(overload)
MESSAGE(guest)
MESSAGE(say)
MESSAGE(ended)
MESSAGE(member)
MESSAGE(of)
MESSAGE(gone)

static void write_empty_run(struct ot_buf *out)
{
	fl_put_run(out, &empty_run);
}

#define LIST(element, all, kind, has_clock)                                                       \
	static void write_##all(struct ot_buf *out)                                               \
	{                                                                                         \
		if (has_clock)                                                                    \
			fl_put_clock(out, &clock_of_then);                                        \
		for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++)                                   \
			fl_put_##element(out, &(all)[i]);                                         \
	}                                                                                         \
	static struct ot_err *rewrite_##all(const void *data, size_t len, struct ot_arena *arena, \
					    struct ot_buf *out)                                   \
	{                                                                                         \
		struct fl_reader r = fl_reader_of(data, len);                                     \
		struct fl_##element e;                                                            \
		if (has_clock) {                                                                  \
			struct fl_clock c;                                                        \
			fl_get_clock(&r, &c);                                                     \
			fl_put_clock(out, &c);                                                    \
		}                                                                                 \
		while (fl_next_##element(&r, arena, &e))                                          \
			fl_put_##element(out, &e);                                                \
		return fl_reader_end(&r, kind);                                                   \
	}

LIST(enabled, enabled, FL_ENABLED, false)
LIST(name, names, FL_NAMES, false)
LIST(aggregate, aggregates, FL_AGGREGATES, false)
LIST(record, records, FL_RECORDS, true)
LIST(fault, faults, FL_FAULTS, false)
LIST(drop, drops, FL_DROPS, false)

const struct fleet_kind fleet_kinds[FLEET_KINDS] = {
	{ FL_HELLO, write_hello, rewrite_hello },
	{ FL_RUN, write_run, rewrite_run },
	{ FL_RUN, write_empty_run, rewrite_run },
	{ FL_REFUSED, write_refused, rewrite_refused },
	{ FL_PROGRAM, write_program, rewrite_program },
	{ FL_ENABLED, write_enabled, rewrite_enabled },
	{ FL_READY, write_ready, rewrite_ready },
	{ FL_NAMES, write_names, rewrite_names },
	{ FL_AGGREGATES, write_aggregates, rewrite_aggregates },
	{ FL_RECORDS, write_records, rewrite_records },
	{ FL_FAULTS, write_faults, rewrite_faults },
	{ FL_DROPS, write_drops, rewrite_drops },
	{ FL_OVERLOAD, write_overload, rewrite_overload },
	{ FL_GUEST, write_guest, rewrite_guest },
	{ FL_SAY, write_say, rewrite_say },
	{ FL_ENDED, write_ended, rewrite_ended },
	{ FL_MEMBER, write_member, rewrite_member },
	{ FL_OF, write_of, rewrite_of },
	{ FL_GONE, write_gone, rewrite_gone },
};
