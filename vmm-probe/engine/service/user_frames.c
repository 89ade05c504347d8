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
	struct vp_user_frames frames;
	void *mem;
	size_t size;
};

static struct ot_err *check(const void *mem, size_t size, struct vp_user_frames *ret)
{
	struct vp_frames_header h;
	uint64_t needed;

	if (size < sizeof(h))
		return ot_err_new(OT_ERR_BAD_DATA, "frames of %zu bytes", size);
	memcpy(&h, mem, sizeof(h));
	needed = sizeof(h) + (uint64_t)h.nprocesses * sizeof(*ret->processes) +
		 (uint64_t)h.nmaps * sizeof(*ret->maps) + (uint64_t)h.nrows * sizeof(*ret->rows);
	if (h.magic != VP_FRAMES_MAGIC || needed > size)
		return ot_err_new(OT_ERR_BAD_DATA, "frames with an invalid header");
	if (h.nprocesses > VP_FRAMES_PROCESSES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "frames of %u processes, which are more than %u",
				  h.nprocesses, VP_FRAMES_PROCESSES_MAX);
	ret->processes = (const void *)((const uint8_t *)mem + sizeof(h));
	ret->maps = (const void *)(ret->processes + h.nprocesses);
	ret->rows = (const void *)(ret->maps + h.nmaps);
	ret->nprocesses = h.nprocesses;
	ret->nmaps = h.nmaps;
	ret->nrows = h.nrows;
	return NULL;
}

static struct ot_err *take_room(struct vp_engine_session *es, size_t size)
{
	struct vp_engine_session_service *service = es->service;
	struct vp_private_parts parts = service->parts;

	if (service->nframes == VP_FRAMES_SENT_MAX || size > VP_FRAMES_SIZE_MAX - service->frames_bytes)
		return ot_err_new(OT_ERR_LIMIT,
				  "too many programs: the rules for their stacks exceed %u MiB, or came in "
				  "more than %u parts; ustack() follows frame pointers in the others",
				  VP_FRAMES_SIZE_MAX >> 20, VP_FRAMES_SENT_MAX);
	parts.mapped += size;
	OT_TRY(vp_engine_session_check_memory(es, &parts));
	service->parts = parts;
	service->frames_bytes += size;
	service->nframes++;
	return NULL;
}

struct ot_err *vp_engine_session_frames(struct vp_engine_session *es, void *mem, size_t size)
{
	struct vp_user_frames frames = { .next = es->frames };

	OT_TRY(check(mem, size, &frames));
	struct sent *sent = malloc(sizeof(*sent));
	if (!sent)
		return ot_err_nomem();
	*sent = (struct sent){ frames, mem, size };
	struct ot_err *err = take_room(es, size);
	if (err) {
		free(sent);
		return err;
	}
	__atomic_store_n(&es->frames, &sent->frames, __ATOMIC_RELEASE);
	return NULL;
}

void vp_frames_free(struct vp_engine_session *es)
{
	struct vp_user_frames *next;

	for (struct vp_user_frames *f = es->frames; f; f = next) {
		struct sent *sent = OT_CONTAINER_OF(f, struct sent, frames);

		next = f->next;
		munmap(sent->mem, sent->size);
		free(sent);
	}
	es->frames = NULL;
}
