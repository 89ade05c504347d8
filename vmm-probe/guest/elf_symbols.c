/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading an ELF vmlinux of the operator's: symbols, build id, .BTF and ORC tables. */
#include "vmm-probe/guest/elf_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/kallsyms.h"
#include "vmm-probe/guest/kernel.h"

#define SECTION_MAX (256u << 20)

/* An open file. */
struct file {
	const char *path;
	int fd;
	Elf *elf;
	size_t shstrndx;
	uint64_t link_base; /* link address of the image's start */
	uint64_t move;      /* added to addresses: the KASLR shift */
};

static void file_close(struct file *f)
{
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
}

static struct ot_err *elf_error(const struct file *f, const char *what)
{
	return ot_err_new(OT_ERR_BAD_DATA, "%s: %s: %s", f->path, what, elf_errmsg(-1));
}

static struct ot_err *file_open(struct file *f)
{
	GElf_Ehdr ehdr;
	size_t size;

	if (f->fd < 0)
		f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0)
		return ot_err_os(errno, "cannot open %s", f->path);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return elf_error(f, "libelf");
	f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	if (!f->elf)
		return elf_error(f, "cannot read it");
	if (elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &ehdr))
		return ot_err_new(OT_ERR_BAD_DATA,
				  "%s is not an ELF file (a compressed vmlinuz? give the vmlinux inside it)",
				  f->path);
	if (ehdr.e_machine != VP_ELF_MACHINE || ehdr.e_ident[EI_CLASS] != ELFCLASS64)
		return ot_err_new(OT_ERR_BAD_DATA, "%s is not for x86-64", f->path);
	if (!elf_rawfile(f->elf, &size) || ehdr.e_shoff > size ||
	    (uint64_t)ehdr.e_shnum * ehdr.e_shentsize > size - ehdr.e_shoff)
		return ot_err_new(OT_ERR_BAD_DATA, "%s is truncated", f->path);
	if (elf_getshdrstrndx(f->elf, &f->shstrndx) < 0)
		return elf_error(f, "no section names");
	return NULL;
}

/* The image starts with the lowest segment of the kernel's own addresses. */
static struct ot_err *find_link_base(struct file *f)
{
	size_t n;

	if (elf_getphdrnum(f->elf, &n) < 0)
		return elf_error(f, "no segments");
	f->link_base = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(f->elf, (int)i, &phdr) && phdr.p_type == PT_LOAD &&
		    phdr.p_vaddr >= VP_KERNEL_MAP_START && phdr.p_vaddr < f->link_base)
			f->link_base = phdr.p_vaddr;
	}
	if (f->link_base == UINT64_MAX)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "%s is not a Linux kernel: nothing in it is at kernel addresses", f->path);
	return NULL;
}

static Elf_Scn *find_section(const struct file *f, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn)) != NULL) {
		const char *found;

		if (!gelf_getshdr(scn, ret))
			continue;
		found = elf_strptr(f->elf, f->shstrndx, ret->sh_name);
		if (found && strcmp(found, name) == 0 && ret->sh_type != SHT_NOBITS)
			return scn;
	}
	return NULL;
}

/* Copy a section; *ret stays NULL if there is none. */
static struct ot_err *copy_section(const struct file *f, const char *name, uint8_t **ret, size_t *ret_size,
				   uint64_t *ret_addr)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(f, name, &shdr);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

	if (!data || !data->d_buf || !data->d_size || data->d_size > SECTION_MAX)
		return NULL;
	*ret = malloc(data->d_size);
	if (!*ret)
		return ot_err_nomem();
	memcpy(*ret, data->d_buf, data->d_size);
	*ret_size = data->d_size;
	if (ret_addr)
		*ret_addr = shdr.sh_addr + f->move;
	return NULL;
}

/* The type letter of nm(1), which kallsyms uses too. */
static char symbol_type(const struct file *f, const GElf_Sym *sym)
{
	bool global = GELF_ST_BIND(sym->st_info) != STB_LOCAL;
	GElf_Shdr shdr;
	Elf_Scn *scn;
	char type;

	if (sym->st_shndx == SHN_ABS)
		return global ? 'A' : 'a';
	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		return GELF_ST_TYPE(sym->st_info) == STT_OBJECT ? 'V' : 'W';
	scn = elf_getscn(f->elf, sym->st_shndx);
	if (!scn || !gelf_getshdr(scn, &shdr))
		return '?';
	if (shdr.sh_flags & SHF_EXECINSTR)
		type = 't';
	else if (shdr.sh_type == SHT_NOBITS)
		type = 'b';
	else
		type = shdr.sh_flags & SHF_WRITE ? 'd' : 'r';
	return (char)(global ? type - 'a' + 'A' : type);
}

static struct ot_err *add_symbol(const struct file *f, const GElf_Sym *sym, const char *name,
				 struct vp_symtab *symtab)
{
	unsigned int kind = GELF_ST_TYPE(sym->st_info);
	uint64_t addr = sym->st_value;
	size_t len = name ? strlen(name) : 0;

	if (!len || len > VP_SYM_NAME_MAX || sym->st_shndx == SHN_UNDEF || kind == STT_SECTION ||
	    kind == STT_FILE)
		return NULL;
	if (addr >= VP_KERNEL_MAP_START && sym->st_shndx != SHN_ABS)
		addr += f->move;
	return vp_symtab_add(symtab, addr, symbol_type(f, sym), VP_SYMTAB_VMLINUX, 0, name, len);
}

static struct ot_err *add_symbols(const struct file *f, struct vp_symtab *symtab, bool *ret_any)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(f, ".symtab", &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t n = data && shdr.sh_entsize ? data->d_size / shdr.sh_entsize : 0;

	if (n > VP_KALLSYMS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "%s has %zu symbols", f->path, n);
	for (size_t i = 1; i < n; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			return elf_error(f, "a broken symbol");
		OT_TRY(add_symbol(f, &sym, elf_strptr(f->elf, shdr.sh_link, sym.st_name), symtab));
		*ret_any = true;
	}
	return NULL;
}

/* Segment @i, if it is part of the image; *ret_at is its offset there. */
static bool image_segment(const struct file *f, size_t i, GElf_Phdr *ret, uint64_t *ret_at)
{
	if (!gelf_getphdr(f->elf, (int)i, ret) || ret->p_type != PT_LOAD || ret->p_vaddr < f->link_base)
		return false;
	*ret_at = ret->p_vaddr - f->link_base;
	return true;
}

/* The size of the image, whose @n segments are all in the file of @file_size bytes. */
static struct ot_err *image_size(const struct file *f, size_t n, uint64_t file_size, uint64_t *ret)
{
	uint64_t at;
	GElf_Phdr p;

	*ret = 0;
	for (size_t i = 0; i < n; i++) {
		if (!image_segment(f, i, &p, &at))
			continue;
		if (at > VP_KERNEL_SIZE_MAX || p.p_filesz > VP_KERNEL_SIZE_MAX - at ||
		    p.p_offset > file_size || p.p_filesz > file_size - p.p_offset)
			return ot_err_new(OT_ERR_BAD_DATA, "%s is truncated", f->path);
		if (at + p.p_filesz > *ret)
			*ret = at + p.p_filesz;
	}
	return NULL;
}

/* Lay out the segments as in memory. */
static struct ot_err *load_image(const struct file *f, struct vp_image *image)
{
	size_t n, file_size;
	const char *raw = elf_rawfile(f->elf, &file_size);
	uint64_t size, at;
	GElf_Phdr p;

	if (!raw)
		return elf_error(f, "cannot read it");
	if (elf_getphdrnum(f->elf, &n) < 0)
		return elf_error(f, "no segments");
	OT_TRY(image_size(f, n, file_size, &size));
	OT_TRY(vp_budget_take(size)); /* vp_image_deinit() returns it */
	image->base = vp_gva(f->link_base);
	image->size = size;
	image->data = calloc(1, size + 1);
	if (!image->data)
		return ot_err_nomem();
	for (size_t i = 0; i < n; i++)
		if (image_segment(f, i, &p, &at))
			memcpy(image->data + at, raw + p.p_offset, p.p_filesz);
	return NULL;
}

/* A stripped kernel still contains its kallsyms. */
static struct ot_err *add_own_kallsyms(const struct file *f, struct vp_symtab *symtab, bool *ret_any)
{
	ot_auto(vp_image_deinit) struct vp_image image = { 0 };
	ot_auto(vp_kallsyms_deinit) struct vp_kallsyms ks = { 0 };
	struct ot_err *err;

	OT_TRY(load_image(f, &image));
	err = vp_kallsyms_decode(&image, 0, &ks);
	if (err && ot_err_code(err) != OT_ERR_NO_MEMORY) {
		ot_err_destroy(err);
		return NULL;
	}
	OT_TRY(err);
	for (size_t i = 0; i < ks.count; i++) {
		const struct vp_kallsym *sym = &ks.syms[i];
		uint64_t addr = sym->addr >= VP_KERNEL_MAP_START ? sym->addr + f->move : sym->addr;
		const char *name = ks.names + sym->name;

		OT_TRY(vp_symtab_add(symtab, addr, sym->type, VP_SYMTAB_VMLINUX, 0, name, strlen(name)));
		*ret_any = true;
	}
	return NULL;
}

static struct ot_err *read_build_id(const struct file *f, struct vp_vmlinux *vmlinux)
{
	ot_auto_free uint8_t *notes = NULL;
	const uint8_t *id;
	size_t size = 0;

	OT_TRY(copy_section(f, ".notes", &notes, &size, NULL));
	id = notes ? vp_kernel_build_id_note(notes, size, &vmlinux->build_id_len) : NULL;
	if (id)
		memcpy(vmlinux->build_id, id, vmlinux->build_id_len);
	return NULL;
}

struct ot_err *vp_vmlinux_check(const char *path)
{
	ot_auto(file_close) struct file f = { .path = path, .fd = -1 };

	OT_TRY(file_open(&f));
	return find_link_base(&f);
}

static struct ot_err *read_file(struct file *f, struct vp_gva base, struct vp_symtab *symtab,
				struct vp_vmlinux *v)
{
	OT_TRY(file_open(f));
	OT_TRY(find_link_base(f));
	f->move = base.v - f->link_base;
	OT_TRY(add_symbols(f, symtab, &v->has_symbols));
	if (!v->has_symbols)
		OT_TRY(add_own_kallsyms(f, symtab, &v->has_symbols));
	OT_TRY(read_build_id(f, v));
	OT_TRY(copy_section(f, ".BTF", &v->btf, &v->btf_size, NULL));
	if (!v->has_symbols && !v->btf)
		return ot_err_new(OT_ERR_BAD_DATA, "%s has neither symbols nor types in it", f->path);
	OT_TRY(copy_section(f, ".orc_unwind_ip", &v->orc_ip, &v->orc_ip_size, &v->orc_ip_addr));
	return copy_section(f, ".orc_unwind", &v->orc, &v->orc_size, NULL);
}

struct ot_err *vp_vmlinux_open(const char *path, struct vp_gva base, struct vp_symtab *symtab,
			       struct vp_vmlinux *ret)
{
	return vp_vmlinux_read(path, -1, base, symtab, ret);
}

struct ot_err *vp_vmlinux_read(const char *path, int fd, struct vp_gva base, struct vp_symtab *symtab,
			       struct vp_vmlinux *ret)
{
	ot_auto(file_close) struct file f = { .path = path, .fd = fd };
	struct vp_vmlinux v = { 0 };
	struct ot_err *err = read_file(&f, base, symtab, &v);

	if (err) {
		vp_vmlinux_deinit(&v);
		return err;
	}
	*ret = v;
	return NULL;
}

void vp_vmlinux_deinit(struct vp_vmlinux *vmlinux)
{
	free(vmlinux->btf);
	free(vmlinux->orc_ip);
	free(vmlinux->orc);
	memset(vmlinux, 0, sizeof(*vmlinux));
}
