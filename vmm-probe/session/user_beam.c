/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding Erlang's machine in a process: its schedulers, its atoms, and its tables of modules. */
#include "vmm-probe/session/user_beam.h"

#include <string.h>

#define SCHEDULERS_MAX 1024u /* of one kind: Erlang's own limit */
#define LOOKED_AT      64u   /* modules of a table that are compared */
#define FUNCTIONS_MAX  (1u << 20)

#define TABLE_WORDS  (VP_BEAM_TABLE_SIZE / 8)
#define TABLES_WORDS (VP_BEAM_TABLES * TABLE_WORDS)

/* The members of a table: a pointer to modules, their number and capacity, and one of them. */
enum { MODULES, USED, ROOM, LAST_FOUND };

/* By the offsets that its headers give on x86-64. */
static const struct vp_beam otp_25 = {
	.scheduler_size = 0xa300,
	.scheduler_thread = 32,
	.scheduler_process = 168,
	.process_stack = VP_BEAM_PROCESS_STACK,
	.process_heap = 120,
	.process_heap_end = 128,
	.process_instruction = VP_BEAM_PROCESS_INSTRUCTION,
	.code_functions = 96,
	.code_lines = 72,
	.function_name = 16,
	.lines_files = 0,
	.lines_width = 8,
	.lines_places = 16,
	.lines_functions = 24,
	.atom_length = 24,
	.atom_name = 32,
};
/* Offsets that no hit uses: the number of a scheduler among those of its kind; the pages of a table. */
#define NORMAL_NUMBER 184u
#define DIRTY_NUMBER  192u
#define ATOM_PAGES    120u

/* --- schedulers ---------------------------------------------------------------------------------------- */

/* Are they at the layout's offsets? They are numbered from 1 on; there may be no dirty ones. */
static bool check_schedulers(const struct vp_user_reader *m, const struct vp_beam *b, unsigned kind,
			     uint32_t number_at)
{
	uint64_t first, n, number;

	if (!vp_user_read_u64(m, b->schedulers[kind].count, &n) || n > SCHEDULERS_MAX ||
	    !vp_user_read_u64(m, b->schedulers[kind].first, &first))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!vp_user_read_u64(m, first + i * b->scheduler_size + number_at, &number) ||
		    number != i + 1)
			return false;
	return kind || n;
}

/* --- modules ------------------------------------------------------------------------------------------- */

/* Can these words be the tables, with @current in use? The others change while modules are loaded. */
static bool look_like_tables(const uint64_t *words, uint32_t current)
{
	const uint64_t *t = words + current * TABLE_WORDS;

	for (unsigned i = 0; i < VP_BEAM_TABLES; i++) {
		const uint64_t *each = words + i * TABLE_WORDS;

		if (each[MODULES] % 8 || each[USED] > VP_BEAM_MODULES_MAX || each[ROOM] > VP_BEAM_MODULES_MAX)
			return false;
	}
	return t[MODULES] && t[USED] && t[USED] <= t[ROOM] &&
	       t[LAST_FOUND] - t[MODULES] <= t[USED] * VP_BEAM_MODULE_SIZE &&
	       (t[LAST_FOUND] - t[MODULES]) % VP_BEAM_MODULE_SIZE == 0;
}

/* Does code from there to @end begin there? Returns the number of its functions, and their places. */
static bool is_module(const struct vp_user_reader *m, const struct vp_beam *b, uint64_t start, uint64_t end)
{
	uint64_t n, first, last;

	return vp_user_read_u64(m, start, &n) && n && n <= FUNCTIONS_MAX &&
	       vp_user_read_u64(m, start + b->code_functions, &first) &&
	       vp_user_read_u64(m, start + b->code_functions + 8 * n, &last) &&
	       first >= start + b->code_functions + 8 * (n + 1) && first < last && last <= end;
}

static bool are_modules(const struct vp_user_reader *m, const struct vp_beam *b, const uint64_t *table)
{
	uint64_t pair[2], before = 0;
	bool any = false;

	for (uint64_t i = 0; i < table[USED] && i < LOOKED_AT; i++) {
		if (!vp_user_read(m, table[MODULES] + i * VP_BEAM_MODULE_SIZE, pair, sizeof(pair)) ||
		    pair[0] <= before || pair[1] < pair[0])
			return false;
		/* One that ends where it begins was unloaded. */
		if (!any && pair[1] > pair[0]) {
			if (!is_module(m, b, pair[0], pair[1]))
				return false;
			any = true;
		}
		before = pair[0];
	}
	return any;
}

/* False: there are none yet. */
static bool find_modules(const struct vp_user_reader *m, const struct vp_beam_file *f, uint64_t bias,
			 struct vp_beam *b)
{
	uint64_t words[TABLES_WORDS];
	uint32_t current;

	if (!vp_user_read_u32(m, b->current, &current) || current >= VP_BEAM_TABLES)
		return false;
	for (uint32_t i = 0; i < f->nplaces; i++) {
		b->modules = f->places[i] + bias;
		if (vp_user_read(m, b->modules, words, sizeof(words)) && look_like_tables(words, current) &&
		    are_modules(m, b, words + current * TABLE_WORDS))
			return true;
	}
	return false;
}

/* --- the machine --------------------------------------------------------------------------------------- */

static void place(const struct vp_beam_file *f, uint64_t bias, struct vp_beam *b)
{
	const uint64_t *s = f->symbols;

	b->emulator_start = s[VP_BEAM_EMULATOR] + bias;
	b->emulator_end = b->emulator_start + f->sizes[VP_BEAM_EMULATOR];
	b->dirty_start = s[VP_BEAM_DIRTY] + bias;
	b->dirty_end = b->dirty_start + f->sizes[VP_BEAM_DIRTY];
	for (unsigned i = 0; i < VP_BEAM_SCHEDULERS; i++)
		b->schedulers[i] = (struct vp_beam_schedulers){ s[VP_BEAM_NORMAL + 2 * i] + bias,
								s[VP_BEAM_NNORMAL + 2 * i] + bias };
	b->current = s[VP_BEAM_CURRENT] + bias;
	b->atoms = s[VP_BEAM_ATOMS] + bias + ATOM_PAGES;
	memcpy(b->registers, f->registers, sizeof(b->registers));
}

/* NULL: the file is suitable. */
static const char *refusal(const struct vp_beam_file *f)
{
	if (!f->has_release)
		return "Erlang's release is not in the guest's memory (etp_otp_release), so that jstack() "
		       "has no frames of its programs; --sysroot DIR, with the file below DIR, helps";
	if (f->compiles)
		return "this Erlang has a JIT, so that jstack() has no frames of its programs; if its "
		       "interpreter is installed too, `erl -emu_flavor emu` starts it";
	if (strcmp(f->release, "25") != 0)
		return "jstack() shows the programs of Erlang/OTP 25; this is another release";
	for (unsigned i = 0; i < VP_BEAM_NSYMBOLS; i++)
		if (!f->symbols[i])
			return "jstack() shows the programs of Erlang/OTP 25 as it is released; this one was "
			       "built "
			       "without some of its variables";
	if (!f->nplaces)
		return "the place of its module tables (erts_start_staging_ranges) is not in the guest's "
		       "memory, so that jstack() has no frames of its programs; --sysroot DIR, with the file "
		       "below DIR, "
		       "helps";
	if (!f->has_registers)
		return "the place of a process's stack pointer in its interpreter (process_main) is not in "
		       "the guest's memory, or not a register, so that jstack() has no frames of its "
		       "programs; "
		       "--sysroot "
		       "DIR, with the file below DIR, helps in the former case";
	return NULL;
}

enum vp_beam_found vp_beam_find(const struct vp_user_reader *m, const struct vp_beam_file *f, uint64_t bias,
				struct vp_beam *ret, const char **ret_why)
{
	struct vp_beam b = otp_25;
	uint64_t first;

	*ret_why = refusal(f);
	if (*ret_why)
		return VP_BEAM_UNKNOWN;
	place(f, bias, &b);
	if (!vp_user_read_u64(m, b.schedulers[0].first, &first) || !first || !find_modules(m, f, bias, &b))
		return VP_BEAM_EARLY;
	if (!check_schedulers(m, &b, 0, NORMAL_NUMBER) || !check_schedulers(m, &b, 1, DIRTY_NUMBER) ||
	    !check_schedulers(m, &b, 2, DIRTY_NUMBER)) {
		*ret_why =
		    "jstack() shows the programs of Erlang/OTP 25 as it is released; this one keeps its "
		    "schedulers in another way";
		return VP_BEAM_UNKNOWN;
	}
	*ret = b;
	return VP_BEAM_FOUND;
}
