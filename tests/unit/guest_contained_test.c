/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest/contained: a guest that a child reads is the one that this process would have read; a reader that
 * crashes, spins, eats memory or does what it may not is one line, and harms nothing; and an answer that was
 * tampered with is refused, or is as good as any.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "guest_fixture.h"
#include "pace.h"
#include "vmm-probe/guest/contained.h"
#include "vmm-probe/guest/contained_internal.h"
#include "vmm-probe/guest/orc.h"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, false, true, 4, false, false };

/* --- readers that misbehave ------------------------------------------------------------------------------- */

enum fault { NONE, CRASHES, SPINS, EATS_MEMORY, OPENS_A_SOCKET, SAYS_SO };

static enum fault fault;
static pid_t self; /* whoever reads has to be somebody else */

/* Linked with --wrap: what the three readings begin with. */
struct ot_err *__real_vp_kernel_find(const struct vp_arch_ops *arch, const struct vp_phys *phys,
				     const struct vp_regs *regs, size_t nregs, struct vp_kernel *ret,
				     struct vp_image *ret_image);
struct ot_err *__wrap_vp_kernel_find(const struct vp_arch_ops *arch, const struct vp_phys *phys,
				     const struct vp_regs *regs, size_t nregs, struct vp_kernel *ret,
				     struct vp_image *ret_image);
struct ot_err *__real_vp_modules_read(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva head,
				      const struct vp_module_layout *l, struct vp_modules *ret);
struct ot_err *__wrap_vp_modules_read(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva head,
				      const struct vp_module_layout *l, struct vp_modules *ret);
struct ot_err *__wrap_vp_orc_table(struct vp_guest *guest, struct ot_buf *out);

static struct ot_err *misbehave(void)
{
	volatile bool forever = true;

	if (fault != NONE)
		assert_int_not_equal(getpid(), self);
	switch (fault) {
	case NONE:
		break;
	case CRASHES:
		raise(SIGSEGV);
		break;
	case SPINS:
		while (forever)
			;
		break;
	case EATS_MEMORY:
		while (mmap(NULL, 1u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		       MAP_FAILED)
			;
		return ot_err_nomem();
	case OPENS_A_SOCKET:
		(void)socket(AF_UNIX, SOCK_STREAM, 0);
		break;
	case SAYS_SO:
		return ot_err_new(OT_ERR_BUSY, "try again");
	}
	return NULL;
}

struct ot_err *__wrap_vp_kernel_find(const struct vp_arch_ops *arch, const struct vp_phys *phys,
				     const struct vp_regs *regs, size_t nregs, struct vp_kernel *ret,
				     struct vp_image *ret_image)
{
	OT_TRY(misbehave());
	return __real_vp_kernel_find(arch, phys, regs, nregs, ret, ret_image);
}

struct ot_err *__wrap_vp_modules_read(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva head,
				      const struct vp_module_layout *l, struct vp_modules *ret)
{
	OT_TRY(misbehave());
	return __real_vp_modules_read(phys, mmu, head, l, ret);
}

/* The synthetic guest has no stack tables: this is one, of two rules. */
struct ot_err *__wrap_vp_orc_table(struct vp_guest *guest, struct ot_buf *out)
{
	const struct vp_orc_header h = { VP_ORC_MAGIC, 2 };

	(void)guest;
	OT_TRY(misbehave());
	ot_buf_append(out, &h, sizeof(h));
	ot_buf_zero(out, 2 * (sizeof(uint64_t) + sizeof(struct vp_orc_rule)));
	return NULL;
}

/* --- a guest ---------------------------------------------------------------------------------------------- */

static struct ot_err *open_guest(struct guest_fixture *g, struct vp_guest_opts opts, struct vp_guest **ret)
{
	struct vp_regs regs = guest_regs(g, GUEST_CR3);

	opts.phys = opts.phys ? opts.phys : g->phys;
	opts.regs = &regs;
	opts.nregs = 1;
	struct ot_err *err = vp_contained_open(&opts, ret);
	/* the child is gone, whatever came of it */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return err;
}

static void assert_same_symbols(const struct vp_symtab *a, const struct vp_symtab *b)
{
	assert_int_equal(vp_symtab_count(a), vp_symtab_count(b));
	for (size_t i = 0; i < vp_symtab_count(a); i++) {
		const struct vp_symbol *x = vp_symtab_at(a, i), *y = vp_symtab_at(b, i);

		assert_int_equal(x->addr, y->addr);
		assert_int_equal(x->type, y->type);
		assert_int_equal(x->flags, y->flags);
		assert_string_equal(vp_symbol_name(a, x), vp_symbol_name(b, y));
		assert_string_equal(vp_symbol_module(a, x), vp_symbol_module(b, y));
		assert_int_equal(vp_symbol_size(a, x), vp_symbol_size(b, y));
	}
}

static void assert_same(struct vp_guest *a, struct vp_guest *b)
{
	const struct vp_kernel *x = vp_guest_kernel(a), *y = vp_guest_kernel(b);

	assert_ptr_equal(x->arch, y->arch);
	assert_int_equal(x->base.v, y->base.v);
	assert_int_equal(x->size, y->size);
	assert_int_equal(x->phys_base, y->phys_base);
	assert_int_equal(x->mmu.root.v, y->mmu.root.v);
	assert_int_equal(x->mmu.levels, y->mmu.levels);
	assert_ptr_equal(x->mmu.paging, y->mmu.paging);
	assert_int_equal(x->banner_addr.v, y->banner_addr.v);
	assert_string_equal(x->banner, y->banner);
	assert_string_equal(x->release, y->release);
	assert_int_equal(x->build_id_addr.v, y->build_id_addr.v);
	assert_int_equal(x->build_id_len, y->build_id_len);
	assert_memory_equal(x->build_id, y->build_id, sizeof(x->build_id));
	assert_int_equal(x->token_table, y->token_table);
	assert_int_equal(x->unmapped, y->unmapped);
	assert_string_equal(vp_guest_note(a), vp_guest_note(b));
	assert_same_symbols(vp_guest_symtab(a), vp_guest_symtab(b));
}

static void the_child_reads_the_same(void **state)
{
	struct guest_fixture g;
	struct vp_guest *here, *there;

	(void)state;
	for (unsigned levels = 4; levels <= 5; levels++) {
		guest_fixture_init(&g, &layout, levels);
		struct vp_regs regs = guest_regs(&g, GUEST_CR3);
		const struct vp_guest_opts opts = { .phys = g.phys, .regs = &regs, .nregs = 1 };
		assert_ok(vp_guest_open(&opts, &here));
		assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &there));
		assert_same(here, there);
		vp_guest_destroy(here);
		vp_guest_destroy(there);
		guest_fixture_deinit(&g);
	}
}

/* As a VMM hands it over: open for writing. */
static void memory_of_a_file_is_only_read(void **state)
{
	int fd = memfd_create("RAM", MFD_CLOEXEC);
	struct vp_guest_opts opts = { 0 };
	struct guest_fixture g;
	struct vp_guest *guest;
	struct vp_phys *phys;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	assert_ok(ot_write_all(fd, g.ram, GUEST_RAM));
	assert_ok(vp_phys_create(&phys));
	assert_ok(vp_phys_add_file(phys, vp_gpa(0), GUEST_RAM, fd, 0));
	opts.phys = phys;
	memset(g.ram, 0, GUEST_RAM); /* it is not the fixture's own that is read */
	assert_ok(open_guest(&g, opts, &guest));
	assert_string_equal(vp_guest_kernel(guest)->release, "6.9.0-test");
	vp_guest_destroy(guest);
	vp_phys_destroy(phys);
	guest_fixture_deinit(&g);
	close(fd);
}

struct asked {
	struct guest_fixture *g;
	unsigned times;
	bool fails;
};

static struct ot_err *read_for_child(void *arg, uint64_t gpa, void *dst, size_t len)
{
	struct asked *a = arg;

	assert_int_equal(getpid(), self);
	a->times++;
	if (a->fails)
		return ot_err_new(OT_ERR_GUEST_GONE, "the stub has hung up");
	memcpy(dst, a->g->ram + gpa, len);
	return NULL;
}

/* A gdb stub's memory: the connection could write it, and the child hasn't got it. */
static void memory_without_a_descriptor_is_asked_for(void **state)
{
	struct asked a = { 0 };
	struct vp_guest_opts opts = { .patient = true };
	struct guest_fixture g;
	struct vp_guest *guest;
	struct vp_phys *phys;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	a.g = &g;
	assert_ok(vp_phys_create(&phys));
	assert_ok(vp_phys_add_reader(phys, vp_gpa(0), GUEST_RAM, read_for_child, &a));
	opts.phys = phys;
	assert_ok(open_guest(&g, opts, &guest));
	assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
	assert_true(a.times > 64);
	vp_guest_destroy(guest);
	a.fails = true;
	assert_err(open_guest(&g, opts, &guest), OT_ERR_GUEST_GONE, "the stub has hung up");
	vp_phys_destroy(phys);
	guest_fixture_deinit(&g);
}

static void note_step(void *ctx, const char *step)
{
	strcat(ctx, step);
	strcat(ctx, ", ");
}

static void steps_and_files_faults_are_told(void **state)
{
	char told[256] = "";
	bool file_fault = false;
	struct vp_guest_opts opts = { .progress = note_step,
				      .progress_ctx = told,
				      .ret_file_fault = &file_fault };
	struct guest_fixture g;
	struct vp_guest *guest;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	assert_ok(open_guest(&g, opts, &guest));
	vp_guest_destroy(guest);
	assert_string_equal(told, "locating the kernel, reading symbols, reading types, ");
	assert_false(file_fault);
	opts.symbols = "/dev/null"; /* it can be opened, and says nothing */
	assert_err(open_guest(&g, opts, &guest), OT_ERR_BAD_DATA, "/dev/null does not contain");
	assert_true(file_fault);
	file_fault = false;
	opts.symbols = "/nonexistent";
	assert_err(open_guest(&g, opts, &guest), OT_ERR_OS, "cannot open /nonexistent");
	assert_true(file_fault);
	guest_fixture_deinit(&g);
}

/* --- one line, and the rest goes on ----------------------------------------------------------------------- */

static const struct {
	enum fault fault;
	enum ot_err_code code;
	const char *line;
} ends[] = {
	{ CRASHES, OT_ERR_BAD_DATA, "the guest: its reader crashed (Segmentation fault)" },
	{ SPINS, OT_ERR_LIMIT, "the guest: reading it took more than" }, /* by whichever clock was first */
	{ EATS_MEMORY, OT_ERR_LIMIT, "MiB of memory" },
	{ OPENS_A_SOCKET, OT_ERR_BAD_DATA, "the guest: its reader made a system call that it may not make" },
	{ SAYS_SO, OT_ERR_BUSY, "try again" },
};

static void assert_one_line(struct ot_err *err, enum ot_err_code code, const char *part)
{
	assert_non_null(err);
	assert_null(strchr(ot_err_message(err), '\n'));
	assert_err(err, code, part);
}

/* A session that has one guest attaches another, whose reader misbehaves; and then that other one again. */
static void a_reader_that_misbehaves_is_one_line(void **state)
{
	struct guest_fixture g, other;
	struct vp_guest *first, *guest;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	guest_fixture_init(&other, &layout, 5);
	assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &first));
	for (size_t i = 0; i < OT_ARRAY_SIZE(ends); i++) {
		if (ends[i].fault == SPINS)
			continue; /* for as long as opening may take: below, where it is less */
		fault = ends[i].fault;
		assert_one_line(open_guest(&other, (struct vp_guest_opts){ 0 }, &guest), ends[i].code,
				ends[i].line);
		fault = NONE;
		assert_int_equal(vp_symtab_count(vp_guest_symtab(first)), KS_SYMBOLS);
		assert_ok(open_guest(&other, (struct vp_guest_opts){ 0 }, &guest));
		assert_same_symbols(vp_guest_symtab(first), vp_guest_symtab(guest));
		vp_guest_destroy(guest);
	}
	vp_guest_destroy(first);
	guest_fixture_deinit(&g);
	guest_fixture_deinit(&other);
}

static void an_open_guest_stays_as_it_was(void **state)
{
	struct guest_fixture g;
	struct vp_guest *guest;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &guest));
	memset(&guest->layout, 0xff, sizeof(guest->layout));
	guest->layout.list = 8;
	guest->layout.name = 24;
	guest->layout.name_size = 56;
	guest->have_layout = true;
	for (size_t i = 0; i < OT_ARRAY_SIZE(ends); i++) {
		fault = ends[i].fault;
		assert_one_line(vp_contained_modules_update(guest), ends[i].code, ends[i].line);
		fault = NONE;
		assert_ok(vp_contained_modules_update(guest));
		assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
	}
	vp_guest_destroy(guest);
	guest_fixture_deinit(&g);
}

static void a_stack_table_is_checked(void **state)
{
	struct vp_confined_result table = { 0 };
	struct guest_fixture g;
	struct vp_guest *guest;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &guest));
	assert_ok(vp_contained_orc_table(guest, &table));
	assert_int_equal(table.len, sizeof(struct vp_orc_header) + 32);
	vp_confined_result_deinit(&table);
	fault = CRASHES;
	assert_one_line(vp_contained_orc_table(guest, &table), OT_ERR_BAD_DATA, "its reader crashed");
	fault = NONE;
	vp_guest_destroy(guest);
	guest_fixture_deinit(&g);
}

/* --- answers that were tampered with ---------------------------------------------------------------------- */

/* A list of modules as it was found: two of one name, one without symbols. */
static void find_some(struct vp_arrivals *found)
{
	static const char *const names[] = { "first", "second", "first", "empty" };
	struct vp_module *list = calloc(OT_ARRAY_SIZE(names), sizeof(*list));
	uint16_t number = 0;

	assert_non_null(list);
	assert_ok(vp_symtab_create(&found->symbols));
	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++) {
		uint64_t at = GUEST_MODULES + i * 0x10000;

		strcpy(list[i].name, names[i]);
		list[i].addr = vp_gva(at);
		list[i].live = list[i].formed = true;
		list[i].nranges = 2;
		list[i].ranges[0] = (struct vp_module_range){ at, at + 0x1000 };
		list[i].ranges[1] = (struct vp_module_range){ at + 0x4000, at + 0x5000 };
		list[i].btf_size = 0x100;
		if (i == 3)
			continue;
		if (vp_symtab_find_module(found->symbols, names[i]) < 0)
			assert_ok(vp_symtab_add_module(found->symbols, names[i], &number));
		for (uint64_t s = 0; s < 3; s++)
			assert_ok(
			    vp_symtab_add(found->symbols, at + s * 16, 't', number, 0, "a_function", 10));
	}
	found->list = (struct vp_modules){ .list = list, .count = OT_ARRAY_SIZE(names), .skipped = 1 };
}

/* Use all that was accepted, as the rest of this program does. */
static void use(const struct vp_symtab *symtab)
{
	for (size_t i = 0; i < vp_symtab_count(symtab); i++) {
		const struct vp_symbol *s = vp_symtab_at(symtab, i);

		assert_true(strlen(vp_symbol_name(symtab, s)) <= VP_SYM_NAME_MAX);
		assert_true(strlen(vp_symbol_module(symtab, s)) < VP_MODULE_NAME_MAX);
	}
}

static bool core_is_taken(const void *data, size_t len)
{
	const struct vp_guest_opts opts = { 0 };
	struct vp_guest *guest = vp_guest_new(&opts);
	const uint8_t *btf = NULL;
	size_t btf_size = 0;
	struct ot_err *err = vp_answer_take_core(data, len, guest, &btf, &btf_size);
	bool ok = !err;

	if (ok) {
		use(guest->symtab);
		assert_true(strlen(guest->kernel.banner) < VP_BANNER_MAX);
		assert_true(guest->kernel.size <= VP_KERNEL_SIZE_MAX);
		assert_true(!btf || btf + btf_size <= (const uint8_t *)data + len);
	} else {
		assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	}
	ot_err_destroy(err);
	vp_guest_destroy(guest);
	return ok;
}

static bool modules_are_taken(const void *data, size_t len)
{
	ot_auto(vp_arrivals_deinit) struct vp_arrivals found = { 0 };
	struct ot_err *err = vp_answer_take_modules(data, len, &found);
	bool ok = !err;

	if (ok)
		use(found.symbols);
	for (size_t i = 0; i < found.list.count; i++)
		assert_true(found.list.list[i].nranges <= VP_MODULE_RANGES_MAX);
	if (!ok)
		assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	ot_err_destroy(err);
	return ok;
}

/* To the byte, so that the sanitizer sees each step over its end. */
static bool take_copy(bool (*take)(const void *data, size_t len), const void *data, size_t len)
{
	void *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, data, len);
	bool ok = take(copy, len);
	free(copy);
	return ok;
}

/* Bits, words that mean most, and cuts: most hits are in heads and records, where the checks are. */
static void tamper(bool (*take)(const void *data, size_t len), const struct ot_buf *answer)
{
	static const uint64_t words[] = {
		0, 1, 0xff, 0xffff, 0xffffffff, UINT64_MAX, 1ull << 63, 1ull << 32
	};
	unsigned rounds = pace_rounds(500, 10000), refused = 0;
	uint32_t seed = 1;
	uint8_t *bytes = malloc(answer->len);

	assert_non_null(bytes);
	for (unsigned round = 0; round < rounds; round++) {
		size_t len = answer->len;

		memcpy(bytes, answer->data, len);
		for (unsigned i = 0; i <= round % 4; i++) {
			seed = seed * 1664525u + 1013904223u;
			size_t at = (seed >> 4) % (seed & 1 ? (len < 1500 ? len : 1500) : len);
			seed = seed * 1664525u + 1013904223u;
			if ((seed >> 8) % 4 == 0 && at + 8 <= len)
				memcpy(bytes + at, &words[(seed >> 16) % OT_ARRAY_SIZE(words)], 8);
			else if ((seed >> 8) % 16 == 1)
				len = at;
			else
				bytes[at] ^= (uint8_t)(1u << (seed >> 16) % 8);
			if (!len)
				break;
		}
		refused += !take_copy(take, bytes, len);
	}
	free(bytes);
	print_message("%u answers, %u refused\n", rounds, refused);
	assert_true(refused > rounds / 10);
	assert_true(refused < rounds);
}

static void a_broken_kernel_is_refused(void **state)
{
	struct guest_fixture g;
	struct vp_guest *guest;
	struct ot_buf answer;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &guest));
	guest->btf_data = g.ram;
	guest->btf_size = 100;
	guest->orc = (struct vp_orc_raw){ g.ram, 40, vp_gva(GUEST_BASE), g.ram, 60 };
	ot_buf_init(&answer);
	vp_answer_put_core(guest, &answer);
	assert_true(take_copy(core_is_taken, answer.data, answer.len));
	for (size_t len = 0; len < answer.len; len += len < 2000 ? 1 : 1001)
		assert_false(take_copy(core_is_taken, answer.data, len));
	tamper(core_is_taken, &answer);
	ot_buf_deinit(&answer);
	guest->btf_data = NULL;
	guest->orc = (struct vp_orc_raw){ 0 };
	vp_guest_destroy(guest);
	guest_fixture_deinit(&g);
}

static void broken_modules_are_refused(void **state)
{
	ot_auto(vp_arrivals_deinit) struct vp_arrivals found = { 0 }, taken = { 0 };
	struct ot_buf answer;

	(void)state;
	find_some(&found);
	ot_buf_init(&answer);
	vp_answer_put_modules(&found, &answer);
	assert_ok(vp_answer_take_modules(answer.data, answer.len, &taken));
	assert_int_equal(taken.list.count, 4);
	assert_int_equal(taken.list.skipped, 1);
	assert_string_equal(taken.list.list[3].name, "empty");
	assert_int_equal(taken.list.list[1].ranges[1].end, GUEST_MODULES + 0x15000);
	assert_int_equal(taken.list.list[2].btf_size, 0x100);
	assert_int_equal(vp_symtab_count(taken.symbols), 9);
	assert_string_equal(vp_symbol_module(taken.symbols, vp_symtab_at(taken.symbols, 4)), "second");
	for (size_t len = 0; len < answer.len; len++)
		assert_false(take_copy(modules_are_taken, answer.data, len));
	tamper(modules_are_taken, &answer);
	ot_buf_deinit(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_child_reads_the_same),
		cmocka_unit_test(memory_of_a_file_is_only_read),
		cmocka_unit_test(memory_without_a_descriptor_is_asked_for),
		cmocka_unit_test(steps_and_files_faults_are_told),
		cmocka_unit_test(a_reader_that_misbehaves_is_one_line),
		cmocka_unit_test(an_open_guest_stays_as_it_was),
		cmocka_unit_test(a_stack_table_is_checked),
		cmocka_unit_test(a_broken_kernel_is_refused),
		cmocka_unit_test(broken_modules_are_refused),
	};

	self = getpid();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
