/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the probes of a process's function. */
#include "vmm-probe/provider/pid_function.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/provider/boundary.h"
#include "vmm-probe/provider/pid_exits.h"
#include "vmm-probe/provider/providers.h"

#define ENTRY_BYTES (2 * VP_INSN_MAX) /* a mark, and the instruction behind it */

#define DIGITS_MAX 6 /* of an offset: no function is larger */

static bool matches(const char *pattern, const char *text)
{
	return !pattern || !*pattern || dif_glob_match(pattern, text);
}

/* --- adding a probe ------------------------------------------------------------------------------------- */

/* Several descriptions may match one probe: it is made once. */
static struct ot_err *is_new(struct vp_pid_making *m, const struct vp_elf_symbol *sym, const char *name,
			     bool *ret)
{
	char key[64];
	int len =
	    snprintf(key, sizeof(key), "%c %u %u %s", m->code.of_file ? 'f' : 'p', m->nth, sym->name, name);

	m->made++;
	*ret = !ot_map_get(&m->processes->made, key, (size_t)len);
	if (!*ret)
		return NULL;
	if (m->processes->made.count >= VP_PID_PROBES_MAX)
		return ot_err_new(OT_ERR_LIMIT,
				  "D_PROC_CREATEFAIL: more than %u probes in processes: name fewer "
				  "functions, or `entry` and `return` alone",
				  VP_PID_PROBES_MAX);
	return ot_map_put(&m->processes->made, key, (size_t)len, m) ? NULL : ot_err_nomem();
}

/* Missing memory of the guest is the probe's reason. @p err is freed, or returned. */
static struct ot_err *refusal(struct vp_pid_making *m, struct ot_err *err, const char **ret)
{
	if (!err || ot_err_code(err) != OT_ERR_UNSUPPORTED)
		return err;
	*ret = vp_probes_strdup(m->probes, ot_err_message(err));
	ot_err_destroy(err);
	return *ret ? NULL : ot_err_nomem();
}

/* Sites are found in the process; the file has them at their offset. */
static void place_in_file(const struct vp_pid_object *o, struct vp_batch_site *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t offset = 0;

		if (vp_elf_offset(&o->elf, sites[i].gva - o->bias, 1, &offset))
			sites[i].gva = offset;
	}
}

/* With its @p n sites, which are copied; @p err instead, which is taken. */
static struct ot_err *add(struct vp_pid_making *m, const struct vp_elf_symbol *sym, struct vp_probe *probe,
			  const struct vp_batch_site *sites, uint32_t n, struct ot_err *err)
{
	uint64_t size = n * sizeof(*sites);
	struct vp_pid_own *own;

	OT_TRY(refusal(m, err, &probe->refused));
	OT_TRY(vp_budget_take(sizeof(*own) + sizeof(*probe) + size));
	own = vp_probes_alloc(m->probes, sizeof(*own));
	if (!own)
		return ot_err_nomem();
	if (m->code.of_file)
		own->file = m->process->maps.files[m->code.object->file].id.mapping;
	else
		own->process = m->process->id;
	own->path = m->path;
	own->of_program = m->code.object->is_program && !m->code.of_file;
	if (!probe->refused && n) {
		own->sites = vp_probes_alloc(m->probes, size);
		if (!own->sites)
			return ot_err_nomem();
		memcpy(own->sites, sites, size);
		if (m->code.of_file)
			place_in_file(m->code.object, own->sites, n);
		own->nsites = n;
	}
	probe->kind = VP_PROBE_SITE;
	probe->provider = m->provider;
	probe->module = m->module;
	probe->function = vp_elf_symbol_name(&m->code.object->symbols, sym);
	probe->own = own;
	return vp_probes_add(m->probes, m->of, probe);
}

/* --- entry and return ------------------------------------------------------------------------------------ */

/* Its first bytes alone: the rest of a large function may not be in memory. */
static struct ot_err *find_entry(struct vp_pid_making *m, const struct vp_elf_symbol *sym,
				 struct vp_batch_site *ret)
{
	const struct vp_code_ops *ops = m->code.ops;

	OT_TRY(vp_pid_code_read(&m->code, sym->addr, sym->size < ENTRY_BYTES ? sym->size : ENTRY_BYTES,
				&m->piece));
	if (!m->piece.have)
		return vp_pid_piece_check(&m->code, &m->piece);
	return vp_pid_code_site(&m->code, &m->piece, m->piece.gva, ops->entry(m->piece.bytes, m->piece.have),
				ret);
}

static struct ot_err *add_entry(struct vp_pid_making *m, const struct vp_elf_symbol *sym)
{
	struct vp_probe probe = { .args = VP_ARGS_FBT_ENTRY, .name = "entry" };
	struct vp_batch_site site;
	bool wanted;

	OT_TRY(is_new(m, sym, probe.name, &wanted));
	return wanted ? add(m, sym, &probe, &site, 1, find_entry(m, sym, &site)) : NULL;
}

static struct ot_err *add_return(struct vp_pid_making *m, const struct vp_elf_symbol *sym)
{
	struct vp_probe probe = { .args = VP_ARGS_FBT_RETURN, .name = "return" };
	struct vp_pid_exits exits = { 0 };
	bool wanted;

	OT_TRY(is_new(m, sym, probe.name, &wanted));
	if (!wanted)
		return NULL;
	struct ot_err *err = vp_pid_exits_find(m->probes, &m->code, sym, &exits);
	if (exits.has_programs)
		probe.args = VP_ARGS_SITE;
	err = add(m, sym, &probe, exits.list, exits.count, err);
	free(exits.list);
	return err;
}

/* --- single instructions --------------------------------------------------------------------------------- */

static struct ot_err *add_instruction(struct vp_pid_making *m, const struct vp_elf_symbol *sym,
				      uint64_t offset, const char *name)
{
	struct vp_probe probe = { .args = VP_ARGS_NONE };
	struct vp_batch_site site;
	struct ot_err *err;
	bool wanted;

	OT_TRY(is_new(m, sym, name, &wanted));
	if (!wanted)
		return NULL;
	probe.name = vp_probes_strdup(m->probes, name);
	if (!probe.name)
		return ot_err_nomem();
	err = vp_pid_piece_check(&m->code, &m->piece);
	if (offset < m->piece.have) {
		ot_err_destroy(err);
		err = vp_pid_code_site(&m->code, &m->piece, m->piece.gva, offset, &site);
	}
	return add(m, sym, &probe, &site, 1, err);
}

/* UNSUPPORTED: no instruction begins at m->offset, in DTrace's words; and the nearest ones. */
static struct ot_err *check_offset(const struct vp_pid_making *m)
{
	unsigned long long offset = m->offset, size = m->piece.size;
	uint64_t before, after;

	if (offset >= size)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "D_PROC_OFF: offset 0x%llx outside of function '%s', which has 0x%llx bytes", offset,
		    m->desc->function, size);
	if (offset >= m->piece.have)
		return ot_err_prefix(vp_pid_piece_check(&m->code, &m->piece), "D_PROC_CREATEFAIL");
	if (!vp_boundary_near(m->piece.bytes, m->piece.have, offset, &before, &after))
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "D_PROC_ALIGN: offset 0x%llx is behind bytes that are no known instruction, "
		    "at %llx",
		    offset, (unsigned long long)before);
	if (after == offset)
		return NULL;
	if (after >= size)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "D_PROC_ALIGN: offset 0x%llx is not aligned on an instruction: the last one is at "
		    "%llx",
		    offset, (unsigned long long)before);
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "D_PROC_ALIGN: offset 0x%llx is not aligned on an instruction: the nearest are at "
			  "%llx and %llx",
			  offset, (unsigned long long)before, (unsigned long long)after);
}

/* The instruction that the description names. Of several functions, those match that have one there. */
static struct ot_err *add_named(struct vp_pid_making *m, const struct vp_elf_symbol *sym)
{
	OT_TRY(vp_pid_code_read(&m->code, sym->addr, sym->size, &m->piece));

	struct ot_err *err = check_offset(m);
	if (!err)
		return add_instruction(m, sym, m->offset, m->desc->name);
	if (ot_err_code(err) != OT_ERR_UNSUPPORTED)
		return err;
	if (m->why)
		ot_err_destroy(err); /* the first function's is kept */
	else
		m->why = err;
	return NULL;
}

/* The instructions that the description's name matches. After unknown code there are none; the first probe
 * there is refused, with the reason. */
static struct ot_err *add_matching(struct vp_pid_making *m, const struct vp_elf_symbol *sym)
{
	const struct vp_code_ops *ops = m->code.ops;
	char name[17];
	uint8_t length;

	OT_TRY(vp_pid_code_read(&m->code, sym->addr, sym->size, &m->piece));
	for (uint64_t at = 0; at < m->piece.size; at += length) {
		uint64_t left = at < m->piece.have ? m->piece.have - at : 0;

		length = left ? ops->breakpoint(m->piece.bytes + at, left) : 0;
		if (length)
			continue;
		snprintf(name, sizeof(name), "%" PRIx64, at);
		if (matches(m->desc->name, name))
			OT_TRY(add_instruction(m, sym, at, name));
		length = left ? ops->length(m->piece.bytes + at, left) : 0;
		if (!length)
			break;
	}
	return NULL;
}

/* --- all of a function ------------------------------------------------------------------------------------ */

/* An indirect function runs once, when the loader calls it to select an implementation. */
static struct ot_err *add_indirect(struct vp_pid_making *m, const struct vp_elf_symbol *sym)
{
	struct vp_probe probe = { .args = VP_ARGS_FBT_ENTRY,
				  .name = "entry",
				  .refused = "it is an indirect function, which the loader calls to choose "
					     "one: name that one (a wildcard lists them)" };
	bool wanted;

	if (!matches(m->desc->name, "entry"))
		return NULL;
	OT_TRY(is_new(m, sym, probe.name, &wanted));
	return wanted ? add(m, sym, &probe, NULL, 0, NULL) : NULL;
}

/* Functions, which have a size. Of several names at one address a pattern takes the first, else it would
 * count each call more than once. */
struct ot_err *vp_pid_function_make(struct vp_pid_making *m, const struct vp_elf_symbol *sym)
{
	uint64_t left;

	if ((sym->type != STT_FUNC && sym->type != STT_GNU_IFUNC) || !sym->size ||
	    (m->last == sym->addr && vp_pid_is_pattern(m->desc->function)) ||
	    !matches(m->desc->function, vp_elf_symbol_name(&m->code.object->symbols, sym)) ||
	    !vp_pid_object_gva(m->process, m->code.object, sym->addr, &left))
		return NULL;
	m->last = sym->addr;
	if (sym->type == STT_GNU_IFUNC)
		return add_indirect(m, sym);
	if (m->has_offset)
		return add_named(m, sym);
	if (matches(m->desc->name, "entry"))
		OT_TRY(add_entry(m, sym));
	if (matches(m->desc->name, "return"))
		OT_TRY(add_return(m, sym));
	return vp_pid_is_pattern(m->desc->name) ? add_matching(m, sym) : NULL;
}

/* --- all of an object ------------------------------------------------------------------------------------- */

struct ot_err *vp_pid_object_make(struct vp_pid_making *m, struct vp_pid_object *object)
{
	const struct vp_elf_symbols *symbols = &object->symbols;

	OT_TRY(vp_pid_object_read(m->processes, m->process, object));
	m->module = vp_probes_strdup(m->probes, object->name);
	if (!m->module)
		return ot_err_nomem();
	m->code.processes = m->processes;
	m->code.process = m->process;
	m->code.object = object;
	m->code.page_gva = 0;
	m->last = UINT64_MAX;
	for (size_t i = 0; object->has_elf && i < symbols->count; i++)
		OT_TRY(vp_pid_function_make(m, &symbols->items[i]));
	if (object->pages)
		vp_elf_pages_forget(object->pages);
	return vp_budget_check();
}

struct ot_err *vp_pid_explain_none(const struct vp_pid_object *object)
{
	if (!*object->missing)
		return NULL;
	return ot_err_new(OT_ERR_NOT_FOUND,
			  "D_PROC_FUNC: no function matches, but not all names of %s are in the guest's "
			  "memory (%s): read the file in the guest (`cat FILE >/dev/null`) and try again",
			  object->name, object->missing);
}

/* --- descriptions, and what providers have in common ------------------------------------------------------ */

bool vp_pid_is_pattern(const char *field)
{
	return !field || !*field || dif_glob_is_pattern(field);
}

static bool is_offset(const char *name)
{
	size_t n = name ? strspn(name, "0123456789abcdefABCDEF") : 0;

	return n && n <= DIGITS_MAX && !name[n];
}

/* DTrace's message. */
struct ot_err *vp_pid_check_fields(struct vp_pid_making *m)
{
	const struct dif_probedesc *desc = m->desc;

	if (desc->function && !strcmp(desc->function, "-"))
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "D_PROC_OFF: probes by an address of the file are not made here: "
				  "name a function");
	m->has_offset = is_offset(desc->name);
	if (m->has_offset)
		m->offset = strtoull(desc->name, NULL, 16);
	if (m->has_offset || vp_pid_is_pattern(desc->name) || !strcmp(desc->name, "entry") ||
	    !strcmp(desc->name, "return"))
		return NULL;
	return ot_err_new(OT_ERR_SYNTAX,
			  "D_PROC_NAME: invalid probe name: %s (there are entry, return, and offsets of "
			  "instructions in hexadecimal digits)",
			  desc->name);
}

bool vp_pid_is_module(const struct vp_probe *probe, const char *pattern)
{
	const struct vp_pid_own *own = probe->own;

	return vp_pid_object_is(probe->module, own->of_program, pattern) ||
	       (own->path && dif_glob_match(pattern, own->path));
}

struct ot_err *vp_pid_sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct vp_pid_own *own = probe->own;

	(void)probes;
	*ret = malloc((own->nsites + 1ull) * sizeof(**ret));
	if (!*ret)
		return ot_err_nomem();
	if (own->nsites)
		memcpy(*ret, own->sites, own->nsites * sizeof(**ret));
	*ret_count = own->nsites;
	return NULL;
}

void vp_pid_fill(const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	const struct vp_pid_own *own = probe->own;

	bp->process = own->process;
	bp->file = own->file;
}
