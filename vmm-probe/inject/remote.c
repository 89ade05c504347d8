/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols and code of files that another process has mapped, read from these files: through map_files, which
 * also works for deleted or replaced ones, else by path in the process's root.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_map.h"
#include "vmm-probe/inject/internal.h"

#define CODE_MAX (64u << 20)

static void cleanup_elf(Elf **e)
{
	if (*e)
		elf_end(*e);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

struct ot_err *vp_remote_find(pid_t pid, const char *name, unsigned n, struct vp_mapped *ret)
{
	char path[64], line[PATH_MAX + 128];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	ot_auto_file FILE *f = fopen(path, "re");
	if (!f)
		return ot_err_os(errno, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		struct ot_proc_map m;
		if (!ot_proc_map_parse(line, &m) || m.offset)
			continue;
		char *gone = strstr(m.path, " (deleted)");
		if (gone)
			*gone = '\0';
		if (!ends_with(m.path, name) || n--)
			continue;
		*ret = (struct vp_mapped){ m.start, m.end, "" };
		snprintf(ret->path, sizeof(ret->path), "%s", m.path);
		return NULL;
	}
	return ot_err_new(OT_ERR_NOT_FOUND, "process %d has no %s", (int)pid, name + (*name == '/'));
}

/* The target chooses the file at a path in its root: opening a pipe must not wait for a writer. */
static struct ot_err *open_in_root(const char *path, int *ret)
{
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return ot_err_os(errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s is no regular file", path);
	*ret = ot_move_fd(fd);
	return NULL;
}

static struct ot_err *open_mapped(pid_t pid, const struct vp_mapped *m, int *ret)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)m->start,
		 (unsigned long long)m->end);
	*ret = open(path, O_RDONLY | O_CLOEXEC);
	if (*ret >= 0)
		return NULL;
	/* map_files requires a capability. */
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, m->path);
	return open_in_root(path, ret);
}

static struct ot_err *open_elf(int fd, const struct vp_mapped *m, Elf **ret)
{
	elf_version(EV_CURRENT);
	*ret = elf_begin(fd, ELF_C_READ, NULL);
	if (*ret && elf_kind(*ret) == ELF_K_ELF && gelf_getclass(*ret) == ELFCLASS64)
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED, "%s is not a 64-bit ELF file", m->path);
}

static bool symbol_in(Elf *elf, Elf_Scn *scn, const char *name, uint64_t *ret)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Shdr sh;
	GElf_Sym sym;

	if (!data || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNSYM)
		return false;
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *s = elf_strptr(elf, sh.sh_link, sym.st_name);
		if (s && sym.st_shndx != SHN_UNDEF && !strcmp(s, name)) {
			*ret = sym.st_value;
			return true;
		}
	}
	return false;
}

struct ot_err *vp_remote_symbol(pid_t pid, const struct vp_mapped *m, const char *symbol, uint64_t *ret)
{
	ot_auto_close int fd = -1;
	ot_auto(cleanup_elf) Elf *elf = NULL;
	uint64_t value;

	OT_TRY(open_mapped(pid, m, &fd));
	OT_TRY(open_elf(fd, m, &elf));
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
		if (symbol_in(elf, scn, symbol, &value)) {
			*ret = m->start + value;
			return NULL;
		}
	return ot_err_new(OT_ERR_NOT_FOUND, "%s has no %s", m->path, symbol);
}

static struct ot_err *find_in_segment(int fd, const GElf_Phdr *ph, const void *code, size_t len,
				      uint64_t *ret)
{
	ot_auto_free uint8_t *text = ph->p_filesz < CODE_MAX ? malloc(ph->p_filesz) : NULL;

	if (!text)
		return ot_err_nomem();
	ssize_t n = pread(fd, text, ph->p_filesz, (off_t)ph->p_offset);
	const uint8_t *at = n > 0 ? memmem(text, (size_t)n, code, len) : NULL;
	if (!at)
		return ot_err_new(OT_ERR_NOT_FOUND, "no such code");
	*ret = ph->p_vaddr + (uint64_t)(at - text);
	return NULL;
}

struct ot_err *vp_remote_code(pid_t pid, const struct vp_mapped *m, const void *code, size_t len,
			      uint64_t *ret)
{
	ot_auto_close int fd = -1;
	ot_auto(cleanup_elf) Elf *elf = NULL;
	GElf_Phdr ph;
	uint64_t value = 0;

	OT_TRY(open_mapped(pid, m, &fd));
	OT_TRY(open_elf(fd, m, &elf));
	for (int i = 0; gelf_getphdr(elf, i, &ph); i++) {
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		OT_TRY(ot_err_prefix(find_in_segment(fd, &ph, code, len, &value), "%s", m->path));
		*ret = m->start + value;
		return NULL;
	}
	return ot_err_new(OT_ERR_NOT_FOUND, "%s has no code", m->path);
}
