/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creating and destroying links, and checks over all of them. */
#include "vmm-probe/attach/link.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/attach/internal.h"

static void init(struct vp_guest_link *link)
{
	*link = (struct vp_guest_link){ .client.sock = -1, .orc_fd = -1 };
}

void vp_source_close(struct vp_source *source)
{
	if (source->ops)
		source->ops->close(source->handle);
	*source = (struct vp_source){ 0 };
}

/* The source serves the client and is read by the guest; it reads by phys. */
static void deinit(struct vp_guest_link *link)
{
	vp_client_close(&link->client);
	vp_probes_destroy(link->probes);
	vp_guest_destroy(link->guest);
	vp_source_close(&link->source);
	vp_phys_destroy(link->phys);
	if (link->orc_fd >= 0)
		close(link->orc_fd);
	free(link->unread);
	free(link->fell_back);
	free(link->no_engine);
}

struct ot_err *vp_link_create(struct vp_guest_link **ret)
{
	struct vp_guest_link *link = malloc(sizeof(*link));

	if (!link)
		return ot_err_nomem();
	init(link);
	*ret = link;
	return NULL;
}

void vp_link_reset(struct vp_guest_link *link)
{
	bool file_fault = link->file_fault;

	deinit(link);
	init(link);
	link->file_fault = file_fault;
}

void vp_link_destroy(struct vp_guest_link *link)
{
	if (!link)
		return;
	deinit(link);
	free(link);
}

void vp_links_progress(const struct vp_links *links, const char *what)
{
	if (links->opts.progress)
		links->opts.progress(links->opts.arg, what);
}

/* The client's PID is the VMM's, this process's where the engine is here, and 0 where there is none. */
struct ot_err *vp_links_check_once(const struct vp_links *links, pid_t pid)
{
	for (uint32_t i = 0; i < links->n; i++)
		if (links->items[i]->client.pid == (uint32_t)pid)
			return ot_err_new(OT_ERR_BUSY,
					  "guest %s (PID %d) is named twice: each -g takes another guest",
					  links->items[i]->client.guest_name, (int)pid);
	return NULL;
}

void vp_link_note_states(struct vp_guest_link *link)
{
	link->hooked = !strcmp(link->client.backend, "kvm") &&
		       vp_inject_states_read((pid_t)link->client.pid, &link->states);
}

/* A process that ends closes its sockets before its end is visible. */
bool vp_vmm_has_ended(const struct vp_guest_link *link, int wait_ms)
{
	ot_auto_close int fd = (int)syscall(SYS_pidfd_open, (pid_t)link->client.pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return fd < 0 || poll(&p, 1, wait_ms) > 0;
}
