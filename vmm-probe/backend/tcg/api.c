/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detecting the version of the plugin API that this QEMU speaks, and calls to and from it in that version.
 *
 * QEMU reads our version after loading the library, and refuses versions that it no longer supports: each
 * release supports fewer. So a constructor sets the version, before that, and one library fits all releases.
 */
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "vmm-probe/backend/tcg/api_version.h"
#include "vmm-probe/backend/tcg/tcg.h"

int qemu_plugin_version = VP_QEMU_API_MIN;

/* In the first object, which is the program. */
static int find_release(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && (h->p_flags & PF_R) && !(h->p_flags & PF_W) &&
		    vp_tcg_find_release((const void *)(uintptr_t)(info->dlpi_addr + h->p_vaddr), h->p_filesz,
					ret))
			break;
	}
	return 1;
}

__attribute__((constructor)) static void choose_version(void)
{
	struct vp_tcg_release release = { 0 };

	/* QEMU's own message for an old API has version numbers only; this one is printed first, because QEMU
	 * then never calls qemu_plugin_install(). */
	if (!qemu_plugin_scoreboard_new || !qemu_plugin_read_register) {
		fprintf(stderr,
			"outsight: this QEMU is too old for liboutsight-tcg.so: it needs QEMU 10 or later "
			"(Debian 12: from bookworm-backports)\n");
		return;
	}
	dl_iterate_phdr(find_release, &release);
	qemu_plugin_version =
	    vp_tcg_api_version(&release, qemu_plugin_write_register != NULL, qemu_plugin_set_pc != NULL);
}

/* --- called by QEMU ----------------------------------------------------------------------- */

static void init_by_id(uint64_t id, unsigned int vcpu)
{
	(void)id;
	vp_tcg_on_init(vcpu);
}

static void init_by_udata(unsigned int vcpu, void *udata)
{
	(void)udata;
	vp_tcg_on_init(vcpu);
}

static void idle_by_id(uint64_t id, unsigned int vcpu)
{
	(void)id;
	vp_tcg_on_idle(vcpu);
}

static void idle_by_udata(unsigned int vcpu, void *udata)
{
	(void)udata;
	vp_tcg_on_idle(vcpu);
}

static void resume_by_id(uint64_t id, unsigned int vcpu)
{
	(void)id;
	vp_tcg_on_poll(vcpu, NULL);
}

static void resume_by_udata(unsigned int vcpu, void *udata)
{
	(void)udata;
	vp_tcg_on_poll(vcpu, NULL);
}

static void translate_by_id(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	vp_tcg_on_translate(tb);
}

static void translate_by_udata(struct qemu_plugin_tb *tb, void *udata)
{
	(void)udata;
	vp_tcg_on_translate(tb);
}

/* These two work in both versions, because they ignore their parameters. */
static void at_exit(void)
{
	vp_tcg_on_exit();
}

static void at_reset(void)
{
	vp_tcg_on_reset();
}

static void never(void)
{
}

/* --- calling QEMU ------------------------------------------------------------------------- */

#define EITHER(name)                                                                \
	(qemu_plugin_version >= VP_QEMU_API_USERDATA ? (qemu_any_cb)name##_by_udata \
						     : (qemu_any_cb)name##_by_id)

static bool has_big_lock(void)
{
	return bql_lock_impl && bql_unlock && bql_locked;
}

void vp_tcg_register_callbacks(void)
{
	qemu_plugin_register_vcpu_init_cb(vp_tcg.id, EITHER(init), NULL);
	if (has_big_lock()) {
		qemu_plugin_register_vcpu_idle_cb(vp_tcg.id, EITHER(idle), NULL);
		qemu_plugin_register_vcpu_resume_cb(vp_tcg.id, EITHER(resume), NULL);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(vp_tcg.id, EITHER(translate), NULL);
	qemu_plugin_register_atexit_cb(vp_tcg.id, at_exit, NULL);
}

/*
 * A reset frees the callbacks' records while no vCPU is in a block (plugin_reset_destroy__locked(), QEMU's
 * plugins/loader.c). But vCPU threads call idle and resume outside of blocks: one that has found the record,
 * and not yet called, then uses freed memory, and QEMU crashes. Such a thread holds the big lock from before
 * it finds the record. So these two records are freed here, under that lock, before the reset, which leaves
 * none to free.
 */
static void free_sleep_callbacks(void)
{
	bool take = !bql_locked(); /* the resume callback has it */

	if (take)
		bql_lock_impl(__FILE__, __LINE__);
	qemu_plugin_register_vcpu_idle_cb(vp_tcg.id, NULL, NULL);
	qemu_plugin_register_vcpu_resume_cb(vp_tcg.id, NULL, NULL);
	if (take)
		bql_unlock();
}

void vp_tcg_reset(void)
{
	if (has_big_lock())
		free_sleep_callbacks();
	qemu_plugin_reset(vp_tcg.id, at_reset, NULL);
}

void vp_tcg_kick(void)
{
	qemu_plugin_register_vcpu_syscall_cb(vp_tcg.id, never, NULL);
	qemu_plugin_register_vcpu_syscall_cb(vp_tcg.id, NULL, NULL);
}
