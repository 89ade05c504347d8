/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The systems of tracepoints. A struct tracepoint has a name but no system; its trace event has both, and a
 * pointer to the tracepoint (struct trace_event_call, include/linux/trace_events.h). All trace events are in
 * one list (symbol ftrace_events, kernel/trace/trace_events.c); member offsets come from BTF.
 */
#include "vmm-probe/guest/agent_systems.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "vmm-probe/guest/agent.h"
#include "vmm-probe/guest/btf.h"

#define EVENTS_MAX 65536u
#define SYSTEM_MAX 48u

struct layout {
	uint32_t list, class, tp, system;
};

/* Many events share a system: each string is read once. */
struct walk {
	struct vp_guest *guest;
	struct vp_guest_agent *agent;
	struct layout at;
	struct ot_map events;  /* address of a tracepoint: its struct vp_agent_event */
	struct ot_map systems; /* address of a string in the guest: 1 + its offset in `names` */
	struct ot_buf names;
	uintptr_t *of_event; /* by index: 1 + the offset of its system in `names`; 0: none */
};

static bool find_layout(const struct vp_btf *btf, struct layout *ret)
{
	return vp_btf_member_offset(btf, "trace_event_call", "list", &ret->list, NULL) &&
	       vp_btf_member_offset(btf, "trace_event_call", "class", &ret->class, NULL) &&
	       vp_btf_member_offset(btf, "trace_event_call", "tp", &ret->tp, NULL) &&
	       vp_btf_member_offset(btf, "trace_event_class", "system", &ret->system, NULL);
}

static bool is_system(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", s[i]))
			return false;
	return len > 0 && len < SYSTEM_MAX;
}

/* Read the system at @p addr: *ret is 1 + its offset in `names`; 0: not a valid system. */
static struct ot_err *read_name(struct walk *w, uint64_t addr, uintptr_t *ret)
{
	char text[SYSTEM_MAX];
	uint64_t len = sizeof(text), to_end = 4096 - addr % 4096;

	*ret = (uintptr_t)ot_map_get(&w->systems, &addr, sizeof(addr));
	if (*ret)
		return NULL;
	/* The page after the string's may not be mapped. */
	OT_TRY(vp_guest_read(w->guest, vp_gva(addr), text, len < to_end ? len : to_end));
	if (len > to_end)
		text[to_end] = 0;
	if (!is_system(text, strnlen(text, sizeof(text))))
		return NULL;
	*ret = w->names.len + 1;
	ot_buf_append(&w->names, text, strlen(text) + 1);
	return ot_map_put(&w->systems, &addr, sizeof(addr), (void *)*ret) ? NULL : ot_err_nomem();
}

static struct ot_err *note_event(struct walk *w, uint64_t call)
{
	const struct vp_agent_event *event;
	uint64_t tp, class, system;
	uintptr_t name;

	OT_TRY(vp_guest_read_u64(w->guest, vp_gva(call + w->at.tp), &tp));
	event = ot_map_get(&w->events, &tp, sizeof(tp));
	if (!event || w->of_event[event - w->agent->events])
		return NULL;
	OT_TRY(vp_guest_read_u64(w->guest, vp_gva(call + w->at.class), &class));
	OT_TRY(vp_guest_read_u64(w->guest, vp_gva(class + w->at.system), &system));
	OT_TRY(read_name(w, system, &name));
	w->of_event[event - w->agent->events] = name;
	return NULL;
}

static struct ot_err *walk_list(struct walk *w, struct vp_gva head)
{
	uint64_t node;

	OT_TRY(vp_guest_read_u64(w->guest, head, &node));
	for (uint32_t n = 0; node != head.v && n < EVENTS_MAX; n++) {
		OT_TRY(note_event(w, node - w->at.list));
		OT_TRY(vp_guest_read_u64(w->guest, vp_gva(node), &node));
	}
	return NULL;
}

static struct ot_err *prepare(struct walk *w)
{
	w->of_event = calloc(w->agent->nevents + 1, sizeof(*w->of_event));
	if (!w->of_event)
		return ot_err_nomem();
	for (size_t i = 0; i < w->agent->nevents; i++) {
		struct vp_agent_event *e = &w->agent->events[i];

		if (!ot_map_put(&w->events, &e->address, sizeof(e->address), e))
			return ot_err_nomem();
	}
	return NULL;
}

/* Systems found before a fault in the list are kept. */
static struct ot_err *finish(struct walk *w, struct ot_err *err)
{
	if (err && ot_err_code(err) != OT_ERR_FAULT)
		return err;
	ot_err_destroy(err);
	if (w->names.failed)
		return ot_err_nomem();
	w->agent->systems = malloc(w->names.len + 1);
	if (!w->agent->systems)
		return ot_err_nomem();
	if (w->names.len)
		memcpy(w->agent->systems, w->names.data, w->names.len);
	for (size_t i = 0; i < w->agent->nevents; i++)
		if (w->of_event[i])
			w->agent->events[i].system = w->agent->systems + w->of_event[i] - 1;
	return NULL;
}

struct ot_err *vp_agent_systems(struct vp_guest *guest, struct vp_guest_agent *agent)
{
	struct walk w = { .guest = guest, .agent = agent };
	const struct vp_btf *btf = vp_guest_btf(guest);
	struct vp_gva head;
	struct ot_err *err = vp_guest_symbol(guest, "ftrace_events", &head);

	if (err || !btf || !find_layout(btf, &w.at)) {
		ot_err_destroy(err);
		return NULL;
	}
	ot_map_init(&w.events);
	ot_map_init(&w.systems);
	ot_buf_init(&w.names);
	err = prepare(&w);
	if (!err)
		err = walk_list(&w, head);
	err = finish(&w, err);
	ot_map_deinit(&w.events);
	ot_map_deinit(&w.systems);
	ot_buf_deinit(&w.names);
	free(w.of_event);
	return err;
}
