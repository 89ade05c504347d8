/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows: the tasks of the guest that patch its text, removing the traps meanwhile, and the sweep. */
#include "vmm-probe/backend/kvm/patching.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "vmm-probe/backend/kvm/internal.h"

#define PAGE       4096ull
#define SWEEP_MAX  16384u /* traps that one sweep checks: half a millisecond */
#define SWEEP_KEPT 256u   /* of those, suspects that are checked again with the vCPUs held */

/* --- what is mapped now --------------------------------------------------------------------- */

/* A module's text is unmapped with it, and its addresses may be reused. The engine detects that too, and
 * reports it. */
static bool still_mapped(const struct vp_kvm_trap *t, struct vp_kvm_page_cache *cache)
{
	uint64_t page = t->site->gva & ~(PAGE - 1);

	if (cache->gva != page) {
		uint64_t host = vp_site_host(t->site);
		*cache = (struct vp_kvm_page_cache){ page, host & ~(PAGE - 1) };
	}
	return cache->host == ((uint64_t)(uintptr_t)t->host & ~(PAGE - 1));
}

void vp_kvm_put_back(struct vp_kvm *kvm, struct vp_kvm_trap *t, struct vp_kvm_page_cache *cache)
{
	if (t->planted || t->gone || t->patched || !vp_kvm_trap_in_text(t))
		return;
	if (still_mapped(t, cache)) {
		vp_kvm_trap_in(kvm, t);
		return;
	}
	t->gone = true;
}

/* --- windows ---------------------------------------------------------------------------------- */

static void open_window(struct vp_kvm *kvm, struct vp_kvm_traps *traps)
{
	struct vp_kvm_patching *p = &kvm->patching;

	if (vp_kvm_window(p))
		return;
	for (uint32_t i = 0; i < traps->n; i++)
		if (!traps->list[i].site->sentinel)
			vp_kvm_trap_out(kvm, &traps->list[i]);
	atomic_store(&p->open_since, ot_now_ns());
	atomic_fetch_add(&p->windows, 1);
}

static void count_window(struct vp_kvm_patching *p)
{
	uint64_t since = atomic_exchange(&p->open_since, 0);

	if (since)
		atomic_fetch_add(&p->out_ns, ot_now_ns() - since);
}

static void close_window(struct vp_kvm *kvm, struct vp_kvm_traps *traps)
{
	struct vp_kvm_patching *p = &kvm->patching;
	struct vp_kvm_page_cache cache = { 0 };

	for (uint32_t i = 0; i < traps->n; i++)
		vp_kvm_put_back(kvm, &traps->list[i], &cache);
	if (p->settling)
		atomic_store(&p->open_since, 0); /* not because of the guest */
	p->overflow = p->settling = false;
	count_window(p);
}

void vp_kvm_patching_reset(struct vp_kvm *kvm)
{
	struct vp_kvm_patching *p = &kvm->patching;

	for (uint32_t i = 0; i < VP_KVM_PATCHERS; i++)
		atomic_store(&p->keys[i], 0);
	p->nkeys = 0;
	p->overflow = p->settling = false;
	count_window(p);
}

/* --- tasks that patch ----------------------------------------------------------------------------- */

static int find_key(const struct vp_kvm_patching *p, uint64_t key)
{
	for (uint32_t i = 0; i < VP_KVM_PATCHERS; i++)
		if (atomic_load_explicit(&p->keys[i], memory_order_relaxed) == key)
			return (int)i;
	return -1;
}

/* The word at @slot on the guest's stack, which only distinguishes tasks; 0: not known. */
static uint64_t return_address(const struct vp_kvm_traps *traps, uint64_t slot)
{
	uint64_t word;

	return traps->n && vp_site_word(traps->list[0].site, slot, &word) ? word : 0;
}

/* A key that is already present is of a task that ended without a LEAVE, by an oops for instance. */
static void enter(struct vp_kvm *kvm, struct vp_kvm_traps *traps, uint64_t slot)
{
	struct vp_kvm_patching *p = &kvm->patching;
	int at = find_key(p, slot);

	if (at < 0) {
		at = find_key(p, 0);
		p->nkeys += at >= 0;
	}
	if (at >= 0) {
		atomic_store(&p->keys[at], slot);
		atomic_store(&p->returns[at], return_address(traps, slot));
	} else {
		p->overflow = true;
	}
	open_window(kvm, traps);
}

static void forget(struct vp_kvm *kvm, struct vp_kvm_traps *traps, uint32_t at)
{
	struct vp_kvm_patching *p = &kvm->patching;

	atomic_store(&p->keys[at], 0);
	if (!--p->nkeys && !p->overflow && !p->settling)
		close_window(kvm, traps);
}

static void leave(struct vp_kvm *kvm, struct vp_kvm_traps *traps, uint64_t slot)
{
	int at = find_key(&kvm->patching, slot);

	if (at >= 0)
		forget(kvm, traps, (uint32_t)at);
}

/* A LEAVE without an ENTER is of a task that entered before the sentinels were planted, or by another path.
 * Its own ENTER would precede it, so this check needs no hold. */
void vp_kvm_at_sentinel(struct vp_kvm *kvm, uint32_t vcpu, enum vp_sentinel kind, uint64_t slot)
{
	if (kind == VP_SENTINEL_KEY_ENTER || kind == VP_SENTINEL_KEY_LEAVE) {
		vp_kvm_at_key_sentinel(kvm, vcpu, kind, slot);
		return;
	}
	atomic_fetch_add(&kvm->patching.hits, 1);
	if (!slot || (kind == VP_SENTINEL_LEAVE && find_key(&kvm->patching, slot) < 0))
		return;
	vp_kvm_hold_as_vcpu(kvm, vcpu);
	struct vp_kvm_traps *traps = atomic_load(&kvm->traps);
	if (traps && kind == VP_SENTINEL_ENTER)
		enter(kvm, traps, slot);
	else if (traps)
		leave(kvm, traps, slot);
	vp_kvm_release(kvm);
}

bool vp_kvm_patching_is_quiet(const struct vp_kvm *kvm)
{
	const struct vp_kvm_traps *traps = atomic_load(&kvm->traps);

	return !kvm->patching.nkeys && !(traps->n && vp_site_text_locked(traps->list[0].site));
}

void vp_kvm_patching_settled(struct vp_kvm *kvm)
{
	close_window(kvm, atomic_load(&kvm->traps));
}

/* --- the sweep ------------------------------------------------------------------------------------ */

/* Without a hold, so it may be wrong: a vCPU may be changing the trap. */
static bool is_suspect(const struct vp_kvm_trap *t)
{
	if (t->gone || t->patched || !vp_kvm_trap_in_text(t))
		return false;
	return t->planted ? !vp_kvm_trap_is_there(t) : vp_kvm_trap_fits(t);
}

/* With a hold, so it is exact. */
static void check_again(struct vp_kvm *kvm, struct vp_kvm_trap *t, struct vp_kvm_page_cache *cache)
{
	if (t->planted && !still_mapped(t, cache)) {
		t->planted = false;
		t->gone = true;
	}
	if (t->planted && !vp_kvm_trap_is_there(t))
		vp_kvm_trap_out(kvm, t);
	if (!vp_kvm_window(&kvm->patching) || t->site->sentinel)
		vp_kvm_put_back(kvm, t, cache);
}

static void hold_and_repair(struct vp_kvm *kvm, struct vp_kvm_traps *traps, const uint32_t *suspects,
			    uint32_t n)
{
	struct vp_kvm_page_cache cache = { 0 };

	vp_kvm_hold(kvm);
	if (vp_kvm_patching_is_quiet(kvm)) {
		for (uint32_t i = 0; i < n; i++)
			check_again(kvm, &traps->list[suspects[i]], &cache);
		if (vp_kvm_window(&kvm->patching))
			close_window(kvm, traps);
	}
	vp_kvm_release(kvm);
}

/* Has the task died in the function? Without a hold, a task that is just leaving appears to have. */
static bool is_dead(const struct vp_kvm_patching *p, const struct vp_kvm_traps *traps, uint32_t at)
{
	uint64_t slot = atomic_load(&p->keys[at]), returns = atomic_load(&p->returns[at]);

	return slot && returns && return_address(traps, slot) != returns;
}

static void forget_the_dead(struct vp_kvm *kvm, struct vp_kvm_traps *traps)
{
	const struct vp_kvm_patching *p = &kvm->patching;
	bool some = false;

	for (uint32_t i = 0; i < VP_KVM_PATCHERS; i++)
		some |= is_dead(p, traps, i);
	if (!some)
		return;
	vp_kvm_hold(kvm);
	for (uint32_t i = 0; i < VP_KVM_PATCHERS; i++)
		if (is_dead(p, traps, i))
			forget(kvm, traps, i);
	vp_kvm_release(kvm);
}

/* `planted` and the bytes are read here while vCPUs may change them; a mismatch is only a reason to hold and
 * check again. Only this thread exchanges the table itself. */
void vp_kvm_sweep(void *backend)
{
	struct vp_kvm *kvm = backend;
	struct vp_kvm_patching *p = &kvm->patching;
	struct vp_kvm_traps *traps = atomic_load(&kvm->traps);
	struct vp_kvm_page_cache cache = { 0 };
	uint32_t suspects[SWEEP_KEPT], n = 0;

	if (!traps || !traps->n)
		return;
	if (p->swept >= traps->n)
		p->swept = 0;
	uint32_t end = traps->n - p->swept < SWEEP_MAX ? traps->n : p->swept + SWEEP_MAX;
	for (; p->swept < end && n < SWEEP_KEPT; p->swept++) {
		const struct vp_kvm_trap *t = &traps->list[p->swept];
		if (is_suspect(t) || (t->planted && !still_mapped(t, &cache)))
			suspects[n++] = p->swept;
	}
	if (vp_kvm_window(p))
		forget_the_dead(kvm, traps);
	vp_kvm_keys_check(kvm);
	bool window = vp_kvm_window(p);
	if ((n && !window) || (window && p->overflow))
		hold_and_repair(kvm, traps, suspects, n);
}

void vp_kvm_patching_read(void *backend, struct vp_patching *ret)
{
	struct vp_kvm *kvm = backend;
	const struct vp_kvm_patching *p = &kvm->patching;
	const struct vp_kvm_keys *k = &kvm->keys;
	uint64_t since = atomic_load(&p->open_since), keys_since = atomic_load(&k->since), now = ot_now_ns();

	*ret = (struct vp_patching){
		.windows = atomic_load(&p->windows) + atomic_load(&k->times),
		.out_ns = atomic_load(&p->out_ns) + atomic_load(&k->out_ns) + (since ? now - since : 0) +
			  (keys_since ? now - keys_since : 0),
		.lost = atomic_load(&p->lost),
	};
}
