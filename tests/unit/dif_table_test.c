/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every opcode and every fault, with a positive and a negative test:
 *
 *   opcode, positive: its effect, on operands for which its neighbours give something else
 *   opcode, negative: operands for which it faults or, where it cannot, for which the verifier refuses it;
 *                     for a branch also a condition that is not met
 *   fault, positive:  a program that it ends
 *   fault, negative:  nearly the same program, without the fault
 *
 * What the tables in dif/obj have and these have not fails.
 */
#include "tests/unit/dif_asm.h"

#define R3(op)             "setx -200 1; setx 9 2; " op " 1 2 3; ret 3"
#define R3_REFUSED(op)     "setx -200 1; setx 9 2; " op " 1 2 0; ret 3"
#define DIV0(op)           "setx -200 1; " op " 1 0 3; ret 3"
#define BRANCH(a, b, op)   "setx " a " 1; setx " b " 2; cmp 1 2; " op " 5; ret 0; setx 1 3; ret 3"
#define LOAD(from, op)     "setx " from " 1; " op " 1 2; ret 2"
#define STORE(op)          "setx 8 1; allocs 1 2; setx 0x1122334455667788 3; " op " 3 2; ldx 2 4; ret 4"
#define MISALIGNED(op, by) "setx 16 1; allocs 1 2; setx " by " 3; add 2 3 2; " op " 3 2; ret 0"
#define PUSH8                                                                                                \
	"pushtv 0 0 1; pushtv 0 0 1; pushtv 0 0 1; pushtv 0 0 1; pushtv 0 0 1; pushtv 0 0 1; pushtv 0 0 1; " \
	"pushtv 0 0 1; "

struct works {
	const char *op, *text;
	uint64_t value;
};

static const struct works works[] = {
	{ "or", R3("or"), (uint64_t)-199 },
	{ "xor", R3("xor"), (uint64_t)-207 },
	{ "and", R3("and"), 8 },
	{ "sll", R3("sll"), (uint64_t)-102400 },
	{ "srl", R3("srl"), 36028797018963967 },
	{ "sub", R3("sub"), (uint64_t)-209 },
	{ "add", R3("add"), (uint64_t)-191 },
	{ "mul", R3("mul"), (uint64_t)-1800 },
	{ "sdiv", R3("sdiv"), (uint64_t)-22 },
	{ "udiv", R3("udiv"), 2049638230412172379 },
	{ "srem", R3("srem"), (uint64_t)-2 },
	{ "urem", R3("urem"), 5 },
	{ "sra", R3("sra"), (uint64_t)-1 },
	{ "not", "setx 0xff 1; not 1 2; ret 2", ~0xffull },
	{ "mov", "setx 0xff 1; mov 1 2; ret 2", 0xff },
	{ "cmp", BRANCH("1", "2", "blu"), 1 },
	{ "tst", "setx 0 1; tst 1; be 4; ret 0; setx 1 3; ret 3", 1 },
	{ "scmp", "sets abc 1; sets abd 2; scmp 1 2; bl 5; ret 0; setx 1 3; ret 3", 1 },
	{ "ba", BRANCH("1", "2", "ba"), 1 },
	{ "be", BRANCH("7", "7", "be"), 1 },
	{ "bne", BRANCH("7", "8", "bne"), 1 },
	{ "bg", BRANCH("1", "-1", "bg"), 1 },
	{ "bgu", BRANCH("-1", "1", "bgu"), 1 },
	{ "bge", BRANCH("1", "-1", "bge"), 1 },
	{ "bge", BRANCH("7", "7", "bge"), 1 },
	{ "bgeu", BRANCH("-1", "1", "bgeu"), 1 },
	{ "bgeu", BRANCH("7", "7", "bgeu"), 1 },
	{ "bl", BRANCH("-1", "1", "bl"), 1 },
	{ "blu", BRANCH("1", "-1", "blu"), 1 },
	{ "ble", BRANCH("-1", "1", "ble"), 1 },
	{ "ble", BRANCH("7", "7", "ble"), 1 },
	{ "bleu", BRANCH("1", "-1", "bleu"), 1 },
	{ "bleu", BRANCH("7", "7", "bleu"), 1 },
	/* the other way */
	{ "be", BRANCH("7", "8", "be"), 0 },
	{ "bne", BRANCH("7", "7", "bne"), 0 },
	{ "bg", BRANCH("7", "7", "bg"), 0 },
	{ "bgu", BRANCH("7", "7", "bgu"), 0 },
	{ "bge", BRANCH("-1", "1", "bge"), 0 },
	{ "bgeu", BRANCH("1", "-1", "bgeu"), 0 },
	{ "bl", BRANCH("7", "7", "bl"), 0 },
	{ "blu", BRANCH("7", "7", "blu"), 0 },
	{ "ble", BRANCH("1", "-1", "ble"), 0 },
	{ "bleu", BRANCH("-1", "1", "bleu"), 0 },
	/* kernel memory is f0 f1 f2 f3 f4 f5 f6 f7, user memory 90 91 92 … */
	{ "ldsb", LOAD("KERNEL", "ldsb"), 0xfffffffffffffff0 },
	{ "ldsh", LOAD("KERNEL", "ldsh"), 0xfffffffffffff1f0 },
	{ "ldsw", LOAD("KERNEL", "ldsw"), 0xfffffffff3f2f1f0 },
	{ "ldub", LOAD("KERNEL", "ldub"), 0xf0 },
	{ "lduh", LOAD("KERNEL", "lduh"), 0xf1f0 },
	{ "lduw", LOAD("KERNEL", "lduw"), 0xf3f2f1f0 },
	{ "ldx", LOAD("KERNEL", "ldx"), 0xf7f6f5f4f3f2f1f0 },
	{ "rldsb", LOAD("KERNEL", "rldsb"), 0xfffffffffffffff0 },
	{ "rldsh", LOAD("KERNEL", "rldsh"), 0xfffffffffffff1f0 },
	{ "rldsw", LOAD("KERNEL", "rldsw"), 0xfffffffff3f2f1f0 },
	{ "rldub", LOAD("KERNEL", "rldub"), 0xf0 },
	{ "rlduh", LOAD("KERNEL", "rlduh"), 0xf1f0 },
	{ "rlduw", LOAD("KERNEL", "rlduw"), 0xf3f2f1f0 },
	{ "rldx", LOAD("KERNEL", "rldx"), 0xf7f6f5f4f3f2f1f0 },
	{ "uldsb", LOAD("USER", "uldsb"), 0xffffffffffffff90 },
	{ "uldsh", LOAD("USER", "uldsh"), 0xffffffffffff9190 },
	{ "uldsw", LOAD("USER", "uldsw"), 0xffffffff93929190 },
	{ "uldub", LOAD("USER", "uldub"), 0x90 },
	{ "ulduh", LOAD("USER", "ulduh"), 0x9190 },
	{ "ulduw", LOAD("USER", "ulduw"), 0x93929190 },
	{ "uldx", LOAD("USER", "uldx"), 0x9796959493929190 },
	{ "ret", "setx 42 1; ret 1", 42 },
	{ "nop", "setx 7 1; nop; ret 1", 7 },
	{ "setx", "setx 1 2; setx 0x123456789abcdef0 1; ret 1", 0x123456789abcdef0 },
	{ "sets", "sets xyz 2; sets abc 1; ldub 1 2; ret 2", 'a' },
	{ "ldga", "setx 7 1; ldga uregs 1 2; ret 2", 2007 },
	{ "ldta", "ba 2; ldta 0x80 1 2; setx 3 1; ret 1", 3 }, /* reserved: it may stand, not be reached */
	{ "ldgs", "ldgs pid 1; ret 1", DIF_VAR_pid * 1000 },
	{ "stgs", "setx 5 1; stgs 0x500 1; setx 6 1; stts 0x500 1; ldgs 0x500 2; ret 2", 5 },
	{ "ldts", "setx 6 1; stts 0x500 1; setx 5 1; stgs 0x500 1; ldts 0x500 2; ret 2", 6 },
	{ "stts", "setx 6 1; stts 0x500 1; stts 0x500 0; ldts 0x500 2; ret 2", 0 },
	{ "ldls", "setx 8 1; stls 0x500 1; setx 5 1; stgs 0x500 1; ldls 0x500 2; ret 2", 8 },
	{ "stls", "setx 8 1; stls 0x500 1; setx 9 1; stls 0x500 1; ldls 0x500 2; ret 2", 9 },
	{ "ldgaa", "setx 1 1; pushtv 0 0 1; setx 77 2; stgaa 0x501 2; sttaa 0x501 1; ldgaa 0x501 3; ret 3",
	  77 },
	{ "stgaa", "setx 1 1; pushtv 0 0 1; stgaa 0x501 1; stgaa 0x501 0; ldgaa 0x501 3; ret 3", 0 },
	{ "ldtaa", "setx 1 1; pushtv 0 0 1; setx 78 2; sttaa 0x501 2; stgaa 0x501 1; ldtaa 0x501 3; ret 3",
	  78 },
	{ "sttaa", "setx 1 1; pushtv 0 0 1; sttaa 0x501 1; sttaa 0x501 0; ldtaa 0x501 3; ret 3", 0 },
	{ "call", "setx 0x1234 1; pushtv 0 0 1; call htons 2; ret 2", 0x3412 },
	{ "pushtr", "sets hello 1; pushtr 1 0 1; call strlen 2; ret 2", 5 },
	{ "pushtv", "setx 0xabcd 1; pushtv 0 0 1; call htons 2; ret 2", 0xcdab },
	{ "popts", "setx 1 1; setx 0x1234 2; pushtv 0 0 1; popts; pushtv 0 0 2; call htons 3; ret 3",
	  0x3412 },
	{ "flushts", "setx 0x1234 2; " PUSH8 "flushts; pushtv 0 0 2; call htons 3; ret 3", 0x3412 },
	{ "allocs", "setx 16 1; allocs 1 2; allocs 1 3; sub 3 2 4; ret 4", 16 },
	{ "copys", "setx 8 1; allocs 1 2; setx KERNEL 3; setx 2 4; copys 3 4 2; ldx 2 5; ret 5", 0xf1f0 },
	{ "stb", STORE("stb"), 0x88 },
	{ "sth", STORE("sth"), 0x7788 },
	{ "stw", STORE("stw"), 0x55667788 },
	{ "stx", STORE("stx"), 0x1122334455667788 },
};

/* Opcodes that never run. */
static const struct {
	const char *op, *why;
} never_run[] = {
	{ "xlate", "translators are resolved by the compiler, before there is a program" },
	{ "xlarg", "the same, for arguments" },
};

struct fails {
	const char *what, *text;
	const char *how; /* a fault, or "rule N" */
};

static const struct fails refused[] = {
	{ "or", R3_REFUSED("or"), "rule 6" },
	{ "xor", R3_REFUSED("xor"), "rule 6" },
	{ "and", R3_REFUSED("and"), "rule 6" },
	{ "sll", R3_REFUSED("sll"), "rule 6" },
	{ "srl", R3_REFUSED("srl"), "rule 6" },
	{ "sub", R3_REFUSED("sub"), "rule 6" },
	{ "add", R3_REFUSED("add"), "rule 6" },
	{ "mul", R3_REFUSED("mul"), "rule 6" },
	{ "sra", R3_REFUSED("sra"), "rule 6" },
	{ "sdiv", DIV0("sdiv"), "DIVZERO" },
	{ "udiv", DIV0("udiv"), "DIVZERO" },
	{ "srem", DIV0("srem"), "DIVZERO" },
	{ "urem", DIV0("urem"), "DIVZERO" },
	{ "not", "not 1 0; ret 1", "rule 6" },
	{ "mov", "mov 16 1; ret 1", "rule 5" },
	{ "cmp", "word 0x0f010201; ret 1", "rule 7" },
	{ "tst", "word 0x10010100; ret 1", "rule 7" },
	{ "scmp", "setx KERNEL_END 1; scmp 1 0; ret 0", "BADADDR" },
	{ "ba", "ba 0; ret 0", "rule 9" },
	{ "be", "be 0; ret 0", "rule 9" },
	{ "bne", "bne 0; ret 0", "rule 9" },
	{ "bg", "bg 0; ret 0", "rule 9" },
	{ "bgu", "bgu 0; ret 0", "rule 9" },
	{ "bge", "bge 0; ret 0", "rule 9" },
	{ "bgeu", "bgeu 0; ret 0", "rule 9" },
	{ "bl", "bl 2; ret 0", "rule 8" },
	{ "blu", "blu 2; ret 0", "rule 8" },
	{ "ble", "ble 2; ret 0", "rule 8" },
	{ "bleu", "bleu 2; ret 0", "rule 8" },
	{ "ldsb", LOAD("KERNEL_END", "ldsb"), "BADADDR" },
	{ "ldsh", LOAD("KERNEL_END", "ldsh"), "BADADDR" },
	{ "ldsw", LOAD("KERNEL_END", "ldsw"), "BADADDR" },
	{ "ldub", LOAD("KERNEL_END", "ldub"), "BADADDR" },
	{ "lduh", LOAD("KERNEL_END", "lduh"), "BADADDR" },
	{ "lduw", LOAD("KERNEL_END", "lduw"), "BADADDR" },
	{ "ldx", LOAD("KERNEL_END", "ldx"), "BADADDR" },
	/* a user's address is no kernel's, and the other way round */
	{ "rldsb", LOAD("USER", "rldsb"), "BADADDR" },
	{ "rldsh", LOAD("USER", "rldsh"), "BADADDR" },
	{ "rldsw", LOAD("USER", "rldsw"), "BADADDR" },
	{ "rldub", LOAD("USER", "rldub"), "BADADDR" },
	{ "rlduh", LOAD("USER", "rlduh"), "BADADDR" },
	{ "rlduw", LOAD("USER", "rlduw"), "BADADDR" },
	{ "rldx", LOAD("USER", "rldx"), "BADADDR" },
	{ "uldsb", LOAD("KERNEL", "uldsb"), "BADADDR" },
	{ "uldsh", LOAD("KERNEL", "uldsh"), "BADADDR" },
	{ "uldsw", LOAD("KERNEL", "uldsw"), "BADADDR" },
	{ "uldub", LOAD("KERNEL", "uldub"), "BADADDR" },
	{ "ulduh", LOAD("KERNEL", "ulduh"), "BADADDR" },
	{ "ulduw", LOAD("KERNEL", "ulduw"), "BADADDR" },
	{ "uldx", LOAD("USER_END", "uldx"), "BADADDR" },
	{ "ret", "ret 0; nop", "rule 2" },
	{ "nop", "word 0x24000001; ret 0", "rule 7" },
	{ "setx", "setx #0 1; ret 1", "rule 10" },
	{ "sets", "sets #60000 1; ret 1", "rule 11" },
	{ "ldga", "ldga 4 1 2; ret 2", "rule 13" },
	{ "ldta", "ldta 0x80 1 2; ret 2", "ILLOP" },
	{ "ldgs", "ldgs curthread 1; ret 1", "KPRIV" },
	{ "stgs", "stgs pid 1; ret 0", "rule 14" },
	{ "ldts", "ldts 0x501 1; ret 1", "rule 15" },
	{ "stts", "stts 0x503 1; ret 1", "rule 15" },
	{ "stts", "setx KERNEL_END 1; stts 0x502 1; ret 1", "BADADDR" },
	{ "ldls", "ldls pid 1; ret 1", "rule 14" },
	{ "stls", "setx KERNEL_END 1; stls 0x502 1; ret 1", "BADADDR" },
	{ "ldgaa", "ldgaa 0x500 1; ret 1", "rule 15" },
	{ "stgaa", "stgaa 0x500 1; ret 1", "rule 15" },
	{ "ldtaa", "ldtaa 0x502 1; ret 1", "rule 15" },
	{ "sttaa", "sttaa pid 1; ret 1", "rule 14" },
	{ "call", "call 999 1; ret 1", "rule 17" },
	{ "call", "call strlen 1; ret 1", "ILLOP" }, /* of nothing */
	{ "pushtr", "pushtr 2 1 1; ret 0", "rule 16" },
	{ "pushtr", "setx -1 2; pushtr 0 2 1; ret 0", "ILLOP" },
	{ "pushtv", "pushtv 1 1 1; ret 0", "rule 16" },
	{ "pushtv", PUSH8 "pushtv 0 0 1; ret 0", "TUPOFLOW" },
	{ "popts", "word 0x32000001; ret 0", "rule 7" },
	{ "flushts", "word 0x33010000; ret 0", "rule 7" },
	{ "allocs", "setx -1 1; allocs 1 2; ret 2", "NOSCRATCH" },
	{ "copys", "setx KERNEL 1; setx 8 2; copys 1 2 1; ret 0", "BADADDR" },
	{ "stb", "setx KERNEL 1; stb 0 1; ret 0", "BADADDR" },
	{ "sth", MISALIGNED("sth", "1"), "BADALIGN" },
	{ "stw", MISALIGNED("stw", "2"), "BADALIGN" },
	{ "stx", MISALIGNED("stx", "4"), "BADALIGN" },
	{ "xlate", "word 0x4e000001; ret 0", "rule 4" },
	{ "xlarg", "word 0x4f000001; ret 0", "rule 4" },
};

/* Faults: programs that end with one, and programs that only just avoid it. */
static const struct {
	const char *name, *text, *spared;
	uint64_t value;
} fault_table[] = {
	{ "BADADDR", LOAD("0", "ldub"), LOAD("KERNEL", "ldub"), 0xf0 },
	{ "BADALIGN", MISALIGNED("stw", "2"), MISALIGNED("stw", "4"), 0 },
	{ "ILLOP", "ldta 0 0 1; ret 1", "ldga uregs 0 1; ret 1", 2000 },
	{ "DIVZERO", "setx 9 1; udiv 1 0 2; ret 2", "setx 9 1; udiv 0 1 2; ret 2", 0 },
	{ "NOSCRATCH", "setx SCRATCH_SIZE 1; setx 1 2; add 1 2 1; allocs 1 3; ret 0",
	  "setx SCRATCH_SIZE 1; allocs 1 3; ret 0", 0 },
	{ "KPRIV", "ldgs curthread 1; ret 1", "ldgs pid 1; ret 1", DIF_VAR_pid * 1000 },
	/* raised by the world around the machine: for user memory, a stack, the consumer */
	{ "UPRIV", "setx 1007 1; ldga uregs 1 2; ret 2", "setx 7 1; ldga uregs 1 2; ret 2", 2007 },
	{ "BADSTACK", "setx 1009 1; ldga uregs 1 2; ret 2", "setx 9 1; ldga uregs 1 2; ret 2", 2009 },
	{ "LIBRARY", "setx 2000 1; ldga uregs 1 2; ret 2", "setx 10 1; ldga uregs 1 2; ret 2", 2010 },
	{ "TUPOFLOW", PUSH8 "pushtv 0 0 1; ret 0", PUSH8 "popts; pushtv 0 0 1; ret 0", 0 },
};

static const struct {
	unsigned number;
	const char *name;
} faults[] = {
/* clang-format off */
#define X(num, name, text, addr) { num, #name },
	DIF_FAULTS(X)
#undef X
	/* clang-format on */
};

static unsigned fault_number(const char *name)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(faults); i++)
		if (!strcmp(faults[i].name, name))
			return faults[i].number;
	fail_msg("no fault %s", name);
	return 0;
}

static struct fx *machine(void)
{
	struct fx_object vars;

	asm_object(&vars, "ret 0");
	struct fx *fx = fx_create(&vars);
	for (unsigned i = 0; i < FX_KERNEL_SIZE; i++)
		fx->world.kernel[i] = (uint8_t)(0xf0 + i % 8);
	for (unsigned i = 0; i < FX_USER_SIZE; i++)
		fx->world.user[i] = (uint8_t)(0x90 + i % 8);
	return fx;
}

static void gives(const char *name, const char *text, uint64_t want)
{
	struct fx *fx = machine();
	struct fx_object o;

	asm_object(&o, text);
	uint64_t got = fx_value(fx, &o);
	if (got != want)
		fail_msg("%s: \"%s\" gives %#llx, not %#llx", name, text, (unsigned long long)got,
			 (unsigned long long)want);
	fx_destroy(fx);
}

static void fails_so(const char *name, const char *text, const char *how)
{
	struct fx *fx = machine();
	struct fx_object o;
	uint64_t value;

	asm_object(&o, text);
	if (!strncmp(how, "rule ", 5)) {
		char prefix[32];
		snprintf(prefix, sizeof(prefix), "%s ", how);
		fx_error(dif_verify(&o.obj), OT_ERR_BAD_DATA, prefix);
	} else {
		fx_no_error(dif_verify(&o.obj));
		unsigned got = dif_vm_eval(&fx->vm, &o.obj, &value);
		if (got != fault_number(how))
			fail_msg("%s: \"%s\" ends with fault %u, not %s", name, text, got, how);
		assert_int_equal(value, 0);
	}
	fx_destroy(fx);
}

/* --- opcodes ------------------------------------------------------------------------------------ */

static void opcodes_work(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(works); i++)
		gives(works[i].op, works[i].text, works[i].value);
}

static void opcodes_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(refused); i++)
		fails_so(refused[i].what, refused[i].text, refused[i].how);
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p++)
		if ((p == text || p[-1] == ' ') && (p[len] == ' ' || p[len] == ';'))
			return true;
	return false;
}

static bool has_opcode(const char *text, uint32_t op)
{
	char word[8];

	snprintf(word, sizeof(word), "0x%02x", op);
	return has_word(text, dif_op_name(op)) || strstr(text, word);
}

static void every_opcode_has_both(void **state)
{
	(void)state;
	for (uint32_t op = 1; op <= DIF_OP_MAX; op++) {
		const char *name = dif_op_name(op);
		unsigned positive = 0, negative = 0;

		for (size_t i = 0; i < OT_ARRAY_SIZE(works); i++)
			positive += !strcmp(works[i].op, name) && has_opcode(works[i].text, op);
		for (size_t i = 0; i < OT_ARRAY_SIZE(never_run); i++)
			positive += !strcmp(never_run[i].op, name);
		for (size_t i = 0; i < OT_ARRAY_SIZE(refused); i++)
			negative += !strcmp(refused[i].what, name) && has_opcode(refused[i].text, op);
		if (!positive || !negative)
			fail_msg("%s has no %s test", name, positive ? "negative" : "positive");
	}
}

/* On the operands of the table, no two arithmetic instructions have the same result. */
static void neighbours_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(works); i++)
		for (size_t k = 0; k < i; k++) {
			uint32_t a = asm_opcode(works[i].op), b = asm_opcode(works[k].op);
			if (dif_op_class(a) == DIF_CLASS_R3 && dif_op_class(b) == DIF_CLASS_R3)
				assert_true(works[i].value != works[k].value);
		}
}

/* --- faults --------------------------------------------------------------------------------------- */

static void faults_end_programs(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(fault_table); i++)
		fails_so(fault_table[i].name, fault_table[i].text, fault_table[i].name);
}

static void faults_spare_programs(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(fault_table); i++)
		gives(fault_table[i].name, fault_table[i].spared, fault_table[i].value);
}

static void every_fault_has_both(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(faults); i++) {
		bool found = false;
		for (size_t k = 0; k < OT_ARRAY_SIZE(fault_table); k++)
			found |= !strcmp(fault_table[k].name, faults[i].name);
		if (!found)
			fail_msg("fault %s has no test", faults[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opcodes_work),          cmocka_unit_test(opcodes_are_refused),
		cmocka_unit_test(every_opcode_has_both), cmocka_unit_test(neighbours_differ),
		cmocka_unit_test(faults_end_programs),   cmocka_unit_test(faults_spare_programs),
		cmocka_unit_test(every_fault_has_both),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
