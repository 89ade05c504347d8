/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm-probe/symbolic: the code behind a tracepoint's nop, in the shapes that compilers give it. The bytes are
 * assembled from the instructions beside them; what they must come to was worked out from these by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/dif_fixture.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/symbolic/block.h"

#define BASE       0xffffffff81000000ull
#define CODE       (BASE + 0x1000)
#define WRAPPER    (BASE + 0x2000) /* a function with a branch on the same key */
#define AWAY       (BASE + 0x8000) /* where the flow continues without the event */
#define ONLINE     (BASE + 0x10000)
#define TP         (BASE + 0x20000)
#define TP_SIZE    72u
#define SCT        (BASE + 0x30000) /* what the event calls */
#define CPU_ONLINE (BASE + 0x32000)
#define ENOUGH     1000u /* instructions */

/* clang-format off */
static const uint8_t plain[] = {
	0x65, 0x8b, 0x04, 0x25, 0x60, 0x91, 0x01, 0x00, /* mov %gs:0x19160,%eax */
	0x89, 0xc0, /* mov %eax,%eax */
	0x48, 0x0f, 0xa3, 0x05, 0xee, 0xef, 0x00, 0x00, /* bt %rax,0xefee(%rip) */
	0x0f, 0x83, 0xe8, 0x6f, 0x00, 0x00, /* jae away */
	0x65, 0xff, 0x04, 0x25, 0x40, 0xfb, 0x01, 0x00, /* incl %gs:0x1fb40 */
	0x48, 0x8b, 0x05, 0x09, 0xf0, 0x01, 0x00, /* mov 0x1f009(%rip),%rax */
	0x48, 0x85, 0xc0, /* test %rax,%rax */
	0x74, 0x1e, /* je skip */
	0x48, 0x8b, 0x78, 0x08, /* mov 0x8(%rax),%rdi */
	0x4c, 0x89, 0xe2, /* mov %r12,%rdx */
	0x48, 0x8d, 0x73, 0x10, /* lea 0x10(%rbx),%rsi */
	0x8b, 0x4d, 0x38, /* mov 0x38(%rbp),%ecx */
	0x41, 0xb8, 0x07, 0x00, 0x00, 0x00, /* mov $0x7,%r8d */
	0x44, 0x0f, 0xb7, 0x4b, 0x02, /* movzwl 0x2(%rbx),%r9d */
	0xe8, 0xb6, 0xef, 0x02, 0x00, /* call sct */
	0x65, 0xff, 0x0c, 0x25, 0x40, 0xfb, 0x01, 0x00, /* decl %gs:0x1fb40 */
	0xe9, 0xa9, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t stacked[] = {
	0x48, 0x8b, 0x05, 0x29, 0xf0, 0x01, 0x00, /* mov 0x1f029(%rip),%rax */
	0x48, 0x85, 0xc0, /* test %rax,%rax */
	0x74, 0x21, /* je skip */
	0x48, 0x8b, 0x78, 0x08, /* mov 0x8(%rax),%rdi */
	0x41, 0x57, /* push %r15 */
	0x49, 0x63, 0xc6, /* movslq %r14d,%rax */
	0x50, /* push %rax */
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0x48, 0x8b, 0x54, 0x24, 0x20, /* mov 0x20(%rsp),%rdx */
	0x48, 0x8b, 0x0c, 0x24, /* mov (%rsp),%rcx */
	0x45, 0x31, 0xc0, /* xor %r8d,%r8d */
	0x45, 0x88, 0xe9, /* mov %r13b,%r9b */
	0xe8, 0xd3, 0xef, 0x02, 0x00, /* call sct */
	0xe9, 0xce, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t conditional[] = {
	0xf6, 0xc2, 0x10, /* test $0x10,%dl */
	0x0f, 0x85, 0xf7, 0x6f, 0x00, 0x00, /* jne away */
	0x83, 0xf9, 0x05, /* cmp $0x5,%ecx */
	0x0f, 0x8e, 0xee, 0x6f, 0x00, 0x00, /* jle away */
	0x48, 0x8b, 0x05, 0x17, 0xf0, 0x01, 0x00, /* mov 0x1f017(%rip),%rax */
	0x48, 0x85, 0xc0, /* test %rax,%rax */
	0x74, 0x0c, /* je skip */
	0x48, 0x8b, 0x78, 0x08, /* mov 0x8(%rax),%rdi */
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0xe8, 0xd6, 0xef, 0x02, 0x00, /* call sct */
	0xe9, 0xd1, 0x6f, 0x00, 0x00, /* jmp away */
};
/* whether the CPU is online is kept in a register */
static const uint8_t bit_kept[] = {
	0x65, 0x8b, 0x04, 0x25, 0x60, 0x91, 0x01, 0x00, /* mov %gs:0x19160,%eax */
	0x48, 0x0f, 0xa3, 0x05, 0xf0, 0xef, 0x00, 0x00, /* bt %rax,0xeff0(%rip) */
	0x0f, 0x92, 0xc2, /* setb %dl */
	0x84, 0xd2, /* test %dl,%dl */
	0x0f, 0x84, 0xe5, 0x6f, 0x00, 0x00, /* je away */
	0x48, 0x8b, 0x05, 0x0e, 0xf0, 0x01, 0x00, /* mov 0x1f00e(%rip),%rax */
	0x48, 0x85, 0xc0, /* test %rax,%rax */
	0x74, 0x0c, /* je skip */
	0x48, 0x8b, 0x78, 0x08, /* mov 0x8(%rax),%rdi */
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0xe8, 0xcd, 0xef, 0x02, 0x00, /* call sct */
	0xe9, 0xc8, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t two_paths[] = {
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0x4d, 0x39, 0xe5, /* cmp %r12,%r13 */
	0x72, 0x07, /* jb small */
	0xba, 0x01, 0x00, 0x00, 0x00, /* mov $0x1,%edx */
	0xeb, 0x05, /* jmp go */
	0xba, 0x02, 0x00, 0x00, 0x00, /* mov $0x2,%edx */
	0xe8, 0xe7, 0xef, 0x02, 0x00, /* call sct */
	0xe9, 0xe2, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t flags[] = {
	0x31, 0xd2, /* xor %edx,%edx */
	0x4d, 0x85, 0xe4, /* test %r12,%r12 */
	0x0f, 0x94, 0xc2, /* sete %dl */
	0x89, 0xd9, /* mov %ebx,%ecx */
	0xf7, 0xd9, /* neg %ecx */
	0x4d, 0x39, 0xee, /* cmp %r13,%r14 */
	0x45, 0x19, 0xc0, /* sbb %r8d,%r8d */
	0xb8, 0x00, 0x00, 0x00, 0x00, /* mov $0x0,%eax */
	0x85, 0xed, /* test %ebp,%ebp */
	0x41, 0x89, 0xe9, /* mov %ebp,%r9d */
	0x44, 0x0f, 0x48, 0xc8, /* cmovs %eax,%r9d */
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0x48, 0xc1, 0xee, 0x03, /* shr $0x3,%rsi */
	0x81, 0xe6, 0xff, 0x00, 0x00, 0x00, /* and $0xff,%esi */
	0xe8, 0xce, 0xef, 0x02, 0x00, /* call sct */
	0xe9, 0xc9, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t clobbered[] = {
	0x4c, 0x8b, 0x63, 0x10, /* mov 0x10(%rbx),%r12 */
	0xe8, 0xf7, 0xff, 0x02, 0x00, /* call other */
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0x4c, 0x89, 0xe2, /* mov %r12,%rdx */
	0x48, 0x8b, 0x4b, 0x10, /* mov 0x10(%rbx),%rcx */
	0x4d, 0x89, 0xd8, /* mov %r11,%r8 */
	0x49, 0x89, 0xc1, /* mov %rax,%r9 */
	0x4c, 0x8b, 0x15, 0x10, 0xf0, 0x01, 0x00, /* mov 0x1f010(%rip),%r10 */
	0x4d, 0x85, 0xd2, /* test %r10,%r10 */
	0x74, 0x09, /* je skip */
	0x49, 0x8b, 0x7a, 0x08, /* mov 0x8(%r10),%rdi */
	0xe8, 0xd2, 0xef, 0x02, 0x00, /* call sct */
	0xe9, 0xcd, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t out_of_line[] = {
	0x65, 0x8b, 0x3c, 0x25, 0x60, 0x91, 0x01, 0x00, /* mov %gs:0x19160,%edi */
	0xe8, 0xf3, 0x0f, 0x03, 0x00, /* call cpu_online */
	0x84, 0xc0, /* test %al,%al */
	0x0f, 0x84, 0xeb, 0x6f, 0x00, 0x00, /* je away */
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0x48, 0x8b, 0x53, 0x10, /* mov 0x10(%rbx),%rdx */
	0xe9, 0xdf, 0xef, 0x02, 0x00, /* jmp sct */
};
static const uint8_t gate[] = {
	0xbe, 0x01, 0x00, 0x00, 0x00, /* mov $0x1,%esi */
	0x48, 0x89, 0xdf, /* mov %rbx,%rdi */
	0xe8, 0xf3, 0x0f, 0x00, 0x00, /* call __bss_start */
	0xe9, 0xee, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t by_result[] = {
	0x48, 0x89, 0xdf, /* mov %rbx,%rdi */
	0xe8, 0xf8, 0xff, 0x02, 0x00, /* call other */
	0x85, 0xc0, /* test %eax,%eax */
	0x0f, 0x84, 0xf0, 0x6f, 0x00, 0x00, /* je away */
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0xe8, 0xe8, 0xef, 0x02, 0x00, /* call sct */
	0xe9, 0xe3, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t endless[] = {
	0x48, 0xff, 0xc0, /* inc %rax */
	0xeb, 0xfb, /* jmp top */
};
static const uint8_t unknown_writes[] = {
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0x4c, 0x89, 0xe2, /* mov %r12,%rdx */
	0x0f, 0xa2, /* cpuid */
	0x48, 0x89, 0xc1, /* mov %rax,%rcx */
	0x0f, 0x31, /* rdtsc */
	0x49, 0x89, 0xe8, /* mov %rbp,%r8 */
	0x4d, 0x87, 0xc5, /* xchg %r8,%r13 */
	0x4d, 0x89, 0xe9, /* mov %r13,%r9 */
	0xe8, 0xe5, 0xef, 0x02, 0x00, /* call sct */
	0xe9, 0xe0, 0x6f, 0x00, 0x00, /* jmp away */
};
static const uint8_t wrapper[] = {
	0x55, /* push %rbp */
	0x48, 0x89, 0xf5, /* mov %rsi,%rbp */
	0x53, /* push %rbx */
	0x48, 0x89, 0xfb, /* mov %rdi,%rbx */
	0x0f, 0x1f, 0x44, 0x00, 0x00, /* nopl 0x0(%rax,%rax,1) */
	0x5b, /* pop %rbx */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
	0x48, 0x89, 0xea, /* mov %rbp,%rdx */
	0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	0xe8, 0xe5, 0xdf, 0x02, 0x00, /* call sct */
	0xc3, /* ret */
};
/* clang-format on */

struct code {
	const uint8_t *bytes;
	size_t len;
};

static unsigned text_of(const uint8_t *bytes, size_t len, uint64_t at, uint8_t ret[15])
{
	size_t n = at < len ? len - at : 0;

	n = n < 15 ? n : 15;
	if (n)
		memcpy(ret, bytes + at, n);
	return (unsigned)n;
}

static unsigned text(void *arg, uint64_t gva, uint8_t ret[15])
{
	const struct code *c = arg;

	if (gva - WRAPPER < sizeof(wrapper))
		return text_of(wrapper, sizeof(wrapper), gva - WRAPPER, ret);
	return text_of(c->bytes, c->len, gva - CODE, ret);
}

static enum vp_block_mark mark(void *arg, uint64_t gva, uint64_t *ret_target)
{
	uint8_t bytes[15] = { 0 };
	int32_t distance;

	if (gva == AWAY)
		return VP_MARK_END;
	if (gva == WRAPPER + 8) {
		*ret_target = WRAPPER + 16;
		return VP_MARK_BRANCH;
	}
	text(arg, gva, bytes);
	memcpy(&distance, bytes + 1, sizeof(distance));
	if ((bytes[0] == 0xe8 || bytes[0] == 0xe9) && gva + 5 + (uint64_t)(int64_t)distance == SCT)
		return VP_MARK_EVENT;
	return VP_MARK_NONE;
}

static bool enters(void *arg, uint64_t gva)
{
	(void)arg;
	return gva == WRAPPER;
}

static bool is_set(void *arg, uint64_t gva)
{
	(void)arg;
	return gva == ONLINE || gva - TP < TP_SIZE;
}

static bool is_true(void *arg, uint64_t gva)
{
	(void)arg;
	return gva == CPU_ONLINE;
}

struct world {
	struct vp_executor *executor;
	struct vp_exprs exprs;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	vp_exprs_init(&w->exprs);
	fx_no_error(vp_arch_x86.code->executor_create(&w->executor));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	vp_executor_destroy(w->executor);
	vp_exprs_deinit(&w->exprs);
	free(w);
	return 0;
}

static void evaluate(struct world *w, const uint8_t *bytes, size_t len, struct vp_block *ret)
{
	struct code code = { bytes, len };
	const struct vp_block_env env = { .arg = &code,
					  .text = text,
					  .mark = mark,
					  .enters = enters,
					  .is_set = is_set,
					  .is_true = is_true,
					  .stable = TP,
					  .stable_size = TP_SIZE };

	fx_no_error(vp_block_evaluate(w->executor, &w->exprs, &env, CODE, VP_BLOCK_ARGS, ret));
}

static void same(const struct vp_expr *e, const char *expected)
{
	struct ot_buf out;

	ot_buf_init(&out);
	vp_expr_print(e, &out);
	assert_string_equal(ot_buf_str(&out), expected);
	ot_buf_deinit(&out);
}

/* What a shape must come to. */
struct shape {
	const uint8_t *bytes;
	size_t len;
	const char *when;    /* NULL: always */
	const char *args[7]; /* those that are examined */
};

#define SHAPE(name, ...)                        \
	{                                       \
		name, sizeof(name), __VA_ARGS__ \
	}

static void shapes(void **state)
{
	static const struct shape all[] = {
		SHAPE(plain, NULL, { "(rbx + 0x10)", "r12", "u32[(rbp + 0x38)]", "7", "u16[(rbx + 2)]" }),
		SHAPE(stacked, NULL,
		      { "rbx", "u64[(rsp + 0x10)]", "s32(r14)", "0", "((r9 & 0xffffffffffffff00) | u8(r13))",
			"s32(r14)", "r15" }),
		SHAPE(conditional, "(((u8(rdx) & 0x10) == 0) & (5 <s s32(rcx)))", { "rbx" }),
		SHAPE(bit_kept,
		      "((((u8[((u32[(percpu + 0x19160)] >>s 3) + 0xffffffff81010000)] >> (u32[(percpu + "
		      "0x19160)] & 7)) "
		      "& 1) == 0) == 0)",
		      { "rbx" }),
		SHAPE(two_paths, NULL, { "rbx", "((r13 < r12) ? 2 : 1)" }),
		SHAPE(flags, NULL,
		      { "(u32((rbx >> 3)) & 0xff)", "(r12 == 0)", "u32((0 - u32(rbx)))",
			"u32((0 - (r14 < r13)))", "((s32(rbp) <s 0) ? 0 : u32(rbp))" }),
		/* rcx was loaded behind the call, which may have changed it */
		SHAPE(clobbered, NULL, { "rbx", "u64[(rbx + 0x10)]", "?", "?", "?" }),
		SHAPE(out_of_line, NULL, { "rbx", "u64[(rbx + 0x10)]" }),
		SHAPE(gate, NULL, { "rbx", "1" }),
		SHAPE(unknown_writes, NULL, { "rbx", "?", "?", "?", "?" }),
	};
	struct vp_block b;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		evaluate(*state, all[i].bytes, all[i].len, &b);
		assert_true(b.reached);
		assert_true(b.exact);
		if (all[i].when)
			same(b.when, all[i].when);
		else
			assert_null(b.when);
		for (size_t n = 0; n < OT_ARRAY_SIZE(all[i].args) && all[i].args[n]; n++)
			same(b.args[n], all[i].args[n]);
	}
}

static void gates(void **state)
{
	struct vp_block b;

	evaluate(*state, gate, sizeof(gate), &b);
	assert_int_equal(b.inner, WRAPPER + 8);
	assert_int_equal(b.entered, WRAPPER);
	assert_int_equal(b.call, CODE + 8);
	assert_int_equal(b.after, WRAPPER + 16 + 11);
	evaluate(*state, plain, sizeof(plain), &b);
	assert_int_equal(b.inner, 0);
	assert_int_equal(b.entered, 0);
}

static void what_is_not_known_is_not_exact(void **state)
{
	struct vp_block b;

	evaluate(*state, by_result, sizeof(by_result), &b);
	assert_true(b.reached);
	assert_false(b.exact);
}

static void ends_without_the_event(void **state)
{
	struct vp_block b;

	evaluate(*state, endless, sizeof(endless), &b);
	assert_false(b.reached);
	assert_true(b.instructions < ENOUGH);
	/* the text ends in the middle of it */
	for (size_t len = 0; len < sizeof(plain) - 13; len++) {
		evaluate(*state, plain, len, &b);
		assert_true(b.instructions < ENOUGH);
	}
}

static uint32_t random_word(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33);
}

/* Any bytes come to an end, and to objects that the verifier accepts. */
static void any_bytes(void **state)
{
	static const struct code from[] = { { stacked, sizeof(stacked) },
					    { conditional, sizeof(conditional) },
					    { flags, sizeof(flags) },
					    { clobbered, sizeof(clobbered) },
					    { gate, sizeof(gate) } };
	uint64_t seed = 1, reached = 0;
	uint8_t bytes[128];

	for (unsigned i = 0; i < 10000; i++) {
		const struct code *c = &from[i % OT_ARRAY_SIZE(from)];
		struct world *w = NULL;
		struct vp_block b;

		memcpy(bytes, c->bytes, c->len);
		for (unsigned n = random_word(&seed) % 4 + 1; n; n--)
			bytes[random_word(&seed) % c->len] = (uint8_t)random_word(&seed);
		setup((void **)&w);
		evaluate(w, bytes, c->len, &b);
		assert_true(b.instructions < ENOUGH);
		reached += b.reached;
		for (unsigned n = 0; b.reached && n < VP_BLOCK_ARGS; n++) {
			struct dif_object obj;
			struct ot_err *err = vp_expr_dif(b.args[n], &w->exprs.arena, &obj);
			if (!err)
				fx_no_error(dif_verify(&obj));
			ot_err_destroy(err);
		}
		teardown((void **)&w);
	}
	assert_true(reached > 100);
	(void)state;
}

/* --- as DIF ---------------------------------------------------------------------------------------------- */

static uint64_t truncated(uint64_t v, unsigned size, bool is_signed)
{
	unsigned shift = 64 - 8 * size;

	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

/* The fixture's world: register n is 1000 + n, a built-in scalar its number times 1000. */
static uint64_t value_of(const struct fx *fx, const struct vp_expr *e)
{
	uint64_t a = e->a ? value_of(fx, e->a) : 0, b = e->b ? value_of(fx, e->b) : 0, v = 0;

	switch ((enum vp_expr_op)e->op) {
	case VP_EXPR_CONST:
		return e->value;
	case VP_EXPR_REG:
		return 1000ull * DIF_VAR_regs + e->value;
	case VP_EXPR_PERCPU:
		return 1000ull * DIF_VAR_percpubase;
	case VP_EXPR_LOAD:
		memcpy(&v, fx->world.kernel + (a - FX_KERNEL), e->size);
		return v;
	case VP_EXPR_LOAD_USER:
		memcpy(&v, fx->world.user + (a - FX_USER), e->size);
		return v;
	case VP_EXPR_ADD:
		return a + b;
	case VP_EXPR_SUB:
		return a - b;
	case VP_EXPR_AND:
		return a & b;
	case VP_EXPR_OR:
		return a | b;
	case VP_EXPR_XOR:
		return a ^ b;
	case VP_EXPR_MUL:
		return a * b;
	case VP_EXPR_SHL:
		return a << b % 64;
	case VP_EXPR_SHR:
		return a >> b % 64;
	case VP_EXPR_SAR:
		return (uint64_t)((int64_t)a >> b % 64);
	case VP_EXPR_ZX:
	case VP_EXPR_SX:
		return truncated(a, e->size, e->op == VP_EXPR_SX);
	case VP_EXPR_EQ:
		return a == b;
	case VP_EXPR_LTU:
		return a < b;
	case VP_EXPR_LTS:
		return (int64_t)a < (int64_t)b;
	case VP_EXPR_IF:
		return a ? b : value_of(fx, e->c);
	}
	return 0;
}

static const struct vp_expr *random_expr(struct vp_exprs *x, uint64_t *seed, unsigned depth)
{
	uint32_t what = random_word(seed) % (depth ? 9 : 3);
	const struct vp_expr *a, *b;

	switch (what) {
	case 0:
		return vp_expr_const(x, random_word(seed) % 3 ? random_word(seed) % 100
							      : (uint64_t)random_word(seed) << 33);
	case 1:
		return vp_expr_reg(x, (enum vp_reg)(random_word(seed) % 16));
	case 2:
		if (random_word(seed) % 3 == 0)
			return vp_expr_load_user(x, vp_expr_const(x, FX_USER + random_word(seed) % 4000),
						 1u << random_word(seed) % 4);
		return random_word(seed) % 2
			   ? vp_expr_percpu(x)
			   : vp_expr_load(x, vp_expr_const(x, FX_KERNEL + random_word(seed) % 4096),
					  1u << random_word(seed) % 4);
	case 3:
	case 4:
		return vp_expr_extend(x, what == 3 ? VP_EXPR_ZX : VP_EXPR_SX, random_expr(x, seed, depth - 1),
				      1u << random_word(seed) % 4);
	case 5:
		a = random_expr(x, seed, depth - 1);
		b = random_expr(x, seed, depth - 1);
		return vp_expr_if(x, random_expr(x, seed, depth - 1), a, b);
	default:
		a = random_expr(x, seed, depth - 1);
		b = random_expr(x, seed, depth - 1);
		what = VP_EXPR_ADD + random_word(seed) % (VP_EXPR_LTS - VP_EXPR_ADD + 1);
		if (what == VP_EXPR_ZX || what == VP_EXPR_SX)
			return vp_expr_not(x, a);
		return vp_expr_binary(x, (enum vp_expr_op)what, a, b);
	}
}

static void as_dif(void **state)
{
	struct fx *fx = fx_create(NULL);
	uint64_t seed = 7, evaluated = 0, value;

	(void)state;
	for (size_t i = 0; i < sizeof(fx->world.kernel); i++)
		fx->world.kernel[i] = (uint8_t)(i * 37);
	for (size_t i = 0; i < sizeof(fx->world.user); i++)
		fx->world.user[i] = (uint8_t)(i * 53 + 11);
	for (unsigned i = 0; i < 3000; i++) {
		struct vp_exprs x;
		struct dif_object obj;

		vp_exprs_init(&x);
		const struct vp_expr *e = random_expr(&x, &seed, 4);
		struct ot_err *err = vp_expr_dif(e, &x.arena, &obj);
		if (!err) {
			fx_no_error(dif_verify(&obj));
			dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT);
			dif_vm_begin_clause(&fx->vm);
			assert_int_equal(dif_vm_eval(&fx->vm, &obj, &value), DIF_FAULT_NONE);
			assert_int_equal(value, value_of(fx, e));
			evaluated++;
		}
		ot_err_destroy(err);
		vp_exprs_deinit(&x);
	}
	assert_true(evaluated > 2000);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shapes, setup, teardown),
		cmocka_unit_test_setup_teardown(gates, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_not_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_without_the_event, setup, teardown),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(as_dif),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
