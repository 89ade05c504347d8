/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading tables of symbols, and finding one. */
#include "vmm-probe/guest/elf/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"

#define NESTED_MAX 16u /* symbols before an address that are tried */

void vp_elf_symbols_deinit(struct vp_elf_symbols *symbols)
{
	free(symbols->items);
	free(symbols->names);
	memset(symbols, 0, sizeof(*symbols));
}

const char *vp_elf_symbol_name(const struct vp_elf_symbols *symbols, const struct vp_elf_symbol *symbol)
{
	return symbols->names + symbol->name;
}

static bool in_code(const struct vp_elf *elf, uint64_t addr)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && addr >= p->p_vaddr &&
		    addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

/* Labels without a type are functions that were written in assembly, or the linker's marks of places in data.
 */
static bool is_wanted(const struct vp_elf *elf, const Elf64_Sym *sym)
{
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		break;
	case STT_NOTYPE:
		if (!in_code(elf, sym->st_value))
			return false;
		break;
	default:
		return false;
	}
	return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS && sym->st_name;
}

static struct ot_err *add(struct vp_elf_symbols *s, const Elf64_Sym *sym, const char *name)
{
	size_t len = strlen(name) + 1;

	if (s->count >= VP_ELF_SYMBOLS_MAX || s->names_len + len > VP_ELF_NAMES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "it has more than %u symbols", VP_ELF_SYMBOLS_MAX);
	if (!ot_grow(&s->items, &s->cap, s->count + 1, sizeof(*s->items)) ||
	    !ot_grow(&s->names, &s->names_cap, s->names_len + len, 1))
		return ot_err_nomem();
	memcpy(s->names + s->names_len, name, len);
	s->items[s->count++] =
	    (struct vp_elf_symbol){ sym->st_value, sym->st_size, (uint32_t)s->names_len,
				    ELF64_ST_BIND(sym->st_info) == STB_LOCAL, ELF64_ST_TYPE(sym->st_info) };
	s->names_len += len;
	return NULL;
}

struct ot_err *vp_elf_symbols_add(struct vp_elf *elf, const struct vp_elf_table *table, enum vp_part symbols,
				  enum vp_part strings, struct vp_elf_symbols *ret)
{
	char name[VP_ELF_NAME_MAX];
	Elf64_Sym sym;

	for (uint64_t i = 1; i < table->count && elf->image->fuel; i++) {
		uint64_t at = table->offset + i * sizeof(sym);

		if (at < table->offset || at >= elf->image->size)
			break;
		if (!vp_elf_image_read(elf->image, symbols, at, &sym, sizeof(sym))) {
			/* Continue with the next page. */
			i += VP_IMAGE_PAGE / sizeof(sym) / 2;
			continue;
		}
		if (!is_wanted(elf, &sym) || sym.st_name >= table->strings_size ||
		    !vp_elf_image_string(elf->image, strings, table->strings + sym.st_name, name,
					 sizeof(name)) ||
		    !*name)
			continue;
		OT_TRY(add(ret, &sym, name));
	}
	return NULL;
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct vp_elf_symbol *a = pa, *b = pb;
	const char *names = arg, *na = names + a->name, *nb = names + b->name;
	size_t ua = strspn(na, "_"), ub = strspn(nb, "_");

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->local != b->local)
		return a->local ? 1 : -1;
	if (ua != ub)
		return ua < ub ? -1 : 1;
	return strcmp(na, nb);
}

/* Both tables have the exported symbols: once is enough. */
void vp_elf_symbols_finish(struct vp_elf_symbols *s)
{
	size_t n = 0;

	if (s->count)
		qsort_r(s->items, s->count, sizeof(*s->items), compare, s->names);
	for (size_t i = 0; i < s->count; i++)
		if (!n || compare(&s->items[n - 1], &s->items[i], s->names) != 0)
			s->items[n++] = s->items[i];
	s->count = n;
}

struct ot_err *vp_elf_symbols_read(struct vp_elf *elf, struct vp_elf_symbols *ret)
{
	struct vp_elf_symbols s = { 0 };
	struct ot_err *err = vp_elf_symbols_add(elf, &elf->symtab, VP_PART_SYMTAB, VP_PART_STRTAB, &s);

	if (!err)
		err = vp_elf_symbols_add(elf, &elf->dynsym, VP_PART_DYNAMIC, VP_PART_DYNAMIC, &s);
	if (err) {
		vp_elf_symbols_deinit(&s);
		return err;
	}
	vp_elf_symbols_finish(&s);
	*ret = s;
	return NULL;
}

const struct vp_elf_symbol *vp_elf_symbols_find(const struct vp_elf_symbols *s, uint64_t addr)
{
	size_t behind = OT_COUNT_BEFORE(s->count, i, s->items[i].addr <= addr), tried = 0;

	while (behind && tried++ < NESTED_MAX) {
		uint64_t at = s->items[--behind].addr;

		/* the first of those at this address */
		while (behind && s->items[behind - 1].addr == at)
			behind--;
		const struct vp_elf_symbol *found = &s->items[behind];

		if (addr - at < found->size || (!found->size && (tried == 1 || at == addr)))
			return found;
	}
	return NULL;
}
