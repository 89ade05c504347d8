/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites in processes. A page of a program is in other memory once the guest has moved or reclaimed it, in
 * several processes at several addresses at once, and QEMU translates it once for all of them. So no address
 * shows at translation whether an instruction is a site: every instruction that has a site's offset in its
 * page and its bytes gets a callback, and the callback compares process and address before anything else. Of
 * a site in a file neither is one: the engine asks the kernel's struct page whose page it is.
 *
 * A block's instructions all begin in its first page: QEMU ends a block before one that does not. So the page
 * that rip is in while a block runs, at its beginning or further on, is that of each of its instructions.
 *
 * Runs on vCPU threads, several at once; the index is changed only while none runs.
 */
#include "base/guarded.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/backend/tcg/tcg.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_SIZE 4096u

struct vp_tcg_users {
	/* first site of each offset; the next offset's first follows its last */
	uint32_t first[PAGE_SIZE + 1];
	const struct vp_site *sites[]; /* by offset */
};

static uint32_t offset_of(const struct vp_site *site)
{
	return (uint32_t)(site->gva % PAGE_SIZE);
}

struct ot_err *vp_tcg_users_create(const struct vp_plan *plan, struct vp_tcg_users **ret)
{
	struct vp_tcg_users *users;
	uint32_t next[PAGE_SIZE];

	*ret = NULL;
	if (!plan->nusers)
		return NULL;
	users = calloc(1, sizeof(*users) + plan->nusers * sizeof(users->sites[0]));
	if (!users)
		return ot_err_nomem();
	for (uint32_t i = 0; i < plan->nusers; i++)
		users->first[offset_of(&plan->sites[plan->nsites + i]) + 1]++;
	for (uint32_t i = 0; i < PAGE_SIZE; i++)
		users->first[i + 1] += users->first[i];
	memcpy(next, users->first, sizeof(next));
	for (uint32_t i = 0; i < plan->nusers; i++) {
		const struct vp_site *site = &plan->sites[plan->nsites + i];

		users->sites[next[offset_of(site)]++] = site;
	}
	*ret = users;
	return NULL;
}

void vp_tcg_users_destroy(struct vp_tcg_users *users)
{
	free(users);
}

static void on_user_site(unsigned int vcpu, void *udata)
{
	const struct vp_site *site = udata;
	struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);
	struct vp_engine *engine;
	uint64_t pc;

	if (ot_unlikely(!v))
		return;
	vp_tcg_is_here(v);
	v->regs.valid = 0;
	pc = vp_tcg_reg(v, VP_REG_PC) / PAGE_SIZE * PAGE_SIZE + offset_of(site);
	if (!site->file && (pc != site->gva || !vp_site_is_of(site, pc, vp_tcg_reg(v, VP_REG_ROOT))))
		return;
	engine = vp_tcg_enter(v);
	if (ot_unlikely(!engine))
		return;
	v->regs.v[VP_REG_PC] = pc;
	vp_engine_hit(engine, vcpu, site, v);
	vp_tcg_leave(v);
}

/* The bytes after an instruction in its page distinguish the many that begin alike (push %rbp). A debugger in
 * the guest may have set a breakpoint anywhere in them. */
static bool follows(const struct vp_site *site, const uint8_t *host)
{
	uint8_t page[sizeof(site->bytes)];

	if (!host || site->room > sizeof(page) || !ot_guarded_read(page, host, site->room))
		return false;
	for (uint32_t i = site->length; i < site->room; i++)
		if (page[i] != site->bytes[i] && !vp_native_is_breakpoint(&page[i], 1))
			return false;
	return true;
}

static bool looks_like(struct qemu_plugin_insn *insn, const struct vp_site *site)
{
	uint8_t bytes[sizeof(site->bytes)];
	size_t size = qemu_plugin_insn_size(insn);

	return size == site->length && size <= sizeof(bytes) &&
	       qemu_plugin_insn_data(insn, bytes, size) == size && !memcmp(bytes, site->bytes, size) &&
	       (site->room == site->length || follows(site, qemu_plugin_insn_haddr(insn)));
}

void vp_tcg_users_instrument(const struct vp_tcg_users *users, struct qemu_plugin_insn *insn)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
	uint32_t offset = (uint32_t)(vaddr % PAGE_SIZE);

	if ((int64_t)vaddr < 0) /* the kernel's half */
		return;
	for (uint32_t i = users->first[offset]; i < users->first[offset + 1]; i++)
		if (looks_like(insn, users->sites[i]))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_user_site, QEMU_PLUGIN_CB_R_REGS,
							       (void *)(uintptr_t)users->sites[i]);
}
