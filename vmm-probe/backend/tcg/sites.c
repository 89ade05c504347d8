/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The translation callback: instrumenting a block's instructions that are sites. Sites are matched by the
 * host address of the instruction's byte, because QEMU shares x86 blocks between all virtual aliases of a
 * page. Most pages have no site, so the page is looked up first, in a hash table.
 *
 * Runs on vCPU threads, several at once; the index is changed only while none runs.
 */
#include "base/search.h"
#include "vmm-probe/backend/tcg/cpu_state.h"
#include "vmm-probe/backend/tcg/tcg.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT   12
#define RESET_VECTOR 0xfffffff0u

struct page {
	uint64_t number; /* host address >> PAGE_SHIFT; 0: empty */
	uint32_t first;  /* in plan->sites */
	uint32_t count;
};

struct vp_tcg_index {
	const struct vp_plan *plan; /* the engine's */
	struct vp_tcg_users *users; /* NULL: no sites in processes */
	uint64_t mask;              /* of pages[]; a power of two less 1 */
	struct page pages[];
};

static uint64_t page_hash(uint64_t number)
{
	return number * 0x9e3779b97f4a7c15ull >> 32;
}

static struct page *find_page(struct vp_tcg_index *index, uint64_t number)
{
	uint64_t i = page_hash(number) & index->mask;

	/* Ends: at most half of the table is used. */
	while (index->pages[i].number && index->pages[i].number != number)
		i = (i + 1) & index->mask;
	return &index->pages[i];
}

static struct ot_err *check_plan(const struct vp_plan *plan)
{
	for (uint32_t i = 0; i < plan->nsites; i++) {
		if (!plan->sites[i].host)
			return ot_err_new(OT_ERR_FAULT, "site %#llx is not in guest RAM",
					  (unsigned long long)plan->sites[i].gva);
		if (i && plan->sites[i].host < plan->sites[i - 1].host)
			return ot_err_new(OT_ERR_INTERNAL, "sites are not in order of address");
	}
	return NULL;
}

struct ot_err *vp_tcg_index_create(const struct vp_plan *plan, struct vp_tcg_index **ret)
{
	struct vp_tcg_index *index;
	uint64_t size = 16, pages = 0;

	OT_TRY(check_plan(plan));
	for (uint32_t i = 0; i < plan->nsites; i++)
		pages += !i || plan->sites[i].host >> PAGE_SHIFT != plan->sites[i - 1].host >> PAGE_SHIFT;
	while (size < 2 * pages + 1)
		size *= 2;
	index = calloc(1, sizeof(*index) + size * sizeof(index->pages[0]));
	if (!index)
		return ot_err_nomem();
	index->plan = plan;
	index->mask = size - 1;
	for (uint32_t i = 0; i < plan->nsites; i++) {
		uint64_t number = plan->sites[i].host >> PAGE_SHIFT;
		struct page *page = find_page(index, number);

		if (!page->number)
			*page = (struct page){ .number = number, .first = i };
		page->count++;
	}
	struct ot_err *err = vp_tcg_users_create(plan, &index->users);
	if (err)
		free(index);
	else
		*ret = index;
	return err;
}

void vp_tcg_index_destroy(struct vp_tcg_index *index)
{
	if (index)
		vp_tcg_users_destroy(index->users);
	free(index);
}

void vp_tcg_on_site(unsigned int vcpu, void *udata);
void vp_tcg_on_site_with(unsigned int vcpu, void *udata, const uint64_t *state);
VP_TCG_ENTRY(vp_tcg_on_site, vp_tcg_on_site_with);

void vp_tcg_on_site_with(unsigned int vcpu, void *udata, const uint64_t *state)
{
	const struct vp_site *site = udata;
	struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);
	struct vp_engine *engine;

	if (ot_unlikely(!v))
		return;
	vp_tcg_is_here(v);
	engine = vp_tcg_enter(v);
	if (ot_unlikely(!engine))
		return;
	/* QEMU's rip is that of the block's beginning. */
	v->regs.v[VP_REG_PC] = site->gva;
	v->regs.valid = VP_REG_BIT(VP_REG_PC);
	/* The kernel runs in 64-bit mode, in which the API also returns complete registers. */
	v->current = ot_likely(state == v->state) ? state : NULL;
	bool module = ot_unlikely(site->sentinel) && vp_sentinel_is_module(site->sentinel);
	uint64_t argument = ot_unlikely(module) ? vp_tcg_reg(v, VP_REG_ARG0) : 0;
	vp_engine_hit(engine, vcpu, site, v);
	uint64_t number =
	    ot_unlikely(module) ? vp_engine_module(engine, (enum vp_sentinel)site->sentinel, argument) : 0;
	v->current = NULL;
	vp_tcg_leave(v);
	if (ot_unlikely(number))
		vp_tcg_wait_module(v, number);
}

static void instrument(struct qemu_plugin_insn *insn, const struct vp_site *site)
{
	struct qemu_plugin_u64 entry;

	for (uint32_t i = 0; i < site->ncounters; i++) {
		if (vp_tcg_counter_entry(site->counters[i], &entry))
			qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64,
									    entry, 1);
	}
	if (site->necbs || site->agent || site->sentinel)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, vp_tcg_on_site, QEMU_PLUGIN_CB_R_REGS,
						       (void *)site);
}

/* Instrument every site at @host. Sites of one address are adjacent. */
static void instrument_at(struct qemu_plugin_insn *insn, const struct vp_plan *plan, const struct page *page,
			  uint64_t host)
{
	const struct vp_site *sites = plan->sites + page->first;

	for (size_t i = OT_COUNT_BEFORE(page->count, k, sites[k].host < host);
	     i < page->count && sites[i].host == host; i++)
		instrument(insn, &sites[i]);
}

/* Instructions that every running guest executes, and that are so slow in QEMU that testing a flag before
 * them has no measurable cost: returns from the kernel, and the spin loop's pause. */
static bool is_poll_point(const struct qemu_plugin_insn *insn)
{
	static const struct {
		uint8_t size;
		uint8_t bytes[3];
	} points[] = {
		{ 2, { 0x48, 0xcf } },       /* iretq */
		{ 3, { 0x48, 0x0f, 0x07 } }, /* sysretq */
		{ 2, { 0x0f, 0x07 } },       /* sysretl */
		{ 1, { 0xcf } },             /* iret */
		{ 2, { 0xf3, 0x90 } },       /* pause */
	};
	size_t size = qemu_plugin_insn_size(insn);
	uint8_t bytes[3];

	if (size > sizeof(bytes) || qemu_plugin_insn_data(insn, bytes, size) != size)
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(points); i++) {
		if (points[i].size == size && memcmp(points[i].bytes, bytes, size) == 0)
			return true;
	}
	return false;
}

static void instrument_sites(struct qemu_plugin_insn *insn, struct vp_tcg_index *index, struct page **page,
			     uint64_t *page_number)
{
	uint64_t host = (uintptr_t)qemu_plugin_insn_haddr(insn);

	if (!host)
		return; /* not in RAM */
	if (!*page || host >> PAGE_SHIFT != *page_number) {
		*page_number = host >> PAGE_SHIFT;
		*page = find_page(index, *page_number);
	}
	if ((*page)->count)
		instrument_at(insn, index->plan, *page, host);
}

/* The first block ever: from now on a new plan needs a reset. */
static void note_translation(void)
{
	if (ot_likely(atomic_load_explicit(&vp_tcg.started, memory_order_acquire)))
		return;
	pthread_mutex_lock(&vp_tcg.lock);
	vp_tcg.translated = true;
	pthread_mutex_unlock(&vp_tcg.lock);
	atomic_store_explicit(&vp_tcg.started, true, memory_order_release);
}

/* A machine starts there after a reset. QEMU reports no reset to plugins, and may have translated the block
 * before, but a session's start makes QEMU translate all blocks again. */
static void note_reset(void)
{
	struct vp_engine *engine = atomic_load(&vp_tcg.engine);

	if (engine)
		vp_engine_guest_ended(engine, VP_GUEST_RESET);
}

void vp_tcg_on_translate(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct vp_tcg_index *index;
	struct page *page = NULL;
	uint64_t page_number = 0;

	if (ot_unlikely(atomic_load_explicit(&vp_tcg.hands_off, memory_order_relaxed)))
		return;
	note_translation();
	atomic_fetch_add(&vp_tcg.translating, 1);
	index = atomic_load_explicit(&vp_tcg.index, memory_order_acquire);
	if (index && index->plan->profiling)
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, vp_tcg_on_sample, QEMU_PLUGIN_CB_R_REGS,
							  QEMU_PLUGIN_COND_NE, vp_tcg.sample, 0, NULL);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		vp_tcg_check_breakpoint(insn);
		if (is_poll_point(insn))
			qemu_plugin_register_vcpu_insn_exec_cond_cb(
			    insn, vp_tcg_on_poll_point, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE,
			    vp_tcg.poll, 0, (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
		if (index && index->plan->nsites)
			instrument_sites(insn, index, &page, &page_number);
		if (index && index->users)
			vp_tcg_users_instrument(index->users, insn);
		if (ot_unlikely(i == 0 && qemu_plugin_insn_vaddr(insn) == RESET_VECTOR))
			note_reset();
		if (i == 0)
			vp_tcg_ram_check(&vp_tcg.ram, qemu_plugin_insn_vaddr(insn),
					 qemu_plugin_insn_haddr(insn));
	}
	atomic_fetch_sub(&vp_tcg.translating, 1);
}
