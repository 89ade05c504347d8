/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User symbols of this host's processes: mappings from /proc/PID/maps, names from the mapped ELF files. */
#include "vmm-probe/session/host_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/proc_map.h"
#include "base/search.h"

#define MAPS_MAX     65536u
#define SEGMENTS_MAX 64u
#define SYMBOLS_MAX  (4u << 20)

struct host_symbol {
	uint64_t addr, size; /* addr as linked */
	const char *name;
	bool local;
};

struct segment {
	uint64_t offset, size, vaddr;
};

/* A mapped file. */
struct object {
	const char *name; /* without its directories */
	struct ot_arena arena;
	struct host_symbol *symbols; /* sorted by address */
	size_t nsymbols, symbols_cap;
	struct segment segments[SEGMENTS_MAX];
	size_t nsegments;
};

/* A part of a process's memory that a file is mapped to. */
struct map {
	uint64_t start, end, offset;
	char *key; /* of the object: "device inode path" */
	size_t path_at;
};

struct process {
	uint64_t pid;
	struct map *maps; /* sorted by address */
	size_t nmaps, maps_cap;
	time_t read_at; /* 0: never */
};

/* --- files -------------------------------------------------------------------------------- */

/* Of several symbols at one address the global one with the plainest name is first. */
static int compare_symbols(const void *pa, const void *pb)
{
	const struct host_symbol *a = pa, *b = pb;
	size_t ua = strspn(a->name, "_"), ub = strspn(b->name, "_");

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->local != b->local)
		return a->local ? 1 : -1;
	if (ua != ub)
		return ua < ub ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void add_symbol(struct object *o, const GElf_Sym *sym, const char *name)
{
	int type = GELF_ST_TYPE(sym->st_info);

	if ((type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE && type != STT_GNU_IFUNC) ||
	    sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !name || !*name ||
	    o->nsymbols == SYMBOLS_MAX ||
	    !ot_grow(&o->symbols, &o->symbols_cap, o->nsymbols + 1, sizeof(*o->symbols)))
		return;
	struct host_symbol s = { .addr = sym->st_value, .size = sym->st_size };
	s.local = GELF_ST_BIND(sym->st_info) == STB_LOCAL;
	s.name = ot_arena_strdup(&o->arena, name);
	if (s.name)
		o->symbols[o->nsymbols++] = s;
}

/* All of the table of type @type, which is SHT_SYMTAB or SHT_DYNSYM. */
static void read_table(struct object *o, Elf *elf, uint32_t type)
{
	GElf_Shdr shdr;
	GElf_Sym sym;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++)
			add_symbol(o, &sym, elf_strptr(elf, shdr.sh_link, sym.st_name));
	}
}

static void read_segments(struct object *o, Elf *elf)
{
	size_t n = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && i < INT32_MAX && o->nsegments < SEGMENTS_MAX; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD)
			o->segments[o->nsegments++] =
			    (struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
}

static void read_object(struct object *o, uint64_t pid, const char *path)
{
	char name[4200];

	snprintf(name, sizeof(name), "/proc/%" PRIu64 "/root%s", pid, path);
	ot_auto_close int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		read_segments(o, elf);
		read_table(o, elf, SHT_SYMTAB);
		if (!o->nsymbols)
			read_table(o, elf, SHT_DYNSYM);
		if (o->nsymbols)
			qsort(o->symbols, o->nsymbols, sizeof(*o->symbols), compare_symbols);
	}
	elf_end(elf);
}

static void object_destroy(struct object *o)
{
	if (!o)
		return;
	free(o->symbols);
	ot_arena_deinit(&o->arena);
	free(o);
}

/* The object of @m, read on first use. */
static struct object *object_of(struct vp_host_symbols *hs, uint64_t pid, const struct map *m)
{
	const char *path = m->key + m->path_at, *slash = strrchr(path, '/');
	struct object *o = ot_map_gets(&hs->objects, m->key);

	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	ot_arena_init(&o->arena);
	o->name = ot_arena_strdup(&o->arena, slash ? slash + 1 : path);
	if (!o->name || !ot_map_puts(&hs->objects, m->key, o)) {
		object_destroy(o);
		return NULL;
	}
	read_object(o, pid, path);
	return o;
}

/* The address as the file was linked; false: it is in none of its segments. */
static bool linked_address(const struct object *o, const struct map *m, uint64_t addr, uint64_t *ret)
{
	uint64_t at = addr - m->start + m->offset;

	for (size_t i = 0; i < o->nsegments; i++) {
		const struct segment *s = &o->segments[i];
		if (at >= s->offset && at - s->offset < s->size) {
			*ret = s->vaddr + (at - s->offset);
			return true;
		}
	}
	return false;
}

static const struct host_symbol *find_symbol(const struct object *o, uint64_t addr)
{
	size_t lo = OT_COUNT_BEFORE(o->nsymbols, i, o->symbols[i].addr <= addr);

	if (!lo)
		return NULL;
	/* the first of those at this address */
	uint64_t at = o->symbols[--lo].addr;
	while (lo && o->symbols[lo - 1].addr == at)
		lo--;
	const struct host_symbol *s = &o->symbols[lo];
	return !s->size || addr - s->addr < s->size ? s : NULL;
}

/* --- processes ------------------------------------------------------------------------------- */

static void drop_maps(struct process *p)
{
	for (size_t i = 0; i < p->nmaps; i++)
		free(p->maps[i].key);
	p->nmaps = 0;
}

static void process_destroy(struct process *p)
{
	if (!p)
		return;
	drop_maps(p);
	free(p->maps);
	free(p);
}

/* Mappings of files only. */
static bool parse_map(char *line, struct map *ret)
{
	struct ot_proc_map m;
	char *key;

	if (!ot_proc_map_parse(line, &m) || *m.path != '/')
		return false;
	char *deleted = strstr(m.path, " (deleted)");
	if (deleted && !deleted[10])
		*deleted = '\0';
	if (asprintf(&key, "%x:%x %" PRIu64 " %s", m.major, m.minor, m.inode, m.path) < 0)
		return false;
	*ret = (struct map){
		.start = m.start,
		.end = m.end,
		.offset = m.offset,
		.key = key,
		.path_at = strlen(key) - strlen(m.path),
	};
	return true;
}

/* Read the process's maps. If the process has ended, the mappings that were read before stay. */
static void read_maps(struct process *p)
{
	ot_auto_free char *line = NULL;
	char name[64];
	size_t cap = 0;
	struct map m;

	snprintf(name, sizeof(name), "/proc/%" PRIu64 "/maps", p->pid);
	FILE *fp = fopen(name, "re");
	p->read_at = time(NULL);
	if (!fp)
		return;
	bool first = true;
	while (p->nmaps < MAPS_MAX && getline(&line, &cap, fp) > 0) {
		if (!parse_map(line, &m))
			continue;
		if (first)
			drop_maps(p);
		first = false;
		if (!ot_grow(&p->maps, &p->maps_cap, p->nmaps + 1, sizeof(*p->maps))) {
			free(m.key);
			break;
		}
		p->maps[p->nmaps++] = m;
	}
	fclose(fp);
}

static const struct map *find_map(const struct process *p, uint64_t addr)
{
	for (size_t i = 0; i < p->nmaps; i++)
		if (addr >= p->maps[i].start && addr < p->maps[i].end)
			return &p->maps[i];
	return NULL;
}

static struct process *process_of(struct vp_host_symbols *hs, uint64_t pid)
{
	struct process *p = ot_map_get(&hs->processes, &pid, sizeof(pid));

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	if (!ot_map_put(&hs->processes, &pid, sizeof(pid), p)) {
		process_destroy(p);
		return NULL;
	}
	return p;
}

/* The mapping at @addr. A process may have mapped more since its maps were read: they are read again at most
 * once a second. */
static const struct map *map_at(struct process *p, uint64_t addr)
{
	const struct map *m = find_map(p, addr);

	if (m || p->read_at == time(NULL))
		return m;
	read_maps(p);
	return find_map(p, addr);
}

/* --- text --------------------------------------------------------------------------------------- */

void vp_host_symbol(struct vp_host_symbols *hs, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
		    char *buf, size_t size)
{
	struct process *p = process_of(hs, pid);
	const struct map *m = p ? map_at(p, addr) : NULL;
	const struct object *o = m ? object_of(hs, pid, m) : NULL;
	uint64_t linked = 0;

	if (!o) {
		snprintf(buf, size, "0x%" PRIx64, addr);
		return;
	}
	if (form == VP_SYM_MODULE) {
		snprintf(buf, size, "%s", o->name);
		return;
	}
	const struct host_symbol *s = linked_address(o, m, addr, &linked) ? find_symbol(o, linked) : NULL;
	if (!s)
		snprintf(buf, size, "%s`0x%" PRIx64, o->name, addr);
	else if (form == VP_SYM_NAME || linked == s->addr)
		snprintf(buf, size, "%s`%s", o->name, s->name);
	else
		snprintf(buf, size, "%s`%s+0x%" PRIx64, o->name, s->name, linked - s->addr);
}

void vp_host_symbols_init(struct vp_host_symbols *hs)
{
	ot_map_init(&hs->processes);
	ot_map_init(&hs->objects);
}

void vp_host_symbols_deinit(struct vp_host_symbols *hs)
{
	for (size_t i = 0; i < hs->processes.count; i++)
		process_destroy(hs->processes.entries[i]->value);
	for (size_t i = 0; i < hs->objects.count; i++)
		object_destroy(hs->objects.entries[i]->value);
	ot_map_deinit(&hs->processes);
	ot_map_deinit(&hs->objects);
}
