/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traps of a plan: their bytes and ports, planting and removing them. A trap's record, with the original
 * bytes, is complete before the first byte of guest text changes. Bytes found changed when a trap is removed
 * are the guest's, and stay. A site whose bytes are not the expected ones when a trap should be planted is
 * lost until they match again: unknown bytes are never overwritten. Text that is gone (a RAM file that was
 * cut) matches nothing.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/guarded.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/arch/x86/insn/opcodes.h"
#include "vmm-probe/backend/kvm/internal.h"
#include "vmm-probe/engine/wire/private_memory.h"

#define PREFIX 0x3eu /* DS: without effect on an `out` */

/* How many bytes an `out` on @site covers; 0: none fits. */
static uint8_t trap_length(const struct vp_site *site, const struct vp_kvm_trap *t)
{
	if (site->length >= 2)
		return site->length;
	/* A ret and the int3 after it, which never executes. */
	bool ret = t->stepped ? site->bytes[0] == VP_OPCODE_RET : t->insn.op == VP_INSN_RET;
	return ret && site->room >= 2 ? 2 : 0;
}

/* Neighbours have different ports. */
static uint16_t hit_port(const struct vp_kvm_trap *t, const struct vp_kvm_trap *before)
{
	bool touches = before && before->host + before->len == t->host;

	return touches && before->hit_port == VP_KVM_PORT_A ? VP_KVM_PORT_B : VP_KVM_PORT_A;
}

static void write_out(struct vp_kvm_trap *t)
{
	memset(t->now, PREFIX, t->len - 2u);
	t->now[t->len - 2] = VP_OPCODE_OUT;
	t->now[t->len - 1] = (uint8_t)t->port;
}

/* An `out` over @t->insn: to the counter's port if the hit only counts. */
static void aim_out(struct vp_kvm_trap *t)
{
	bool counts = t->count_port && t->insn.op == VP_INSN_NOP;

	t->kind = counts ? VP_TRAP_COUNT : VP_TRAP_OUT;
	t->port = counts ? t->count_port : t->hit_port;
	write_out(t);
}

/* To its trampoline, or out to us. */
static void aim(struct vp_kvm_trap *t)
{
	if (!vp_kvm_aim_jump(t))
		aim_out(t);
}

/* The action after a hit: none, emulating the instruction, or a step. */
static struct ot_err *plan_after(const struct vp_kvm *kvm, struct vp_kvm_trap *t)
{
	const struct vp_site *site = t->site;
	bool ours =
	    vp_insn_decode(site->bytes, site->length, site->gva, &t->insn) && t->insn.len == site->length;

	if (ours && site->trap != VP_SITE_STEP)
		return NULL;
	if (site->trap == VP_SITE_TEXT)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the instruction at 0x%llx can't be emulated",
				  (unsigned long long)site->gva);
	if (!kvm->config.host.step || !kvm->config.host.hw || !vp_kvm_may_step(site->bytes, site->length))
		return ot_err_new(OT_ERR_UNSUPPORTED, "the instruction at 0x%llx can't be stepped over",
				  (unsigned long long)site->gva);
	t->insn = (struct vp_insn){ 0 };
	t->stepped = true;
	return NULL;
}

static void plan_out(struct vp_kvm *kvm, struct vp_kvm_trap *t, const struct vp_kvm_trap *before)
{
	const struct vp_site *site = t->site;

	if (site->ncounters == 1 && !site->necbs && !site->agent && !site->sentinel && !t->stepped)
		t->count_port = vp_kvm_counter_port(kvm, site->counters[0]);
	t->hit_port = hit_port(t, before);
	aim(t);
}

/* The nop or the jump of this branch on a static key. */
static bool is_branch(const struct vp_site *site, const uint8_t *bytes)
{
	return vp_native_static_branch(bytes, site->length, (int64_t)(site->target - site->gva)) ==
	       site->length;
}

static struct ot_err *make_trap(struct vp_kvm *kvm, const struct vp_site *site,
				const struct vp_kvm_trap *before, struct vp_kvm_trap *ret)
{
	struct vp_kvm_trap t = { .site = site, .host = (uint8_t *)(uintptr_t)site->host };

	if (site->target && !is_branch(site, site->bytes))
		return ot_err_new(OT_ERR_BAD_DATA, "there is no branch to 0x%llx at 0x%llx",
				  (unsigned long long)site->target, (unsigned long long)site->gva);
	OT_TRY(plan_after(kvm, &t));
	t.len = trap_length(site, &t);
	memcpy(t.old, site->bytes, sizeof(t.old));
	if (site->trap == VP_SITE_HW) {
		t.kind = VP_TRAP_HW;
		t.len = 0;
	} else if (t.len) {
		plan_out(kvm, &t, before);
	} else if (kvm->config.host.int3 == VP_INT3_NEVER) {
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "the instruction at 0x%llx has one byte, and int3 can't be planted on this host",
		    (unsigned long long)site->gva);
	} else {
		t.kind = VP_TRAP_INT3;
		t.len = 1;
		t.now[0] = VP_OPCODE_INT3;
	}
	*ret = t;
	return NULL;
}

struct ot_err *vp_kvm_add_hw(const struct vp_kvm *kvm, struct vp_kvm_traps *traps, uint64_t gva)
{
	if (!kvm->config.host.hw)
		return ot_err_new(OT_ERR_UNSUPPORTED, "debug registers do not work on this host");
	for (unsigned i = 0; i < VP_HW_SITES; i++)
		if (!traps->hw[i] || traps->hw[i] == gva) {
			traps->hw[i] = gva;
			return NULL;
		}
	return ot_err_new(OT_ERR_LIMIT,
			  "a CPU has %d debug registers, and this guest's sessions together have more places "
			  "that need one: name fewer functions, or end another session",
			  VP_HW_SITES);
}

static struct ot_err *fill(struct vp_kvm *kvm, struct vp_kvm_traps *traps, const struct vp_plan *plan)
{
	for (uint32_t i = 0; i < plan->nsites; i++) {
		OT_TRY(make_trap(kvm, &plan->sites[i], i ? &traps->list[i - 1] : NULL, &traps->list[i]));
		uint32_t at = vp_kvm_hash(plan->sites[i].gva) & traps->mask;
		while (traps->slots[at])
			at = (at + 1) & traps->mask;
		traps->int3 |= traps->list[i].kind == VP_TRAP_INT3;
		traps->jumps |= traps->list[i].kind == VP_TRAP_JUMP;
		if (traps->list[i].kind == VP_TRAP_HW)
			OT_TRY(vp_kvm_add_hw(kvm, traps, plan->sites[i].gva));
		traps->sentinels |= plan->sites[i].sentinel == VP_SENTINEL_ENTER ||
				    plan->sites[i].sentinel == VP_SENTINEL_LEAVE ||
				    plan->sites[i].sentinel == VP_SENTINEL_MODULE_GOES;
		traps->slots[at] = ++traps->n;
	}
	return NULL;
}

struct ot_err *vp_kvm_traps_create(struct vp_kvm *kvm, const struct vp_plan *plan, struct vp_kvm_traps **ret)
{
	struct vp_kvm_traps *traps = calloc(1, sizeof(*traps));
	uint32_t size = 16;

	static_assert(sizeof(*traps->list) + 8 * sizeof(*traps->slots) <= VP_PRIVATE_SITE,
		      "the bound of a site's memory holds");
	if (!traps)
		return ot_err_nomem();
	while (size < 2 * plan->nsites)
		size *= 2;
	traps->plan = plan;
	traps->mask = size - 1;
	traps->list = calloc(plan->nsites + 1u, sizeof(*traps->list));
	traps->slots = calloc(size, sizeof(*traps->slots));
	struct ot_err *err = traps->list && traps->slots ? fill(kvm, traps, plan) : ot_err_nomem();
	if (!err)
		err = vp_kvm_exits_create(traps);
	if (!err)
		err = vp_kvm_users_add(kvm, traps);
	if (!err)
		err = vp_kvm_meters_open(kvm, traps);
	if (err) {
		vp_kvm_traps_destroy(traps);
		return err;
	}
	*ret = traps;
	return NULL;
}

void vp_kvm_traps_destroy(struct vp_kvm_traps *traps)
{
	if (!traps)
		return;
	vp_kvm_meters_close(traps);
	free(traps->list);
	free(traps->slots);
	free(traps->exits);
	free(traps->users);
	free(traps);
}

struct vp_kvm_trap *vp_kvm_traps_find(const struct vp_kvm_traps *traps, uint64_t gva)
{
	for (uint32_t at = vp_kvm_hash(gva) & traps->mask; traps->slots[at]; at = (at + 1) & traps->mask) {
		struct vp_kvm_trap *t = &traps->list[traps->slots[at] - 1];
		if (t->site->gva == gva)
			return t;
	}
	return NULL;
}

/* --- guest text: the vCPUs are held ------------------------------------------------------------ */

void vp_kvm_trap_lost(struct vp_kvm *kvm, struct vp_kvm_trap *t)
{
	if (!t->lost)
		atomic_fetch_add(&kvm->patching.lost, 1);
	t->lost = true;
}

static bool may_adopt(const struct vp_kvm_trap *t, const uint8_t *text)
{
	if (t->site->target)
		return is_branch(t->site, text);
	return !t->stepped && t->hit_port && t->len == 5 && vp_native_is_fentry(t->old) &&
	       vp_native_is_fentry(text);
}

bool vp_kvm_trap_text(const struct vp_kvm_trap *t, uint8_t ret[15])
{
	memset(ret, 0, sizeof(t->site->bytes));
	return ot_guarded_read(ret, t->host, t->len > t->site->length ? t->len : t->site->length);
}

bool vp_kvm_trap_is_there(const struct vp_kvm_trap *t)
{
	uint8_t text[sizeof(t->now)];

	return ot_guarded_read(text, t->host, t->len) && !memcmp(text, t->now, t->len);
}

bool vp_kvm_trap_fits(const struct vp_kvm_trap *t)
{
	uint8_t text[sizeof(t->site->bytes)];

	return vp_kvm_trap_text(t, text) && (!memcmp(text, t->old, t->len) || may_adopt(t, text));
}

/* The guest turned its own tracing or a static key on or off there: the trap then covers the present bytes.
 */
static bool adopt(struct vp_kvm_trap *t, const uint8_t *text)
{
	struct vp_insn insn = { 0 };

	if (!may_adopt(t, text))
		return false;
	if (!t->stepped && (!vp_insn_decode(text, t->len, t->site->gva, &insn) || insn.len != t->len))
		return false;
	memcpy(t->old, text, t->len);
	t->insn = insn;
	aim(t);
	return true;
}

bool vp_kvm_trap_out(struct vp_kvm *kvm, struct vp_kvm_trap *t)
{
	if (!t->planted)
		return true;
	t->planted = false;
	if (!vp_kvm_trap_is_there(t) || !ot_guarded_write(t->host, t->old, t->len)) {
		vp_kvm_trap_lost(kvm, t);
		return false;
	}
	return true;
}

bool vp_kvm_trap_in(struct vp_kvm *kvm, struct vp_kvm_trap *t)
{
	uint8_t text[sizeof(t->site->bytes)];

	if (!vp_kvm_trap_text(t, text) || (memcmp(text, t->old, t->len) != 0 && !adopt(t, text))) {
		vp_kvm_trap_lost(kvm, t);
		return false;
	}
	t->lost = false;
	t->planted = true;
	if (ot_guarded_write(t->host, t->now, t->len))
		return true;
	/* A trap over two pages, of which the second is gone: the same stores undo the earlier ones. */
	(void)ot_guarded_write(t->host, t->old, t->len);
	t->planted = false;
	vp_kvm_trap_lost(kvm, t);
	return false;
}

/* The same site in the previous plan: the same trap may stay, with its state. */
static bool inherit(const struct vp_kvm_trap *from, struct vp_kvm_trap *to)
{
	to->lost = from->lost;
	to->gone = from->gone && to->site->batch <= from->site->batch;
	if (!from->planted || from->len != to->len || from->kind != to->kind ||
	    from->stepped != to->stepped || memcmp(from->now, to->now, to->len) != 0)
		return false;
	to->planted = true;
	to->insn = from->insn;
	memcpy(to->old, from->old, to->len);
	return true;
}

/* Both are in order of address. */
void vp_kvm_traps_exchange(struct vp_kvm *kvm, struct vp_kvm_traps *from, struct vp_kvm_traps *to)
{
	uint32_t i = 0, k = 0, nfrom = from ? from->n : 0, nto = to ? to->n : 0;
	bool window = vp_kvm_window(&kvm->patching);

	vp_kvm_keys_inherit(kvm, from, to);
	/* Remove all first: a new trap may overlap an old one of another length. */
	for (; i < nfrom; i++) {
		struct vp_kvm_trap *old = &from->list[i];
		while (k < nto && to->list[k].host < old->host)
			k++;
		struct vp_kvm_trap *new = k < nto && to->list[k].host == old->host ? &to->list[k] : NULL;
		if (!new || !inherit(old, new))
			vp_kvm_trap_out(kvm, old);
	}
	for (k = 0; k < nto; k++) {
		struct vp_kvm_trap *t = &to->list[k];
		if (!t->planted && !t->gone && !t->patched && (!window || t->site->sentinel))
			vp_kvm_trap_in(kvm, t);
	}
}

/* While a vCPU's thread removes or plants traps, an entry may be out of date: a reader then finds that the
 * text matches neither of its forms. */
uint32_t vp_kvm_patches(void *backend, struct vp_patch *ret, uint32_t max)
{
	const struct vp_kvm *kvm = backend;
	const struct vp_kvm_traps *traps = atomic_load(&kvm->traps);
	uint32_t n = 0;

	for (uint32_t i = 0; traps && i < traps->n; i++) {
		const struct vp_kvm_trap *t = &traps->list[i];
		if (!t->planted || !vp_kvm_trap_in_text(t))
			continue;
		if (n < max) {
			ret[n] = (struct vp_patch){ .gva = t->site->gva, .len = t->len };
			memcpy(ret[n].there, t->now, t->len);
			memcpy(ret[n].was, t->old, t->len);
		}
		n++;
	}
	return n;
}
