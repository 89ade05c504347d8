/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading an ELF64 kernel: its segments at their physical addresses, and its PVH entry if it has one. */
#include <elf.h>
#include <string.h>

#include "vmm-probe/monitor/internal.h"

/* PVH: type of the note of owner "Xen" with the 32-bit physical entry point (XEN_ELFNOTE_PHYS32_ENTRY). */
#define PHYS32_ENTRY 18u

static struct ot_err *load_segment(struct vp_mon *mon, const uint8_t *image, size_t size,
				   const Elf64_Phdr *ph)
{
	if (ph->p_offset > size || ph->p_filesz > size - ph->p_offset || ph->p_filesz > ph->p_memsz)
		return ot_err_new(OT_ERR_BAD_DATA, "a segment reaches past the end of the file");
	if (ph->p_paddr < VP_MON_KERNEL)
		return ot_err_new(OT_ERR_BAD_DATA, "a segment at 0x%llx, below the first MiB's end",
				  (unsigned long long)ph->p_paddr);
	uint8_t *to = vp_mon_at(mon, ph->p_paddr, ph->p_memsz);
	if (!to)
		return ot_err_new(OT_ERR_LIMIT,
				  "its segment at 0x%llx, %llu KiB, is outside the guest's memory",
				  (unsigned long long)ph->p_paddr, (unsigned long long)ph->p_memsz >> 10);
	/* RAM is all zero, so the rest of p_memsz needs no work. */
	memcpy(to, image + ph->p_offset, ph->p_filesz);
	return NULL;
}

/* The PVH entry in the @len bytes of notes at @p; 0: none. */
static uint32_t find_pvh(const uint8_t *p, size_t len)
{
	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		memcpy(&n, p, sizeof(n));
		size_t name = ((size_t)n.n_namesz + 3) & ~(size_t)3,
		       desc = ((size_t)n.n_descsz + 3) & ~(size_t)3;
		if (name > len - sizeof(n) || desc > len - sizeof(n) - name)
			return 0;
		const uint8_t *text = p + sizeof(n);
		if (n.n_type == PHYS32_ENTRY && n.n_namesz == 4 && !memcmp(text, "Xen", 4) &&
		    n.n_descsz >= 4) {
			uint32_t entry;
			memcpy(&entry, text + name, sizeof(entry));
			return entry;
		}
		p += sizeof(n) + name + desc;
		len -= sizeof(n) + name + desc;
	}
	return 0;
}

static struct ot_err *check_header(const uint8_t *image, size_t size, Elf64_Ehdr *eh)
{
	if (size < sizeof(*eh))
		return ot_err_new(OT_ERR_BAD_DATA, "too short for an ELF file");
	memcpy(eh, image, sizeof(*eh));
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != EM_X86_64)
		return ot_err_new(OT_ERR_BAD_DATA, "an ELF file, but not of a 64-bit x86 kernel");
	if (eh->e_type != ET_EXEC || eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phoff > size ||
	    eh->e_phnum > (size - eh->e_phoff) / sizeof(Elf64_Phdr))
		return ot_err_new(OT_ERR_BAD_DATA,
				  "an ELF file, but not an executable with a valid program header");
	return NULL;
}

struct ot_err *vp_mon_load_elf(struct vp_mon *mon, const uint8_t *image, size_t size, bool allow_pvh,
			       uint64_t *ret_end)
{
	Elf64_Ehdr eh;
	uint64_t end = 0;
	uint32_t pvh = 0;

	OT_TRY(check_header(image, size, &eh));
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		Elf64_Phdr ph;
		memcpy(&ph, image + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && ph.p_memsz) {
			OT_TRY(load_segment(mon, image, size, &ph));
			end = ph.p_paddr + ph.p_memsz > end ? ph.p_paddr + ph.p_memsz : end;
		} else if (ph.p_type == PT_NOTE && ph.p_offset <= size && ph.p_filesz <= size - ph.p_offset &&
			   !pvh) {
			pvh = find_pvh(image + ph.p_offset, ph.p_filesz);
		}
	}
	if (!end)
		return ot_err_new(OT_ERR_BAD_DATA, "an ELF file with nothing to load");
	mon->entry = (struct vp_mon_entry){ pvh && allow_pvh ? pvh : eh.e_entry, pvh && allow_pvh };
	if (!vp_mon_at(mon, mon->entry.rip, 1))
		return ot_err_new(OT_ERR_BAD_DATA, "its entry point 0x%llx is outside the guest's memory",
				  (unsigned long long)mon->entry.rip);
	*ret_end = end;
	return NULL;
}
