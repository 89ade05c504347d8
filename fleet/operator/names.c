/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts' names for their guests, and for addresses in them. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "fleet/operator/internal.h"

/* Memory of a name besides its texts: in the arena and the map. */
#define NAME_COST 160

/* --- NAMES ---------------------------------------------------------------------------------------------- */

static struct ot_err *keep(struct fl_host *h, const struct fl_name *name)
{
	const size_t text = strlen(name->text), note = strlen(name->note);
	struct fl_called *called;
	char *copy;

	if (!name->number || ot_map_get(&h->names, &name->number, sizeof(name->number)))
		return ot_err_new(OT_ERR_BAD_DATA, "a name's number, %llu, is another's",
				  (unsigned long long)name->number);
	if (h->names.count >= FL_CALLED_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "it sends too many names");
	OT_TRY(fl_room_take(h, text + note + NAME_COST));
	called = ot_arena_new(&h->arena, struct fl_called);
	copy = ot_arena_strndup(&h->arena, name->text, text);
	if (!called || !copy || !ot_map_put(&h->names, &name->number, sizeof(name->number), called))
		return ot_err_nomem();
	ot_utf8_tame_string(copy);
	called->text = copy;
	if (!note)
		return NULL;
	copy = ot_arena_strndup(&h->arena, name->note, note);
	if (!copy)
		return ot_err_nomem();
	fl_tame_lines(copy);
	called->note = copy;
	return NULL;
}

struct ot_err *fl_host_take_names(struct fl_host *h, const void *data, size_t len)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct ot_err *err = NULL;
	struct ot_arena arena;
	struct fl_name name;

	ot_arena_init(&arena);
	while (!err && fl_next_name(&r, &arena, &name))
		err = keep(h, &name);
	ot_arena_deinit(&arena);
	return err ? err : fl_reader_end(&r, FL_NAMES);
}

/* --- for the printer ------------------------------------------------------------------------------------ */

struct fl_guest_there *fl_guest_of(const struct fl_fleet *fleet, uint32_t guest, struct fl_host **ret_host)
{
	uint32_t host = (guest - FL_GUEST_BASE) / VP_GUESTS_MAX;

	if (guest < FL_GUEST_BASE || host >= fleet->nhosts)
		return NULL;
	*ret_host = fleet->hosts[host];
	return &(*ret_host)->there[(guest - FL_GUEST_BASE) % VP_GUESTS_MAX];
}

const struct fl_called *fl_called_of(const struct fl_fleet *fleet, uint32_t guest, uint64_t number)
{
	struct fl_host *h;

	return fl_guest_of(fleet, guest, &h) ? ot_map_get(&h->names, &number, sizeof(number)) : NULL;
}

static void put(const struct fl_called *called, uint64_t addr, char *buf, size_t size)
{
	if (called)
		snprintf(buf, size, "%s", called->text);
	else
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
}

static void kernel_name(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
			size_t size)
{
	const struct fl_fleet *fleet = arg;

	if (guest >= FL_GUEST_BASE || !fleet->others.kernel)
		put(fl_called_of(fleet, guest, addr), addr, buf, size);
	else
		fleet->others.kernel(fleet->others.arg, guest, addr, form, buf, size);
}

static void user_name(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
		      char *buf, size_t size)
{
	const struct fl_fleet *fleet = arg;

	if (guest >= FL_GUEST_BASE || !fleet->others.user)
		put(fl_called_of(fleet, guest, addr), addr, buf, size);
	else
		fleet->others.user(fleet->others.arg, guest, pid, addr, form, buf, size);
}

static const char *note_text(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, const char *note)
{
	const struct fl_fleet *fleet = arg;
	const struct fl_called *called;

	if (guest < FL_GUEST_BASE)
		return fleet->others.note ? fleet->others.note(fleet->others.arg, guest, pid, addr, note)
					  : NULL;
	called = fl_called_of(fleet, guest, addr);
	return called ? called->note : NULL;
}

static const char *guest_name(void *arg, uint32_t guest)
{
	const struct fl_fleet *fleet = arg;
	struct fl_host *h;

	if (guest < FL_GUEST_BASE)
		return fleet->others.guest ? fleet->others.guest(fleet->others.arg, guest) : NULL;
	const struct fl_guest_there *there = fl_guest_of(fleet, guest, &h);
	return there ? there->name : NULL;
}

/* Hosts' threads are not on this machine. */
static void vcpu_thread(void *arg, uint32_t guest, uint32_t cpu, uint32_t *ret_pid, uint32_t *ret_tid)
{
	const struct fl_fleet *fleet = arg;

	*ret_pid = *ret_tid = 0;
	if (guest < FL_GUEST_BASE && fleet->others.vcpu)
		fleet->others.vcpu(fleet->others.arg, guest, cpu, ret_pid, ret_tid);
}

void fl_fleet_names(struct fl_fleet *fleet, struct con_symbols *symbols)
{
	fleet->others = *symbols;
	*symbols = (struct con_symbols){
		fleet,
		kernel_name,
		user_name,
		note_text,
		guest_name,
		vcpu_thread,
		/* more than one, because guests may join */
		symbols->nguests + FL_GUEST_BASE,
	};
}
