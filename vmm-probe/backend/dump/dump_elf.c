/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF cores: PT_LOAD segments by physical address; notes with each CPU's registers. */
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/backend/dump/dump_internal.h"

#define NOTES_MAX (64u << 20)

static void elf_close(Elf **elf)
{
	if (*elf)
		elf_end(*elf);
}

static struct ot_err *add_segment(struct vp_dump *dump, const char *path, const GElf_Phdr *p)
{
	uint64_t size = p->p_filesz & VP_PAGE_MASK;

	if (!size || (p->p_paddr & ~VP_PAGE_MASK))
		return NULL;
	if (p->p_offset > dump->size || p->p_filesz > dump->size - p->p_offset)
		return ot_err_new(
		    OT_ERR_BAD_DATA,
		    "%s is truncated: memory at 0x%llx should be at file offset 0x%llx + 0x%llx, "
		    "but the file has 0x%llx bytes",
		    path, (unsigned long long)p->p_paddr, (unsigned long long)p->p_offset,
		    (unsigned long long)p->p_filesz, (unsigned long long)dump->size);
	return ot_err_prefix(vp_phys_add_file(dump->phys, vp_gpa(p->p_paddr), size, dump->fd, p->p_offset),
			     "%s", path);
}

/* Registers: QEMU's own notes include CR3; without them, a PRSTATUS. */
static void read_notes(struct vp_dump *dump, Elf *elf, const GElf_Phdr *p, bool qemu)
{
	Elf_Data *data;
	GElf_Nhdr note;
	size_t at = 0, name, desc;

	if (p->p_filesz > NOTES_MAX)
		return;
	data = elf_getdata_rawchunk(elf, (int64_t)p->p_offset, p->p_filesz, ELF_T_NHDR);
	while (data && at < data->d_size && dump->nregs < VP_DUMP_CPUS_MAX) {
		const char *bytes = data->d_buf;
		struct vp_regs regs;
		size_t next = gelf_getnote(data, at, &note, &name, &desc);

		if (!next)
			return;
		at = next;
		if (qemu ? (note.n_namesz == 5 && !memcmp(bytes + name, "QEMU", 5) &&
			    vp_dump_qemu_note(bytes + desc, note.n_descsz, &regs))
			 : (note.n_type == NT_PRSTATUS && note.n_namesz == 5 &&
			    !memcmp(bytes + name, "CORE", 5) &&
			    vp_dump_prstatus(bytes + desc, note.n_descsz, &regs)))
			dump->regs[dump->nregs++] = regs;
	}
}

static struct ot_err *check_header(Elf *elf, const char *path)
{
	GElf_Ehdr ehdr;

	if (!gelf_getehdr(elf, &ehdr))
		return ot_err_new(OT_ERR_BAD_DATA, "%s: %s", path, elf_errmsg(-1));
	if (ehdr.e_type != ET_CORE)
		return ot_err_new(OT_ERR_BAD_DATA, "%s is an ELF file, but not a machine's core", path);
	if (ehdr.e_machine != EM_X86_64)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s is not of an x86-64 machine", path);
	return NULL;
}

struct ot_err *vp_dump_read_elf(struct vp_dump *dump, const char *path)
{
	ot_auto(elf_close) Elf *elf = NULL;
	size_t n;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return ot_err_new(OT_ERR_INTERNAL, "libelf: %s", elf_errmsg(-1));
	elf = elf_begin(dump->fd, ELF_C_READ, NULL);
	if (!elf)
		return ot_err_new(OT_ERR_BAD_DATA, "%s: %s", path, elf_errmsg(-1));
	OT_TRY(check_header(elf, path));
	if (elf_getphdrnum(elf, &n) < 0 || !n)
		return ot_err_new(OT_ERR_BAD_DATA, "%s is truncated: it has no segments", path);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p))
			return ot_err_new(OT_ERR_BAD_DATA, "%s is truncated: %s", path, elf_errmsg(-1));
		if (p.p_type == PT_LOAD)
			OT_TRY(add_segment(dump, path, &p));
	}
	for (int qemu = 1; qemu >= 0 && !dump->nregs; qemu--) {
		for (size_t i = 0; i < n; i++) {
			GElf_Phdr p;

			if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_NOTE)
				read_notes(dump, elf, &p, qemu);
		}
	}
	if (!vp_phys_size(dump->phys))
		return ot_err_new(OT_ERR_BAD_DATA, "%s has no memory in it", path);
	return NULL;
}
