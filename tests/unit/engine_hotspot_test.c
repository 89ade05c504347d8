/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks through code that HotSpot has made: a stack of made-up pieces of code, whole, wrong and hostile. */
#include <string.h>

#include "tests/unit/engine_hotspot.h"
#include "vmm-probe/engine/wire/notes.h"

static struct ep make(uint32_t room)
{
	struct ep w = ep_trace_in(room);

	eh_make(&w);
	return w;
}

/* What a hit has recorded. */
struct seen {
	uint64_t pcs[FRAMES + 1]; /* up to 0 */
	char texts[ROOM];
};

static struct seen hit(struct ep *w, uint32_t room)
{
	struct seen s = { 0 };
	struct ef_record r[2];

	assert_true(vp_fake_hit(w->f->fake, 0, FUNCTION(0)));
	ef_switch(w->f);
	assert_int_equal(ef_records(w->f, 0, r, 2), 1);
	memcpy(s.pcs, r[0].data + 24, FRAMES * 8);
	memcpy(s.texts, r[0].data + 16 + 8 * (FRAMES + 1), room);
	return s;
}

static void pcs_are(const struct seen *s, const uint64_t *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(s->pcs[i], want[i]);
	assert_int_equal(s->pcs[n], 0);
}
#define PCS_ARE(s, ...) \
	pcs_are(s, (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* The note of frame @n; its numbers. */
static enum vp_note_kind note(const struct seen *s, unsigned n, uint64_t *a, uint64_t *b)
{
	const char *at = s->texts;

	while (n--)
		at += strlen(at) + 1;
	enum vp_note_kind kind = (enum vp_note_kind)(uint8_t)*at;

	if (!*at)
		return VP_NOTE_NONE;
	at++;
	assert_true(vp_note_take(&at, a));
	if (kind == VP_NOTE_HOTSPOT_METHOD)
		assert_true(vp_note_take(&at, b));
	assert_int_equal(*at, 0);
	return kind;
}

static void mixed(void **state)
{
	struct ep w = make(ROOM);
	struct seen s = hit(&w, ROOM);
	uint64_t a, b;

	(void)state;
	PCS_ARE(&s, FUNCTION(0), COMPILED(0), IN_BYTECODE, COMPILED(8), IN_STUB, IN(4));
	assert_int_equal(note(&s, 0, &a, &b), VP_NOTE_NONE);
	assert_int_equal(note(&s, 1, &a, &b), VP_NOTE_HOTSPOT_CODE);
	assert_int_equal(a, ID);
	assert_int_equal(note(&s, 2, &a, &b), VP_NOTE_HOTSPOT_METHOD);
	assert_int_equal(a, JAVA_METHOD);
	assert_int_equal(vp_note_add(a, b), BYTECODE);
	assert_int_equal(note(&s, 3, &a, &b), VP_NOTE_HOTSPOT_CODE);
	assert_int_equal(a, ID);
	assert_int_equal(note(&s, 4, &a, &b), VP_NOTE_HOTSPOT_CODE);
	assert_int_equal(note(&s, 5, &a, &b), VP_NOTE_NONE);
	assert_int_equal(w.f->es->vcpus[0].counts.stkstr_overflows, 0);
	ef_destroy(w.f);
}

/* Notes are whole, or not there; the stack is the same. */
static void little_room(void **state)
{
	static const unsigned notes[] = { 1, 1, 2, 4, 4 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		uint32_t room = 8 * (i + 1);
		struct ep w = make(room);
		struct seen s = hit(&w, room);
		uint64_t a, b;
		unsigned n = 0;

		PCS_ARE(&s, FUNCTION(0), COMPILED(0), IN_BYTECODE, COMPILED(8), IN_STUB, IN(4));
		for (unsigned k = 0; k < 6; k++)
			n += note(&s, k, &a, &b) != VP_NOTE_NONE;
		assert_int_equal(n, notes[i]);
		assert_int_equal(w.f->es->vcpus[0].counts.stkstr_overflows, n < 4);
		ef_destroy(w.f);
	}
}

/* Whoever returns to a method that is no longer right goes to a handler, and the frame has where that was. */
static void deoptimized(void **state)
{
	struct ep w = make(ROOM);
	struct seen s;

	(void)state;
	for (int mh = 0; mh < 2; mh++) {
		ep_put(&w, METHOD + DEOPT_AT, mh ? 1 : COMPILED(0x20));
		ep_put(&w, METHOD + DEOPT_MH_AT, mh ? COMPILED(0x20) : 1);
		eh_put32(&w, METHOD + ORIGINAL_AT, 8);
		ep_put(&w, STACK + 0x38, COMPILED(0x20));
		ep_put(&w, STACK + 0x40 + 8, COMPILED(4));
		s = hit(&w, ROOM);
		PCS_ARE(&s, FUNCTION(0), COMPILED(4), IN_BYTECODE, COMPILED(8), IN_STUB, IN(4));
	}
	ep_put(&w, STACK + 0x40 + 8, 0x99); /* is no code */
	s = hit(&w, ROOM);
	PCS_ARE(&s, FUNCTION(0), COMPILED(0x20), IN_BYTECODE, COMPILED(8), IN_STUB, IN(4));
	eh_put32(&w, METHOD + ORIGINAL_AT, UINT32_MAX);
	s = hit(&w, ROOM);
	assert_int_equal(s.pcs[1], COMPILED(0x20));
	ef_destroy(w.f);
}

/* The innermost frame may have no frame yet, or have it no more. The heap is where the site is. */
static void innermost(void **state)
{
	static const uint8_t here[16] = { 0 };
	struct ep w = make(ROOM);
	struct vp_hotspot *in = &w.sent->runtime.hotspot;
	struct seen s;

	(void)state;
	in->heaps[0] = (struct vp_hotspot_heap){ CODE, CODE + 0x40, SEGMENTS + 0x20, 6, 0 };
	in->block_head = (uint32_t)(EF_USER + 0x1f00 - CODE);
	w.sent->map.start = EF_USER + 0x240; /* IN(4) is left to the rules */
	ep_put_bytes(&w, SEGMENTS + 0x20, here, sizeof(here));
	uint64_t blob = EF_USER + 0x1f00;

	eh_put32(&w, blob + FRAME_SIZE_AT, WORDS);
	eh_put32(&w, blob + COMPLETE_AT, 8);
	ep_put(&w, blob + CODE_AT, FUNCTION(0) - 8); /* the frame is complete */
	ep_put(&w, STACK + 0x18, IN(4));
	s = hit(&w, ROOM);
	PCS_ARE(&s, FUNCTION(0), IN(4));
	ep_put(&w, blob + CODE_AT, FUNCTION(0) - 7); /* it is not: the return address is on top … */
	ep_put(&w, STACK, IN(4) + 1);
	s = hit(&w, ROOM);
	PCS_ARE(&s, FUNCTION(0), IN(4) + 1);
	ep_put(&w, STACK, 0x7777); /* … or behind the saved frame pointer */
	ep_put(&w, STACK + 8, IN(4) + 2);
	s = hit(&w, ROOM);
	PCS_ARE(&s, FUNCTION(0), IN(4) + 2);
	ep_put(&w, blob + CODE_AT, FUNCTION(0) - 8); /* it is being left */
	ep_put(&w, STACK + 0x18, 0x8888);
	s = hit(&w, ROOM);
	PCS_ARE(&s, FUNCTION(0), IN(4) + 2);
	ep_put(&w, STACK + 8, 0x9999); /* no return address anywhere */
	s = hit(&w, ROOM);
	PCS_ARE(&s, FUNCTION(0));
	ef_destroy(w.f);
}

/* While the interpreter runs, the bytecode is in a register; the frame's is the last call's. */
static void innermost_bytecode(void **state)
{
	struct ep w = make(ROOM);
	struct vp_hotspot *in = &w.sent->runtime.hotspot;
	struct seen s;
	uint64_t a, b;

	(void)state;
	in->heaps[0] = (struct vp_hotspot_heap){ CODE, CODE + 0x40, SEGMENTS, 6, 0 };
	in->interpreter_start = CODE;
	in->interpreter_end = CODE + 0x40;
	vp_fake_set_reg(w.f->fake, 0, VP_RBP, FP_INTERPRETED);
	vp_fake_set_reg(w.f->fake, 0, VP_REG_HOTSPOT_BYTECODE, BYTECODE + 7);
	s = hit(&w, ROOM);
	PCS_ARE(&s, FUNCTION(0), COMPILED(8), IN_STUB, IN(4));
	assert_int_equal(note(&s, 0, &a, &b), VP_NOTE_HOTSPOT_METHOD);
	assert_int_equal(vp_note_add(a, b), BYTECODE + 7);
	vp_fake_set_reg(w.f->fake, 0, VP_REG_HOTSPOT_BYTECODE, BYTECODE + 65536);
	s = hit(&w, ROOM);
	assert_int_equal(note(&s, 0, &a, &b), VP_NOTE_HOTSPOT_METHOD);
	assert_int_equal(vp_note_add(a, b), BYTECODE);
	ef_destroy(w.f);
}

/* What leads nowhere: in the process. */
static void broken_stacks(void **state)
{
	static const struct {
		uint64_t at, value;
		unsigned frames; /* that there are then */
	} rows[] = {
		{ FP_INTERPRETED - 8, STACK + 0x60, 3 },      /* the caller is below */
		{ FP_INTERPRETED - 8, STACK + 0x1000000, 3 }, /* far away */
		{ STACK + 0x50, STACK + 0x48, 3 },            /* a frame pointer that is below */
		{ STACK + 0x50, FP_INTERPRETED + 4, 3 },      /* … no multiple of 8 */
		{ STACK + 0x50, STACK + 0x1000000, 3 },       /* … far away */
		{ METHOD + FRAME_SIZE_AT, UINT32_MAX, 2 },
		{ METHOD + FRAME_SIZE_AT, 1u << 17, 2 },
		{ SEGMENTS, 0x0404ff0104010101ull, 2 },              /* back before the beginning */
		{ SEGMENTS, 0x000000ff03010100ull | 0xff000000, 2 }, /* not in use */
		{ STACK + 0xd8, STACK + 0xc0, 5 },                   /* the stub's frame pointer is below */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ep w = make(ROOM);

		ep_put(&w, rows[i].at, rows[i].value);
		struct seen s = hit(&w, ROOM);

		for (unsigned k = 0; k < rows[i].frames; k++)
			assert_int_not_equal(s.pcs[k], 0);
		if (s.pcs[rows[i].frames])
			fail_msg("row %u: %llx", i, (unsigned long long)s.pcs[rows[i].frames]);
		ef_destroy(w.f);
	}
}

/* In the message: whatever its numbers are, a hit ends, and the session goes on. */
static void hostile_messages(void **state)
{
	static const uint64_t values[] = {
		0, 1, 7, 63, 0x7fffffff, 0xfffffff0, 0x8000000000000000ull, ~0ull
	};
	struct ep w = make(ROOM);
	struct vp_hotspot before = w.sent->runtime.hotspot;
	uint8_t *bytes = (uint8_t *)&w.sent->runtime.hotspot;

	(void)state;
	for (size_t at = 0; at + 8 <= sizeof(before); at += 4)
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			memcpy(bytes + at, &values[i], at % 8 ? 4 : 8);
			hit(&w, ROOM);
			w.sent->runtime.hotspot = before;
		}
	w.sent->runtime.hotspot.nheaps = VP_HOTSPOT_HEAPS + 1; /* is not believed at all */
	struct seen s = hit(&w, ROOM);

	assert_int_equal(s.pcs[1], COMPILED(0));
	assert_int_equal(s.texts[0], 0);
	ef_destroy(w.f);
}

/* A chain of small steps without an end that is near, and a stack whose frames lead on for ever. */
static void rings(void **state)
{
	struct ep w = make(ROOM);
	uint8_t ones[256];
	struct seen s;

	(void)state;
	memset(ones, 1, sizeof(ones));
	ep_put_bytes(&w, SEGMENTS, ones, sizeof(ones));
	ep_put_bytes(&w, SEGMENTS, (uint8_t[]){ 0 }, 1);
	w.sent->runtime.hotspot.heaps[1].shift = 1;
	s = hit(&w, ROOM);
	PCS_ARE(&s, FUNCTION(0), COMPILED(0));
	ef_destroy(w.f);

	w = make(ROOM);
	eh_put32(&w, METHOD + FRAME_SIZE_AT, 1);
	for (uint64_t at = STACK + 0x38; at < STACK + 0x200; at += 8)
		ep_put(&w, at, COMPILED(0));
	s = hit(&w, ROOM);
	for (unsigned i = 1; i < FRAMES; i++)
		assert_int_equal(s.pcs[i], COMPILED(0));
	ef_destroy(w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mixed),
		cmocka_unit_test(little_room),
		cmocka_unit_test(deoptimized),
		cmocka_unit_test(innermost),
		cmocka_unit_test(innermost_bytecode),
		cmocka_unit_test(broken_stacks),
		cmocka_unit_test(hostile_messages),
		cmocka_unit_test(rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
