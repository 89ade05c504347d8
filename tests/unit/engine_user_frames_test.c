/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of processes by rules: each kind of rule, whose they are, and what a hostile client sends. */
#include "tests/unit/engine_fixture.h"

#include <string.h>
#include <sys/mman.h>

#include "vmm-probe/engine/hit/user_frames.h"
#include "vmm-probe/engine/wire/orc_table.h"
#include "vmm-probe/engine/wire/user_frames.h"

#define MAX_RECORDS 4
#define FRAMES      12
#define CODE        (EF_USER + 0x200) /* functions, 0x10 bytes each */
#define STACK       (EF_USER + 0x1000)
#define FUNCTION(n) (CODE + 0x10ull * (n))
#define IN(n)       (FUNCTION(n) + 5) /* a return address */

static void put(struct ef *f, uint64_t va, uint64_t value)
{
	vp_fake_write(f->fake, f->user_root, va, &value, sizeof(value));
}

/* vCPU 0 runs the process 90, in user mode. */
static struct ef *world(void)
{
	struct ef *f = ef_create();
	uint64_t leader = EF_TASKS;

	f->facts.task_group_leader = 0x700;
	vp_fake_write(f->fake, f->kernel_root, EF_TASKS + 0x700, &leader, 8);
	vp_fake_set_reg(f->fake, 0, VP_CS, 0x33);
	vp_fake_set_reg(f->fake, 0, VP_RSP, STACK);
	vp_fake_set_reg(f->fake, 0, VP_RBP, 0x1234);
	return f;
}

static struct vp_batch_process process(const struct ef *f)
{
	return (
	    struct vp_batch_process){ .root = f->user_root & ~0x1fffull, .mm = 1, .since_ns = 77, .pid = 90 };
}

/* A session that takes the stack at FUNCTION(0), whose arguments are @args. */
static struct ef *trace(uint32_t args)
{
	struct vp_batch_site s = { .gva = FUNCTION(0), .length = 1, .room = 1, .bytes = { 0x90 } };
	struct ef *f = world();
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_ustack, NULL)->arg = FRAMES;
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_ustackdepth));
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, args, "main", "entry");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->process = process(f);
	ef_ecb(f, probe, c);
	ef_enable(f);
	ef_start(f);
	return f;
}

static void is_stack(struct ef *f, const uint64_t *want, unsigned n)
{
	struct ef_record r[MAX_RECORDS];

	assert_true(vp_fake_hit(f->fake, 0, FUNCTION(0)));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 90);
	for (unsigned i = 0; i < FRAMES; i++)
		assert_int_equal(ef_u64(r[0].data + 24 + 8 * i), i < n ? want[i] : 0);
	assert_int_equal(ef_u64(r[0].data + 24 + 8 * FRAMES), n);
}

#define IS_STACK(f, ...) \
	is_stack(f, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

/* --- messages ---------------------------------------------------------------------------------------- */

/* One process with one map over its functions; function n has row n. */
struct message {
	struct vp_frames_header header;
	struct vp_frames_process process;
	struct vp_frames_map map;
	struct vp_frame_row rows[8];
};

static struct message message(const struct ef *f)
{
	struct message m = {
		.header = { VP_FRAMES_MAGIC, 1, 0, 1, 8, 0 },
		.process = { process(f), 0, 1, VP_NO_RUNTIME, 0 },
		.map = { .start = EF_USER, .end = EF_USER + 0x1000, .base = CODE, .nrows = 8 },
	};

	for (uint32_t i = 0; i < 8; i++)
		m.rows[i] = vp_frame_row(0x10 * i, VP_FRAME_STOP, 0, 0);
	return m;
}

static void rule(struct message *m, unsigned n, enum vp_frame_kind kind, int16_t cfa, int16_t fp)
{
	m->rows[n] = vp_frame_row(0x10 * n, kind, cfa, fp);
}

static struct message *copy_of(const struct message *m)
{
	struct message *mem =
	    mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(mem != MAP_FAILED);
	memcpy(mem, m, sizeof(*m));
	return mem;
}

/* The memory that the session has got; it stays so, and the test may write to it. */
static struct message *send(struct ef *f, const struct message *m)
{
	struct message *mem = copy_of(m);

	EF_OK(vp_engine_session_frames(f->es, mem, sizeof(*m)));
	return mem;
}

/* The same, with rules of its own in it: it is FRAMES number @number. */
static struct message *send_as(struct ef *f, const struct message *m, uint32_t number)
{
	struct message numbered = *m;

	numbered.map.sent = number;
	return send(f, &numbered);
}

static void refused(struct ef *f, const struct message *m, size_t size, enum ot_err_code code)
{
	struct message *mem = copy_of(m);

	EF_FAILS(code, vp_engine_session_frames(f->es, mem, size));
	munmap(mem, sizeof(*m));
}

/* Two frames by the stack pointer, of which the second gives back a frame pointer that the first uses; one by
 * the frame pointer; the last is the outermost. */
static struct message usual(struct ef *f)
{
	struct message m = message(f);

	rule(&m, 0, VP_FRAME_SP, 3, -16);
	rule(&m, 1, VP_FRAME_FP, 2, 0);
	put(f, STACK + 8, STACK + 0x100); /* rbp */
	put(f, STACK + 16, IN(1));
	put(f, STACK + 0x108, IN(2));
	return m;
}

/* --- tests ------------------------------------------------------------------------------------------- */

static void kinds(void **state)
{
	struct ef *f = trace(VP_ARGS_NONE);
	struct message m = usual(f);
	uint64_t at = STACK + 0x110; /* where the frames of usual() end */

	(void)state;
	rule(&m, 2, VP_FRAME_PLT, 11, 0); /* its return address is at +5: nothing is pushed */
	put(f, at, IN(3));
	rule(&m, 3, VP_FRAME_SIGNAL, 0, 0);
	put(f, at + 8 + 168, FUNCTION(4)); /* interrupted there, on another stack */
	put(f, at + 8 + 160, STACK + 0x400);
	put(f, at + 8 + 120, STACK + 0x500);
	/* FUNCTION(4) itself counts, not what is before it: an entry of the table that has pushed its word */
	rule(&m, 4, VP_FRAME_NONE, 0, 0); /* by frame pointer */
	put(f, STACK + 0x500, 0);
	put(f, STACK + 0x508, IN(5));
	rule(&m, 5, VP_FRAME_SP, 1, 0);
	put(f, STACK + 0x510, FUNCTION(6) + 15);
	rule(&m, 6, VP_FRAME_PLT, 11, 0); /* ip - 1 is in the function, ip behind the push */
	put(f, STACK + 0x518 + 8, IN(7));
	send(f, &m);
	IS_STACK(f, FUNCTION(0), IN(1), IN(2), IN(3), FUNCTION(4), IN(5), FUNCTION(6) + 15, IN(7));
	ef_destroy(f);
}

/* At a function's first instruction the return address is on top, whatever the rules say of it. */
static void on_entry(void **state)
{
	struct ef *f = trace(VP_ARGS_FBT_ENTRY);
	struct message m = usual(f);

	(void)state;
	rule(&m, 0, VP_FRAME_STOP, 0, 0);
	rule(&m, 3, VP_FRAME_SP, 2, 0);
	put(f, STACK, IN(3));
	put(f, STACK + 16, IN(4));
	send(f, &m);
	IS_STACK(f, FUNCTION(0), IN(3), IN(4));
	ef_destroy(f);
}

/* Without rules, and with another process's, frame pointers are followed; a later message is no less good. */
static void whose(void **state)
{
	struct ef *f = trace(VP_ARGS_NONE);
	struct message own = usual(f), other;

	(void)state;
	vp_fake_set_reg(f->fake, 0, VP_RBP, STACK + 0x600);
	put(f, STACK + 0x600, 0);
	put(f, STACK + 0x608, 0x777777);
	IS_STACK(f, FUNCTION(0), 0x777777);
	for (unsigned i = 0; i < 4; i++) {
		other = own;
		other.process.id.pid += i == 0;
		other.process.id.root += i == 1 ? 0x4000 : 0;
		other.process.id.mm += i == 2;
		other.process.id.since_ns += i == 3;
		send_as(f, &other, i);
		IS_STACK(f, FUNCTION(0), 0x777777);
	}
	send_as(f, &own, 4);
	IS_STACK(f, FUNCTION(0), IN(1), IN(2));
	other = own;
	other.process.id.pid = 99;
	send_as(f, &other, 5);
	IS_STACK(f, FUNCTION(0), IN(1), IN(2));
	ef_destroy(f);
}

/* A process that is sent again has what came last; rules are those of the message that the map names. */
static void again(void **state)
{
	struct ef *f = trace(VP_ARGS_NONE);
	struct message first = usual(f), second = first;

	(void)state;
	rule(&second, 0, VP_FRAME_STOP, 0, 0);
	send_as(f, &first, 0);
	IS_STACK(f, FUNCTION(0), IN(1), IN(2));
	struct message *mem = send_as(f, &second, 1);

	IS_STACK(f, FUNCTION(0));
	mem->map.sent = 0;
	IS_STACK(f, FUNCTION(0), IN(1), IN(2));
	mem->map.sent = 2; /* has not come */
	IS_STACK(f, FUNCTION(0));
	mem->map.sent = UINT32_MAX;
	IS_STACK(f, FUNCTION(0));
	ef_destroy(f);
}

/* More processes than there is room for in one place: the one that came last has its rules. */
static void crowded(void **state)
{
	struct ef *f = trace(VP_ARGS_NONE);
	struct message own = usual(f), other = own;
	uint64_t root = own.process.id.root;
	uint32_t sent = 0;

	(void)state;
	for (uint64_t page = 1; sent < 3 * VP_FRAMES_TRIES; page++) {
		other.process.id.root = page << 12;
		if (page << 12 == root || vp_frames_home(page << 12) != vp_frames_home(root))
			continue;
		send_as(f, &other, sent++);
		IS_STACK(f, FUNCTION(0));
	}
	send_as(f, &own, sent++);
	IS_STACK(f, FUNCTION(0), IN(1), IN(2));
	other.process.id.root = 0; /* no page table */
	send_as(f, &other, sent++);
	other.process.id.root = 1ull << 52;
	send_as(f, &other, sent++);
	IS_STACK(f, FUNCTION(0), IN(1), IN(2));
	ef_destroy(f);
}

/* Outside of the maps, and before their first row, there is no rule. */
static void without_rule(void **state)
{
	struct ef *f = trace(VP_ARGS_NONE);
	struct message m = usual(f);
	struct message *mem = send(f, &m);

	(void)state;
	mem->map.start = FUNCTION(0) + 1;
	IS_STACK(f, FUNCTION(0));
	mem->map.start = EF_USER;
	mem->map.end = FUNCTION(0);
	IS_STACK(f, FUNCTION(0));
	mem->map.end = FUNCTION(0) + 1;
	put(f, STACK + 8, 0); /* no frame pointer to go on by */
	IS_STACK(f, FUNCTION(0), IN(1));
	mem->map.end = EF_USER + 0x1000;
	mem->map.base += 0x1000;
	IS_STACK(f, FUNCTION(0));
	ef_destroy(f);
}

/* A stack that does not go up, and one that is not there. */
static void broken_stacks(void **state)
{
	struct ef *f = trace(VP_ARGS_NONE);
	struct message m = usual(f);

	(void)state;
	rule(&m, 0, VP_FRAME_SP, 0, 0);
	struct message *mem = send(f, &m);

	IS_STACK(f, FUNCTION(0));
	rule(mem, 0, VP_FRAME_SP, -3, 0);
	IS_STACK(f, FUNCTION(0));
	rule(mem, 0, VP_FRAME_SP, 0x7fff, 0);
	IS_STACK(f, FUNCTION(0));
	rule(mem, 0, VP_FRAME_SP, 3, 0x7ff8);
	IS_STACK(f, FUNCTION(0));
	rule(mem, 0, (enum vp_frame_kind)7, 3, 0);
	IS_STACK(f, FUNCTION(0));
	rule(mem, 0, VP_FRAME_SP, 3, 0);
	put(f, STACK + 16, 0);
	IS_STACK(f, FUNCTION(0));
	put(f, STACK + 16, IN(0)); /* over and over, as long as there are such words */
	put(f, STACK + 40, IN(0));
	put(f, STACK + 64, 0);
	IS_STACK(f, FUNCTION(0), IN(0), IN(0));
	ef_destroy(f);
}

/* Indices that lead out of the arrays, also if they change afterwards. */
static void hostile_indices(void **state)
{
	struct ef *f = trace(VP_ARGS_NONE);
	struct message m = usual(f), *mem = send(f, &m);
	uint32_t *const words[] = { &mem->process.first_map, &mem->process.nmaps, &mem->map.first_row,
				    &mem->map.nrows };

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(words); i++) {
		uint32_t before = *words[i];

		*words[i] = UINT32_MAX;
		IS_STACK(f, FUNCTION(0));
		*words[i] = 0x10000000;
		IS_STACK(f, FUNCTION(0));
		*words[i] = before;
	}
	mem->header.nrows = mem->header.nmaps = UINT32_MAX; /* was read when it came */
	IS_STACK(f, FUNCTION(0), IN(1), IN(2));
	ef_destroy(f);
}

/* --- from the kernel -------------------------------------------------------------------------------- */

/* At A the processor has pushed its own frame; B is called with that, 8 bytes deeper; nothing is known of C.
 */
static const struct {
	struct vp_orc_header header;
	uint64_t addrs[3];
	struct vp_orc_rule rules[3];
} orc = {
	{ VP_ORC_MAGIC, 3 },
	{ EF_FUNC_A, EF_FUNC_B, EF_FUNC_C },
	{
	    { 0, 0, VP_ORC_SP, VP_ORC_UNDEFINED, VP_ORC_REGS_PARTIAL, 0 },
	    { 8, 0, VP_ORC_SP, VP_ORC_UNDEFINED, VP_ORC_CALL, 0 },
	    { 0, 0, VP_ORC_UNDEFINED, VP_ORC_UNDEFINED, VP_ORC_CALL, 0 },
	},
};

static void put_kernel(struct ef *f, uint64_t va, uint64_t value)
{
	vp_fake_write(f->fake, f->kernel_root, va, &value, sizeof(value));
}

static void is_stack_at(struct ef *f, uint64_t site, const uint64_t *want, unsigned n)
{
	struct ef_record r[MAX_RECORDS];

	assert_true(vp_fake_hit(f->fake, 0, site));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	for (unsigned i = 0; i < FRAMES; i++)
		assert_int_equal(ef_u64(r[0].data + 24 + 8 * i), i < n ? want[i] : 0);
}

/* The task's stack has the registers of the last entry; those of one that has just begun are on another
 * stack. */
static void just_interrupted(void **state)
{
	const uint64_t entry_stack = EF_PERCPU + 0x800,
		       regs = EF_STACKS + EF_STACK_SIZE - EF_PTREGS_WORDS * 8;
	const uint64_t now[] = { FUNCTION(0), IN(1), IN(2) }, before[] = { FUNCTION(5) };
	struct ef *f = world();
	uint32_t c = ef_clause(f, NULL);
	struct message m = usual(f);

	(void)state;
	ef_action(f, c, DIF_ACT_ustack, NULL)->arg = FRAMES;
	f->orc = &orc;
	f->orc_size = sizeof(orc);
	ef_open(f);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t function = EF_FUNC_A + i * (EF_FUNC_B - EF_FUNC_A);
		uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_NONE, "func", "entry");

		ef_site(f, function, function);
		ef_ecb(f, probe, c);
	}
	ef_enable(f);
	ef_start(f);
	send(f, &m);
	put_kernel(f, regs + EF_PTREGS_IP * 8, FUNCTION(5)); /* a rule that stops */
	put_kernel(f, regs + EF_PTREGS_CS * 8, 0x33);
	put_kernel(f, entry_stack, FUNCTION(0));
	put_kernel(f, entry_stack + 8, 0x33);
	put_kernel(f, entry_stack + 24, STACK);
	put_kernel(f, entry_stack - 8, EF_FUNC_A + 1);
	vp_fake_set_reg(f->fake, 0, VP_CS, 0x10);
	vp_fake_set_reg(f->fake, 0, VP_RSP, entry_stack);
	is_stack_at(f, EF_FUNC_A, now, 3);
	put_kernel(f, entry_stack + 8, 0x10); /* the kernel itself was interrupted */
	is_stack_at(f, EF_FUNC_A, before, 1);
	put_kernel(f, entry_stack + 8, 0x33);
	vp_fake_set_reg(f->fake, 0, VP_RSP, entry_stack - 8);
	is_stack_at(f, EF_FUNC_B, now, 3);
	is_stack_at(f, EF_FUNC_C, before, 1); /* an interrupt's own stack, as far as is known */
	vp_fake_set_reg(f->fake, 0, VP_RSP, EF_STACKS + 0x800);
	is_stack_at(f, EF_FUNC_A, before, 1);
	vp_fake_set_reg(f->fake, 0, VP_RSP, STACK); /* a system call that still runs on the process's stack */
	is_stack_at(f, EF_FUNC_C, NULL, 0);
	ef_destroy(f);
}

/* --- messages of no client of ours ------------------------------------------------------------------- */

static void malformed(void **state)
{
	struct ef *f = trace(VP_ARGS_NONE);
	struct message m = message(f);

	(void)state;
	refused(f, &m, sizeof(m.header) - 1, OT_ERR_BAD_DATA);
	refused(f, &m, sizeof(m) - 1, OT_ERR_BAD_DATA);
	m.header.magic++;
	refused(f, &m, sizeof(m), OT_ERR_BAD_DATA);
	m.header.magic--;
	for (unsigned i = 0; i < 3; i++) {
		struct message bad = m;

		*(&bad.header.nprocesses + i) = UINT32_MAX;
		refused(f, &bad, sizeof(bad), OT_ERR_BAD_DATA);
	}
	for (unsigned i = 0; i < VP_FRAMES_SENT_MAX; i++)
		send(f, &m);
	refused(f, &m, sizeof(m), OT_ERR_LIMIT);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(on_entry),
		cmocka_unit_test(whose),
		cmocka_unit_test(again),
		cmocka_unit_test(crowded),
		cmocka_unit_test(without_rule),
		cmocka_unit_test(broken_stacks),
		cmocka_unit_test(hostile_indices),
		cmocka_unit_test(just_interrupted),
		cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
