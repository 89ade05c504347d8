/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing DOF. Sections are collected in one buffer, their headers in another; at the end the offsets are
 * known and the file is assembled:
 *
 *   header │ section headers │ loadable sections │ ours
 *
 * As published, an aggregation's tuple in the file begins with an action that yields the aggregation's
 * number; in memory that number is the action's aggid.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "dif/obj/dof_format.h"
#include "dif/obj/program.h"
#include "dif/obj/verify.h"

struct writer {
	const struct dif_program *prog;
	struct ot_buf sections; /* struct dof_section, offsets relative to data */
	struct ot_buf data;
	struct ot_buf strings;   /* of the whole program; section 0 */
	struct ot_buf actions;   /* struct dof_action_ext */
	struct ot_map string_at; /* text to offset + 1 */
	struct ot_map objects;   /* address to section + 1 */
	struct ot_map constants; /* aggid to section + 1 */
	size_t load_size;
	unsigned nregs; /* that any object uses */
	bool failed;
};

/* Append a section; returns its number. */
static uint32_t add_section(struct writer *w, uint32_t type, uint32_t align, uint32_t entsize,
			    const void *data, size_t size)
{
	struct dof_section s = { .type = type, .align = align, .entsize = entsize, .size = size };

	s.flags = type < DOF_OT_AGGVARS ? DOF_SECF_LOAD : 0;
	ot_buf_align(&w->data, 8);
	s.offset = w->data.len;
	ot_buf_append(&w->data, data, size);
	uint32_t number = (uint32_t)(w->sections.len / sizeof(s));
	ot_buf_append(&w->sections, &s, sizeof(s));
	return number;
}

static uint32_t add_string(struct writer *w, const char *s)
{
	uintptr_t at = (uintptr_t)ot_map_gets(&w->string_at, s);

	if (at)
		return (uint32_t)(at - 1);
	at = w->strings.len + 1;
	ot_buf_append(&w->strings, s, strlen(s) + 1);
	if (!ot_map_puts(&w->string_at, s, (void *)at))
		w->failed = true;
	return (uint32_t)(at - 1);
}

/* --- objects ---------------------------------------------------------------------------- */

static uint32_t write_object(struct writer *w, const struct dif_object *obj)
{
	struct {
		struct dif_rtype ret;
		uint32_t links[4];
	} h = { .ret = obj->ret };
	unsigned n = 0;

	h.links[n++] = add_section(w, DOF_DIF, 4, 4, obj->text, 4ull * obj->text_len);
	if (dif_object_registers(obj) > w->nregs)
		w->nregs = dif_object_registers(obj);
	if (obj->str_len)
		h.links[n++] = add_section(w, DOF_STRTAB, 1, 0, obj->strs, obj->str_len);
	if (obj->int_len)
		h.links[n++] = add_section(w, DOF_INTTAB, 8, 8, obj->ints, 8ull * obj->int_len);
	if (obj->var_len)
		h.links[n++] = add_section(w, DOF_VARTAB, 4, sizeof(struct dif_var), obj->vars,
					   sizeof(struct dif_var) * (size_t)obj->var_len);
	return add_section(w, DOF_DIFOHDR, 4, 0, &h, sizeof(h.ret) + 4 * n);
}

/* Objects that clauses share are written once. */
static uint32_t add_object(struct writer *w, const struct dif_object *obj)
{
	if (!obj)
		return DOF_NONE;
	uintptr_t at = (uintptr_t)ot_map_get(&w->objects, &obj, sizeof(obj));
	if (at)
		return (uint32_t)(at - 1);
	uint32_t number = write_object(w, obj);
	if (!ot_map_put(&w->objects, &obj, sizeof(obj), (void *)((uintptr_t)number + 1)))
		w->failed = true;
	return number;
}

/* The object that yields an aggregation's number. */
static uint32_t add_constant(struct writer *w, uint32_t aggid)
{
	uint32_t text[2] = { dif_insn_index(DIF_OP_setx, 0, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };
	uint64_t value = aggid;
	struct dif_object obj = { .text = text,
				  .text_len = 2,
				  .ints = &value,
				  .int_len = 1,
				  .ret = { DIF_TYPE_CTF, DIF_CTF_INTEGER, 0, 0, 4 } };
	uintptr_t at = (uintptr_t)ot_map_get(&w->constants, &aggid, sizeof(aggid));

	if (at)
		return (uint32_t)(at - 1);
	uint32_t number = write_object(w, &obj);
	if (!ot_map_put(&w->constants, &aggid, sizeof(aggid), (void *)((uintptr_t)number + 1)))
		w->failed = true;
	return number;
}

/* --- clauses ---------------------------------------------------------------------------------- */

static void put_action(struct writer *w, struct ot_buf *out, const struct dif_action *a)
{
	struct dof_action_ext ext = { .aggid = a->aggid, .arg = a->arg };
	struct dof_actdesc d = { .difo = add_object(w, a->object),
				 .strtab = DOF_NONE,
				 .kind = a->kind,
				 .ntuple = a->ntuple,
				 .arg = a->arg,
				 .uarg = a->uarg };

	if (a->format) {
		d.strtab = 0;
		d.arg = add_string(w, a->format);
	}
	ext.flags = (a->is_key ? DOF_ACT_KEY : 0u) | (a->is_increment ? DOF_ACT_INCREMENT : 0u);
	ot_buf_append(out, &d, sizeof(d));
	ot_buf_append(&w->actions, &ext, sizeof(ext));
}

static void put_constant(struct writer *w, struct ot_buf *out, uint32_t aggid)
{
	struct dof_actdesc d = { .difo = add_constant(w, aggid),
				 .strtab = DOF_NONE,
				 .kind = DIF_ACT_difexpr };
	struct dof_action_ext ext = { .aggid = aggid, .flags = DOF_ACT_KEY | DOF_ACT_CONSTANT };

	ot_buf_append(out, &d, sizeof(d));
	ot_buf_append(&w->actions, &ext, sizeof(ext));
}

static bool in_tuple(const struct dif_action *a)
{
	return a->is_key || a->is_increment;
}

/* The aggregating action whose tuple begins at action @p i, or NULL. */
static const struct dif_action *tuple_begins(const struct dif_clause *c, uint32_t i)
{
	if (i && in_tuple(&c->actions[i - 1]))
		return NULL;
	while (i < c->nactions && in_tuple(&c->actions[i]))
		i++;
	return i < c->nactions && DIF_ACT_IS_AGG(c->actions[i].kind) ? &c->actions[i] : NULL;
}

static uint32_t add_actions(struct writer *w, const struct dif_clause *c)
{
	struct ot_buf out;

	if (!c->nactions)
		return DOF_NONE;
	ot_buf_init(&out);
	for (uint32_t i = 0; i < c->nactions; i++) {
		const struct dif_action *agg = tuple_begins(c, i);
		if (agg)
			put_constant(w, &out, agg->aggid);
		put_action(w, &out, &c->actions[i]);
	}
	w->failed |= out.failed;
	uint32_t number =
	    add_section(w, DOF_ACTDESC, 8, sizeof(struct dof_actdesc), ot_buf_str(&out), out.len);
	ot_buf_deinit(&out);
	return number;
}

static void add_clause(struct writer *w, const struct dif_clause *c)
{
	const struct dif_probedesc *p = &c->probe;
	struct dof_probedesc d = { 0,
				   add_string(w, p->provider),
				   add_string(w, p->module),
				   add_string(w, p->function),
				   add_string(w, p->name),
				   p->id };
	struct dof_ecbdesc e = { .pred = DOF_NONE };

	e.probes = add_section(w, DOF_PROBEDESC, 4, 0, &d, sizeof(d));
	if (c->predicate)
		e.pred = add_object(w, c->predicate);
	e.actions = add_actions(w, c);
	add_section(w, DOF_ECBDESC, 8, 0, &e, sizeof(e));
}

/* --- ours ----------------------------------------------------------------------------------------- */

static void add_ext(struct writer *w, uint32_t type, uint32_t strtab, uint32_t entsize,
		    struct ot_buf *records)
{
	struct dof_ext_head head = { strtab, 0 };
	struct ot_buf out;

	ot_buf_init(&out);
	ot_buf_append(&out, &head, sizeof(head));
	ot_buf_append(&out, ot_buf_str(records), records->len);
	w->failed |= out.failed || records->failed;
	add_section(w, type, 8, entsize, ot_buf_str(&out), out.len);
	ot_buf_deinit(&out);
	ot_buf_clear(records);
}

/* The records of our sections are made before the string table is written, since they add strings. */
static void make_ext(struct writer *w, struct ot_buf *aggs, struct ot_buf *opts, struct ot_buf *clauses)
{
	const struct dif_program *prog = w->prog;

	for (uint32_t i = 0; i < prog->naggs; i++) {
		const struct dif_aggvar *a = &prog->aggs[i];
		struct dof_aggvar r = { add_string(w, a->name), a->id, a->kind, a->nkeys, a->arg };
		ot_buf_append(aggs, &r, sizeof(r));
	}
	for (uint32_t i = 0; i < prog->nopts; i++) {
		const struct dif_optset *o = &prog->opts[i];
		struct dof_option r = { add_string(w, o->name),
					o->value ? add_string(w, o->value) : DOF_NONE };
		ot_buf_append(opts, &r, sizeof(r));
	}
	for (uint32_t i = 0; i < prog->nclauses; i++) {
		const struct dif_clause *c = &prog->clauses[i];
		struct dof_clause_ext r = { add_string(w, c->probe.guest ? c->probe.guest : ""), c->line };
		ot_buf_append(clauses, &r, sizeof(r));
	}
}

static void add_everything(struct writer *w, struct ot_buf *aggs, struct ot_buf *opts, struct ot_buf *clauses)
{
	add_section(w, DOF_STRTAB, 1, 0, NULL, 0); /* section 0: filled in at the end */
	add_string(w, "");
	for (uint32_t i = 0; i < w->prog->nclauses; i++)
		add_clause(w, &w->prog->clauses[i]);
	make_ext(w, aggs, opts, clauses);
	ot_buf_align(&w->data, 8);
	struct dof_section strings = { DOF_STRTAB, 1, DOF_SECF_LOAD, 0, w->data.len, w->strings.len };
	ot_buf_append(&w->data, ot_buf_str(&w->strings), w->strings.len);
	if (w->sections.len)
		memcpy(w->sections.data, &strings, sizeof(strings));
	w->load_size = w->data.len;
	add_ext(w, DOF_OT_AGGVARS, 0, sizeof(struct dof_aggvar), aggs);
	add_ext(w, DOF_OT_OPTIONS, 0, sizeof(struct dof_option), opts);
	add_ext(w, DOF_OT_CLAUSES, 0, sizeof(struct dof_clause_ext), clauses);
	add_ext(w, DOF_OT_ACTIONS, DOF_NONE, sizeof(struct dof_action_ext), &w->actions);
}

static void assemble(const struct writer *w, struct ot_buf *out)
{
	struct dof_header h = { .hdrsize = sizeof(h), .secsize = sizeof(struct dof_section) };
	uint64_t base = sizeof(h) + w->sections.len;

	memcpy(h.ident, DOF_MAGIC, 4);
	h.ident[DOF_ID_MODEL] = DOF_MODEL_LP64;
	h.ident[DOF_ID_ENCODING] = DOF_ENCODE_LSB;
	h.ident[DOF_ID_VERSION] = DOF_VERSION_2;
	h.ident[DOF_ID_DIFVERS] = DOF_DIF_VERSION;
	h.ident[DOF_ID_DIFIREG] = w->nregs > DOF_NREGS ? (uint8_t)w->nregs : DOF_NREGS;
	h.ident[DOF_ID_DIFTREG] = DIF_NTUPLE;
	h.secnum = (uint32_t)(w->sections.len / sizeof(struct dof_section));
	h.secoff = sizeof(h);
	h.loadsz = base + w->load_size;
	h.filesz = base + w->data.len;
	ot_buf_append(out, &h, sizeof(h));
	for (uint32_t i = 0; i < h.secnum; i++) {
		struct dof_section s;
		memcpy(&s, w->sections.data + i * sizeof(s), sizeof(s));
		s.offset += base;
		ot_buf_append(out, &s, sizeof(s));
	}
	ot_buf_append(out, ot_buf_str(&w->data), w->data.len);
}

struct ot_err *dif_dof_write(const struct dif_program *prog, struct ot_buf *out)
{
	struct writer w = { .prog = prog };
	struct ot_buf aggs, opts, clauses;

	ot_buf_init(&aggs);
	ot_buf_init(&opts);
	ot_buf_init(&clauses);
	add_everything(&w, &aggs, &opts, &clauses);
	w.failed |= w.sections.failed || w.data.failed || w.strings.failed || w.actions.failed;
	if (!w.failed)
		assemble(&w, out);
	ot_buf_deinit(&aggs);
	ot_buf_deinit(&opts);
	ot_buf_deinit(&clauses);
	ot_buf_deinit(&w.sections);
	ot_buf_deinit(&w.data);
	ot_buf_deinit(&w.strings);
	ot_buf_deinit(&w.actions);
	ot_map_deinit(&w.string_at);
	ot_map_deinit(&w.objects);
	ot_map_deinit(&w.constants);
	if (w.failed || out->failed)
		return ot_err_nomem();
	if (out->len > DOF_SIZE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "program of %zu bytes", out->len);
	return NULL;
}
