/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assigns the frames of a program to the frames of a stack that interpret them. */
#include "vmm-probe/engine/hit/helper.h"
#include "vmm-probe/engine/hit/beam.h"
#include "vmm-probe/engine/hit/python.h"
#include "vmm-probe/engine/hit/user_frames.h"

struct merge {
	struct vp_python_walk walk;
	struct vp_texts *texts;
	uint64_t place; /* of the next run … */
	bool any;       /* … which exists */
};

static void next_run(struct merge *m)
{
	m->any = !m->texts->full && vp_python_run(&m->walk, &m->place);
}

/* Keep the text since length @used completely or not at all, with space for the NUL after it. */
static bool keep_whole(struct vp_texts *texts, size_t used)
{
	if (texts->used == texts->size)
		texts->full = true;
	if (texts->full)
		vp_texts_back(texts, used);
	return !texts->full;
}

static bool put_frame(struct merge *m, const struct vp_python_frame *f, char before)
{
	size_t used = m->texts->used;

	if (before)
		vp_texts_byte(m->texts, before);
	vp_python_text(&m->walk, f, m->texts);
	return keep_whole(m->texts, used);
}

/* The runs that this frame interprets: one, unless the process has its stacks elsewhere. */
static void annotate(struct merge *m, uint64_t end)
{
	struct vp_python_frame f;
	char before = '@';

	while (m->any && m->place < end) {
		while (vp_python_frame(&m->walk, &f)) {
			if (!put_frame(m, &f, before))
				return;
			before = '\n';
		}
		next_run(m);
	}
}

/* The walk of the stack ended before them. */
static void add_others(struct merge *m, struct vp_user_stack *stack)
{
	struct vp_python_frame f;

	for (; m->any && stack->n < stack->max; next_run(m))
		while (stack->n < stack->max && vp_python_frame(&m->walk, &f)) {
			if (!put_frame(m, &f, '\0'))
				return;
			vp_texts_byte(m->texts, '\0');
			stack->ends[stack->n] = 0;
			stack->pcs[stack->n++] = DIF_FRAME_WITHOUT_PC;
		}
}

static void put_python(struct vp_vcpu_session *v, const struct vp_python *in, struct vp_user_stack *stack,
		       struct vp_texts *texts)
{
	struct merge m = { .texts = texts };

	if (!vp_python_begin(&m.walk, v, in, texts->size))
		return;
	next_run(&m);
	/* The rest after the last text is zero. */
	for (uint32_t i = 0; i < stack->n && m.any && !texts->full; i++) {
		annotate(&m, stack->ends[i]);
		if (m.any)
			vp_texts_byte(texts, '\0');
	}
	add_others(&m, stack);
	if (!m.walk.fuel) /* there may be more frames */
		texts->full = true;
}

/* One function interprets all frames of the Erlang process that the thread runs. */
static void put_beam(struct vp_vcpu_session *v, const struct vp_beam *in, const struct vp_user_stack *stack,
		     struct vp_texts *texts)
{
	struct vp_beam_frame f;
	struct vp_beam_walk w;
	char before = '@';
	uint32_t at;

	if (!vp_beam_begin(&w, v, in, texts->size))
		return;
	if (vp_beam_enter(&w, stack, &at)) {
		while (at--)
			vp_texts_byte(texts, '\0');
		while (!texts->full && vp_beam_frame(&w, &f)) {
			size_t used = texts->used;

			vp_texts_byte(texts, before);
			vp_beam_text(&w, &f, texts);
			keep_whole(texts, used);
			before = '\n';
		}
	}
	if (!w.fuel)
		texts->full = true;
}

void vp_helper_texts(struct vp_vcpu_session *v, struct vp_user_stack *stack, struct vp_texts *texts)
{
	struct vp_process_frames process;

	if (!stack->n || !vp_frames_of_process(v, &process) || !process.runtime)
		return;
	switch (process.runtime->kind) {
	case VP_RUNTIME_PYTHON:
		put_python(v, &process.runtime->python, stack, texts);
		return;
	case VP_RUNTIME_BEAM:
		put_beam(v, &process.runtime->beam, stack, texts);
		return;
	default:
		return;
	}
}
