/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FRAMES: rules for walking the stacks of processes. They are kept as long as the session, so that a vCPU may
 * read them without being waited for. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vmm-probe/engine/hit/user_frames.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/wire/user_frames.h"

/* With the memory that it is in. */
struct sent {
	struct vp_frames_sent frames;
	void *mem;
	size_t size;
};

static struct ot_err *check(const void *mem, size_t size, struct vp_frames_sent *ret)
{
	struct vp_frames_header h;
	uint64_t needed;

	if (size < sizeof(h))
		return ot_err_new(OT_ERR_BAD_DATA, "frames of %zu bytes", size);
	memcpy(&h, mem, sizeof(h));
	needed = sizeof(h) + (uint64_t)h.nprocesses * sizeof(*ret->processes) +
		 (uint64_t)h.nruntimes * sizeof(*ret->runtimes) + (uint64_t)h.nmaps * sizeof(*ret->maps) +
		 (uint64_t)h.nrows * sizeof(*ret->rows);
	if (h.magic != VP_FRAMES_MAGIC || needed > size)
		return ot_err_new(OT_ERR_BAD_DATA, "frames with an invalid header");
	if (h.nprocesses > VP_FRAMES_PROCESSES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "frames of %u processes, which are more than %u",
				  h.nprocesses, VP_FRAMES_PROCESSES_MAX);
	ret->processes = (const void *)((const uint8_t *)mem + sizeof(h));
	ret->runtimes = (const void *)(ret->processes + h.nprocesses);
	ret->maps = (const void *)(ret->runtimes + h.nruntimes);
	ret->rows = (const void *)(ret->maps + h.nmaps);
	ret->nprocesses = h.nprocesses;
	ret->nruntimes = h.nruntimes;
	ret->nmaps = h.nmaps;
	ret->nrows = h.nrows;
	return NULL;
}

/* The index, at the first FRAMES. */
static struct ot_err *take_room(struct vp_engine_session *es, size_t size, struct vp_user_frames **ret)
{
	struct vp_engine_session_service *service = es->service;
	struct vp_private_parts parts = service->parts;

	*ret = es->frames;
	if ((*ret && (*ret)->nsent == VP_FRAMES_SENT_MAX) ||
	    size > VP_FRAMES_SIZE_MAX - service->frames_bytes)
		return ot_err_new(OT_ERR_LIMIT,
				  "too many programs: the rules for their stacks exceed %u MiB, or came in "
				  "more than %u parts; ustack() follows frame pointers in the others",
				  VP_FRAMES_SIZE_MAX >> 20, VP_FRAMES_SENT_MAX);
	parts.mapped += size;
	parts.frames = sizeof(**ret) + ((*ret ? (*ret)->nsent : 0) + 1) * sizeof(struct sent);
	OT_TRY(vp_engine_session_check_memory(es, &parts));
	if (!*ret && !(*ret = calloc(1, sizeof(**ret))))
		return ot_err_nomem();
	service->parts = parts;
	service->frames_bytes += size;
	return NULL;
}

/* Does the slot hold the same process? Its marks are the sender's: false ones harm only the sender. */
static bool is_same(const struct vp_user_frames *all, uint64_t slot, uint64_t root, uint32_t pid)
{
	const struct vp_frames_sent *in =
	    all->sent[slot >> VP_FRAMES_PROCESS_BITS & (VP_FRAMES_SENT_MAX - 1)];

	return slot >> VP_FRAMES_ROOT_SHIFT == root >> 12 &&
	       in->processes[slot & (VP_FRAMES_PROCESSES_MAX - 1)].id.pid == pid;
}

/* A process keeps its slot, or gets an empty one. If all are used, it takes another process's, which then has
 * no rules any more. */
static void index_process(struct vp_user_frames *all, uint32_t sent, uint32_t number)
{
	const struct vp_batch_process id = all->sent[sent]->processes[number].id;
	const uint32_t home = vp_frames_home(id.root);
	uint64_t *at = &all->slots[(home + sent % VP_FRAMES_TRIES) % VP_FRAMES_SLOTS];

	if (!(id.root >> 12) || id.root >> 52)
		return;
	for (uint32_t i = 0; i < VP_FRAMES_TRIES; i++) {
		uint64_t *slot = &all->slots[(home + i) % VP_FRAMES_SLOTS];

		if (!*slot || is_same(all, *slot, id.root, id.pid)) {
			at = slot;
			break;
		}
	}
	__atomic_store_n(at, vp_frames_slot(id.root, sent, number), __ATOMIC_RELEASE);
}

struct ot_err *vp_engine_session_frames(struct vp_engine_session *es, void *mem, size_t size)
{
	struct vp_user_frames *all;
	struct vp_frames_sent frames;

	OT_TRY(check(mem, size, &frames));
	struct sent *sent = malloc(sizeof(*sent));
	if (!sent)
		return ot_err_nomem();
	struct ot_err *err = take_room(es, size, &all);
	if (err) {
		free(sent);
		return err;
	}
	*sent = (struct sent){ frames, mem, size };
	uint32_t number = all->nsent;

	all->sent[number] = &sent->frames;
	__atomic_store_n(&all->nsent, number + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&es->frames, all, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < frames.nprocesses; i++)
		index_process(all, number, i);
	return NULL;
}

void vp_frames_free(struct vp_engine_session *es)
{
	struct vp_user_frames *all = es->frames;

	for (uint32_t i = 0; all && i < all->nsent; i++) {
		struct sent *sent = OT_CONTAINER_OF(all->sent[i], struct sent, frames);

		munmap(sent->mem, sent->size);
		free(sent);
	}
	free(all);
	es->frames = NULL;
}
