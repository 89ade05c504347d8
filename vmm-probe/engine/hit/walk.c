/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest memory by virtual address: page walk and a small TLB. Hit path. A guest's page tables are hostile
 * input: a walk reads at most five entries, each only where the backend has RAM. That RAM may disappear
 * meanwhile: every access is guarded.
 *
 * Translations cached between firings: the kernel's direct map and its large pages do not move while a kernel
 * runs, and contain nearly everything (tasks, per-CPU areas, slab). Kernel stacks and user space do move:
 * those translations are valid for one firing.
 */
#include "vmm-probe/engine/hit/walk.h"
#include "base/guarded.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/untouched.h"

#define PAGE_SIZE (1ull << vp_native_paging.page_shift)

/* Tries for a page that comes or goes meanwhile. */
#define TRIES 3

const uint8_t *vp_ram(const struct vp_vcpu_session *v, uint64_t gpa, uint64_t need)
{
	const struct vp_engine *e = v->es->engine;
	uint64_t len = 0;
	const uint8_t *host = e->ops->gpa_to_host(e->backend, gpa, &len);

	return host && len >= need ? host : NULL;
}

static bool read_entry(void *arg, unsigned level, uint64_t table, uint64_t index, uint64_t *ret)
{
	const uint8_t *at = vp_ram(arg, table + index * sizeof(*ret), sizeof(*ret));

	(void)level;
	return at && ot_guarded_read(ret, at, sizeof(*ret));
}

/* Walk from @root to the smallest page of @va, in the page *ret. */
static const uint8_t *walk(struct vp_vcpu_session *v, uint64_t root, uint64_t va, bool user,
			   struct vp_page *ret)
{
	const struct vp_paging *p = &vp_native_paging;
	uint64_t need = p->present | (user ? p->user : 0);

	if (vp_page_walk(p, root, v->es->facts.levels, va, need, read_entry, v, ret) != VP_WALK_PAGE)
		return NULL;
	return vp_ram(v, ret->gpa | (va & (ret->size - 1) & ~(PAGE_SIZE - 1)), PAGE_SIZE);
}

static bool in_direct_map(const struct vp_facts *facts, uint64_t va)
{
	return facts->percpu_base[0] &&
	       va >> VP_DIRECT_MAP_SHIFT == facts->percpu_base[0] >> VP_DIRECT_MAP_SHIFT;
}

static inline uint64_t memory_now(const struct vp_vcpu_session *v)
{
	return __atomic_load_n(&v->es->engine->mem_gen, __ATOMIC_ACQUIRE);
}

static void check_memory(struct vp_vcpu_session *v)
{
	uint64_t gen = memory_now(v);

	if (ot_likely(v->tlb.mem_gen == gen))
		return;
	v->tlb.mem_gen = gen;
	v->tlb.stable++;
}

static inline bool is_valid(const struct vp_tlb *tlb, const struct vp_tlb_entry *e)
{
	return e->stamp == tlb->stable || e->stamp == tlb->firing;
}

static inline bool is_of(const struct vp_tlb *tlb, const struct vp_tlb_entry *e, uint64_t root,
			 uint64_t number)
{
	return e->page == number && e->root == root && is_valid(tlb, e);
}

static inline struct vp_tlb_entry *set_of(struct vp_tlb *tlb, uint64_t number)
{
	return tlb->sets[(number ^ number >> 9) % VP_TLB_SETS];
}

/* The page, NULL: the TLB does not have it. */
static inline const struct vp_tlb_entry *cached_page(struct vp_tlb *tlb, uint64_t root, uint64_t number)
{
	const struct vp_tlb_entry *set = set_of(tlb, number);

	if (ot_likely(is_of(tlb, &set[0], root, number)))
		return &set[0];
	return is_of(tlb, &set[1], root, number) ? &set[1] : NULL;
}

/* An expired one replaces no other. */
static const struct vp_tlb_entry *add_page(struct vp_tlb *tlb, const struct vp_tlb_entry *e)
{
	struct vp_tlb_entry *set = set_of(tlb, e->page);

	if (is_valid(tlb, &set[0]))
		set[1] = set[0];
	set[0] = *e;
	return &set[0];
}

/* The page of @va, NULL: not mapped or not RAM. */
static const struct vp_tlb_entry *find_page(struct vp_vcpu_session *v, uint64_t root, uint64_t va, bool user)
{
	struct vp_tlb *tlb = &v->tlb;
	uint64_t number = va / PAGE_SIZE;
	const struct vp_tlb_entry *e = cached_page(tlb, root, number);
	struct vp_page found;

	if (ot_likely(e))
		return e;
	const uint8_t *host = walk(v, root, va, user, &found);
	if (!host)
		return NULL;
	bool stable = !user && (found.size > PAGE_SIZE || in_direct_map(&v->es->facts, va));
	return add_page(tlb, &(struct vp_tlb_entry){ number, root, stable ? tlb->stable : tlb->firing, host,
						     found.writable });
}

/* Its host address. */
static const uint8_t *page(struct vp_vcpu_session *v, uint64_t root, uint64_t va, bool user)
{
	const struct vp_tlb_entry *e = find_page(v, root, va, user);

	return e ? e->host : NULL;
}

/* The same of a page that the kernel may write to. */
static uint8_t *writable_page(struct vp_vcpu_session *v, uint64_t root, uint64_t va)
{
	const struct vp_tlb_entry *e = find_page(v, root, va, false);

	return e && e->writable ? (uint8_t *)(uintptr_t)e->host : NULL;
}

/* A part of a process's page that is not in its page table. */
static bool load_untouched(struct vp_vcpu_session *v, uint64_t root, uint64_t va, void *dst, uint64_t len)
{
	for (unsigned i = 0; i < TRIES; i++) {
		enum vp_untouched how = vp_load_untouched(v, root, va, dst, len);
		const uint8_t *host;

		if (how == VP_UNTOUCHED_READ)
			return true;
		/* Another thread of the process may have touched it meanwhile. */
		host = page(v, root, va, true);
		if (host)
			return ot_guarded_read(dst, host + va % PAGE_SIZE, len);
		if (how == VP_UNTOUCHED_NONE)
			return false;
	}
	return false;
}

static bool load(struct vp_vcpu_session *v, uint64_t root, uint64_t va, void *dst, uint64_t len, bool user)
{
	uint8_t *to = dst;

	check_memory(v);
	while (len) {
		uint64_t offset = va % PAGE_SIZE, n = PAGE_SIZE - offset;
		const uint8_t *host = page(v, root, va, user);
		n = n < len ? n : len;
		if (ot_likely(host)) {
			if (!ot_guarded_read(to, host + offset, n))
				return false;
		} else if (!user || !load_untouched(v, root, va, to, n)) {
			return false;
		}
		to += n;
		va += n;
		len -= n;
	}
	return true;
}

static inline bool canonical(const struct vp_facts *facts, uint64_t va, uint64_t len, bool high)
{
	return vp_is_in_half(&vp_native_paging, facts->levels, va, len, high);
}

/* Most loads are of a word or two on a page that the TLB has, and take no more than this. NULL: they take
 * load(). */
static inline const uint8_t *near(struct vp_vcpu_session *v, uint64_t root, uint64_t va, uint64_t len)
{
	uint64_t offset = va % PAGE_SIZE;

	if (ot_unlikely(len > PAGE_SIZE - offset || v->tlb.mem_gen != memory_now(v)))
		return NULL;
	const struct vp_tlb_entry *e = cached_page(&v->tlb, root, va / PAGE_SIZE);
	return ot_likely(e) ? e->host + offset : NULL;
}

static __attribute__((noinline)) bool load_kernel(struct vp_vcpu_session *v, uint64_t gva, void *dst,
						  uint64_t len)
{
	const struct vp_facts *facts = &v->es->facts;
	const struct vp_engine *e = v->es->engine;

	if (e->ops->load) {
		if (v != v->es->spare && e->ops->load(e->backend, gva, dst, (uint32_t)len, false))
			return true;
		if (e->host)
			return false;
	}
	return facts->kernel_root && canonical(facts, gva, len, true) &&
	       load(v, facts->kernel_root, gva, dst, len, false);
}

/* The rest is a separate function, so that this one needs no registers saved. */
bool vp_load_kernel(struct vp_vcpu_session *v, uint64_t gva, void *dst, uint64_t len)
{
	const struct vp_engine_session *es = v->es;
	const uint8_t *host = NULL;

	if (ot_likely(!es->engine->ops->load && es->facts.kernel_root &&
		      canonical(&es->facts, gva, len, true)))
		host = near(v, es->facts.kernel_root, gva, len);
	return ot_likely(host) ? ot_guarded_read(dst, host, len) : load_kernel(v, gva, dst, len);
}

/* The root is the running process's, even if the vCPU executes the kernel; a kernel thread borrows an mm. */
bool vp_load_user(struct vp_vcpu_session *v, uint64_t gva, void *dst, uint64_t len)
{
	const struct vp_facts *facts = &v->es->facts;
	const struct vp_engine *e = v->es->engine;

	if (e->ops->load && e->ops->load(e->backend, gva, dst, (uint32_t)len, true))
		return true;
	if (e->host && e->ops->load)
		return false;
	if (!facts->kernel_root || !v->ctx || !canonical(facts, gva, len, false))
		return false;
	return load(v, vp_reg(v, VP_REG_ROOT) & facts->user_pgd_mask, gva, dst, len, true);
}

bool vp_user_gpa(struct vp_vcpu_session *v, uint64_t gva, uint64_t *ret)
{
	const struct vp_paging *p = &vp_native_paging;
	const struct vp_facts *facts = &v->es->facts;
	struct vp_page found;

	if (!facts->kernel_root || !v->ctx || !canonical(facts, gva, 1, false) ||
	    vp_page_walk(p, vp_reg(v, VP_REG_ROOT) & facts->user_pgd_mask, facts->levels, gva,
			 p->present | p->user, read_entry, v, &found) != VP_WALK_PAGE)
		return false;
	*ret = found.gpa + (gva & (found.size - 1));
	return true;
}

uint64_t vp_kernel_host(struct vp_engine_session *es, uint64_t gva)
{
	const uint8_t *host;

	check_memory(es->spare);
	if (!es->facts.kernel_root || !canonical(&es->facts, gva, 1, true))
		return 0;
	host = page(es->spare, es->facts.kernel_root, gva, false);
	return host ? (uint64_t)(uintptr_t)(host + gva % PAGE_SIZE) : 0;
}

/* Without the TLB: usable on any thread, and up to date. */
static uint8_t *walk_now(const struct vp_engine_session *es, uint64_t gva)
{
	struct vp_page found;

	if (!es->facts.kernel_root || !canonical(&es->facts, gva, 8, true))
		return NULL;
	const uint8_t *host = walk(es->spare, es->facts.kernel_root, gva, false, &found);
	return host ? (uint8_t *)(uintptr_t)host + gva % PAGE_SIZE : NULL;
}

uint64_t vp_kernel_host_now(const struct vp_engine_session *es, uint64_t gva)
{
	return (uint64_t)(uintptr_t)walk_now(es, gva);
}

uint64_t vp_site_host(const struct vp_site *site)
{
	return vp_kernel_host_now(site->es, site->gva);
}

bool vp_site_word(const struct vp_site *site, uint64_t gva, uint64_t *ret)
{
	const uint64_t *host = gva && !(gva & 7) ? (const void *)walk_now(site->es, gva) : NULL;

	return host && ot_guarded_load64(host, ret);
}

bool vp_site_text_locked(const struct vp_site *site)
{
	uint64_t owner;

	/* Also not 0 while the mutex is free and a task waits for it: the low bits are flags
	 * (kernel/locking/mutex.c) */
	for (unsigned i = 0; i < VP_TEXT_LOCKS; i++)
		if (vp_site_word(site, site->es->facts.text_locks[i], &owner) && owner)
			return true;
	return false;
}

bool vp_site_keys_locked(const struct vp_site *site)
{
	uint64_t owner;

	return !vp_site_word(site, site->es->facts.key_lock, &owner) || owner;
}

/* Each access is a firing of its own: the hit may not have entered any session, or another one. */
static struct vp_vcpu_session *site_vcpu(const struct vp_site *site, uint32_t vcpu)
{
	struct vp_vcpu_session *v = &site->es->vcpus[vcpu];

	v->tlb.firing++;
	check_memory(v);
	return v;
}

bool vp_site_load(const struct vp_site *site, uint32_t vcpu, uint64_t gva, void *dst, uint32_t len)
{
	return vp_load_kernel(site_vcpu(site, vcpu), gva, dst, len);
}

/* By the page table alone: without a firing the running process is unknown. */
static bool load_mapped(struct vp_vcpu_session *v, uint64_t root, uint64_t va, uint8_t *to, uint64_t len)
{
	while (len) {
		uint64_t n = PAGE_SIZE - va % PAGE_SIZE;
		const uint8_t *host = page(v, root, va, true);
		n = n < len ? n : len;
		if (!host || !ot_guarded_read(to, host + va % PAGE_SIZE, n))
			return false;
		to += n;
		va += n;
		len -= n;
	}
	return true;
}

/* A debugger in the guest may have set a breakpoint anywhere after the instruction. */
bool vp_site_is_there(const struct vp_site *site, uint32_t vcpu)
{
	struct vp_vcpu_session *v = site_vcpu(site, vcpu);
	uint8_t bytes[sizeof(site->bytes)];

	if (site->room > sizeof(bytes) || !load_mapped(v, site->root, site->gva, bytes, site->room))
		return true;
	for (uint32_t i = site->length; i < site->room; i++)
		if (bytes[i] != site->bytes[i] && !vp_native_is_breakpoint(&bytes[i], 1))
			return false;
	return !memcmp(bytes, site->bytes, site->length);
}

bool vp_site_store(const struct vp_site *site, uint32_t vcpu, uint64_t gva, const void *src, uint32_t len)
{
	struct vp_vcpu_session *v = site_vcpu(site, vcpu);
	const struct vp_facts *facts = &v->es->facts;
	uint64_t first = PAGE_SIZE - gva % PAGE_SIZE;
	uint8_t *low, *high;

	if (!facts->kernel_root || !canonical(facts, gva, len, true))
		return false;
	first = first < len ? first : len;
	low = writable_page(v, facts->kernel_root, gva);
	high = first < len ? writable_page(v, facts->kernel_root, gva + first) : low;
	if (!low || !high)
		return false;
	return ot_guarded_write(low + gva % PAGE_SIZE, src, first) &&
	       (first == len || ot_guarded_write(high, (const uint8_t *)src + first, len - first));
}
