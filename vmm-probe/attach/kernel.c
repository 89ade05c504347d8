/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading an attached guest's kernel: symbols and types, the facts that an engine needs, and its unwind
 * table.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/attach/internal.h"
#include "vmm-probe/guest/contained.h"
#include "vmm-probe/guest/facts.h"

static void guest_progress(void *arg, const char *what)
{
	vp_links_progress(arg, what);
}

/* Find and read the kernel, given RAM and registers. */
static struct ot_err *read_kernel(const struct vp_links *links, struct vp_guest_link *link,
				  const struct vp_phys *phys, const struct vp_regs *regs, size_t nregs)
{
	const struct vp_attach_opts *o = &links->opts;
	struct vp_guest_opts opts = {
		.phys = phys,
		.regs = regs,
		.nregs = nregs,
		.vmlinux = o->vmlinux,
		.symbols = o->symbols,
		.use_cache = !o->no_cache,
		.is_still = !vp_link_runs(link),
		.patient = link->source.ops && link->source.ops->patient,
		.progress = guest_progress,
		.progress_ctx = (void *)(uintptr_t)links,
		.ret_file_fault = &link->file_fault,
	};
	OT_TRY(vp_contained_open(&opts, &link->guest));
	if (vp_link_runs(link))
		OT_TRY(vp_link_check_running(link, regs, nregs, o->from_boot));

	link->facts.size = sizeof(link->facts);
	link->facts.guest_id = link->client.guest_id;
	memcpy(link->facts.guest_name, link->client.guest_name, sizeof(link->facts.guest_name));
	struct ot_err *err = vp_facts_read(link->guest, regs, nregs, &link->facts);
	if (err && ot_err_code(err) != OT_ERR_UNSUPPORTED)
		return err;
	ot_err_destroy(err); /* no BTF: users of types report it */
	return NULL;
}

struct ot_err *vp_link_read(const struct vp_links *links, struct vp_guest_link *link,
			    const struct vp_phys *phys)
{
	uint32_t nregs = 0;

	if (!vp_link_runs(link))
		return read_kernel(links, link, phys, link->source.regs, link->source.nregs);
	ot_auto_free struct vp_regs *regs = calloc(link->client.nvcpus, sizeof(*regs));
	if (!regs)
		return ot_err_nomem();
	vp_links_progress(links, "reading the vCPUs' registers");
	OT_TRY(vp_client_snapshot(&link->client, regs, link->client.nvcpus, &nregs));
	return read_kernel(links, link, phys, regs, nregs);
}

struct ot_err *vp_link_unwind_table(struct vp_guest_link *link)
{
	if (link->unwinds || !link->guest || !vp_link_runs(link))
		return NULL;
	link->unwinds = true;

	ot_auto(vp_confined_result_deinit) struct vp_confined_result table = { 0 };
	ot_auto_close int fd = -1;
	struct ot_err *err = vp_contained_orc_table(link->guest, &table);

	if (!err)
		err = ot_memfd_create("outsight-unwind", table.len, &fd);
	if (!err)
		err = ot_write_all(fd, table.data, table.len);
	if (!err) {
		link->orc_fd = ot_move_fd(fd);
		return NULL;
	}
	if (ot_err_code(err) == OT_ERR_LIMIT || ot_err_code(err) == OT_ERR_BAD_DATA)
		return vp_guest_note_missing(link->guest, "no stack tables", err);
	if (ot_err_code(err) != OT_ERR_NOT_FOUND)
		return err;
	ot_err_destroy(err);
	return NULL;
}
