/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Redirecting the VMM's ioctl(): the GOT entries and function pointers through which its program calls libc's
 * are found by its own relocations and changed. Those in RELRO pages become read-only again.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vmm-probe/hook/internal.h"

#define WORDS_MAX 16

struct program {
	uintptr_t base, relro, relro_end;
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Rela *rela, *jmprel;
	size_t nrela, njmprel;
};

static struct {
	uintptr_t *words[WORDS_MAX];
	uintptr_t old; /* their original value */
	unsigned n;
	bool read_only[WORDS_MAX];
} redirected;

static void read_dynamic(const Elf64_Dyn *d, struct program *p)
{
	for (; d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB:
			p->symbols = (const void *)d->d_un.d_ptr;
			break;
		case DT_STRTAB:
			p->strings = (const void *)d->d_un.d_ptr;
			break;
		case DT_RELA:
			p->rela = (const void *)d->d_un.d_ptr;
			break;
		case DT_RELASZ:
			p->nrela = d->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_JMPREL:
			p->jmprel = (const void *)d->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			p->njmprel = d->d_un.d_val / sizeof(Elf64_Rela);
			break;
		default:
			break;
		}
}

/* The first object is the program. */
static int on_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct program *p = arg;

	(void)size;
	p->base = info->dlpi_addr;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *h = &info->dlpi_phdr[i];
		if (h->p_type == PT_DYNAMIC)
			read_dynamic((const void *)(p->base + h->p_vaddr), p);
		if (h->p_type == PT_GNU_RELRO) {
			p->relro = p->base + h->p_vaddr;
			p->relro_end = p->relro + h->p_memsz;
		}
	}
	return 1;
}

static bool is_ioctl(const struct program *p, const Elf64_Rela *r)
{
	uint32_t type = ELF64_R_TYPE(r->r_info);

	return (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64) &&
	       !r->r_addend && !strcmp(p->strings + p->symbols[ELF64_R_SYM(r->r_info)].st_name, "ioctl");
}

static void find_words(const struct program *p, const Elf64_Rela *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		uintptr_t at = p->base + list[i].r_offset;
		if (!is_ioctl(p, &list[i]) || redirected.n == WORDS_MAX)
			continue;
		redirected.read_only[redirected.n] = at >= p->relro && at < p->relro_end;
		redirected.words[redirected.n++] = (uintptr_t *)at;
	}
}

static struct ot_err *write_word(unsigned i, uintptr_t value)
{
	long size = sysconf(_SC_PAGESIZE);
	uintptr_t *word = redirected.words[i];
	void *page = (void *)((uintptr_t)word & ~(uintptr_t)(size - 1));

	if (redirected.read_only[i] && mprotect(page, (size_t)size, PROT_READ | PROT_WRITE))
		return ot_err_os(errno, "making the VMM's GOT writable");
	/* A concurrent call of the VMM gets either function. */
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	if (redirected.read_only[i])
		(void)mprotect(page, (size_t)size, PROT_READ);
	return NULL;
}

struct ot_err *vp_hook_redirect(void *function)
{
	struct program p = { 0 };

	if (redirected.n)
		return NULL;
	dl_iterate_phdr(on_object, &p);
	if (p.symbols && p.strings) {
		find_words(&p, p.jmprel, p.njmprel);
		find_words(&p, p.rela, p.nrela);
	}
	if (!redirected.n)
		return ot_err_new(OT_ERR_UNSUPPORTED, "this VMM does not call libc's ioctl()");
	/* With lazy binding and before the first call it is the loader's stub, which can be restored as
	 * well. */
	redirected.old = *redirected.words[0];
	for (unsigned i = 0; i < redirected.n; i++) {
		struct ot_err *err =
		    *redirected.words[i] == redirected.old
			? write_word(i, (uintptr_t)function)
			: ot_err_new(OT_ERR_UNSUPPORTED, "this VMM has more than one ioctl()");
		if (err) {
			redirected.n = i;
			vp_hook_redirect_back();
			return err;
		}
	}
	return NULL;
}

void vp_hook_redirect_back(void)
{
	for (unsigned i = 0; i < redirected.n; i++)
		ot_err_destroy(write_word(i, redirected.old));
	redirected.n = 0;
}
