/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites of functions: the entry, and each exit of the function and of the code it continues in. */
#include "vmm-probe/provider/fbt_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/sites.h"
#include "vmm-probe/provider/text.h"

#define FUNCTION_MAX (16u << 20)
#define PARTS_MAX    32     /* parts of one function: itself, its unlikely part, its tail calls' targets */
#define SITES_MAX    65536u /* exits of one function; the largest kernel functions have some hundreds */

/* A part of a function. */
struct part {
	uint64_t gva, size;
	const char *name; /* of the function that it is a part of */
	bool shared;      /* tail-called: other functions may run it too */
};

struct finder {
	const struct vp_symtab *tab;
	const struct vp_probe *probe;
	const struct vp_code_ops *code;
	struct vp_text *text;
	struct vp_site_conditions when;
	struct part parts[PARTS_MAX]; /* [0] is the function itself */
	unsigned nparts;
	bool text_changes; /* sites are trapped by changing text: branches into them matter */
	struct vp_exits exits;
	struct vp_batch_site *sites;
	size_t count, cap;
	/* Targets of its branches from one of its parts to another. */
	uint64_t *across;
	size_t nacross, across_cap;
};

/* @room: bytes at @bytes that the instruction and the padding after it take. */
static struct ot_err *add_site(struct finder *f, uint64_t gva, const uint8_t *bytes, uint8_t length,
			       uint8_t room, uint32_t syscall)
{
	struct vp_batch_site *s;

	if (f->count >= SITES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u exits", SITES_MAX);
	if (!ot_grow(&f->sites, &f->cap, f->count + 1, sizeof(*f->sites)))
		return ot_err_nomem();
	s = &f->sites[f->count++];
	/* An unlikely part may lie before its function: the offset is then modulo 2^32. */
	*s = (struct vp_batch_site){
		.gva = gva,
		.offset = (uint32_t)(gva - f->probe->gva),
		.length = length,
		.room = room,
		.syscall = syscall,
	};
	memcpy(s->bytes, bytes, room);
	return NULL;
}

/* A function without a tracing nop may jump back to its first instruction, which is then not an entry. */
static struct ot_err *check_loops(struct finder *f, uint32_t at, uint8_t len)
{
	const uint8_t *bytes;
	bool loops;

	OT_TRY(vp_text_read(f->text, f->probe->gva, f->probe->size, &bytes));
	f->exits.want_targets = true;
	struct ot_err *err = vp_exits_find(f->probe->gva, bytes, (uint32_t)f->probe->size, &f->exits);
	loops = !err && vp_exits_has_target(&f->exits, at, at + len);
	vp_exits_deinit(&f->exits);
	if (loops)
		return ot_err_new(OT_ERR_UNSUPPORTED, "its first instruction is a jump target inside the "
						      "function: each turn would count as an entry");
	return err;
}

struct ot_err *vp_function_entry_site(struct vp_probes *probes, const struct vp_probe *probe,
				      const struct vp_site_conditions *when, struct vp_batch_site **ret,
				      uint32_t *ret_count)
{
	struct finder f = { .probe = probe, .when = when ? *when : (struct vp_site_conditions){ 0 } };
	const uint8_t *bytes;
	/* The first 24 bytes hold endbr64 and any instruction after it. */
	uint64_t len = probe->size < 24 ? probe->size : 24;

	OT_TRY(vp_arch_code(&vp_arch_native, &f.code));
	OT_TRY(vp_probes_text(probes, &f.text));
	OT_TRY(vp_text_read(f.text, probe->gva, len, &bytes));

	uint32_t at = f.code->entry(bytes, len);
	uint8_t n = f.code->length(bytes + at, len - at);

	if (!n)
		return ot_err_new(OT_ERR_BAD_DATA, "it does not begin with an instruction");
	bool is_return = f.code->branch(bytes + at, n, probe->gva + at).kind == VP_BRANCH_RETURN;
	uint8_t room = is_return ? f.code->room(bytes + at, n, len - at) : n;
	OT_TRY(add_site(&f, probe->gva + at, bytes + at, n, room, f.when.own));
	if (vp_probes_planner(probes) &&
	    f.code->emulation(f.sites->bytes, n, f.sites->gva) != VP_EMULATION_NOP) {
		struct ot_err *err = check_loops(&f, at, n);
		if (err) {
			free(f.sites);
			return err;
		}
	}
	*ret = f.sites;
	*ret_count = 1;
	return NULL;
}

static bool in_function(const struct finder *f, uint64_t addr)
{
	for (unsigned i = 0; i < f->nparts; i++)
		if (addr - f->parts[i].gva < f->parts[i].size)
			return true;
	return false;
}

static bool add_part(struct finder *f, const struct vp_symbol *sym, const char *name, bool shared)
{
	uint64_t size = vp_symbol_size(f->tab, sym);

	if (f->nparts == PARTS_MAX || !size || size > FUNCTION_MAX)
		return false;
	f->parts[f->nparts++] = (struct part){ sym->addr, size, name, shared };
	return true;
}

/* Is @p sym the unlikely part, NAME.cold, of one of the functions NAME in the list? */
static bool is_cold_part(struct finder *f, const struct vp_symbol *sym)
{
	const char *name = vp_symbol_name(f->tab, sym), *cold = strstr(name, ".cold");

	if (!cold)
		return false;
	for (unsigned i = 0; i < f->nparts; i++) {
		const struct part *p = &f->parts[i];

		if (strlen(p->name) == (size_t)(cold - name) &&
		    !strncmp(p->name, name, (size_t)(cold - name)))
			return add_part(f, sym, p->name, p->shared);
	}
	return false;
}

static bool is_thunk(const char *name)
{
	return strstr(name, "_thunk") != NULL;
}

/*
 * Does a direct jump to @p target stay within the probed function? Yes for its unlikely part; for the start
 * of another function if tail calls are followed; and for an address without a symbol, the detour buffer of a
 * kprobe in the guest, which jumps back.
 */
static bool stays(struct finder *f, uint64_t target)
{
	uint64_t offset;
	const struct vp_symbol *sym = vp_symtab_find_addr(f->tab, vp_gva(target), &offset);

	if (!sym || in_function(f, target))
		return true;
	if (!vp_symbol_is_function(sym))
		return false;
	if (is_cold_part(f, sym))
		return true;
	if (!f->when.shared || offset || is_thunk(vp_symbol_name(f->tab, sym)))
		return false;
	return add_part(f, sym, vp_symbol_name(f->tab, sym), true);
}

/* An exit's trap covers it and, for a ret, the int3 after it: no branch may target the bytes in between. */
static struct ot_err *check_middle(const struct finder *f, const struct vp_exit *e, uint8_t room)
{
	if (!f->text_changes || !vp_exits_has_target(&f->exits, e->offset + 1, e->offset + room))
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED, "a branch targets the middle of its exit at +0x%x", e->offset);
}

/* Of the padding behind a ret, what no branch in its part leads to. One more byte is an exit's trap's, which
 * check_middle() is about. */
static uint8_t padding_room(const struct finder *f, const struct vp_exit *e, uint8_t room)
{
	while (f->text_changes && room > e->length + 1 &&
	       vp_exits_has_target(&f->exits, e->offset + e->length + 1, e->offset + room))
		room--;
	return room;
}

static struct ot_err *add_across(struct finder *f, uint64_t target)
{
	if (!f->text_changes)
		return NULL;
	if (!ot_grow(&f->across, &f->across_cap, f->nacross + 1, sizeof(*f->across)))
		return ot_err_nomem();
	f->across[f->nacross++] = target;
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Both checks of branches from the function's other parts, when all of them are known. */
static struct ot_err *check_across(struct finder *f)
{
	if (f->nacross)
		qsort(f->across, f->nacross, sizeof(*f->across), by_value);
	for (size_t i = 0; i < f->count; i++) {
		struct vp_batch_site *s = &f->sites[i];
		size_t n = OT_COUNT_BEFORE(f->nacross, k, f->across[k] <= s->gva);
		uint64_t into = n < f->nacross ? f->across[n] - s->gva : UINT64_MAX;
		if (into >= s->room)
			continue;
		if (into <= s->length)
			return ot_err_new(OT_ERR_UNSUPPORTED,
					  "a branch targets the middle of its exit at +0x%x", s->offset);
		s->room = (uint8_t)into;
	}
	return NULL;
}

static struct ot_err *scan_part(struct finder *f, const struct part *part)
{
	const uint8_t *bytes;

	OT_TRY(vp_text_read(f->text, part->gva, part->size, &bytes));
	OT_TRY(vp_exits_find(part->gva, bytes, (uint32_t)part->size, &f->exits));
	for (size_t i = 0; i < f->exits.count; i++) {
		const struct vp_exit *e = &f->exits.list[i];

		if (vp_exit_is_direct(e) && stays(f, e->branch.target)) {
			OT_TRY(add_across(f, e->branch.target));
			continue;
		}
		if (e->branch.kind == VP_BRANCH_JUMP_IF)
			continue;
		uint8_t room = f->code->room(bytes + e->offset, e->length, part->size - e->offset);
		room = padding_room(f, e, room);
		OT_TRY(check_middle(f, e, room));
		OT_TRY(add_site(f, part->gva + e->offset, bytes + e->offset, e->length, room,
				part->shared ? f->when.shared : f->when.own));
	}
	return NULL;
}

struct ot_err *vp_function_return_sites(struct vp_probes *probes, const struct vp_probe *probe,
					const struct vp_site_conditions *when, struct vp_batch_site **ret,
					uint32_t *ret_count)
{
	struct finder f = {
		.tab = vp_guest_symtab(vp_probes_guest(probes)),
		.probe = probe,
		.when = when ? *when : (struct vp_site_conditions){ 0 },
		.parts = { { probe->gva, probe->size, probe->function, false } },
		.nparts = 1,
		.text_changes = vp_probes_planner(probes) != NULL,
		.exits.want_targets = vp_probes_planner(probes) != NULL,
	};
	struct ot_err *err = vp_arch_code(&vp_arch_native, &f.code);
	if (!err)
		err = vp_probes_text(probes, &f.text);
	const struct vp_symbol *self = vp_symtab_find_addr(f.tab, vp_gva(probe->gva), NULL);

	/* A syscall probe's function is the bare name; its parts have the kernel's name. */
	if (self && self->addr == probe->gva)
		f.parts[0].name = vp_symbol_name(f.tab, self);
	/* Scanning a part may append another one. */
	for (unsigned i = 0; !err && i < f.nparts; i++) {
		struct part part = f.parts[i];

		err = scan_part(&f, &part);
	}
	if (!err)
		err = check_across(&f);
	vp_exits_deinit(&f.exits);
	free(f.across);
	if (err) {
		free(f.sites);
		return err;
	}
	*ret = f.sites;
	*ret_count = (uint32_t)f.count;
	return NULL;
}
