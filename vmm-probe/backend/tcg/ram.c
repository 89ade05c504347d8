/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding guest RAM in this process where QEMU can't be asked for it (layout.c), which is then one block. It
 * is the largest mapping that can be guest RAM (/proc/self/maps), and its place in
 * physical memory follows from the machine type. That is checked against QEMU: it reports the host address of
 * instructions that it translates, and a walk of the guest's page tables through our map must lead to the
 * same address. Until it does, nothing is readable.
 *
 * The map covers the hole for devices below 1 MiB too: reads there return the block's own bytes, which no
 * guest uses.
 */
#include "vmm-probe/backend/tcg/tcg.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/guarded.h"
#include "base/proc_map.h"
#include "vmm-probe/arch/native.h"

#define ABOVE_4G     (4ull << 30)
#define RAM_MIN      (1ull << 20)
#define CHECKS_MAX   200000u /* blocks; then the result so far is final */
#define MISMATCH_MAX 64u     /* a guest may change a page table that QEMU's TLB still caches */

/* --- finding the block -------------------------------------------------------------------- */

struct mapping {
	uint64_t start, end, offset;
	uint64_t inode;
	dev_t dev;
	bool backend; /* surely a memory backend's */
	bool shared;  /* else written data is not in its file */
};

/* A line of /proc/self/maps; false when it can't be guest RAM. */
static bool parse_mapping(char *line, struct mapping *ret)
{
	struct ot_proc_map m;

	if (!ot_proc_map_parse(line, &m) || strncmp(m.perms, "rw-", 3) != 0 || m.end - m.start < RAM_MIN)
		return false;
	/* The heap, stacks; and the writable side of translated code. */
	if (*m.path == '[' || strncmp(m.path, "/memfd:tcg-jit", 14) == 0)
		return false;
	*ret = (struct mapping){
		.start = m.start,
		.end = m.end,
		.offset = m.offset,
		.inode = m.inode,
		.dev = makedev(m.major, m.minor),
		.shared = m.perms[3] == 's',
		.backend = strncmp(m.path, "/memfd:memory-backend-memfd", 27) == 0,
	};
	return true;
}

static struct ot_err *find_block(struct mapping *ret)
{
	FILE *f = fopen("/proc/self/maps", "re");
	struct mapping best = { 0 };
	char *line = NULL;
	size_t cap = 0;

	if (!f)
		return ot_err_new(OT_ERR_OS, "/proc/self/maps can't be read");
	while (getline(&line, &cap, f) > 0) {
		struct mapping m;

		if (!parse_mapping(line, &m))
			continue;
		if (m.backend < best.backend ||
		    (m.backend == best.backend && m.end - m.start <= best.end - best.start))
			continue;
		best = m;
	}
	free(line);
	fclose(f);
	if (!best.end)
		return ot_err_new(OT_ERR_NOT_FOUND, "no guest RAM found in QEMU's process");
	*ret = best;
	return NULL;
}

/* Our descriptor of the mapped file. */
static int find_fd(const struct mapping *m)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *d;
	int found = VP_TCG_NO_FD;

	while (dir && found < 0 && (d = readdir(dir))) {
		struct stat st;
		char *end;
		long fd = strtol(d->d_name, &end, 10);

		if (*end || end == d->d_name || fd == dirfd(dir) || fstat((int)fd, &st))
			continue;
		if (st.st_ino == m->inode && st.st_dev == m->dev)
			found = (int)fd;
	}
	if (dir)
		closedir(dir);
	return found;
}

static void add_range(struct vp_tcg_ram *ram, const struct mapping *m, uint64_t gpa, uint64_t at,
		      uint64_t size)
{
	if (!size)
		return;
	ram->ranges[ram->nranges++] = (struct vp_ram_range){
		.gpa = gpa,
		.size = size,
		.host = m->start + at,
		.offset = m->offset + at,
		.fd_index = ram->fd == VP_TCG_NO_FD ? -1 : 0,
	};
}

struct ot_err *vp_tcg_ram_find(const struct vp_qemu_machine *machine, struct vp_tcg_ram *ret)
{
	struct mapping m = { 0 };
	uint64_t size, low;

	OT_TRY(find_block(&m));
	memset(ret, 0, sizeof(*ret));
	ret->fd = m.shared && m.inode ? find_fd(&m) : VP_TCG_NO_FD;
	size = m.end - m.start;
	low = vp_qemu_ram_low(machine, size);
	add_range(ret, &m, 0, 0, low);
	add_range(ret, &m, ABOVE_4G, low, size - low);
	return NULL;
}

static void *host_of(const struct vp_tcg_ram *ram, uint64_t gpa, uint64_t *ret_len)
{
	return vp_ram_at(ram->ranges, ram->nranges, gpa, ret_len);
}

void *vp_tcg_ram_host(const struct vp_tcg_ram *ram, uint64_t gpa, uint64_t *ret_len)
{
	if (ot_unlikely(atomic_load_explicit(&ram->proof, memory_order_relaxed) & VP_TCG_RAM_WRONG))
		return NULL;
	return host_of(ram, gpa, ret_len);
}

/* --- checking ----------------------------------------------------------------------------- */

static bool read_entry(void *arg, unsigned level, uint64_t table, uint64_t index, uint64_t *ret)
{
	uint64_t len;
	const char *host = host_of(arg, table + index * sizeof(*ret), &len);

	(void)level;
	return host && len >= sizeof(*ret) && ot_guarded_read(ret, host, sizeof(*ret));
}

/* Physical address of @vaddr by the guest's tables. */
static bool walk(struct vp_tcg_ram *ram, const struct vp_page_root *root, uint64_t vaddr, uint64_t *ret_gpa)
{
	const struct vp_paging *p = &vp_native_paging;
	struct vp_page page;

	if (vp_page_walk(p, root->gpa, root->levels, vaddr, p->present, read_entry, ram, &page) !=
	    VP_WALK_PAGE)
		return false;
	*ret_gpa = page.gpa | (vaddr & (page.size - 1));
	return true;
}

static bool read_paging(struct vp_tcg_ram *ram, struct vp_page_root *ret)
{
	static const uint8_t regs[] = { VP_PAGING_REGS };
	struct vp_tcg_vcpu *v = ram->reader;
	struct vp_regs got = { 0 };

	v->regs.valid = 0;
	for (size_t i = 0; i < OT_ARRAY_SIZE(regs); i++)
		got.v[regs[i]] = vp_tcg_reg(v, (enum vp_reg)regs[i]);
	return vp_native_paging_root(&got, ret);
}

/* The range that contains @host; -1: none (firmware). */
static int range_of(const struct vp_tcg_ram *ram, const void *host)
{
	for (uint32_t i = 0; i < ram->nranges; i++) {
		if ((uintptr_t)host - ram->ranges[i].host < ram->ranges[i].size)
			return (int)i;
	}
	return -1;
}

static void settle(struct vp_tcg_ram *ram, uint32_t how)
{
	atomic_fetch_or(&ram->proof, VP_TCG_RAM_SETTLED | how);
	if (how & VP_TCG_RAM_WRONG)
		fprintf(stderr,
			"outsight: guest RAM is not at the expected place in QEMU (unknown machine type or "
			"memory backend): this guest can't be traced\n");
}

static void check(struct vp_tcg_ram *ram, uint64_t vaddr, const void *host)
{
	uint32_t all = (1u << ram->nranges) - 1;
	int range = range_of(ram, host), got_range;
	struct vp_page_root root;
	uint64_t gpa, len;
	const void *got = NULL;

	if (!read_paging(ram, &root))
		return;
	if (++ram->checks > CHECKS_MAX)
		settle(ram, 0);
	if (walk(ram, &root, vaddr, &gpa))
		got = host_of(ram, gpa, &len);
	got_range = got ? range_of(ram, got) : -1;
	if (range < 0 && got_range < 0)
		return; /* firmware */
	if (range < 0 || got != host) {
		/* A range that matched once stays valid: nested guests have tables of tables. */
		if (range >= 0 && (atomic_load(&ram->proof) & 1u << range))
			return;
		if (++ram->mismatches >= MISMATCH_MAX)
			settle(ram, VP_TCG_RAM_WRONG);
		return;
	}
	ram->mismatches = 0;
	if (((atomic_fetch_or(&ram->proof, 1u << range) | 1u << range) & all) == all)
		settle(ram, 0);
}

void vp_tcg_ram_check(struct vp_tcg_ram *ram, uint64_t vaddr, const void *host)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	if (ot_likely(atomic_load_explicit(&ram->proof, memory_order_relaxed) & VP_TCG_RAM_SETTLED) || !host)
		return;
	if (pthread_mutex_trylock(&lock))
		return; /* another vCPU is checking: one is enough */
	if (!ram->nranges || (atomic_load(&ram->proof) & VP_TCG_RAM_SETTLED)) {
		pthread_mutex_unlock(&lock);
		return;
	}
	if (!ram->reader)
		ram->reader = vp_tcg_vcpu_create();
	if (ram->reader)
		check(ram, vaddr, host);
	pthread_mutex_unlock(&lock);
}
