/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The requests that an engine answers once it was greeted: one reply each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/utf8.h"
#include "vmm-probe/client/internal.h"

#define PATCHES_MAX (1u << 20)

/* A request with an empty reply, or an error. */
static struct ot_err *simple_request(struct vp_client *c, const void *msg, size_t len, const int *fds,
				     int nfds)
{
	struct vp_msg_reply reply;
	size_t got;

	return vp_client_request(c, msg, len, fds, nfds, VP_MSG_REPLY, &reply, sizeof(reply), sizeof(reply),
				 &got, NULL, 0, NULL);
}

static struct ot_err *bare_request(struct vp_client *c, enum vp_msg_type type, const int *fds, int nfds)
{
	struct vp_msg msg = { .type = type, .size = sizeof(msg) };

	return simple_request(c, &msg, sizeof(msg), fds, nfds);
}

struct ot_err *vp_client_snapshot(struct vp_client *c, struct vp_regs *regs, uint32_t max,
				  uint32_t *ret_count)
{
	struct vp_msg msg = { .type = VP_MSG_SNAPSHOT, .size = sizeof(msg) };
	ot_auto_free struct vp_msg_snapshot_reply *r = calloc(1, VP_MSG_MAX);
	size_t len = 0;

	if (!r)
		return ot_err_nomem();
	OT_TRY(vp_client_request(c, &msg, sizeof(msg), NULL, 0, VP_MSG_SNAPSHOT_REPLY, r, VP_MSG_MAX,
				 sizeof(*r), &len, NULL, 0, NULL));
	if (r->nvcpus > VP_VCPUS_MAX || len < sizeof(*r) + r->nvcpus * sizeof(r->regs[0]))
		return ot_err_new(OT_ERR_BAD_DATA, "the engine sent broken registers");
	*ret_count = r->nvcpus < max ? r->nvcpus : max;
	memcpy(regs, r->regs, *ret_count * sizeof(regs[0]));
	return NULL;
}

struct ot_err *vp_client_stats(struct vp_client *c, char (*names)[VP_VM_STAT_NAME], uint32_t *ret_count)
{
	struct vp_msg msg = { .type = VP_MSG_STATS, .size = sizeof(msg) };
	ot_auto_free struct vp_msg_stats_reply *r = calloc(1, VP_MSG_MAX);
	size_t len = 0;

	if (!r)
		return ot_err_nomem();
	OT_TRY(vp_client_request(c, &msg, sizeof(msg), NULL, 0, VP_MSG_STATS_REPLY, r, VP_MSG_MAX, sizeof(*r),
				 &len, NULL, 0, NULL));
	if (r->n > VP_VM_STATS_MAX || len < sizeof(*r) + r->n * sizeof(r->names[0]))
		return ot_err_new(OT_ERR_BAD_DATA, "the engine sent broken names");
	for (uint32_t i = 0; i < r->n; i++)
		snprintf(names[i], VP_VM_STAT_NAME, "%.*s", (int)VP_VM_STAT_NAME - 1, r->names[i]);
	*ret_count = r->n;
	return NULL;
}

struct ot_err *vp_client_cpc(struct vp_client *c, const struct vp_cpc_event *event)
{
	const struct vp_msg_cpc msg = { .head = { VP_MSG_CPC, sizeof(msg) }, .event = *event };

	return simple_request(c, &msg, sizeof(msg), NULL, 0);
}

static struct ot_err *read_patches(int fd, uint32_t n, struct vp_patches *ret)
{
	size_t size;

	OT_TRY(ot_memfd_check(fd, &size));
	if (n > PATCHES_MAX || size < n * sizeof(*ret->list))
		return ot_err_new(OT_ERR_BAD_DATA, "the engine sent a broken list of traps");
	ret->list = calloc(n, sizeof(*ret->list));
	if (!ret->list)
		return ot_err_nomem();
	struct ot_err *err = ot_pread_all(fd, ret->list, n * sizeof(*ret->list), 0);
	if (err) {
		free(ret->list);
		ret->list = NULL;
		return err;
	}
	ret->n = n;
	vp_patches_sort(ret);
	return NULL;
}

struct ot_err *vp_client_patches(struct vp_client *c, struct vp_patches *ret)
{
	struct vp_msg msg = { .type = VP_MSG_PATCHES, .size = sizeof(msg) };
	struct vp_msg_patches_reply r;
	ot_auto_close int fd = -1;
	size_t len = 0;
	int nfds = 0;

	*ret = (struct vp_patches){ 0 };
	OT_TRY(vp_client_request(c, &msg, sizeof(msg), NULL, 0, VP_MSG_PATCHES_REPLY, &r, sizeof(r),
				 sizeof(r), &len, &fd, 1, &nfds));
	return nfds && r.npatches ? read_patches(fd, r.npatches, ret) : NULL;
}

struct ot_err *vp_client_access(struct vp_client *c, uint64_t logged, struct vp_msg_access_reply *ret)
{
	const struct vp_msg_access msg = {
		.head = { .type = VP_MSG_ACCESS, .size = sizeof(msg) },
		.logged = logged,
	};
	size_t len = 0;
	struct ot_err *err = vp_client_request(c, &msg, sizeof(msg), NULL, 0, VP_MSG_ACCESS_REPLY, ret,
					       sizeof(*ret), sizeof(*ret), &len, NULL, 0, NULL);

	if (!err && ret->n > VP_ACCESS_KEPT)
		err = ot_err_new(OT_ERR_BAD_DATA, "the engine sent a broken reply");
	if (err) {
		*ret = (struct vp_msg_access_reply){ 0 };
		return err;
	}
	for (uint32_t i = 0; i < ret->n; i++) {
		struct vp_access *a = &ret->list[i];
		a->comm[sizeof(a->comm) - 1] = a->first[sizeof(a->first) - 1] = '\0';
		ot_utf8_tame_string(a->comm);
		ot_utf8_tame_string(a->first);
	}
	return NULL;
}

struct ot_err *vp_client_open(struct vp_client *c, const struct vp_msg_open *open, const int *fds, int nfds)
{
	struct vp_msg_open msg = *open;

	msg.head = (struct vp_msg){ .type = VP_MSG_OPEN, .size = sizeof(msg) };
	return simple_request(c, &msg, sizeof(msg), fds, nfds);
}

struct ot_err *vp_client_enable(struct vp_client *c, int batch_fd)
{
	return bare_request(c, VP_MSG_ENABLE, &batch_fd, 1);
}

struct ot_err *vp_client_frames(struct vp_client *c, int frames_fd)
{
	return bare_request(c, VP_MSG_FRAMES, &frames_fd, 1);
}

struct ot_err *vp_client_start(struct vp_client *c, char *note, size_t size)
{
	struct vp_msg msg = { .type = VP_MSG_START, .size = sizeof(msg) };
	struct vp_msg_reply reply;
	size_t got;

	*note = '\0';
	OT_TRY(vp_client_request(c, &msg, sizeof(msg), NULL, 0, VP_MSG_REPLY, &reply, sizeof(reply),
				 sizeof(reply), &got, NULL, 0, NULL));
	reply.text[sizeof(reply.text) - 1] = '\0';
	ot_utf8_tame_string(reply.text);
	snprintf(note, size, "%s", reply.text);
	return NULL;
}

struct ot_err *vp_client_stop(struct vp_client *c)
{
	return bare_request(c, VP_MSG_STOP, NULL, 0);
}

static struct ot_err *ask(struct vp_client *c, uint32_t type, struct vp_msg_switch_reply *ret)
{
	struct vp_msg msg = { .type = type, .size = sizeof(msg) };
	size_t len = 0;

	return vp_client_request(c, &msg, sizeof(msg), NULL, 0, VP_MSG_SWITCH_REPLY, ret, sizeof(*ret),
				 sizeof(*ret), &len, NULL, 0, NULL);
}

struct ot_err *vp_client_switch(struct vp_client *c, struct vp_msg_switch_reply *ret)
{
	return ask(c, VP_MSG_SWITCH, ret);
}

struct ot_err *vp_client_poll(struct vp_client *c, struct vp_msg_switch_reply *ret)
{
	return ask(c, VP_MSG_POLL, ret);
}

struct ot_err *vp_client_ask(struct vp_client *c, bool exchange)
{
	struct vp_msg msg = { .type = exchange ? VP_MSG_SWITCH : VP_MSG_POLL, .size = sizeof(msg) };

	return vp_client_send(c, &msg, sizeof(msg));
}

struct ot_err *vp_client_answered(struct vp_client *c, struct vp_msg_switch_reply *ret)
{
	size_t len = 0;

	return vp_client_receive(c, VP_MSG_SWITCH_REPLY, ret, sizeof(*ret), sizeof(*ret), &len, NULL, 0,
				 NULL);
}

struct ot_err *vp_client_modules(struct vp_client *c, uint64_t seen, struct vp_msg_modules_reply *ret)
{
	const struct vp_msg_modules msg = {
		.head = { .type = VP_MSG_MODULES, .size = sizeof(msg) },
		.seen = seen,
	};
	size_t len = 0;

	OT_TRY(vp_client_request(c, &msg, sizeof(msg), NULL, 0, VP_MSG_MODULES_REPLY, ret, sizeof(*ret),
				 sizeof(*ret), &len, NULL, 0, NULL));
	return ret->n <= VP_MODULES_KEPT ? NULL
					 : ot_err_new(OT_ERR_BAD_DATA, "the engine sent a broken reply");
}
