/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading headers. A program's section headers are in none of its segments, so their pages are often missing;
 * the guest's own loader uses the dynamic section, so it is always in memory once the program runs.
 */
#include "vmm-probe/guest/elf/elf.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/elf/notes.h"

#define DYNAMIC_MAX 1024u      /* entries of the dynamic section */
#define CHAIN_MAX   (4u << 20) /* symbols by a hash table */

/* --- addresses --------------------------------------------------------------------------------------- */

bool vp_elf_offset(const struct vp_elf *elf, uint64_t addr, uint64_t len, uint64_t *ret)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz ||
		    len > p->p_filesz - (addr - p->p_vaddr))
			continue;
		*ret = p->p_offset + (addr - p->p_vaddr);
		return true;
	}
	return false;
}

bool vp_elf_address(const struct vp_elf *elf, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type != PT_LOAD || offset < p->p_offset || offset - p->p_offset >= p->p_filesz)
			continue;
		*ret = p->p_vaddr + (offset - p->p_offset);
		return true;
	}
	return false;
}

/* --- the dynamic section ----------------------------------------------------------------------------- */

struct dynamic {
	uint64_t symtab, strtab, strsz, gnu_hash, hash;
};

static void read_dynamic(const struct vp_elf *elf, struct dynamic *d)
{
	const Elf64_Phdr *at = NULL;

	for (size_t i = 0; i < elf->nsegments && !at; i++)
		if (elf->segments[i].p_type == PT_DYNAMIC)
			at = &elf->segments[i];
	for (uint64_t i = 0; at && i < DYNAMIC_MAX && (i + 1) * sizeof(Elf64_Dyn) <= at->p_filesz; i++) {
		Elf64_Dyn dyn;

		if (!vp_elf_image_read(elf->image, VP_PART_DYNAMIC, at->p_offset + i * sizeof(dyn), &dyn,
				       sizeof(dyn)) ||
		    dyn.d_tag == DT_NULL)
			return;
		uint64_t *to = dyn.d_tag == DT_SYMTAB     ? &d->symtab
			       : dyn.d_tag == DT_STRTAB   ? &d->strtab
			       : dyn.d_tag == DT_STRSZ    ? &d->strsz
			       : dyn.d_tag == DT_GNU_HASH ? &d->gnu_hash
			       : dyn.d_tag == DT_HASH     ? &d->hash
							  : NULL;
		if (to)
			*to = dyn.d_un.d_val;
	}
}

/* The chain of the last bucket ends at the last symbol: its entry has bit 0 set. */
static uint64_t last_of_chain(const struct vp_elf *elf, uint64_t chains, uint32_t first, uint32_t symoffset)
{
	for (uint64_t i = first; i >= symoffset && i < CHAIN_MAX; i++) {
		uint32_t entry;

		if (!vp_elf_image_read(elf->image, VP_PART_DYNAMIC, chains + 4 * (i - symoffset), &entry,
				       sizeof(entry)))
			return 0;
		if (entry & 1)
			return i + 1;
	}
	return 0;
}

static uint64_t count_by_gnu_hash(const struct vp_elf *elf, uint64_t addr)
{
	struct {
		uint32_t nbuckets, symoffset, bloom_size, bloom_shift;
	} head;
	uint64_t at, buckets;
	uint32_t most = 0, bucket;

	if (!vp_elf_offset(elf, addr, sizeof(head), &at) ||
	    !vp_elf_image_read(elf->image, VP_PART_DYNAMIC, at, &head, sizeof(head)) ||
	    head.nbuckets > CHAIN_MAX)
		return 0;
	buckets = at + sizeof(head) + 8ull * head.bloom_size;
	for (uint32_t i = 0; i < head.nbuckets; i++) {
		if (!vp_elf_image_read(elf->image, VP_PART_DYNAMIC, buckets + 4ull * i, &bucket,
				       sizeof(bucket)))
			return 0;
		most = bucket > most ? bucket : most;
	}
	/* Without an exported symbol there are still symbols that the table omits. */
	if (most < head.symoffset)
		return head.symoffset < CHAIN_MAX ? head.symoffset : 0;
	return last_of_chain(elf, buckets + 4ull * head.nbuckets, most, head.symoffset);
}

static uint64_t count_by_hash(const struct vp_elf *elf, uint64_t addr)
{
	uint32_t head[2]; /* buckets, symbols */
	uint64_t at;

	if (!vp_elf_offset(elf, addr, sizeof(head), &at) ||
	    !vp_elf_image_read(elf->image, VP_PART_DYNAMIC, at, head, sizeof(head)) || head[1] > CHAIN_MAX)
		return 0;
	return head[1];
}

static void find_dynsym(struct vp_elf *elf)
{
	struct vp_elf_table t = { 0 };
	struct dynamic d = { 0 };

	read_dynamic(elf, &d);
	if (!d.symtab || !vp_elf_offset(elf, d.symtab, sizeof(Elf64_Sym), &t.offset) ||
	    !vp_elf_offset(elf, d.strtab, d.strsz, &t.strings))
		return;
	t.strings_size = d.strsz;
	t.count = d.gnu_hash ? count_by_gnu_hash(elf, d.gnu_hash) : 0;
	if (!t.count && d.hash)
		t.count = count_by_hash(elf, d.hash);
	elf->dynsym = t;
}

/* --- section headers --------------------------------------------------------------------------------- */

static bool read_section(const struct vp_elf *elf, uint64_t i, Elf64_Shdr *ret)
{
	return vp_elf_image_read(elf->image, VP_PART_SECTIONS, elf->header.e_shoff + i * sizeof(*ret), ret,
				 sizeof(*ret));
}

static void use_table(struct vp_elf *elf, const Elf64_Shdr *s, uint64_t n, struct vp_elf_table *ret)
{
	Elf64_Shdr strings;

	if (s->sh_link >= n || !read_section(elf, s->sh_link, &strings) || strings.sh_type != SHT_STRTAB)
		return;
	*ret = (struct vp_elf_table){ s->sh_offset, s->sh_size / sizeof(Elf64_Sym), strings.sh_offset,
				      strings.sh_size };
}

static void use_named(struct vp_elf *elf, const Elf64_Shdr *s, const Elf64_Shdr *names)
{
	struct vp_elf_section section = { s->sh_offset, s->sh_size, s->sh_addr };
	char name[32];

	if (s->sh_name >= names->sh_size ||
	    !vp_elf_image_string(elf->image, VP_PART_SECTIONS, names->sh_offset + s->sh_name, name,
				 sizeof(name)))
		return;
	if (!strcmp(name, ".note.stapsdt"))
		elf->stapsdt = section;
	else if (!strcmp(name, ".stapsdt.base"))
		elf->stapsdt_base = section;
}

/* Those of a file with more than 65,279 sections are counted in the first one. */
static struct ot_err *count_sections(const struct vp_elf *elf, uint64_t *ret, uint64_t *ret_names)
{
	Elf64_Shdr first;

	*ret = elf->header.e_shnum;
	*ret_names = elf->header.e_shstrndx;
	if (!elf->header.e_shoff || elf->header.e_shentsize != sizeof(Elf64_Shdr) ||
	    !read_section(elf, 0, &first)) {
		*ret = 0;
		return NULL;
	}
	if (!*ret)
		*ret = first.sh_size;
	if (*ret_names == SHN_XINDEX)
		*ret_names = first.sh_link;
	return *ret <= VP_ELF_SECTIONS_MAX
		   ? NULL
		   : ot_err_new(OT_ERR_LIMIT, "it has more than %u sections", VP_ELF_SECTIONS_MAX);
}

static struct ot_err *read_sections(struct vp_elf *elf)
{
	uint64_t n, at_names;
	Elf64_Shdr names, s;

	OT_TRY(count_sections(elf, &n, &at_names));
	if (at_names >= n || !read_section(elf, at_names, &names))
		return NULL;
	elf->sections = true;
	for (uint64_t i = 1; i < n; i++) {
		if (!read_section(elf, i, &s)) {
			elf->sections = false;
			return NULL;
		}
		if (s.sh_type == SHT_SYMTAB)
			use_table(elf, &s, n, &elf->symtab);
		else if (s.sh_type == SHT_DYNSYM && !elf->dynsym.count)
			use_table(elf, &s, n, &elf->dynsym);
		else if (s.sh_type == SHT_NOTE || s.sh_type == SHT_PROGBITS)
			use_named(elf, &s, &names);
	}
	return NULL;
}

/* --- the whole --------------------------------------------------------------------------------------- */

static struct ot_err *read_header(struct vp_elf *elf)
{
	Elf64_Ehdr *h = &elf->header;

	if (elf->image->size > VP_IMAGE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "it is larger than %llu bytes",
				  (unsigned long long)VP_IMAGE_MAX);
	if (elf->image->size < sizeof(*h))
		return ot_err_new(OT_ERR_BAD_DATA, "it is no program");
	if (!vp_elf_image_read(elf->image, VP_PART_HEADERS, 0, h, sizeof(*h)))
		return ot_err_new(OT_ERR_NOT_FOUND, "its first page is not there");
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != VP_ELF_MACHINE ||
	    (h->e_type != ET_EXEC && h->e_type != ET_DYN))
		return ot_err_new(OT_ERR_BAD_DATA, "it is no 64-bit program or library of this architecture");
	return NULL;
}

static struct ot_err *read_segments(struct vp_elf *elf)
{
	const Elf64_Ehdr *h = &elf->header;

	if (!h->e_phnum || h->e_phentsize != sizeof(Elf64_Phdr))
		return ot_err_new(OT_ERR_BAD_DATA, "it has no segments");
	if (h->e_phnum > VP_ELF_SEGMENTS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "it has more than %u segments", VP_ELF_SEGMENTS_MAX);
	elf->segments = calloc(h->e_phnum, sizeof(*elf->segments));
	if (!elf->segments)
		return ot_err_nomem();
	if (!vp_elf_image_read(elf->image, VP_PART_HEADERS, h->e_phoff, elf->segments,
			       h->e_phnum * sizeof(*elf->segments)))
		return ot_err_new(OT_ERR_NOT_FOUND, "its program headers are not there");
	elf->nsegments = h->e_phnum;
	return NULL;
}

struct ot_err *vp_elf_read(struct vp_elf_image *image, struct vp_elf *ret)
{
	ot_auto(vp_elf_deinit) struct vp_elf elf = { .image = image };

	OT_TRY(read_header(&elf));
	OT_TRY(read_segments(&elf));
	vp_elf_read_build_id(&elf);
	find_dynsym(&elf);
	OT_TRY(read_sections(&elf));
	*ret = elf;
	elf.segments = NULL;
	return NULL;
}

void vp_elf_deinit(struct vp_elf *elf)
{
	free(elf->segments);
	elf->segments = NULL;
	elf->nsegments = 0;
}
