/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a module's symbols: struct mod_kallsyms points to an ELF symbol table, its strings and an array of
 * type characters. All three are in the module's own memory, which bounds them.
 */
#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/modules.h"

#define EXPORTS_MAX   65536u
#define CHECK_EXPORTS 1024u
#define EXPORT_COST   64u /* bytes of a map's entry without the name */

/* The state of reading one module's symbols. */
struct reader {
	const struct vp_phys *phys;
	struct vp_mmu *mmu;
	const struct vp_module_layout *layout;
	const struct vp_module *module;
	Elf64_Sym *syms;
	size_t nsyms;
	char *strings; /* followed by a NUL */
	size_t strings_size;
	char *types;           /* NULL on kernels that keep the type in st_info */
	struct ot_map exports; /* names of exported symbols */
	uint64_t charged;      /* to the budget; returned at the end */
};

static void reader_deinit(struct reader *r)
{
	vp_budget_give(r->charged);
	free(r->syms);
	free(r->strings);
	free(r->types);
	ot_map_deinit(&r->exports);
}

static struct ot_err *read_u64(struct reader *r, uint64_t addr, uint32_t off, uint64_t *ret)
{
	if (off == VP_MODULE_NONE)
		return ot_err_new(OT_ERR_NOT_FOUND, "a member is not in the guest's BTF");
	return vp_mmu_read(r->phys, r->mmu, vp_gva(addr + off), ret, sizeof(*ret));
}

static struct ot_err *charge(struct reader *r, uint64_t bytes)
{
	OT_TRY(vp_budget_take(bytes));
	r->charged += bytes;
	return NULL;
}

/* Copy @p len bytes, which must be in the module's memory, and append a NUL. */
static struct ot_err *copy(struct reader *r, uint64_t addr, size_t len, void *ret)
{
	struct ot_err *err;
	char *mem;

	if (!len || len > vp_module_room(r->module, addr))
		return ot_err_new(OT_ERR_BAD_DATA, "a table of module %s is outside it", r->module->name);
	OT_TRY(charge(r, len + 1));
	mem = malloc(len + 1);
	if (!mem)
		return ot_err_nomem();
	err = vp_mmu_read(r->phys, r->mmu, vp_gva(addr), mem, len);
	if (err) {
		free(mem);
		return err;
	}
	mem[len] = '\0';
	*(void **)ret = mem;
	return NULL;
}

static struct ot_err *read_tables(struct reader *r)
{
	const struct vp_module_layout *l = r->layout;
	uint64_t kallsyms = 0, symtab = 0, count = 0, strtab = 0, typetab = 0, last = 0, room;

	/* The pointer's table has initialisation code too, until that is freed. */
	if (l->core_kallsyms != VP_MODULE_NONE)
		kallsyms = r->module->addr.v + l->core_kallsyms;
	else
		OT_TRY(read_u64(r, r->module->addr.v, l->kallsyms, &kallsyms));
	OT_TRY(read_u64(r, kallsyms, l->ks_symtab, &symtab));
	OT_TRY(read_u64(r, kallsyms, l->ks_num_symtab, &count));
	OT_TRY(read_u64(r, kallsyms, l->ks_strtab, &strtab));
	count = (uint32_t)count;
	if (!count)
		return NULL;
	OT_TRY(copy(r, symtab, count * sizeof(Elf64_Sym), &r->syms));
	r->nsyms = count;
	for (size_t i = 0; i < r->nsyms; i++)
		last = r->syms[i].st_name > last ? r->syms[i].st_name : last;
	room = vp_module_room(r->module, strtab);
	if (last >= room)
		return ot_err_new(OT_ERR_BAD_DATA, "a name of module %s is outside it", r->module->name);
	r->strings_size = last + VP_SYM_NAME_MAX < room ? last + VP_SYM_NAME_MAX : room;
	OT_TRY(copy(r, strtab, r->strings_size, &r->strings));
	if (l->ks_typetab != VP_MODULE_NONE) {
		OT_TRY(read_u64(r, kallsyms, l->ks_typetab, &typetab));
		OT_TRY(copy(r, typetab, count, &r->types));
	}
	return NULL;
}

/* Read the names of the table of struct kernel_symbol (offsets relative to their own addresses). GPL-only
 * exports are in another table, which /proc/kallsyms ignores. */
static struct ot_err *read_exports(struct reader *r)
{
	const struct vp_module_layout *l = r->layout;
	ot_auto_free uint8_t *entries = NULL;
	uint64_t addr = 0, n = 0;

	if (l->syms == VP_MODULE_NONE || l->num_syms == VP_MODULE_NONE || l->export_name == VP_MODULE_NONE ||
	    l->export_name + 4 > l->export_stride)
		return NULL;
	OT_TRY(read_u64(r, r->module->addr.v, l->syms, &addr));
	OT_TRY(read_u64(r, r->module->addr.v, l->num_syms, &n));
	n = (uint32_t)n;
	if (!n || n > EXPORTS_MAX)
		return NULL;
	OT_TRY(copy(r, addr, n * l->export_stride, &entries));
	for (size_t i = 0; entries && i < n; i++) {
		uint64_t at = i * l->export_stride + l->export_name, name;
		char text[VP_SYM_NAME_MAX];
		size_t room;
		int32_t rel;

		if (i % CHECK_EXPORTS == 0)
			OT_TRY(vp_budget_check());
		memcpy(&rel, entries + at, sizeof(rel));
		name = addr + at + (uint64_t)(int64_t)rel;
		room = vp_module_room(r->module, name);
		room = room < sizeof(text) ? room : sizeof(text);
		if (!room)
			continue;
		OT_TRY(vp_mmu_read(r->phys, r->mmu, vp_gva(name), text, room));
		OT_TRY(charge(r, strnlen(text, room) + EXPORT_COST));
		if (!ot_map_put(&r->exports, text, strnlen(text, room), r))
			return ot_err_nomem();
	}
	return NULL;
}

static struct ot_err *add_all(struct reader *r, struct vp_symtab *symtab, uint16_t number)
{
	const struct vp_module *m = r->module;

	for (size_t i = 0; i < r->nsyms; i++) {
		const Elf64_Sym *sym = &r->syms[i];
		const char *name = r->strings + sym->st_name; /* st_name < strings_size: read_tables() */
		size_t len = strnlen(name, r->strings_size - sym->st_name);
		char type = r->types ? r->types[i] : (char)sym->st_info;
		uint8_t flags = 0;

		if (!len || len > VP_SYM_NAME_MAX)
			continue;
		if (!isalpha((unsigned char)type))
			type = '?';
		type = (char)(ot_map_get(&r->exports, name, len) ? toupper(type) : tolower(type));
		if (sym->st_shndx == SHN_ABS)
			flags = VP_SYM_ABSOLUTE;
		else if (m->percpu_size && sym->st_value - m->percpu < m->percpu_size)
			flags = VP_SYM_PERCPU;
		OT_TRY(vp_symtab_add(symtab, sym->st_value, type, number, flags, name, len));
	}
	return NULL;
}

struct ot_err *vp_module_add_symbols(const struct vp_phys *phys, struct vp_mmu *mmu,
				     const struct vp_module_layout *layout, const struct vp_module *module,
				     struct vp_symtab *symtab, size_t *skipped)
{
	ot_auto(
	    reader_deinit) struct reader r = { .phys = phys, .mmu = mmu, .layout = layout, .module = module };
	struct ot_err *err;
	uint16_t number;

	ot_map_init(&r.exports);
	int known = vp_symtab_find_module(symtab, module->name);
	number = (uint16_t)known;
	if (known < 0)
		OT_TRY(vp_symtab_add_module(symtab, module->name, &number));
	for (size_t i = 0; i < module->nranges; i++)
		OT_TRY(vp_symtab_add_range(symtab, number, module->ranges[i].start, module->ranges[i].end));
	err = read_tables(&r);
	if (!err)
		err = read_exports(&r);
	if (vp_modules_guests_fault(err, &err)) {
		(*skipped)++;
		return NULL;
	}
	OT_TRY(err);
	return add_all(&r, symtab, number);
}
