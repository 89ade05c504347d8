/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dwarf: the copies of a program that is compiled for this, executed to see where they are and what their
 * parameters are there; and files that are something else. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/io.h"
#include "pace.h"
#include "vmm-probe/confined/confined.h"
#include "vmm-probe/dwarf/copies.h"
#include "vmm-probe/dwarf/reader.h"

#define BASE      0x400000ull /* where the program is linked */
#define CALLS_MAX 32u

static struct ot_err *read_copies(void *fd, struct ot_buf *result)
{
	return vp_dwarf_copies(*(int *)fd, result);
}

static struct ot_err *read_fd(int fd, struct ot_buf *ret)
{
	const struct vp_confined_job job = {
		.what = "FILE",
		.run = read_copies,
		.arg = &fd,
		.fds = &fd,
		.nfds = 1,
		.limits = { .memory_mib = 256, .cpu_s = 20, .wall_s = 600, .result_mib = 16 },
	};

	struct vp_confined_result result = { 0 };
	struct ot_err *err = vp_confined_run(&job, &result);

	if (!err)
		ot_buf_append(ret, result.data, result.len);
	vp_confined_result_deinit(&result);
	return err;
}

static struct ot_err *read_path(const char *path, struct vp_copies *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct ot_buf buf;

	assert_true(fd >= 0);
	ot_buf_init(&buf);
	struct ot_err *err = read_fd(fd, &buf);
	size_t len = buf.len;
	close(fd);
	if (!err)
		err = vp_copies_open(ot_buf_take(&buf), len, ret);
	return err;
}

static const struct vp_copies_function *function(const struct vp_copies *c, const char *name)
{
	for (uint32_t i = 0; i < c->head->nfunctions; i++)
		if (!strcmp(vp_copies_string(c, c->functions[i].name), name))
			return &c->functions[i];
	return NULL;
}

/* --- what is in it ---------------------------------------------------------------------------------------- */

static void test_functions(void **state)
{
	static const char *const names[] = { "value", "from", "what", "unused" };
	static const char *const types[] = { "long int", "long int *", "unsigned int", "long int" };
	struct vp_copies c;

	(void)state;
	assert_null(read_path(INLINED_PROGRAM, &c));
	const struct vp_copies_function *f = function(&c, "note");
	assert_non_null(f);
	assert_int_equal(f->flags, 0);
	assert_int_equal(f->nparams, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct vp_copies_param *p = &c.params[f->first_param + i];

		assert_string_equal(vp_copies_string(&c, p->name), names[i]);
		assert_string_equal(vp_copies_string(&c, p->type), types[i]);
	}
	/* as the linker made it: --build-id=0x0102030405060708 */
	assert_int_equal(c.head->build_id_len, 8);
	assert_memory_equal(c.head->build_id, "\1\2\3\4\5\6\7\10", 8);
	vp_copies_deinit(&c);
}

/* --- where they are: the program runs --------------------------------------------------------------------- */

/* What the program's calls of note() pass, in order. @pointed is what `from` points to. */
static const struct call {
	long value, pointed;
	unsigned what;
} calls[] = {
	{ 7, 20, 3 }, { 77, 30, 5 }, { 0, 10, 3 }, { 1, 20, 3 }, { 2, 30, 3 }, { 3, 3, 9 }, { 8, 40, 4 }
};

static uint64_t word_at(pid_t pid, uint64_t addr)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)addr, NULL);
}

static void set_byte(pid_t pid, uint64_t addr, uint8_t byte)
{
	uint64_t word = (word_at(pid, addr) & ~0xffull) | byte;

	assert_int_equal(ptrace(PTRACE_POKEDATA, pid, (void *)(uintptr_t)addr, (void *)(uintptr_t)word), 0);
}

static uint64_t register_of(const struct user_regs_struct *r, uint8_t dwarf)
{
	const uint64_t regs[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
				  r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15 };

	assert_true(dwarf < 16);
	return regs[dwarf];
}

/* False: it is not available. */
static bool value_of(pid_t pid, const struct user_regs_struct *regs, const struct vp_copies_place *p,
		     uint64_t *ret)
{
	switch ((enum vp_place_kind)p->kind) {
	case VP_PLACE_CONST:
		*ret = (uint64_t)p->value;
		return true;
	case VP_PLACE_ADDRESS:
		*ret = BASE + (uint64_t)p->value;
		return true;
	case VP_PLACE_REG:
		*ret = register_of(regs, p->reg) + (uint64_t)p->value;
		return true;
	case VP_PLACE_MEMORY:
		*ret = word_at(pid, register_of(regs, p->reg) + (uint64_t)p->value);
		if (p->size < 8)
			*ret &= (1ull << 8 * p->size) - 1;
		return true;
	default:
		return false;
	}
}

/* The program is at @copy's first instruction, for the n-th time that it is at any. *known counts arguments.
 */
static void check_call(pid_t pid, const struct user_regs_struct *regs, const struct vp_copies *c,
		       const struct vp_copies_copy *copy, unsigned n, unsigned *known)
{
	const struct vp_copies_place *places = &c->places[copy->first_place];
	uint64_t value;

	assert_true(n < OT_ARRAY_SIZE(calls));
	if (value_of(pid, regs, &places[0], &value)) {
		assert_int_equal((long)value, calls[n].value);
		++*known;
	}
	if (value_of(pid, regs, &places[1], &value)) {
		assert_int_equal((long)word_at(pid, value), calls[n].pointed);
		++*known;
	}
	if (value_of(pid, regs, &places[2], &value)) {
		assert_int_equal((unsigned)value, calls[n].what);
		++*known;
	}
}

static pid_t start_program(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(INLINED_PROGRAM, INLINED_PROGRAM, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSTOPPED(status) ? pid : -1;
}

/* Continue to the next copy; NULL: the program is at its end. */
static const struct vp_copies_copy *next_copy(pid_t pid, const struct vp_copies *c,
					      const struct vp_copies_function *f,
					      struct user_regs_struct *regs)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	if (WSTOPSIG(status) != SIGTRAP) {
		assert_int_equal(WSTOPSIG(status), SIGILL);
		return NULL;
	}
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, regs), 0);
	regs->rip--;
	for (uint32_t i = 0; i < f->ncopies; i++)
		if (BASE + c->copies[f->first_copy + i].entry == regs->rip)
			return &c->copies[f->first_copy + i];
	fail_msg("no copy at 0x%llx", (unsigned long long)regs->rip);
	return NULL;
}

/* Execute the instruction that the breakpoint at regs->rip covers. */
static void step_over(pid_t pid, struct user_regs_struct *regs, uint8_t byte)
{
	int status;

	set_byte(pid, regs->rip, byte);
	assert_int_equal(ptrace(PTRACE_SETREGS, pid, NULL, regs), 0);
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	set_byte(pid, regs->rip, 0xcc);
}

/* Each call is at a copy, once, whose parameters are what was passed: so no copy is missing, none is passed
 * in another way, and no parameter is read where the copy has already changed it. */
static void test_executed(void **state)
{
	struct user_regs_struct regs;
	const struct vp_copies_copy *copy;
	uint8_t bytes[CALLS_MAX];
	unsigned n = 0, known = 0;
	struct vp_copies c;

	(void)state;
	assert_null(read_path(INLINED_PROGRAM, &c));
	const struct vp_copies_function *f = function(&c, "note");
	assert_in_range(f->ncopies, 4, CALLS_MAX);
	pid_t pid = start_program();
	if (pid < 0) {
		print_message("SKIP: ptrace(2) is refused here\n");
		skip();
	}
	for (uint32_t i = 0; i < f->ncopies; i++) {
		uint64_t at = BASE + c.copies[f->first_copy + i].entry;

		bytes[i] = (uint8_t)word_at(pid, at);
		set_byte(pid, at, 0xcc);
	}
	while ((copy = next_copy(pid, &c, f, &regs))) {
		check_call(pid, &regs, &c, copy, n++, &known);
		step_over(pid, &regs, bytes[copy - &c.copies[f->first_copy]]);
	}
	assert_int_equal(n, OT_ARRAY_SIZE(calls));
	assert_true(known >= 2 * OT_ARRAY_SIZE(calls));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	vp_copies_deinit(&c);
}

/* --- other files ------------------------------------------------------------------------------------------ */

static void expect_error(const char *path, enum ot_err_code code, const char *text)
{
	struct vp_copies c;
	struct ot_err *err = read_path(path, &c);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	assert_non_null(strstr(ot_err_message(err), text));
	assert_ptr_equal(strstr(ot_err_message(err), "FILE: "), ot_err_message(err));
	ot_err_destroy(err);
}

static void test_other_files(void **state)
{
	(void)state;
	expect_error(INLINED_PROGRAM ".c", OT_ERR_BAD_DATA, "it is no ELF file");
	expect_error(INLINED_PROGRAM ".stripped", OT_ERR_NOT_FOUND,
		     "it has no debugging information (DWARF)");
	expect_error("/dev/null", OT_ERR_BAD_DATA, "it is no ELF file");
}

/* Numbers that are the same in each run. */
static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33);
}

/* A damaged file is an error of one line, or a block that can be checked. */
static void test_damaged(void **state)
{
	unsigned rounds = (unsigned)pace_rounds(150, 5000), errors = 0;
	uint64_t seed = 1;
	char *data;
	size_t len;

	(void)state;
	assert_null(ot_read_file(INLINED_PROGRAM, 1 << 20, &data, &len));
	for (unsigned i = 0; i < rounds; i++) {
		int fd = memfd_create("damaged", MFD_CLOEXEC);
		struct ot_buf buf;
		struct vp_copies c;

		assert_null(ot_write_all(fd, data, i % 8 ? len : next_random(&seed) % len));
		for (unsigned n = 1 + next_random(&seed) % 8; n; n--) {
			uint8_t byte = (uint8_t)next_random(&seed);

			assert_int_equal(pwrite(fd, &byte, 1, next_random(&seed) % (off_t)len), 1);
		}
		ot_buf_init(&buf);
		struct ot_err *err = read_fd(fd, &buf);
		size_t size = buf.len;
		close(fd);
		if (err) {
			assert_null(strchr(ot_err_message(err), '\n'));
			errors++;
			ot_err_destroy(err);
			continue;
		}
		assert_null(vp_copies_open(ot_buf_take(&buf), size, &c));
		vp_copies_deinit(&c);
	}
	print_message("%u damaged files: %u errors\n", rounds, errors);
	free(data);
}

/* --- what a child may claim ------------------------------------------------------------------------------- */

/* A copy of the block's bytes, of which the caller changes some. */
static char *block(size_t *ret_len)
{
	int fd = open(INLINED_PROGRAM, O_RDONLY | O_CLOEXEC);
	struct ot_buf buf;

	ot_buf_init(&buf);
	assert_null(read_fd(fd, &buf));
	close(fd);
	*ret_len = buf.len;
	return ot_buf_take(&buf);
}

static bool is_refused(const char *bytes, size_t len)
{
	char *data = malloc(len + 1); /* to the byte, for a sanitizer */
	struct vp_copies c;

	memcpy(data, bytes, len);
	struct ot_err *err = vp_copies_open(data, len, &c);
	if (err)
		free(data);
	else
		vp_copies_deinit(&c);
	bool refused = err != NULL;
	ot_err_destroy(err);
	return refused;
}

static void test_block(void **state)
{
	size_t len;
	char *bytes = block(&len);

	(void)state;
	assert_false(is_refused(bytes, len));
	for (size_t cut = 0; cut < len; cut++)
		assert_true(is_refused(bytes, cut));
	/* each word an index or a size that is out of bounds; only names and values may be anything */
	for (size_t at = 0; at + 4 <= len; at += 4) {
		uint32_t word, large = 0x7fffffff;

		memcpy(&word, bytes + at, 4);
		memcpy(bytes + at, &large, 4);
		(void)is_refused(bytes, len);
		if (at >= offsetof(struct vp_copies_head, build_id_len) &&
		    at < offsetof(struct vp_copies_head, pad))
			assert_true(is_refused(bytes, len));
		memcpy(bytes + at, &word, 4);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),   cmocka_unit_test(test_executed),
		cmocka_unit_test(test_other_files), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_block),
	};

	return cmocka_run_group_tests_name("dwarf_copies", tests, NULL, NULL);
}
