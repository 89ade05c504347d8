/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the systems of tracepoints from the guest's list of trace events. */
#include "vmm-probe/guest/trace_systems.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/search.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"

#define EVENTS_MAX 65536u
#define SYSTEM_MAX 48u
#define NO_NAME    UINT32_MAX

#define EVENT_MAX 1024u /* bytes of a struct trace_event_call: below 200 in the kernels known */

struct layout {
	uint32_t list, class, tp, system;
	uint32_t first, size; /* the part of a trace_event_call that has the first three */
};

/* Many events share a class, and many classes a system: each string is read once. */
struct walk {
	struct vp_guest *guest;
	struct layout at;
	struct ot_map of_class;  /* address of a trace_event_class: 1 + its system's offset in `names` */
	struct ot_map of_string; /* address of a string in the guest: the same */
	struct ot_buf names;
	struct vp_trace_systems *systems;
	size_t cap;
};

static bool find_layout(const struct vp_btf *btf, struct layout *ret)
{
	if (!vp_btf_member_offset(btf, "trace_event_call", "list", &ret->list, NULL) ||
	    !vp_btf_member_offset(btf, "trace_event_call", "class", &ret->class, NULL) ||
	    !vp_btf_member_offset(btf, "trace_event_call", "tp", &ret->tp, NULL) ||
	    !vp_btf_member_offset(btf, "trace_event_class", "system", &ret->system, NULL))
		return false;
	const uint32_t read[] = { ret->list, ret->class, ret->tp };
	uint32_t last = 0;
	ret->first = UINT32_MAX;
	for (size_t i = 0; i < OT_ARRAY_SIZE(read); i++) {
		ret->first = read[i] < ret->first ? read[i] : ret->first;
		last = read[i] > last ? read[i] : last;
	}
	if (last - ret->first > EVENT_MAX - sizeof(uint64_t)) /* the guest's own type: any number */
		return false;
	ret->size = last - ret->first + (uint32_t)sizeof(uint64_t);
	return true;
}

static bool is_system(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", s[i]))
			return false;
	return len > 0 && len < SYSTEM_MAX;
}

/* Thousands of reads in a row: the page walker's cache is emptied once, before the first. */
static struct ot_err *read_at(struct walk *w, uint64_t gva, void *dst, size_t len)
{
	return vp_mmu_read(vp_guest_phys(w->guest), vp_guest_mmu(w->guest), vp_gva(gva), dst, len);
}

static struct ot_err *remember(struct ot_map *map, uint64_t addr, uintptr_t name)
{
	return ot_map_put(map, &addr, sizeof(addr), (void *)name) ? NULL : ot_err_nomem();
}

/* Read the system at @p addr: *ret is 1 + its offset in `names`; 0: not a valid system. */
static struct ot_err *read_name(struct walk *w, uint64_t addr, uintptr_t *ret)
{
	char text[SYSTEM_MAX];
	uint64_t len = sizeof(text), to_end = 4096 - addr % 4096;

	*ret = (uintptr_t)ot_map_get(&w->of_string, &addr, sizeof(addr));
	if (*ret)
		return NULL;
	/* The page after the string's may not be mapped. */
	OT_TRY(read_at(w, addr, text, len < to_end ? len : to_end));
	if (len > to_end)
		text[to_end] = 0;
	if (!is_system(text, strnlen(text, sizeof(text))))
		return NULL;
	*ret = w->names.len + 1;
	ot_buf_append(&w->names, text, strlen(text) + 1);
	return remember(&w->of_string, addr, *ret);
}

static struct ot_err *system_of_class(struct walk *w, uint64_t class, uintptr_t *ret)
{
	uint64_t system;

	*ret = (uintptr_t)ot_map_get(&w->of_class, &class, sizeof(class));
	if (*ret)
		return NULL;
	OT_TRY(read_at(w, class + w->at.system, &system, sizeof(system)));
	OT_TRY(read_name(w, system, ret));
	return *ret ? remember(&w->of_class, class, *ret) : NULL;
}

/* The event whose list node is @p node; *ret_next: the node behind it. */
static struct ot_err *note_event(struct walk *w, uint64_t node, uint64_t *ret_next)
{
	struct vp_trace_systems *s = w->systems;
	unsigned char event[EVENT_MAX];
	uint64_t tp, class;
	uintptr_t name;

	OT_TRY(read_at(w, node - w->at.list + w->at.first, event, w->at.size));
	memcpy(ret_next, event + w->at.list - w->at.first, sizeof(*ret_next));
	memcpy(&tp, event + w->at.tp - w->at.first, sizeof(tp));
	memcpy(&class, event + w->at.class - w->at.first, sizeof(class));
	OT_TRY(system_of_class(w, class, &name));
	if (!name)
		return NULL;
	if (!ot_grow(&s->list, &w->cap, s->count + 1, sizeof(*s->list)))
		return ot_err_nomem();
	s->list[s->count++] = (struct vp_trace_system){ .tracepoint = tp, .name = (uint32_t)name - 1 };
	return NULL;
}

static struct ot_err *walk_list(struct walk *w, struct vp_gva head)
{
	uint64_t node;

	OT_TRY(read_at(w, head.v, &node, sizeof(node)));
	for (uint32_t n = 0; node != head.v && n < EVENTS_MAX; n++) {
		if (n % 1024 == 0)
			OT_TRY(vp_budget_check());
		OT_TRY(note_event(w, node, &node));
	}
	return NULL;
}

static int by_tracepoint(const void *a, const void *b)
{
	const struct vp_trace_system *x = a, *y = b;

	if (x->tracepoint != y->tracepoint)
		return x->tracepoint < y->tracepoint ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Systems found before a fault in the list are kept. */
static struct ot_err *finish(struct walk *w, struct ot_err *err)
{
	struct vp_trace_systems *s = w->systems;

	if (err && ot_err_code(err) != OT_ERR_FAULT)
		return err;
	ot_err_destroy(err);
	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), by_tracepoint);
	ot_buf_putc(&w->names, '\0');
	s->names = ot_buf_take(&w->names);
	return s->names ? NULL : ot_err_nomem();
}

struct ot_err *vp_trace_systems_read(struct vp_guest *guest, struct vp_trace_systems *ret)
{
	struct vp_trace_systems systems = { 0 };
	struct walk w = { .guest = guest, .systems = &systems };
	const struct vp_btf *btf = vp_guest_btf(guest);
	struct vp_gva head;
	struct ot_err *err = vp_guest_symbol(guest, "ftrace_events", &head);

	*ret = systems;
	if (err || !btf || !find_layout(btf, &w.at)) {
		ot_err_destroy(err);
		return NULL;
	}
	ot_map_init(&w.of_class);
	ot_map_init(&w.of_string);
	ot_buf_init(&w.names);
	vp_mmu_flush(vp_guest_mmu(guest));
	err = finish(&w, walk_list(&w, head));
	ot_map_deinit(&w.of_class);
	ot_map_deinit(&w.of_string);
	ot_buf_deinit(&w.names);
	if (err)
		vp_trace_systems_deinit(&systems);
	else
		*ret = systems;
	return err;
}

void vp_trace_systems_deinit(struct vp_trace_systems *systems)
{
	free(systems->list);
	free(systems->names);
	*systems = (struct vp_trace_systems){ 0 };
}

const char *vp_trace_systems_find(const struct vp_trace_systems *systems, uint64_t tracepoint)
{
	const struct vp_trace_system *list = systems->list;
	size_t i = OT_COUNT_BEFORE(systems->count, n, list[n].tracepoint < tracepoint);

	return i < systems->count && list[i].tracepoint == tracepoint ? systems->names + list[i].name : "";
}
