/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of the file of Erlang's machine: its symbols and release, the registers of its interpreter,
 * and where its tables of modules may be. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/elf/symbols.h"
#include "vmm-probe/session/user_beam.h"

#define CODE_MAX    (1u << 20) /* bytes of the interpreter's function */
#define TIMES_LEAST 8u         /* occurrences of a register in its place, at least */

/* --- registers ----------------------------------------------------------------------------------------- */

/* The number of occurrences of each register. */
struct counts {
	unsigned of[VP_NREGS_GENERAL];
};

static bool is_clobbered(unsigned reg)
{
	static const enum vp_reg regs[] = { VP_REGS_CLOBBERED };

	for (size_t i = 0; i < OT_ARRAY_SIZE(regs); i++)
		if (regs[i] == reg)
			return true;
	return false;
}

/* The register that occurs in that place more than twice as often as any other. Not one that a call may
 * change: the interpreter would have to save it each time. */
static bool most_frequent(const struct counts *c, uint32_t *ret)
{
	unsigned most = 0, second = 0;

	for (unsigned i = 0; i < VP_NREGS_GENERAL; i++) {
		if (is_clobbered(i))
			continue;
		if (c->of[i] > most) {
			second = most;
			most = c->of[i];
			*ret = i;
		} else if (c->of[i] > second) {
			second = c->of[i];
		}
	}
	return most >= TIMES_LEAST && most > 2 * second;
}

/* Code that schedules a process loads its stack pointer, and code that calls functions which need the
 * position stores the instruction. */
bool vp_beam_registers(const struct vp_code_ops *code, const uint8_t *bytes, uint64_t len,
		       uint32_t ret[VP_BEAM_REGISTERS])
{
	struct counts stack = { 0 }, instruction = { 0 };
	struct vp_move m;
	uint8_t n;

	for (uint64_t at = 0; at < len; at += n ? n : 1) {
		n = code->length(bytes + at, len - at);
		if (!n || !code->move(bytes + at, n, &m) || m.base == VP_REG_SP)
			continue;
		if (!m.store && m.displacement == VP_BEAM_PROCESS_STACK)
			stack.of[m.reg]++;
		else if (m.store && m.displacement == VP_BEAM_PROCESS_INSTRUCTION)
			instruction.of[m.reg]++;
	}
	return most_frequent(&stack, &ret[VP_BEAM_STACK]) &&
	       most_frequent(&instruction, &ret[VP_BEAM_INSTRUCTION]) &&
	       ret[VP_BEAM_STACK] != ret[VP_BEAM_INSTRUCTION];
}

/* A function's bytes, which the caller frees; NULL: it has none. A page that is missing has no instructions
 * here. */
static struct ot_err *read_function(struct vp_elf *elf, const struct vp_beam_file *f,
				    enum vp_beam_symbol symbol, uint8_t **ret)
{
	uint64_t size = f->sizes[symbol], offset;
	uint8_t *bytes;

	*ret = NULL;
	if (!size || size > CODE_MAX || !vp_elf_offset(elf, f->symbols[symbol], size, &offset))
		return NULL;
	bytes = calloc(1, size);
	if (!bytes)
		return ot_err_nomem();
	for (uint64_t at = 0, n; at < size; at += n) {
		n = VP_IMAGE_PAGE - (offset + at) % VP_IMAGE_PAGE;
		n = n < size - at ? n : size - at;
		if (!vp_elf_image_read(elf->image, VP_PART_TEXT, offset + at, bytes + at, n))
			memset(bytes + at, 0, n);
	}
	*ret = bytes;
	return NULL;
}

static struct ot_err *read_registers(struct vp_elf *elf, struct vp_beam_file *f)
{
	ot_auto_free uint8_t *bytes = NULL;
	const struct vp_code_ops *code;
	struct ot_err *err = vp_arch_code(&vp_arch_native, &code);

	if (err) {
		ot_err_destroy(err);
		return NULL;
	}
	OT_TRY(read_function(elf, f, VP_BEAM_EMULATOR, &bytes));
	f->has_registers = bytes && vp_beam_registers(code, bytes, f->sizes[VP_BEAM_EMULATOR], f->registers);
	return NULL;
}

/* --- places -------------------------------------------------------------------------------------------- */

static void add_place(struct vp_beam_file *f, uint64_t place)
{
	if (place < f->data || place >= f->data_end || place % 8 || f->nplaces == VP_BEAM_PLACES_MAX)
		return;
	for (uint32_t i = 0; i < f->nplaces; i++)
		if (f->places[i] == place)
			return;
	f->places[f->nplaces++] = place;
}

/* At any alignment of instructions. Bytes that are not a displacement hardly ever lead to a variable, and the
 * variable's contents are checked. */
void vp_beam_places(struct vp_beam_file *f, const uint8_t *bytes, uint64_t len, uint64_t at)
{
	int32_t n;

	f->nplaces = 0;
	for (uint64_t i = 0; i + sizeof(n) <= len; i++) {
		memcpy(&n, bytes + i, sizeof(n));
		add_place(f, at + i + sizeof(n) + (uint64_t)(int64_t)n);
		add_place(f, (uint64_t)(int64_t)n);
	}
}

static struct ot_err *read_places(struct vp_elf *elf, struct vp_beam_file *f)
{
	ot_auto_free uint8_t *bytes = NULL;

	OT_TRY(read_function(elf, f, VP_BEAM_STAGING, &bytes));
	if (bytes)
		vp_beam_places(f, bytes, f->sizes[VP_BEAM_STAGING], f->symbols[VP_BEAM_STAGING]);
	return NULL;
}

/* --- symbols ------------------------------------------------------------------------------------------- */

static struct ot_err *read_symbols(struct vp_elf *elf, struct vp_beam_file *f)
{
	static const char *const names[] = {
#define NAME(name, text) text,
		VP_BEAM_SYMBOLS(NAME)
#undef NAME
	};
	struct vp_elf_symbols symbols = { 0 };
	struct ot_err *err =
	    vp_elf_symbols_add(elf, &elf->dynsym, VP_PART_DYNAMIC, VP_PART_DYNAMIC, &symbols);

	for (size_t i = 0; i < symbols.count; i++)
		for (size_t k = 0; k < VP_BEAM_NSYMBOLS; k++)
			if (!strcmp(vp_elf_symbol_name(&symbols, &symbols.items[i]), names[k])) {
				f->symbols[k] = symbols.items[i].addr;
				f->sizes[k] = symbols.items[i].size;
			}
	vp_elf_symbols_deinit(&symbols);
	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err); /* an invalid file has no symbols */
	f->is_beam = f->symbols[VP_BEAM_NORMAL] && f->symbols[VP_BEAM_ATOMS] && f->symbols[VP_BEAM_RELEASE];
	return NULL;
}

static void read_data(const struct vp_elf *elf, struct vp_beam_file *f)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_W && p->p_memsz <= UINT64_MAX - p->p_vaddr) {
			f->data = p->p_vaddr;
			f->data_end = p->p_vaddr + p->p_memsz;
			return;
		}
	}
}

static bool read_at(struct vp_elf *elf, uint64_t addr, void *dst, size_t len)
{
	uint64_t offset;

	return vp_elf_offset(elf, addr, len, &offset) &&
	       vp_elf_image_read(elf->image, VP_PART_TEXT, offset, dst, len);
}

/* A release without the variable is older than the compiler. */
static void read_release(struct vp_elf *elf, struct vp_beam_file *f)
{
	const uint64_t at = f->symbols[VP_BEAM_COMPILES];
	uint64_t size = f->sizes[VP_BEAM_RELEASE];

	size = size < sizeof(f->release) ? size : sizeof(f->release) - 1;
	memset(f->release, 0, sizeof(f->release));
	f->has_release = read_at(elf, f->symbols[VP_BEAM_RELEASE], f->release, size) &&
			 (!at || read_at(elf, at, &f->compiles, sizeof(f->compiles)));
}

/* Also of a copy, which is linked as the guest's file is. */
static struct ot_err *read_rest(void *arg, struct vp_elf *elf)
{
	struct vp_beam_file *f = arg;

	if (!f->has_release)
		read_release(elf, f);
	if (!f->nplaces)
		OT_TRY(read_places(elf, f));
	return f->has_registers ? NULL : read_registers(elf, f);
}

struct ot_err *vp_beam_file_read(struct vp_elf *elf, const struct vp_user_wanted *wanted,
				 struct vp_beam_file *ret)
{
	struct vp_beam_file f = { 0 };

	OT_TRY(read_symbols(elf, &f));
	if (!f.is_beam) {
		*ret = (struct vp_beam_file){ 0 };
		return NULL;
	}
	read_data(elf, &f);
	OT_TRY(read_rest(&f, elf));
	if (!f.has_release || (!f.compiles && (!f.has_registers || !f.nplaces)))
		OT_TRY(vp_user_files_each(wanted, read_rest, &f));
	*ret = f;
	return NULL;
}
