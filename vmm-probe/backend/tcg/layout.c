/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM in QEMU's layout: any number of memory backends, and memory that is plugged and unplugged while
 * the guest runs. The plugin API has no call for it, so the monitor is asked (machines/qemu_ask.h), on QEMU's
 * main loop. Each block is also referenced there, by QEMU's own count of its users: an unplugged one is
 * unmapped when the last user releases it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "vmm-probe/backend/tcg/tcg.h"
#include "vmm-probe/machines/qemu_ask.h"
#include "vmm-probe/machines/qemu_view.h"
#include "vmm-probe/machines/ram_ranges.h"

#define PATIENT_NS 2000000000ull
#define QUICK_NS   20000000ull

struct vp_tcg_layout {
	uint64_t number;
	struct vp_ram_range ranges[VP_RAM_RANGES_MAX];
	void *blocks[VP_RAM_RANGES_MAX]; /* references, one for each range before merging */
	uint32_t nranges, nblocks;
	int fds[VP_RAM_FDS_MAX];
	uint32_t nfds;
	struct vp_tcg_layout *next; /* in a list of layouts that are not in force */
};

/* The service thread's and the main loop's, under the lock. */
static struct {
	pthread_mutex_t lock;
	struct vp_tcg_layout *found; /* set by the main loop, taken by the service thread; NULL: none */
	/* the layout in force, which is not freed during the main loop's comparison */
	struct vp_tcg_layout *last;
	struct vp_tcg_layout *old;  /* earlier layouts */
	struct vp_tcg_layout *done; /* to be released by the main loop */
	const char *trouble;
	bool wanted;
	uint64_t number;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool vp_tcg_layout_can_find(void)
{
	return vp_qemu_can_ask() && vp_qemu_can_hold();
}

void *vp_tcg_layout_host(const struct vp_tcg_layout *layout, uint64_t gpa, uint64_t *ret_len)
{
	const struct vp_ram_range *r = layout->ranges;
	uint32_t first = 0, n = layout->nranges;

	/* The last range that begins at or below @gpa. */
	while (n > 1) {
		uint32_t half = n / 2;
		first = r[first + half].gpa <= gpa ? first + half : first;
		n -= half;
	}
	if (!n || gpa < r[first].gpa || gpa - r[first].gpa >= r[first].size)
		return NULL;
	*ret_len = r[first].size - (gpa - r[first].gpa);
	return (void *)(uintptr_t)(r[first].host + (gpa - r[first].gpa));
}

/* --- on QEMU's main loop ----------------------------------------------------------------------------- */

static void let_go(struct vp_tcg_layout *list)
{
	while (list) {
		struct vp_tcg_layout *next = list->next;
		for (uint32_t i = 0; i < list->nblocks; i++)
			vp_qemu_let_go(list->blocks[i]);
		free(list);
		list = next;
	}
}

static const char *add(struct vp_tcg_layout *layout, uint64_t start, uint64_t end)
{
	uint32_t n = layout->nranges;
	uint64_t host;

	if (!vp_ram_is_kernels(start, end))
		return NULL;
	/* Memory around the firmware's shadow becomes two ranges. */
	if (n + 2 > VP_RAM_RANGES_MAX)
		return "it is in too many pieces";
	if (!vp_qemu_host_of(start, &host))
		return "QEMU's monitor reports no host address of it";
	void *block = vp_qemu_hold(host);
	if (!block)
		return "QEMU has no memory block for it";
	layout->blocks[layout->nblocks++] = block;
	layout->nranges = vp_ram_add(layout->ranges, n, VP_RAM_RANGES_MAX, start, end, host);
	return NULL;
}

static const char *read_view(const char *text, struct vp_tcg_layout *layout)
{
	const char *at = vp_qemu_view_of(text, "memory"), *trouble = NULL;
	uint64_t start, end;

	while (!trouble && vp_qemu_view_ram(&at, &start, &end))
		trouble = add(layout, start, end);
	layout->nranges = vp_ram_join(layout->ranges, layout->nranges);
	if (!trouble && !layout->nranges)
		trouble = "the machine has none yet";
	return trouble;
}

/* Other memory can't be at the same address, because the block is referenced. */
static const char *read_layout(struct vp_tcg_layout **ret)
{
	const struct vp_tcg_layout *last;
	struct vp_tcg_layout *layout = calloc(1, sizeof(*layout));
	char *text = layout ? vp_qemu_monitor("info mtree -f") : NULL;
	const char *trouble = text ? read_view(text, layout) : "QEMU's monitor has no `info mtree`";

	vp_qemu_free(text);
	pthread_mutex_lock(&all.lock);
	last = all.last;
	bool same =
	    !trouble && last && vp_ram_same(layout->ranges, layout->nranges, last->ranges, last->nranges);
	pthread_mutex_unlock(&all.lock);
	*ret = layout;
	if (trouble || same) {
		let_go(layout);
		*ret = NULL;
	}
	return trouble;
}

static void on_main_loop(void)
{
	struct vp_tcg_layout *done, *layout = NULL, *unused;
	const char *trouble = NULL;

	pthread_mutex_lock(&all.lock);
	bool wanted = all.wanted;
	done = all.done;
	all.done = NULL;
	pthread_mutex_unlock(&all.lock);
	let_go(done);
	if (!wanted)
		return;
	trouble = read_layout(&layout);
	pthread_mutex_lock(&all.lock);
	/* A result that arrived too late, or that is not needed any more. */
	unused = all.wanted ? all.found : layout;
	if (all.wanted) {
		all.found = layout;
		all.trouble = trouble;
	}
	pthread_mutex_unlock(&all.lock);
	let_go(unused);
}

/* --- the service thread ------------------------------------------------------------------------------ */

static void put_in_force(struct vp_tcg_layout *layout)
{
	struct vp_tcg_layout *last;

	layout->nfds = vp_ram_files(layout->ranges, layout->nranges, layout->fds, VP_RAM_FDS_MAX);
	pthread_mutex_lock(&all.lock);
	last = all.last;
	layout->number = ++all.number;
	all.last = layout;
	if (last) {
		last->next = all.old;
		all.old = last;
	}
	pthread_mutex_unlock(&all.lock);
	atomic_store_explicit(&vp_tcg.layout, layout, memory_order_release);
}

static struct ot_err *find(void *backend, bool patient, struct vp_ram_layout *ret)
{
	struct vp_tcg_layout *layout;
	const char *trouble;

	(void)backend;
	pthread_mutex_lock(&all.lock);
	all.wanted = true;
	pthread_mutex_unlock(&all.lock);
	bool answered = vp_qemu_ask(on_main_loop, patient ? PATIENT_NS : QUICK_NS);
	pthread_mutex_lock(&all.lock);
	trouble = answered ? all.trouble : "QEMU's main loop does not answer";
	layout = all.found;
	all.found = NULL;
	pthread_mutex_unlock(&all.lock);
	if (layout)
		put_in_force(layout);
	layout = all.last; /* only this thread changes it */
	if (trouble || !layout)
		return ot_err_new(OT_ERR_BUSY, "%s", trouble ? trouble : "QEMU has not answered yet");
	*ret = (struct vp_ram_layout){ layout->ranges, layout->fds, layout->nranges, layout->nfds,
				       layout->number };
	return NULL;
}

static void close_files(const struct vp_tcg_layout *layout)
{
	for (uint32_t i = 0; i < layout->nfds; i++)
		close(layout->fds[i]);
}

/* With the lock. */
static void is_done(struct vp_tcg_layout *layout)
{
	close_files(layout);
	layout->next = all.done;
	all.done = layout;
}

static void let_go_of(void *backend, uint64_t number)
{
	struct vp_tcg_layout *layout;

	(void)backend;
	if (!number)
		atomic_store(&vp_tcg.layout, NULL);
	pthread_mutex_lock(&all.lock);
	while ((layout = all.old)) {
		all.old = layout->next;
		is_done(layout);
	}
	if (!number) {
		all.wanted = false;
		if (all.last)
			is_done(all.last);
		if (all.found)
			is_done(all.found);
		all.last = all.found = NULL;
	}
	bool some = all.done;
	pthread_mutex_unlock(&all.lock);
	if (some)
		(void)vp_qemu_ask(on_main_loop, 0);
}

const struct vp_backend_ram vp_tcg_layouts = { .find = find, .let_go = let_go_of };
