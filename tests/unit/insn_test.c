/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions emulated, compared with the same bytes executed by this machine's CPU: registers, flags,
 * memory and the next address.
 */
#include <asm/prctl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "vmm-probe/arch/x86/insn/insn.h"

#define CODE_SIZE  4096
#define INSN_AT    512  /* in the code page */
#define DATA_AT    2048 /* saved registers and so on */
#define MEMORY     65536u
#define RANDOMS    300000u
#define RFLAGS_ALL 0xcd5u /* and DF */
#define AF         0x010u
#define OF         0x800u

/* At DATA_AT in the code page, so that stubs reach it without a register. */
struct data {
	uint64_t r[16], rflags, host_rsp, taken;
};

static uint8_t *code;
static uint8_t *memory; /* what instructions may touch */
static uint8_t copy[MEMORY];
static size_t at; /* end of the code written so far */
static size_t taken_stub;

static struct data *data(void)
{
	return (struct data *)(void *)(code + DATA_AT);
}

/* --- the stubs ----------------------------------------------------------------------------- */

static void emit(const void *bytes, size_t len)
{
	memcpy(code + at, bytes, len);
	at += len;
}

/* An instruction with a RIP-relative operand at @offset of struct data; @after bytes of immediate follow it.
 */
static void emit_rip(const uint8_t *op, size_t len, size_t offset, unsigned after)
{
	emit(op, len);
	int32_t disp = (int32_t)(DATA_AT + offset) - (int32_t)(at + 4 + after);
	emit(&disp, sizeof(disp));
}

static void emit_mov(bool load, unsigned reg, size_t offset)
{
	const uint8_t op[] = { (uint8_t)(0x48 | (reg & 8) >> 1), load ? 0x8b : 0x89,
			       (uint8_t)(5 | (reg & 7) << 3) };

	emit_rip(op, sizeof(op), offset, 0);
}

static const uint8_t saved[] = { 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57 };
static const uint8_t restored[] = { 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3 };

static void emit_entry(void)
{
	at = 0;
	emit(saved, sizeof(saved));
	emit_mov(false, 4, offsetof(struct data, host_rsp));
	emit_rip((const uint8_t[]){ 0xff, 0x35 }, 2, offsetof(struct data, rflags),
		 0); /* push rflags; popfq */
	emit((const uint8_t[]){ 0x9d }, 1);
	for (unsigned i = 0; i < 16; i++)
		emit_mov(true, i, offsetof(struct data, r) + 8 * i);
	int32_t rel = INSN_AT - (int32_t)(at + 5);
	emit((const uint8_t[]){ 0xe9 }, 1);
	emit(&rel, 4);
}

static void emit_exit(bool taken)
{
	if (taken) {
		emit_rip((const uint8_t[]){ 0x48, 0xc7, 0x05 }, 3, offsetof(struct data, taken), 4);
		emit((const uint8_t[]){ 1, 0, 0, 0 }, 4);
	}
	for (unsigned i = 0; i < 16; i++)
		emit_mov(false, i, offsetof(struct data, r) + 8 * i);
	emit_mov(true, 4, offsetof(struct data, host_rsp));
	emit((const uint8_t[]){ 0x9c }, 1); /* pushfq; pop rflags */
	emit_rip((const uint8_t[]){ 0x8f, 0x05 }, 2, offsetof(struct data, rflags), 0);
	emit((const uint8_t[]){ 0xfc }, 1); /* cld: as the ABI wants it */
	emit(restored, sizeof(restored));
}

static size_t fall_stub;

static int setup(void **state)
{
	(void)state;
	code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(code != MAP_FAILED && memory != MAP_FAILED);
	emit_entry();
	at = INSN_AT + 64;
	fall_stub = at;
	emit_exit(false);
	taken_stub = at;
	emit_exit(true);
	assert_true(at < DATA_AT);
	return 0;
}

/* --- one instruction ------------------------------------------------------------------------ */

static bool in_memory(uint64_t a, unsigned len)
{
	return a - (uintptr_t)memory < MEMORY - len;
}

static bool load(void *arg, uint64_t gva, void *dst, unsigned len)
{
	(void)arg;
	if (!in_memory(gva, len))
		return false;
	memcpy(dst, copy + (gva - (uintptr_t)memory), len);
	return true;
}

static bool store(void *arg, uint64_t gva, const void *src, unsigned len)
{
	(void)arg;
	if (!in_memory(gva, len))
		return false;
	memcpy(copy + (gva - (uintptr_t)memory), src, len);
	return true;
}

/* Flags that the manual leaves open. */
static uint64_t undefined_flags(const struct vp_insn *i)
{
	switch (i->op) {
	case VP_INSN_AND:
	case VP_INSN_OR:
	case VP_INSN_XOR:
	case VP_INSN_TEST:
		return AF;
	case VP_INSN_IMUL:
		return 0xd4; /* SF, ZF, AF, PF */
	case VP_INSN_SHL:
	case VP_INSN_SHR:
	case VP_INSN_SAR: {
		unsigned n = (unsigned)i->src.value & (i->size == 8 ? 63 : 31);
		/* and CF, when all bits were shifted out and more */
		return AF | (n != 1 ? OF : 0) | (n >= 8u * i->size ? 1u : 0);
	}
	default:
		return 0;
	}
}

static void run_native(const uint8_t *bytes, unsigned len, const struct vp_insn_env *env)
{
	struct data *d = data();
	int32_t rel = (int32_t)fall_stub - (int32_t)(INSN_AT + len + 5);

	memcpy(code + INSN_AT, bytes, len);
	code[INSN_AT + len] = 0xe9;
	memcpy(code + INSN_AT + len + 1, &rel, 4);
	memcpy(d->r, env->r, sizeof(d->r));
	d->rflags = env->rflags;
	d->taken = 0;
	((void (*)(void))(uintptr_t)code)();
}

static const char *op_name(unsigned op)
{
	static const char *const names[] = {
#define X(name, what) #name,
		VP_INSN_OPS(X)
#undef X
	};

	return op < OT_ARRAY_SIZE(names) ? names[op] : "?";
}

static void describe(const char *what, const uint8_t *bytes, unsigned len)
{
	print_message("%s:", what);
	for (unsigned i = 0; i < len; i++)
		print_message(" %02x", bytes[i]);
	print_message("\n");
}

/* The instruction with the registers of @env, both ways. */
static void check(const uint8_t *bytes, unsigned len, const struct vp_insn *insn, struct vp_insn_env *env)
{
	struct vp_insn_env before = *env;
	uint64_t mask = RFLAGS_ALL & ~undefined_flags(insn);

	memcpy(copy, memory, MEMORY);
	if (!vp_insn_run(insn, env)) {
		describe("memory not reached", bytes, len);
		fail();
	}
	run_native(bytes, len, &before);
	const struct data *d = data();
	uint64_t rip = (uintptr_t)code + (d->taken ? taken_stub : INSN_AT + len);
	bool same = !memcmp(d->r, env->r, sizeof(d->r)) && !((d->rflags ^ env->rflags) & mask) &&
		    rip == env->rip && !memcmp(copy, memory, MEMORY);
	if (same)
		return;
	describe(op_name(insn->op), bytes, len);
	for (unsigned i = 0; i < 16; i++)
		if (d->r[i] != env->r[i])
			print_message("  r%u %llx: CPU %llx, ours %llx\n", i, (unsigned long long)before.r[i],
				      (unsigned long long)d->r[i], (unsigned long long)env->r[i]);
	print_message("  flags %llx: CPU %llx, ours %llx; rip: CPU %llx, ours %llx; memory %s\n",
		      (unsigned long long)before.rflags, (unsigned long long)d->rflags,
		      (unsigned long long)env->rflags, (unsigned long long)rip, (unsigned long long)env->rip,
		      memcmp(copy, memory, MEMORY) ? "differs" : "same");
	fail();
}

/* --- random instructions -------------------------------------------------------------------- */

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Values at which carries and signs happen. */
static uint64_t interesting(void)
{
	switch (rnd() % 5) {
	case 0:
		return rnd() % 4;
	case 1:
		return 0 - rnd() % 4;
	case 2:
		return (1ull << rnd() % 64) - rnd() % 2;
	default:
		return rnd();
	}
}

static uint64_t some_address(void)
{
	return (uintptr_t)memory + 4096 + rnd() % (MEMORY - 8192);
}

static const struct vp_operand *memory_operand(const struct vp_insn *i)
{
	return i->dst.kind == VP_OPERAND_MEM ? &i->dst : i->src.kind == VP_OPERAND_MEM ? &i->src : NULL;
}

/* Set registers so that a memory operand is in memory. False: impossible. */
static bool aim(const struct vp_insn *insn, struct vp_insn_env *env)
{
	const struct vp_operand *o = memory_operand(insn);

	if (!o || insn->op == VP_INSN_LEA)
		return true;
	uint64_t want = some_address() - (uint64_t)o->value - (o->gs ? env->gs_base : 0);
	if (o->base == VP_REG_RIP || (o->base == VP_NO_REG && o->index == VP_NO_REG))
		return false;
	if (o->base == o->index) {
		env->r[o->base] = want / (1 + (1ull << o->scale));
	} else if (o->base == VP_NO_REG) {
		env->r[o->index] = want >> o->scale;
	} else {
		if (o->index != VP_NO_REG)
			env->r[o->index] = rnd() % 512;
		env->r[o->base] = want - (o->index == VP_NO_REG ? 0 : env->r[o->index] << o->scale);
	}
	return true;
}

/* A displacement of 4 bytes is made small; true: bytes have changed. */
static bool shrink_displacement(uint8_t *bytes, const struct vp_insn *insn)
{
	const struct vp_operand *o = memory_operand(insn);

	if (!o || (o->value >= -4096 && o->value <= 4096))
		return false;
	int32_t old = (int32_t)o->value, new = (int32_t)(rnd() % 4096) - 2048;
	for (unsigned i = 1; i + 4 <= insn->len; i++)
		if (!memcmp(bytes + i, &old, 4)) {
			memcpy(bytes + i, &new, 4);
			return true;
		}
	return false;
}

/* Jumps and calls go to the stub that says so. */
static bool aim_branch(uint8_t *bytes, struct vp_insn *insn, struct vp_insn_env *env)
{
	uint64_t target = (uintptr_t)code + taken_stub;

	if (insn->op == VP_INSN_RET || insn->op == VP_INSN_POP || insn->op == VP_INSN_LEAVE) {
		memcpy((void *)(uintptr_t)env->r[insn->op == VP_INSN_LEAVE ? 5 : 4], &target, 8);
		return true;
	}
	if (insn->op != VP_INSN_JMP && insn->op != VP_INSN_JCC && insn->op != VP_INSN_CALL)
		return true;
	if (insn->src.kind == VP_OPERAND_REG) {
		if (insn->src.reg == 4)
			return false;
		env->r[insn->src.reg] = target;
	} else if (insn->src.kind == VP_OPERAND_IMM) {
		int32_t rel = (int32_t)taken_stub - (INSN_AT + insn->len);
		bool is_short = bytes[insn->len - 2] == 0xeb || (bytes[insn->len - 2] & 0xf0) == 0x70;
		if (is_short)
			return false; /* the stub is too far; hand-made ones are below */
		memcpy(bytes + insn->len - 4, &rel, 4);
		insn->src.value = (int64_t)target;
	} else {
		return false;
	}
	return true;
}

static bool needs_stack(const struct vp_insn *i)
{
	return i->op == VP_INSN_PUSH || i->op == VP_INSN_POP || i->op == VP_INSN_CALL || i->op == VP_INSN_RET;
}

/* Random bytes, if they are an instruction of ours that can be executed here. */
static bool try_random(unsigned *counts)
{
	static const uint8_t prefixes[] = { 0x66, 0x65, 0x3e, 0x2e, 0x48, 0x41, 0x4c, 0x45, 0x40, 0x4f };
	struct vp_insn_env env = {
		.rip = (uintptr_t)code + INSN_AT, .load = load, .store = store, .gs_base = 0x1000
	};
	struct vp_insn insn;
	uint8_t bytes[16];
	unsigned n = 0;

	while (n < 3 && rnd() % 2)
		bytes[n++] = prefixes[rnd() % sizeof(prefixes)];
	if (rnd() % 4 == 0)
		bytes[n++] = 0x0f;
	while (n < sizeof(bytes))
		bytes[n++] = (uint8_t)rnd();
	if (!vp_insn_decode(bytes, 15, env.rip, &insn))
		return false;
	if (shrink_displacement(bytes, &insn) && !vp_insn_decode(bytes, 15, env.rip, &insn))
		return false;
	for (unsigned i = 0; i < 16; i++)
		env.r[i] = interesting();
	env.r[4] = some_address();
	env.rflags = (rnd() & RFLAGS_ALL) | 0x202;
	if (insn.op == VP_INSN_LEAVE)
		env.r[5] = some_address();
	for (unsigned i = 0; i < MEMORY / 8; i += 64)
		((uint64_t *)(void *)memory)[i + rnd() % 64] = interesting();
	const struct vp_operand *o = memory_operand(&insn);
	if (!aim(&insn, &env) || (needs_stack(&insn) && !in_memory(env.r[4] - 64, 128)))
		return false;
	if (o && insn.op != VP_INSN_LEA) {
		uint64_t base = o->base == VP_NO_REG ? 0 : env.r[o->base];
		uint64_t index = o->index == VP_NO_REG ? 0 : env.r[o->index] << o->scale;
		if (!in_memory(base + index + (uint64_t)o->value + (o->gs ? env.gs_base : 0), 8))
			return false;
	}
	if (!aim_branch(bytes, &insn, &env))
		return false;
	counts[insn.op]++;
	check(bytes, insn.len, &insn, &env);
	return true;
}

static void test_random(void **state)
{
	static const struct {
		const char *name;
	} names[] = {
#define X(name, what) { #name },
		VP_INSN_OPS(X)
#undef X
	};
	unsigned counts[OT_ARRAY_SIZE(names)] = { 0 };

	(void)state;
	assert_int_equal(syscall(SYS_arch_prctl, ARCH_SET_GS, 0x1000ul), 0);
	for (unsigned n = 0; n < RANDOMS;)
		n += try_random(counts);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(names); i++) {
		if (counts[i] < 20)
			print_message("%s was executed %u times\n", names[i].name, counts[i]);
		assert_true(counts[i] >= 20);
	}
}

/* --- what random bytes do not reach ----------------------------------------------------------- */

static void test_short_jumps(void **state)
{
	(void)state;
	/* Over a jump to the stub of what was not taken, to one of what was. */
	for (unsigned cond = 0; cond < 17; cond++)
		for (unsigned flags = 0; flags < 64; flags++) {
			uint8_t bytes[] = { (uint8_t)(cond < 16 ? 0x70 | cond : 0xeb), 5 };
			struct vp_insn_env env = { .rip = (uintptr_t)code + INSN_AT };
			struct vp_insn insn;
			int32_t rel = (int32_t)taken_stub - (INSN_AT + 12);

			env.rflags = 2 | (flags & 1) | (flags & 2) << 1 | (flags & 4) << 4 |
				     (flags & 8) << 4 | (flags & 16) << 7;
			env.r[4] = (uintptr_t)memory + 4096;
			assert_true(vp_insn_decode(bytes, 2, env.rip, &insn));
			uint64_t target = (uint64_t)insn.src.value;
			assert_true(target == env.rip + 7);
			code[INSN_AT + 7] = 0xe9;
			memcpy(code + INSN_AT + 8, &rel, 4);
			struct vp_insn_env before = env;
			assert_true(vp_insn_run(&insn, &env));
			run_native(bytes, 2, &before);
			assert_true((env.rip == target) == (data()->taken == 1));
			assert_true(env.rip == target || env.rip == before.rip + 2);
		}
}

static void test_rip_relative(void **state)
{
	/* mov $1,disp(%rip), with an immediate behind the displacement */
	uint8_t bytes[] = { 0xc7, 0x05, 0, 0, 0, 0, 0x44, 0x33, 0x22, 0x11 };
	struct vp_insn_env env = { .rip = (uintptr_t)memory + 100, .load = load, .store = store };
	int32_t disp = 1000;
	struct vp_insn insn;
	uint32_t v;

	(void)state;
	memcpy(bytes + 2, &disp, 4);
	assert_true(vp_insn_decode(bytes, sizeof(bytes), env.rip, &insn));
	assert_int_equal(insn.len, 10);
	assert_true(vp_insn_run(&insn, &env));
	memcpy(&v, copy + 100 + 10 + 1000, 4);
	assert_int_equal(v, 0x11223344);
	assert_true(env.rip == (uintptr_t)memory + 110);
}

static void test_refused(void **state)
{
	static const uint8_t refused[][6] = {
		{ 0xf0, 0x48, 0x01, 0x07 }, /* lock add */
		{ 0xf3, 0xa4 },             /* rep movsb */
		{ 0x64, 0x48, 0x8b, 0x07 }, /* fs: */
		{ 0x67, 0x8b, 0x07 },       /* 32-bit address */
		{ 0x48, 0x87, 0x07 },       /* xchg with memory */
		{ 0x0f, 0x05 },             /* syscall */
		{ 0x0f, 0x22, 0xd8 },       /* mov to cr3 */
		{ 0xfa },
		{ 0xfb },
		{ 0xf4 }, /* cli sti hlt */
		{ 0x9c },
		{ 0x9d }, /* pushf popf */
		{ 0xcc },
		{ 0xcd, 0x80 }, /* int3, int */
		{ 0x0f, 0x0b }, /* ud2 */
		{ 0xe4, 0x60 },
		{ 0xe6, 0x80 },       /* in, out */
		{ 0xc5, 0xf8, 0x77 }, /* vzeroupper */
		{ 0x0f, 0x28, 0xc1 }, /* movaps */
		{ 0x66, 0x50 },       /* push of 16 bits */
		{ 0x48, 0x8d, 0xc0 }, /* lea of a register */
		{ 0x41, 0x90 },       /* xchg r8d,eax */
		{ 0xc8, 0, 0, 0 },    /* enter */
		{ 0x0f, 0x01, 0xcb }, /* stac */
	};
	static const uint8_t push[] = { 0x41, 0x57 };
	struct vp_insn insn;

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(refused); i++)
		if (vp_insn_decode(refused[i], sizeof(refused[i]), 0, &insn)) {
			describe("not refused", refused[i], sizeof(refused[i]));
			fail();
		}
	/* Cut off anywhere, it is none either. */
	assert_true(vp_insn_decode(push, 2, 0, &insn));
	assert_false(vp_insn_decode(push, 1, 0, &insn));
	assert_false(vp_insn_decode(push, 0, 0, &insn));
}

static void test_memory_not_there(void **state)
{
	static const uint8_t push[] = { 0x50 }, add[] = { 0x48, 0x01, 0x07 }, pop[] = { 0x58 },
			     call[] = { 0xe8, 1, 0, 0, 0 };
	static const struct {
		const uint8_t *bytes;
		unsigned len;
	} all[] = { { push, 1 }, { add, 3 }, { pop, 1 }, { call, 5 } };

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct vp_insn_env env = { .rip = 77, .rflags = 0x8d7, .load = load, .store = store };
		struct vp_insn insn;

		for (unsigned k = 0; k < 16; k++)
			env.r[k] = 0x1000 + k;
		struct vp_insn_env before = env;
		assert_true(vp_insn_decode(all[i].bytes, all[i].len, env.rip, &insn));
		assert_false(vp_insn_run(&insn, &env));
		assert_memory_equal(&env, &before, sizeof(env));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),           cmocka_unit_test(test_short_jumps),
		cmocka_unit_test(test_rip_relative),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_memory_not_there),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
