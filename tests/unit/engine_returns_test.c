/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resident probes at returns, the engine's part: which of them lead to trampolines, by the guest's bytes and
 * by the facts. */
#include "tests/unit/engine_fixture.h"

#include <string.h>

#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/service/engine_session.h"

#define CPUS      2u
#define CODE_SIZE 16384u
#define DATA_SIZE 256u
#define CODE_GVA  (EF_TEXT + 0x1000000)
/* Thunks, by the client's word. */
#define PLAIN     (EF_TEXT + 0x4000)
#define THUNK     (EF_TEXT + 0x5000)
#define CALLED    (EF_TEXT + 0x5800) /* by the second one */

static _Alignas(64) uint8_t code[CODE_SIZE];
static _Alignas(64) uint64_t data[(CPUS * VP_FAKE_PAGE) / 8];

static struct vp_resident_room room;

static struct ef *guest(void)
{
	const struct vp_fake_config config = {
		.nvcpus = CPUS, .ram_size = 8u << 20, .levels = 4, .counter_slots = 16, .room = &room
	};

	memset(data, 0, sizeof(data));
	room = (struct vp_resident_room){ .code = code,
					  .code_gva = CODE_GVA,
					  .code_size = CODE_SIZE,
					  .data = (uint8_t *)data,
					  .data_gva = CODE_GVA + CODE_SIZE,
					  .lowest = EF_PERCPU,
					  .data_size = DATA_SIZE,
					  .port = 0x98 };
	struct ef *f = ef_create_with(&config);
	f->open.flags = VP_OPEN_RESIDENT;
	return f;
}

static const struct vp_site *site(struct ef *f, uint64_t gva)
{
	return vp_fake_site(f->fake, gva);
}

/* What is at THUNK. */
static uint8_t thunk[16];

static void describes(struct ef *f, const char *text)
{
	char said[512];

	vp_resident_describe(f->es, said, sizeof(said));
	if (!strstr(said, text))
		fail_msg("\"%s\" is not in \"%s\"", text, said);
}

/* A return of EF_FUNC_A with these bytes, of which @room are its own, and where its trampoline is; 0: none.
 */
static uint64_t jump_of_return(const uint8_t code_there[5], uint8_t length, uint8_t room_there,
			       const char *said)
{
	struct ef *f = guest();
	struct vp_batch_site *s;
	const uint64_t gva = EF_RET(EF_FUNC_A);

	f->facts.resident.thunks[0] = PLAIN;
	f->facts.resident.thunks[1] = THUNK;
	vp_fake_write(f->fake, f->kernel_root, PLAIN, "\xc3\xcc", 2);
	vp_fake_write(f->fake, f->kernel_root, THUNK, thunk, sizeof(thunk));
	vp_fake_write(f->fake, f->kernel_root, CALLED, "\x48\x8d\x64\x24\x08\xc3\xcc", 7);
	vp_fake_write(f->fake, f->kernel_root, gva, code_there, 5);
	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_sum, ef_var(f, DIF_VAR_arg1), 0);
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_RETURN, "func", "return");
	ef_ecb(f, probe, c);
	ef_site(f, gva, EF_FUNC_A);
	s = (struct vp_batch_site *)(void *)f->sites.data;
	s->length = length;
	s->room = room_there;
	memcpy(s->bytes, code_there, room_there < 5 ? room_there : 5);
	ef_enable(f);
	ef_start(f);
	uint64_t jump = site(f, gva)->jump;
	describes(f, said);
	/* It is a trap's place as well, with the function's result. */
	assert_true(vp_fake_hit(f->fake, 0, gva));
	ef_switch(f);
	ef_destroy(f);
	return jump;
}

static void jmp_to(uint64_t to, uint8_t ret[5])
{
	int32_t distance = (int32_t)(to - EF_RET(EF_FUNC_A) - 5);

	ret[0] = 0xe9;
	memcpy(ret + 1, &distance, sizeof(distance));
}

/* By a return thunk, whichever; by a ret, if all the padding that a jump takes is its own. */
static void returns(void **state)
{
	static const uint8_t padded[5] = { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc };
	const char *places = "resident probes: 1 places", *few = "1 places are trapped: its return has less";
	uint8_t jmp[5];
	(void)state;

	memcpy(thunk, "\xe8\xfb\x07\x00\x00\x0f\x0b", 7); /* call CALLED */
	jmp_to(THUNK, jmp);
	assert_int_equal(jump_of_return(jmp, 5, 5, places), CODE_GVA);
	jmp_to(PLAIN, jmp);
	assert_int_equal(jump_of_return(jmp, 5, 5, places), CODE_GVA);
	assert_int_equal(jump_of_return(padded, 1, 5, places), CODE_GVA);
	assert_int_equal(jump_of_return(padded, 1, 4, few), 0);
	assert_int_equal(jump_of_return(padded, 1, 1, few), 0);
	jmp_to(THUNK + 1, jmp);
	assert_int_equal(jump_of_return(jmp, 5, 5, "another function is called in its place"), 0);
	jmp_to(EF_FUNC_A + 0x100, jmp);
	assert_int_equal(jump_of_return(jmp, 5, 5, "another function is called in its place"), 0);
}

/* A thunk is what returns at once, whatever the client says. */
static void thunks(void **state)
{
	static const struct {
		const char *bytes;
		bool returns;
	} all[] = {
		{ "\xc3\xcc..............", true },
		{ "\xe9\xfb\xef\xff\xff...........", true },             /* jmp PLAIN */
		{ "\xe9\xfb\x07\x00\x00...........", false },            /* jmp CALLED */
		{ "\xe8\xfb\xef\xff\xff...........", false },            /* call PLAIN */
		{ "\xe9\xfb\xff\xff\xff...........", false },            /* jmp THUNK */
		{ "\x65\x48\xc1\x24\x25....\x05\x74\x02\xc3...", true }, /* shlq $5, %gs:…; jz; ret */
		{ "\x65\x48\xc1\x25....\x05\x74\x02\xc3....", true },
		{ "\x65\x48\xc1\x24\x25....\x05\x90\x90\xc3...", false },
		{ "\x0f\x1f\x44\x00\x00\xc3..........", false }, /* a function */
	};
	uint8_t jmp[5];
	(void)state;

	jmp_to(THUNK, jmp);
	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		memcpy(thunk, all[i].bytes, sizeof(thunk));
		uint64_t jump =
		    jump_of_return(jmp, 5, 5, all[i].returns ? "1 places" : "another function is called");
		assert_int_equal(jump != 0, all[i].returns);
	}
}

/* One that was not compiled for tracing may keep its own rules; a jump of ours there hides nothing. */
static void returns_of_untraced(void **state)
{
	static const uint8_t padded[5] = { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc },
			     push[5] = { 0x55, 0x90, 0x90, 0x90, 0x90 };
	struct ef *f = guest();
	const uint64_t untraced = EF_FUNC_A + 0x100;
	(void)state;

	vp_fake_write(f->fake, f->kernel_root, untraced, push, sizeof(push));
	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_sum, ef_var(f, DIF_VAR_pid), 0);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t function = EF_FUNC_A + i * 0x100;
		vp_fake_write(f->fake, f->kernel_root, EF_RET(function), padded, sizeof(padded));
		ef_ecb(f, ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_RETURN, "func", "return"), c);
		ef_site(f, EF_RET(function), function);
		struct vp_batch_site *s = (struct vp_batch_site *)(void *)f->sites.data + f->nsites - 1;
		s->room = 5;
		memcpy(s->bytes, padded, sizeof(padded));
	}
	ef_enable(f);
	ef_start(f);
	assert_int_not_equal(site(f, EF_FUNC_A)->jump, 0);
	assert_int_not_equal(site(f, EF_RET(EF_FUNC_A))->jump, 0);
	assert_int_equal(site(f, EF_RET(untraced))->jump, 0);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns),
		cmocka_unit_test(thunks),
		cmocka_unit_test(returns_of_untraced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
