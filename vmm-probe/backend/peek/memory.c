/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the guest's RAM in the VMM, without asking the VMM, by guesses: one of its largest mappings,
 * completely from guest address 0, or in two parts with the second at 4 GiB, as the known VMMs place it. A
 * guess is accepted if a vCPU's page table, read by it, translates the vCPU's instruction pointer and its
 * interrupt table to RAM. Guests with RAM in several pieces (NUMA nodes, pc-dimm) are not read.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_map.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/backend/peek/internal.h"
#include "vmm-probe/machines/qemu_machine.h"

#define SIZE_MIN (8ull << 20)
#define GUESSES  6 /* mappings */
#define HIGH     (1ull << 32)

struct mapping {
	uint64_t start, end, offset;
	dev_t dev;
	ino_t ino; /* 0: anonymous */
	bool shared;
};

static void cleanup_phys(struct vp_phys **p)
{
	vp_phys_destroy(*p);
}

/* --- mappings ------------------------------------------------------------------------------------------ */

static bool parse_mapping(char *line, struct mapping *ret)
{
	struct ot_proc_map m;

	if (!ot_proc_map_parse(line, &m) || m.perms[0] != 'r' || m.perms[1] != 'w' || m.end <= m.start)
		return false;
	*ret = (struct mapping){ m.start,          m.end, m.offset, makedev(m.major, m.minor), m.inode,
				 m.perms[3] == 's' };
	return true;
}

/* The kernel splits a mapping whose parts have different hints (huge pages, for example). But adjacent
 * mappings may be unrelated, so joining them is the second attempt. */
static bool join(struct mapping *to, const struct mapping *m)
{
	if (to->end != m->start || to->shared != m->shared || to->ino != m->ino || to->dev != m->dev ||
	    (m->ino && m->offset != to->offset + (to->end - to->start)))
		return false;
	to->end = m->end;
	return true;
}

static void keep_large(const struct mapping *m, struct mapping *list, unsigned *n)
{
	uint64_t size = m->end - m->start;
	unsigned at = 0;

	if (size < SIZE_MIN)
		return;
	while (at < *n && list[at].end - list[at].start >= size)
		at++;
	if (at == GUESSES)
		return;
	if (*n < GUESSES)
		(*n)++;
	memmove(&list[at + 1], &list[at], (*n - at - 1) * sizeof(*list));
	list[at] = *m;
}

/* The largest ones, largest first. */
static struct ot_err *list_mappings(const struct vp_peek *peek, bool joined, struct mapping *list,
				    unsigned *ret)
{
	ot_auto_free char *text = NULL;
	struct mapping last = { 0 }, m;
	char *save = NULL;
	size_t len;

	*ret = 0;
	OT_TRY(vp_peek_proc(peek, "maps", &text, &len));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!parse_mapping(line, &m) || (joined && join(&last, &m)))
			continue;
		keep_large(&last, list, ret);
		last = m;
	}
	keep_large(&last, list, ret);
	return NULL;
}

/* The file of a shared mapping, among the VMM's own descriptors; -1: none. Reading a shared
 * mapping's holes through the process would fill them. */
static int open_file(const struct vp_peek *peek, const struct mapping *m)
{
	char path[320];
	const struct dirent *e;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)peek->pid);
	ot_auto_dir DIR *dir = m->shared && m->ino ? opendir(path) : NULL;
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.200s", (int)peek->pid, e->d_name);
		/* a descriptor of any other kind has another inode */
		if (*e->d_name == '.' || stat(path, &st) || !S_ISREG(st.st_mode) || st.st_dev != m->dev ||
		    st.st_ino != m->ino)
			continue;
		return open(path, O_RDONLY | O_CLOEXEC);
	}
	return -1;
}

/* --- guesses -------------------------------------------------------------------------------------------- */

static void lay_out(struct vp_peek *peek, const struct mapping *m, uint64_t low, int fd)
{
	uint64_t size = m->end - m->start;

	low = size < low ? size : low;
	peek->memory.nram = low < size ? 2 : 1;
	peek->memory.ram[0] = (struct vp_ram_range){
		.size = low, .host = m->start, .offset = m->offset, .fd_index = fd >= 0 ? 0 : -1
	};
	peek->memory.ram[1] = peek->memory.ram[0];
	peek->memory.ram[1].gpa = HIGH;
	peek->memory.ram[1].size = size - low;
	peek->memory.ram[1].host += low;
	peek->memory.ram[1].offset += low;
}

static struct ot_err *make_phys(const struct vp_peek *peek, int fd, struct vp_phys **ret)
{
	ot_auto(cleanup_phys) struct vp_phys *phys = NULL;

	OT_TRY(vp_phys_create(&phys));
	for (uint32_t i = 0; i < peek->memory.nram; i++) {
		const struct vp_ram_range *r = &peek->memory.ram[i];
		struct vp_gpa gpa = { r->gpa };
		if (fd >= 0)
			OT_TRY(vp_phys_add_file(phys, gpa, r->size, fd, r->offset));
		else
			OT_TRY(vp_phys_add_process(phys, gpa, r->size, peek->pid, r->host));
	}
	*ret = ot_move(phys);
	return NULL;
}

static bool can_read(const struct vp_phys *phys, struct vp_mmu *mmu, uint64_t gva, void *dst, size_t len)
{
	ot_auto_err struct ot_err *err = vp_mmu_read(phys, mmu, (struct vp_gva){ gva }, dst, len);

	return !err;
}

/* Are this vCPU's instruction pointer and interrupt table in RAM? */
static bool fits(const struct vp_phys *phys, struct vp_mmu *mmu, const struct vp_regs *r)
{
	struct vp_page_root root;
	uint8_t bytes[16];
	uint64_t vector[VP_VECTOR_WORDS], at = vp_native_vector(r);

	if (!r->valid || !vp_native_paging_root(r, &root))
		return false;
	vp_mmu_init(mmu, &vp_native_paging, vp_gpa(root.gpa), root.levels);
	if (!can_read(phys, mmu, r->v[VP_REG_PC], bytes, 1))
		return false;
	if (!at || !can_read(phys, mmu, at, vector, sizeof(vector)))
		return false;
	return can_read(phys, mmu, vp_native_vector_handler(vector), bytes, sizeof(bytes));
}

static struct ot_err *check(struct vp_peek *peek, int fd, const struct vp_regs *regs, bool *ret)
{
	ot_auto(cleanup_phys) struct vp_phys *phys = NULL;
	struct ot_err *err = make_phys(peek, fd, &phys);

	*ret = false;
	if (err && ot_err_code(err) == OT_ERR_BAD_DATA) { /* of whole pages it is not */
		ot_err_destroy(err);
		return NULL;
	}
	OT_TRY(err);
	for (uint32_t i = 0; !*ret && i < peek->nvcpus; i++)
		*ret = fits(phys, &peek->memory.kernel, &regs[i]);
	return NULL;
}

static struct ot_err *try_mapping(struct vp_peek *peek, const struct mapping *m, uint64_t first,
				  const struct vp_regs *regs, bool *ret)
{
	/* RAM below 4 GiB: QEMU's pc and microvm, q35, Firecracker's and cloud-hypervisor's. */
	const uint64_t lows[] = { first, 0xe0000000, 0xc0000000, 0xb0000000, 0x80000000, 0xd0000000 };
	ot_auto_close int fd = open_file(peek, m);

	*ret = false;
	for (size_t i = 0; !*ret && i < OT_ARRAY_SIZE(lows); i++) {
		if (i && (m->end - m->start <= lows[i] || lows[i] == first))
			continue;
		lay_out(peek, m, lows[i], fd);
		OT_TRY(check(peek, fd, regs, ret));
	}
	if (*ret)
		peek->memory.ram_fd = ot_move_fd(fd);
	else
		peek->memory.nram = 0;
	return NULL;
}

static enum vp_peek_seen what_is_seen(const struct vp_peek *peek, const struct vp_regs *regs)
{
	struct vp_page_root root;
	enum vp_peek_seen seen = vp_peek_is_paused(peek) ? VP_PEEK_PAUSED : VP_PEEK_SILENT;

	for (uint32_t i = 0; i < peek->nvcpus; i++) {
		if (!regs[i].valid)
			continue;
		seen = vp_native_paging_root(&regs[i], &root) ? VP_PEEK_64BIT : seen;
		seen = seen < VP_PEEK_EARLY ? VP_PEEK_EARLY : seen;
	}
	return seen;
}

struct ot_err *vp_peek_find_ram(struct vp_peek *peek, const struct vp_regs *regs)
{
	ot_auto_free char *cmdline = NULL;
	struct vp_qemu_machine machine;
	bool found = false;
	size_t len = 0;

	peek->memory.seen = what_is_seen(peek, regs);
	OT_TRY(vp_peek_proc(peek, "cmdline", &cmdline, &len));
	vp_qemu_machine_parse(cmdline, len, &machine);
	for (unsigned joined = 0; !found && joined < 2; joined++) {
		struct mapping list[GUESSES + 1];
		unsigned n = 0;
		OT_TRY(list_mappings(peek, joined, list, &n));
		for (unsigned i = 0; !found && i < n; i++) {
			uint64_t low = vp_qemu_ram_low(&machine, list[i].end - list[i].start);
			OT_TRY(try_mapping(peek, &list[i], low, regs, &found));
		}
	}
	return NULL;
}

/* --- probes' reads -------------------------------------------------------------------------------------- */

void vp_peek_use_memory(struct vp_peek *peek, const struct vp_phys *phys, struct vp_gpa root, unsigned levels)
{
	vp_mmu_init(&peek->memory.kernel, &vp_native_paging, root, levels);
	peek->memory.phys = phys;
}

/* By the vCPU's own page table: with page-table isolation both halves contain user memory. */
static struct vp_mmu *user_mmu(struct vp_peek *peek)
{
	const struct vp_peek_vcpu *v = peek->sampler.current;

	if (!v)
		return NULL;
	struct vp_page_root root = vp_x86_page_root(v->state.sregs.cr3, v->state.sregs.cr4);
	vp_mmu_init(&peek->memory.user, &vp_native_paging, vp_gpa(root.gpa), root.levels);
	return &peek->memory.user;
}

bool vp_peek_load(void *backend, uint64_t gva, void *dst, uint32_t len, bool user)
{
	struct vp_peek *peek = backend;

	if (!peek->memory.phys || user != !(gva >> 63) || gva + len < gva)
		return false;
	struct vp_mmu *mmu = user ? user_mmu(peek) : &peek->memory.kernel;
	return mmu && can_read(peek->memory.phys, mmu, gva, dst, len);
}
