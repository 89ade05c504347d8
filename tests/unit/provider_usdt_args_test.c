/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm-probe/provider/usdt_args: what the notes of real programs say of their arguments, and what they might
 * say. Each value is what the program that is made of it gives; what it must be follows from the registers
 * and the memory here.
 */
#include "tests/unit/dif_fixture.h"
#include "tests/unit/usdt_specs.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/provider/usdt_args.h"

/* Every register is an address in the process's memory, 64 bytes from the next; rax and r13 are numbers. */
#define REG(n)  (FX_USER + 1024 + 64ull * (n))
#define RAX     0x8877665544a3f291ull
#define R13     2ull
#define SYMBOLS (FX_USER + 3000)
#define SITE    0x401234ull
#define MOVED   0x5000ull /* what another process has everything higher by */

enum { RCX = 1, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R12 = 12, R14 = 14, R15 };

struct world {
	struct fx *fx;
	struct vp_exprs exprs;
	const struct vp_code_ops *code;
	struct vp_usdt_args args;
	struct dif_clause program;
	uint64_t site; /* struct vp_usdt_symbols has it */
};

static uint64_t pc; /* where the program runs */

static uint64_t reg(uint64_t n)
{
	return n == 0 ? RAX : n == 13 ? R13 : REG(n);
}

static uint64_t array(void *env, uint32_t id, uint64_t index, enum dif_fault *fault)
{
	(void)env;
	if (id == DIF_VAR_regs && index == VP_REG_PC)
		return pc;
	if (id != DIF_VAR_regs || index > 15)
		*fault = DIF_FAULT_ILLOP;
	return reg(index);
}

/* @p size bytes at @p at, which is in the process; its memory is 7, 20, 33 … */
static uint64_t at(uint64_t at, unsigned size)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)(uint8_t)((at - FX_USER + i) * 13 + 7) << 8 * i;
	return v;
}

static bool find(void *arg, const char *name, size_t len, uint64_t *ret)
{
	static const char *const names[] = { "NBuffers", "CheckpointStats", "table", "name", "counter" };

	(void)arg;
	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++) {
		*ret = SYMBOLS + 64 * i - (pc - SITE);
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	}
	return false;
}

static int setup(void **state)
{
	static struct dif_vm_ops ops;
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->fx = fx_create(NULL);
	for (size_t i = 0; i < FX_USER_SIZE; i++)
		w->fx->world.user[i] = (uint8_t)(i * 13 + 7);
	ops = fx_ops;
	ops.array = array;
	w->fx->vm.ops = &ops;
	vp_exprs_init(&w->exprs);
	fx_no_error(vp_arch_code(&vp_arch_native, &w->code));
	pc = SITE;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	vp_exprs_deinit(&w->exprs);
	fx_destroy(w->fx);
	free(w);
	return 0;
}

static void take(struct world *w, const char *text)
{
	const struct vp_usdt_symbols symbols = { .find = find, .site = w->site };

	fx_no_error(vp_usdt_args_read(text, w->code, &symbols, &w->exprs, &w->args));
	fx_no_error(vp_usdt_program(&w->args, &w->exprs, &w->program));
	assert_int_equal(w->program.nactions, w->args.count);
}

static enum dif_fault evaluate(struct world *w, unsigned n, uint64_t *ret)
{
	fx_no_error(dif_verify(w->program.actions[n].object));
	dif_vm_begin(&w->fx->vm, DIF_FUEL_DEFAULT);
	dif_vm_begin_clause(&w->fx->vm);
	return dif_vm_eval(&w->fx->vm, w->program.actions[n].object, ret);
}

static void is(struct world *w, const char *text, unsigned count, const uint64_t *values)
{
	take(w, text);
	if (w->args.count != count)
		fail_msg("%s: %u arguments", text, w->args.count);
	for (unsigned i = 0; i < count; i++) {
		uint64_t value = 0;

		if (w->args.items[i].refused || evaluate(w, i, &value) || value != values[i])
			fail_msg("%s: arg%u is %#llx, not %#llx (%s)", text, i, (unsigned long long)value,
				 (unsigned long long)values[i],
				 w->args.items[i].refused ? w->args.items[i].refused : "");
	}
}

#define IS(text, ...) \
	is(w, text, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), (const uint64_t[]){ __VA_ARGS__ })
#define S32(v) ((uint64_t)(int32_t)(v))

static void registers(void **state)
{
	struct world *w = *state;

	IS("8@%rbp 8@%r12 -4@%eax", REG(RBP), REG(R12), S32(0x44a3f291));
	IS("8@%rax 4@%eax 2@%ax 1@%al 1@%ah", RAX, 0x44a3f291, 0xf291, 0x91, 0xf2);
	IS("-8@%rax -4@%eax -2@%ax -1@%al -1@%ah", RAX, 0x44a3f291, (uint64_t)-0xd6f, (uint64_t)-0x6f,
	   (uint64_t)-0xe);
	IS("8@%r13 4@%r13d 2@%r13w 1@%r13b 1@%r13l", 2, 2, 2, 2, 2);
	IS("8@%r8 8@%r9 8@%r15 4@%r14d", REG(R8), REG(R9), REG(R15), REG(R14));
	IS("1@%sil 1@%dil 1@%spl 1@%bpl 1@%bl 1@%cl 1@%dl 1@%bh", REG(RSI) & 255, REG(RDI) & 255,
	   REG(RSP) & 255, REG(RBP) & 255, REG(RBX) & 255, REG(RCX) & 255, REG(RDX) & 255,
	   REG(RBX) >> 8 & 255);
	/* The smaller of size and register. */
	IS("4@%rax 8@%eax -8@%al", 0x44a3f291, 0x44a3f291, (uint64_t)-0x6f);
}

static void constants(void **state)
{
	struct world *w = *state;

	IS("-4@$-1 4@$-1 1@$0 8@$1 8@$0x1F -8@$-0x10 8@$010", UINT64_MAX, UINT32_MAX, 0, 1, 31, (uint64_t)-16,
	   8);
	IS("8@$18446744073709551615 8@$0xffffffffffffffff -2@$65535 8@$2+3-1", UINT64_MAX, UINT64_MAX,
	   UINT64_MAX, 4);
}

static void memory(void **state)
{
	struct world *w = *state;

	IS("-4@112(%rsp)", S32(at(REG(RSP) + 112, 4)));
	IS("8@%rdx 8@-80(%rbx)", REG(RDX), at(REG(RBX) - 80, 8));
	IS("4@(%rdi) 2@4(%rdi) 1@8(%rdi) -1@8(%rdi) -2@4(%rdi)", at(REG(RDI), 4), at(REG(RDI) + 4, 2),
	   at(REG(RDI) + 8, 1), (uint64_t)(int8_t)at(REG(RDI) + 8, 1),
	   (uint64_t)(int16_t)at(REG(RDI) + 4, 2));
	IS("8@-8(%rbp,%r13,8) 2@(%rdi,%r13) 4@0x10(%rsp, %r13, 4)  8@ 8(%rbp ,%r13,1)", at(REG(RBP) + 8, 8),
	   at(REG(RDI) + 2, 2), at(REG(RSP) + 24, 4), at(REG(RBP) + 10, 8));
	IS("4@4195304 1@4195304(,%r13,2)", at(4195304, 4), at(4195308, 1));
}

static void symbols(void **state)
{
	struct world *w = *state;
	uint64_t nbuffers = SYMBOLS, stats = SYMBOLS + 64, table = SYMBOLS + 128, name = SYMBOLS + 192;

	IS("-4@40+CheckpointStats(%rip) -4@NBuffers(%rip)", S32(at(stats + 40, 4)), S32(at(nbuffers, 4)));
	IS("8@name+4(%rip) 8@name-4(%rip) 8@-4+name(%rip) 8@name", at(name + 4, 8), at(name - 4, 8),
	   at(name - 4, 8), at(name, 8));
	IS("1@table(,%r13,4) 8@table+8(%r13)", at(table + 8, 1), at(table + 10, 8));
}

/* The argument's number, and a part of the reason. The others have values. */
static void refuses(struct world *w, const char *text, unsigned n, const char *why)
{
	uint64_t value;

	take(w, text);
	for (unsigned i = 0; i < w->args.count; i++) {
		const char *reason = w->args.items[i].refused;

		if (i != n && reason)
			fail_msg("%s: arg%u is refused: %s", text, i, reason);
		if (i == n && (!reason || !strstr(reason, why)))
			fail_msg("%s: arg%u: %s", text, i, reason ? reason : "not refused");
	}
	assert_true(n < w->args.count);
	assert_int_equal(w->args.items[n].size, 0);
	assert_int_equal(evaluate(w, n, &value), DIF_FAULT_BADADDR);
}

/* They were read in one process, and are evaluated in another, which has the file elsewhere. */
static void moved(void **state)
{
	struct world *w = *state;

	w->site = SITE;
	symbols(state);
	pc = SITE + MOVED;
	symbols(state);
	IS("8@%rdi 8@$7 4@(%rdi)", REG(RDI), 7, at(REG(RDI), 4));
	refuses(w, "8@table(%r13,%r13,4) 8@%rdi", 0, "two registers");
	w->site = 0;
	pc = SITE;
	IS("8@table(%r13,%r13,4) 8@%rdi", at(SYMBOLS + 128 + 10, 8), REG(RDI));
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		unsigned n;
		const char *why;
	} cases[] = {
		{ "-4@%eax -4@perturb_byte(%rip)", 1, "no symbol" },
		{ "8@%rax 8@NBuffer(%rip) 8@%rdx", 1, "no symbol" },
		{ "8f@%xmm0 8@%rax", 0, "floating-point" },
		{ "-8f@8(%rsp) 8@%rax", 0, "floating-point" },
		{ "8@%xmm0", 0, "register" },
		{ "8@%r16 8@$1", 0, "register" },
		{ "8@%r7", 0, "register" },
		{ "8@%r08", 0, "register" },
		{ "8@%r8x", 0, "register" },
		{ "16@%rax", 0, "size" },
		{ "3@%rax", 0, "size" },
		{ "0@%rax", 0, "size" },
		{ "4294967304@%rax", 0, "size" },
		{ "%rax", 0, "begin" },
		{ "8@", 0, "understood" },
		{ "8@ 4@%eax", 0, "understood" },
		{ "8@%fs:16", 0, "thread" },
		{ "8@x@tpoff(%rip)", 0, "loader" },
		{ "8@8(%rip)", 0, "not named" },
		{ "8@(%eax)", 0, "64 bits" },
		{ "8@(%rax,%ecx)", 0, "64 bits" },
		{ "8@(%rax,%rsp)", 0, "understood" },
		{ "8@(%rax,%rcx,3)", 0, "understood" },
		{ "8@(%rax,%rcx", 0, "understood" },
		{ "8@(%rax))", 0, "understood" },
		{ "8@()", 0, "understood" },
		{ "8@name(%rip,%rax,8)", 0, "understood" },
		{ "8@QWORD PTR [rbp-8] 8@%rdx", 0, "understood" },
		{ "8@$name", 0, "not a number" },
		{ "8@$", 0, "understood" },
		{ "8@$12z", 0, "understood" },
		{ "8@$0x", 0, "understood" },
		{ "8@$18446744073709551616", 0, "64 bits" },
		{ "8@name+table(%rip)", 0, "several" },
		{ "8@4-name(%rip)", 0, "several" },
		{ "8@99999999999999999999(%rax)", 0, "64 bits" },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++)
		refuses(*state, cases[i].text, cases[i].n, cases[i].why);
}

/* Memory that is not there is a fault, not 0. */
static void faults(void **state)
{
	struct world *w = *state;
	uint64_t value;

	take(w, "8@65536(%rsp) 8@(%rax)");
	assert_int_equal(evaluate(w, 0, &value), DIF_FAULT_BADADDR);
	assert_int_equal(evaluate(w, 1, &value), DIF_FAULT_BADADDR);
}

static void bounds(void **state)
{
	struct world *w = *state;
	char *text = malloc(1u << 20);
	size_t n = 0;

	assert_non_null(text);
	take(w, "");
	assert_int_equal(w->args.count, 0);
	take(w, " \t ");
	assert_int_equal(w->args.count, 0);
	for (unsigned i = 0; i < 100; i++)
		n += (size_t)sprintf(text + n, " 8@$%u", i);
	take(w, text);
	assert_int_equal(w->args.count, VP_SITE_ARGS);
	/* Long, in each of its parts. */
	static const char parts[] = "( 9-8@$%aF,";
	for (size_t i = 0; i < sizeof(parts) - 1; i++) {
		memcpy(text, "8@", 2);
		memset(text + 2, parts[i], (1u << 20) - 3);
		text[(1u << 20) - 1] = '\0';
		take(w, text);
		assert_true(w->args.count >= 1);
		assert_non_null(w->args.items[0].refused);
	}
	free(text);
}

static const char *const specs[] = {
#define X(text) text,
	USDT_SPECS(X)
#undef X
};

static uint32_t random_word(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33);
}

/* Each real text with characters changed: refused or a program, whose value is one or a fault. */
static void mutated(void **state)
{
	static const char alphabet[] = "@%$()-+,:0189xfarbdipstw _\x80\t";
	struct world *w = *state;
	uint64_t seed = 3, value;
	unsigned kept = 0, lost = 0;

	for (unsigned i = 0; i < 4000; i++) {
		char text[256];

		snprintf(text, sizeof(text), "%s", specs[i % OT_ARRAY_SIZE(specs)]);
		for (unsigned k = random_word(&seed) % 4; k; k--)
			text[random_word(&seed) % strlen(text)] =
			    alphabet[random_word(&seed) % (sizeof(alphabet) - 1)];
		take(w, text);
		for (unsigned n = 0; n < w->args.count; n++) {
			struct vp_usdt_arg *arg = &w->args.items[n];
			enum dif_fault fault = evaluate(w, n, &value);

			assert_true(fault == DIF_FAULT_NONE || fault == DIF_FAULT_BADADDR);
			assert_true(!arg->refused == !!arg->value && !arg->value == !arg->size);
			*(arg->refused ? &lost : &kept) += 1;
		}
		vp_exprs_deinit(&w->exprs);
		vp_exprs_init(&w->exprs);
	}
	assert_true(kept > 4000 && lost > 1000);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(registers), TEST(constants), TEST(memory), TEST(symbols), TEST(moved),
		TEST(refused),   TEST(faults),    TEST(bounds), TEST(mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
