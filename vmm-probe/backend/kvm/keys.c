/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branches on static keys: removing their traps while the guest patches them. */
#include "vmm-probe/backend/kvm/keys.h"

#include <time.h>

#include "base/clock.h"
#include "vmm-probe/backend/kvm/internal.h"

#define PAUSE_NS 1000000l
#define PAUSES   3000u

static void count_out(struct vp_kvm_keys *k, uint32_t patched)
{
	uint32_t before = atomic_exchange(&k->patched, patched);

	if (!before && patched) {
		atomic_store(&k->since, ot_now_ns());
		atomic_fetch_add(&k->times, 1);
	} else if (before && !patched) {
		atomic_fetch_add(&k->out_ns, ot_now_ns() - atomic_exchange(&k->since, 0));
	}
}

static bool is_on_branch(const struct vp_kvm_trap *t)
{
	return t->site->target && vp_kvm_trap_in_text(t);
}

/* The trap on the branch that the struct jump_entry at @entry describes, which begins with the distance from
 * itself to the branch; NULL: there is none. */
static struct vp_kvm_trap *find(const struct vp_kvm_traps *traps, uint64_t entry)
{
	uint64_t word;

	if (!traps || !traps->n || !vp_site_word(traps->list[0].site, entry, &word))
		return NULL;
	struct vp_kvm_trap *t = vp_kvm_traps_find(traps, entry + (uint64_t)(int64_t)(int32_t)word);
	return t && is_on_branch(t) ? t : NULL;
}

/* A trap that is out for another reason must stay out too when that ends. */
static void enter(struct vp_kvm *kvm, struct vp_kvm_trap *t)
{
	if (t->patched)
		return;
	vp_kvm_trap_out(kvm, t);
	t->patched = true;
	count_out(&kvm->keys, atomic_load(&kvm->keys.patched) + 1);
}

static void leave(struct vp_kvm *kvm, struct vp_kvm_traps *traps)
{
	struct vp_kvm_page_cache cache = { 0 };

	for (uint32_t i = 0; i < traps->n; i++) {
		struct vp_kvm_trap *t = &traps->list[i];
		if (!t->patched)
			continue;
		t->patched = false;
		if (!vp_kvm_window(&kvm->patching))
			vp_kvm_put_back(kvm, t, &cache);
	}
	count_out(&kvm->keys, 0);
}

/* The first check needs no hold: another thread can hold only while this vCPU is out. */
void vp_kvm_at_key_sentinel(struct vp_kvm *kvm, uint32_t vcpu, enum vp_sentinel kind, uint64_t entry)
{
	bool enters = kind == VP_SENTINEL_KEY_ENTER;

	if (enters ? !find(atomic_load(&kvm->traps), entry) : !atomic_load(&kvm->keys.patched))
		return;
	vp_kvm_hold_as_vcpu(kvm, vcpu);
	struct vp_kvm_traps *traps = atomic_load(&kvm->traps);
	struct vp_kvm_trap *t = enters ? find(traps, entry) : NULL;
	if (t)
		enter(kvm, t);
	else if (traps && !enters)
		leave(kvm, traps);
	vp_kvm_release(kvm);
}

void vp_kvm_keys_inherit(struct vp_kvm *kvm, const struct vp_kvm_traps *from, struct vp_kvm_traps *to)
{
	bool known = false, locked = false;
	uint32_t patched = 0;

	for (uint32_t i = 0; to && i < to->n; i++) {
		struct vp_kvm_trap *t = &to->list[i];
		if (!is_on_branch(t))
			continue;
		const struct vp_kvm_trap *old = from ? vp_kvm_traps_find(from, t->site->gva) : NULL;
		if (!known)
			locked = vp_site_keys_locked(t->site);
		known = true;
		t->patched = old && is_on_branch(old) ? old->patched : locked;
		patched += t->patched;
	}
	count_out(&kvm->keys, patched);
}

static bool is_patching(const struct vp_kvm_traps *traps)
{
	return traps && traps->n && vp_site_keys_locked(traps->list[0].site);
}

/* Only this thread exchanges the table. */
void vp_kvm_keys_check(struct vp_kvm *kvm)
{
	struct vp_kvm_traps *traps = atomic_load(&kvm->traps);

	if (!traps || !atomic_load(&kvm->keys.patched) || is_patching(traps))
		return;
	vp_kvm_hold(kvm);
	if (!is_patching(traps))
		leave(kvm, traps);
	vp_kvm_release(kvm);
}

void vp_kvm_keys_settle(struct vp_kvm *kvm)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	for (unsigned i = 0; i < PAUSES && atomic_load(&kvm->keys.patched); i++) {
		nanosleep(&pause, NULL);
		vp_kvm_keys_check(kvm);
	}
}
