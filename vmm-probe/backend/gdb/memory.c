/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest memory through the stub, for an engine and for the operator's process. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "vmm-probe/arch/native.h"
#include "vmm-probe/backend/gdb/internal.h"

struct ot_err *vp_gdb_window_init(struct vp_gdb_window *w)
{
	void *mem = mmap(NULL, VP_GDB_GPA_MAX, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		return ot_err_os(errno, "reserving address space for the guest's memory");
	w->mem = mem;
	return NULL;
}

void vp_gdb_window_deinit(struct vp_gdb_window *w)
{
	if (w->mem)
		munmap(w->mem, VP_GDB_GPA_MAX);
	w->mem = NULL;
}

/* Free the pages that a hit has read: else a long trace would end up holding all of the guest's memory. The
 * service thread's pages stay: they hold probed text and its page tables, and that thread may be reading
 * them. */
void vp_gdb_forget(struct vp_gdb *gdb)
{
	for (unsigned i = 0; i < VP_GDB_PAGES_MAX; i++)
		if (gdb->hits.page[i]) {
			madvise(gdb->hits.mem + (gdb->hits.page[i] - 1) * VP_GDB_PAGE, VP_GDB_PAGE,
				MADV_DONTNEED);
			gdb->hits.page[i] = 0;
		}
	__atomic_add_fetch(&gdb->epoch, 1, __ATOMIC_RELEASE);
	if (!gdb->parted)
		vp_engine_memory_changed(gdb->engine);
}

struct read {
	uint64_t gpa;
	void *dst;
	size_t len;
};

static struct ot_err *read_now(struct vp_gdb *gdb, void *arg)
{
	const struct read *r = arg;

	return vp_gdb_read(&gdb->stub, true, r->gpa, r->dst, r->len);
}

struct ot_err *vp_gdb_read_phys(void *gdb, uint64_t gpa, void *dst, size_t len)
{
	struct read r = { gpa, dst, len };

	return vp_gdb_call(gdb, read_now, &r);
}

static bool on_stub_thread(const struct vp_gdb *gdb)
{
	return gdb->asked.started && pthread_equal(pthread_self(), gdb->asked.thread);
}

/* Where the page is recorded, if possible: pages with the same slot are read again each time, but one that
 * was returned in this stop keeps its slot until the next. */
static bool note(struct vp_gdb_window *w, uint64_t page, uint64_t epoch, bool *ret_known)
{
	for (unsigned try = 0; try < 16; try++) {
		unsigned at = (unsigned)((page ^ page >> 11) + try) % VP_GDB_PAGES_MAX;
		if (w->page[at] == page + 1) {
			*ret_known = w->epoch[at] == epoch;
			w->epoch[at] = epoch;
			return true;
		}
		if (!w->page[at] || w->epoch[at] != epoch) {
			w->page[at] = page + 1;
			w->epoch[at] = epoch;
			*ret_known = false;
			return true;
		}
	}
	return false;
}

static void un_note(struct vp_gdb_window *w, uint64_t page)
{
	for (unsigned try = 0; try < 16; try++) {
		unsigned at = (unsigned)((page ^ page >> 11) + try) % VP_GDB_PAGES_MAX;
		if (w->page[at] == page + 1)
			w->page[at] = 0;
	}
}

void *vp_gdb_gpa_to_host(void *backend, uint64_t gpa, uint64_t *ret_len)
{
	struct vp_gdb *gdb = backend;
	bool own = on_stub_thread(gdb), known = false;
	struct vp_gdb_window *w = own ? &gdb->hits : &gdb->service;
	uint64_t page = gpa / VP_GDB_PAGE, epoch = __atomic_load_n(&gdb->epoch, __ATOMIC_ACQUIRE);
	struct read r = { page * VP_GDB_PAGE, w->mem + page * VP_GDB_PAGE, VP_GDB_PAGE };

	if (gpa >= VP_GDB_GPA_MAX || !note(w, page, epoch, &known))
		return NULL;
	if (!known) {
		struct ot_err *err = own ? read_now(gdb, &r) : vp_gdb_call(gdb, read_now, &r);
		if (err) {
			ot_err_destroy(err);
			un_note(w, page);
			return NULL;
		}
	}
	*ret_len = VP_GDB_PAGE - gpa % VP_GDB_PAGE;
	return w->mem + gpa;
}

static const struct vp_gdb_block *block_of(struct vp_gdb *gdb, uint64_t gva)
{
	uint64_t start = gva & ~(uint64_t)(VP_GDB_BLOCK - 1);
	struct vp_gdb_block *b = &gdb->blocks[(start / VP_GDB_BLOCK) % VP_GDB_BLOCKS];

	if (b->gva == start && b->epoch == gdb->epoch)
		return b->readable ? b : NULL;
	struct ot_err *err = vp_gdb_read(&gdb->stub, false, start, b->bytes, VP_GDB_BLOCK);
	b->gva = start;
	b->epoch = gdb->epoch;
	b->readable = !err;
	ot_err_destroy(err);
	return b->readable ? b : NULL;
}

/* Kernel memory at a hit, translated by the stub: one request where a walk from here would take five. A vCPU
 * in user mode may not have the kernel mapped; then the engine walks. */
bool vp_gdb_load(void *backend, uint64_t gva, void *dst, uint32_t len, bool user)
{
	struct vp_gdb *gdb = backend;
	uint8_t *to = dst;

	if (user || !vp_is_in_half(&vp_native_paging, VP_PAGING_LEVELS_MIN, gva, 1, true) ||
	    !on_stub_thread(gdb))
		return false;
	while (len) {
		const struct vp_gdb_block *b = block_of(gdb, gva);
		uint32_t at = (uint32_t)(gva % VP_GDB_BLOCK), n = VP_GDB_BLOCK - at;
		if (!b)
			return false;
		n = n < len ? n : len;
		memcpy(to, b->bytes + at, n);
		to += n;
		gva += n;
		len -= n;
	}
	return true;
}
