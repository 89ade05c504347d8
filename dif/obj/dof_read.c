/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading DOF, which may be hostile. The file is copied once and the program points into the copy, so a
 * section that is referenced repeatedly needs memory once. This checks the form only: every offset, size,
 * index and string; the verifier checks the program.
 */
#include <string.h>

#include "dif/obj/dof_format.h"
#include "dif/obj/program.h"

#define ACTIONS_MAX 65536u
#define LINKED_MAX  (4ull * DOF_SIZE_MAX) /* bytes */

struct reader {
	const uint8_t *data; /* our copy, aligned to 16 */
	const struct dof_section *sections;
	uint32_t nsections;
	struct dif_object **objects; /* by section */
	struct dif_program *prog;
	uint32_t nactions;
	uint64_t linked; /* bytes of sections that objects consist of */
	/* Our sections (DOF_NONE: absent), and the number of action records used. */
	uint32_t clauses_ext, actions_ext, next_action;
};

#define BAD(...) ot_err_new(OT_ERR_BAD_DATA, "DOF: " __VA_ARGS__)

/* --- header and section headers --------------------------------------------------------------- */

static struct ot_err *check_header(const struct dof_header *h, size_t size)
{
	if (memcmp(h->ident, DOF_MAGIC, 4) != 0)
		return BAD("not a DOF file");
	if (h->ident[DOF_ID_MODEL] != DOF_MODEL_LP64 || h->ident[DOF_ID_ENCODING] != DOF_ENCODE_LSB)
		return BAD("not for a 64-bit little-endian machine");
	if (h->ident[DOF_ID_VERSION] != DOF_VERSION_1 && h->ident[DOF_ID_VERSION] != DOF_VERSION_2)
		return BAD("version %u", h->ident[DOF_ID_VERSION]);
	if (h->ident[DOF_ID_DIFVERS] > DOF_DIF_VERSION || h->ident[DOF_ID_DIFIREG] > DIF_NREGS ||
	    h->ident[DOF_ID_DIFTREG] > DIF_NTUPLE)
		return BAD("DIF version %u with %u and %u registers", h->ident[DOF_ID_DIFVERS],
			   h->ident[DOF_ID_DIFIREG], h->ident[DOF_ID_DIFTREG]);
	for (unsigned i = DOF_ID_PAD; i < DOF_ID_SIZE; i++) {
		if (h->ident[i])
			return BAD("identification byte %u is set", i);
	}
	if (h->flags || h->hdrsize != sizeof(*h) || h->secsize != sizeof(struct dof_section))
		return BAD("header flags %#x, sizes %u and %u", h->flags, h->hdrsize, h->secsize);
	if (h->filesz > size || h->loadsz > h->filesz)
		return BAD("%llu bytes according to its header, but %zu in fact",
			   (unsigned long long)h->filesz, size);
	if (h->secnum > DOF_SECTIONS_MAX || h->secoff % 8 || h->secoff > h->filesz ||
	    h->secnum * sizeof(struct dof_section) > h->filesz - h->secoff)
		return BAD("%u section headers exceed the file", h->secnum);
	return NULL;
}

static struct ot_err *check_section(const struct dof_section *s, uint32_t i, uint64_t filesz)
{
	if (s->offset > filesz || s->size > filesz - s->offset)
		return BAD("section %u exceeds the file", i);
	if (!s->align || (s->align & (s->align - 1)) || s->align > 16 || s->offset % s->align)
		return BAD("section %u is misaligned", i);
	return NULL;
}

/* Section @i, which must have type @type and alignment @align and consist of @head bytes and records of
 * @entsize; *ret_n is the number of records. */
static struct ot_err *section(const struct reader *r, uint32_t i, uint32_t type, uint32_t align,
			      uint32_t head, uint32_t entsize, const void **ret, uint32_t *ret_n)
{
	*ret = r->data;
	*ret_n = 0;
	if (i >= r->nsections)
		return BAD("no section %u", i);
	const struct dof_section *s = &r->sections[i];
	if (s->type != type)
		return BAD("section %u has type %u, not %u", i, s->type, type);
	if (s->offset % align || s->size < head || (s->size - head) % entsize)
		return BAD("section %u has a wrong offset or size", i);
	*ret = r->data + s->offset;
	*ret_n = (uint32_t)((s->size - head) / entsize);
	return NULL;
}

/* The string at @index of string table @strtab, in our copy. A table ends with a NUL, as all writers have it:
 * searching for one would take as long as the table, for each record. */
static struct ot_err *string(const struct reader *r, uint32_t strtab, uint64_t index, const char **ret)
{
	const void *base;
	uint32_t n;

	OT_TRY(section(r, strtab, DOF_STRTAB, 1, 0, 1, &base, &n));
	if (index >= n || ((const char *)base)[n - 1])
		return BAD("no string at %llu of section %u", (unsigned long long)index, strtab);
	*ret = (const char *)base + index;
	return NULL;
}

/* --- objects ----------------------------------------------------------------------------------- */

static struct ot_err *link_section(struct reader *r, uint32_t i, struct dif_object *obj)
{
	const void *p;

	if (i >= r->nsections)
		return BAD("no section %u", i);
	/* Several objects may consist of the same sections, so the sum is limited. */
	r->linked += r->sections[i].size;
	if (r->linked > LINKED_MAX)
		return BAD("objects of more than %llu MiB", LINKED_MAX >> 20);
	switch (r->sections[i].type) {
	case DOF_DIF:
		OT_TRY(section(r, i, DOF_DIF, 4, 0, 4, &p, &obj->text_len));
		obj->text = (uint32_t *)(uintptr_t)p;
		return NULL;
	case DOF_STRTAB:
		OT_TRY(section(r, i, DOF_STRTAB, 1, 0, 1, &p, &obj->str_len));
		obj->strs = (char *)(uintptr_t)p;
		return NULL;
	case DOF_INTTAB:
		OT_TRY(section(r, i, DOF_INTTAB, 8, 0, 8, &p, &obj->int_len));
		obj->ints = (uint64_t *)(uintptr_t)p;
		return NULL;
	case DOF_VARTAB:
		OT_TRY(section(r, i, DOF_VARTAB, 4, 0, sizeof(struct dif_var), &p, &obj->var_len));
		obj->vars = (struct dif_var *)(uintptr_t)p;
		return NULL;
	}
	return BAD("an object refers to section %u of type %u", i, r->sections[i].type);
}

static struct ot_err *object(struct reader *r, uint32_t i, struct dif_object **ret)
{
	const struct dof_difohdr *h;
	const void *p;
	uint32_t n;

	*ret = NULL;
	if (i == DOF_NONE)
		return NULL;
	OT_TRY(section(r, i, DOF_DIFOHDR, 4, sizeof(*h), 4, &p, &n));
	if (r->objects[i]) {
		*ret = r->objects[i];
		return NULL;
	}
	struct dif_object *obj = ot_arena_new(&r->prog->arena, struct dif_object);
	if (!obj)
		return ot_err_nomem();
	h = p;
	obj->ret = h->ret;
	for (uint32_t k = 0; k < n; k++)
		OT_TRY(link_section(r, h->links[k], obj));
	*ret = r->objects[i] = obj;
	return NULL;
}

/* --- clauses ------------------------------------------------------------------------------------- */

/* The next record of our section about actions; all zero if there is no such section. */
static struct ot_err *action_ext(struct reader *r, struct dof_action_ext *ret)
{
	const void *p;
	uint32_t n;

	*ret = (struct dof_action_ext){ 0 };
	if (r->actions_ext == DOF_NONE)
		return NULL;
	OT_TRY(
	    section(r, r->actions_ext, DOF_OT_ACTIONS, 8, sizeof(struct dof_ext_head), sizeof(*ret), &p, &n));
	if (r->next_action >= n)
		return BAD("more actions than records about them");
	memcpy(ret, (const uint8_t *)p + sizeof(struct dof_ext_head) + r->next_action++ * sizeof(*ret),
	       sizeof(*ret));
	if (ret->flags & ~(DOF_ACT_KEY | DOF_ACT_INCREMENT | DOF_ACT_CONSTANT))
		return BAD("action flags %#x", ret->flags);
	return NULL;
}

static struct ot_err *action(struct reader *r, const struct dof_actdesc *d, const struct dof_action_ext *ext,
			     struct dif_action *ret)
{
	struct dif_action a = { .kind = (enum dif_action_kind)d->kind, .ntuple = d->ntuple, .uarg = d->uarg };

	a.arg = d->arg;
	a.aggid = ext->aggid;
	a.is_key = ext->flags & DOF_ACT_KEY;
	a.is_increment = ext->flags & DOF_ACT_INCREMENT;
	OT_TRY(object(r, d->difo, &a.object));
	if (d->strtab != DOF_NONE) {
		OT_TRY(string(r, d->strtab, d->arg, &a.format));
		a.arg = ext->arg;
	}
	*ret = a;
	return NULL;
}

static struct ot_err *actions(struct reader *r, uint32_t i, struct dif_clause *c)
{
	const void *p;
	uint32_t n;

	if (i == DOF_NONE)
		return NULL;
	OT_TRY(section(r, i, DOF_ACTDESC, 8, 0, sizeof(struct dof_actdesc), &p, &n));
	/* Several ECBs may refer to the same section, so the sum is limited. */
	r->nactions += n;
	if (n > ACTIONS_MAX || r->nactions > ACTIONS_MAX)
		return BAD("more than %u actions", ACTIONS_MAX);
	c->actions = ot_arena_alloc(&r->prog->arena, (n + 1) * sizeof(*c->actions));
	if (!c->actions)
		return ot_err_nomem();
	for (uint32_t k = 0; k < n; k++) {
		const struct dof_actdesc *d = (const struct dof_actdesc *)p + k;
		struct dof_action_ext ext;
		OT_TRY(action_ext(r, &ext));
		if (ext.flags & DOF_ACT_CONSTANT)
			continue;
		OT_TRY(action(r, d, &ext, &c->actions[c->nactions]));
		c->nactions++;
	}
	return NULL;
}

static struct ot_err *probedesc(const struct reader *r, uint32_t i, struct dif_probedesc *ret)
{
	const struct dof_probedesc *d;
	const void *p;
	uint32_t n;

	OT_TRY(section(r, i, DOF_PROBEDESC, 4, 0, sizeof(*d), &p, &n));
	if (n != 1)
		return BAD("section %u contains %u probe descriptions", i, n);
	d = p;
	OT_TRY(string(r, d->strtab, d->provider, &ret->provider));
	OT_TRY(string(r, d->strtab, d->module, &ret->module));
	OT_TRY(string(r, d->strtab, d->function, &ret->function));
	OT_TRY(string(r, d->strtab, d->name, &ret->name));
	ret->id = d->id;
	ret->guest = "";
	return NULL;
}

static struct ot_err *clause_ext(const struct reader *r, uint32_t index, struct dif_clause *c)
{
	const void *p;
	uint32_t n;

	if (r->clauses_ext == DOF_NONE)
		return NULL;
	OT_TRY(section(r, r->clauses_ext, DOF_OT_CLAUSES, 8, sizeof(struct dof_ext_head),
		       sizeof(struct dof_clause_ext), &p, &n));
	if (index >= n)
		return BAD("more clauses than records about them");
	const struct dof_ext_head *head = p;
	const struct dof_clause_ext *e = (const struct dof_clause_ext *)(const void *)(head + 1) + index;
	c->line = e->line;
	return string(r, head->strtab, e->guest, &c->probe.guest);
}

static struct ot_err *clause(struct reader *r, uint32_t i, uint32_t index, struct dif_clause *c)
{
	const struct dof_ecbdesc *e;
	const void *p;
	uint32_t n;

	OT_TRY(section(r, i, DOF_ECBDESC, 8, 0, sizeof(*e), &p, &n));
	if (n != 1)
		return BAD("section %u contains %u ECBs", i, n);
	e = p;
	OT_TRY(probedesc(r, e->probes, &c->probe));
	OT_TRY(object(r, e->pred, &c->predicate));
	OT_TRY(actions(r, e->actions, c));
	return clause_ext(r, index, c);
}

/* --- ours ------------------------------------------------------------------------------------------ */

static struct ot_err *aggvars(struct reader *r, uint32_t i)
{
	struct dif_program *prog = r->prog;
	const void *p;

	OT_TRY(section(r, i, DOF_OT_AGGVARS, 8, sizeof(struct dof_ext_head), sizeof(struct dof_aggvar), &p,
		       &prog->naggs));
	const struct dof_ext_head *head = p;
	const struct dof_aggvar *a = (const struct dof_aggvar *)(const void *)(head + 1);
	prog->aggs = ot_arena_alloc(&prog->arena, (prog->naggs + 1ull) * sizeof(*prog->aggs));
	if (!prog->aggs)
		return ot_err_nomem();
	for (uint32_t k = 0; k < prog->naggs; k++) {
		struct dif_aggvar *v = &prog->aggs[k];
		OT_TRY(string(r, head->strtab, a[k].name, &v->name));
		v->id = a[k].id;
		v->kind = (enum dif_agg_kind)a[k].kind;
		v->arg = a[k].arg;
		v->nkeys = a[k].nkeys;
	}
	return NULL;
}

static struct ot_err *options(struct reader *r, uint32_t i)
{
	struct dif_program *prog = r->prog;
	const void *p;

	OT_TRY(section(r, i, DOF_OT_OPTIONS, 8, sizeof(struct dof_ext_head), sizeof(struct dof_option), &p,
		       &prog->nopts));
	const struct dof_ext_head *head = p;
	const struct dof_option *o = (const struct dof_option *)(const void *)(head + 1);
	prog->opts = ot_arena_alloc(&prog->arena, (prog->nopts + 1ull) * sizeof(*prog->opts));
	if (!prog->opts)
		return ot_err_nomem();
	for (uint32_t k = 0; k < prog->nopts; k++) {
		OT_TRY(string(r, head->strtab, o[k].name, &prog->opts[k].name));
		if (o[k].value != DOF_NONE)
			OT_TRY(string(r, head->strtab, o[k].value, &prog->opts[k].value));
	}
	return NULL;
}

/* Find our sections, at most one of each, and count the ECBs. */
static struct ot_err *survey(struct reader *r, uint32_t *ret_necbs)
{
	uint32_t aggs = DOF_NONE, opts = DOF_NONE, *slot;

	r->clauses_ext = r->actions_ext = DOF_NONE;
	*ret_necbs = 0;
	for (uint32_t i = 0; i < r->nsections; i++) {
		switch (r->sections[i].type) {
		case DOF_ECBDESC:
			++*ret_necbs;
			continue;
		case DOF_OT_AGGVARS:
			slot = &aggs;
			break;
		case DOF_OT_OPTIONS:
			slot = &opts;
			break;
		case DOF_OT_CLAUSES:
			slot = &r->clauses_ext;
			break;
		case DOF_OT_ACTIONS:
			slot = &r->actions_ext;
			break;
		default:
			continue;
		}
		if (*slot != DOF_NONE)
			return BAD("sections %u and %u have the same type", *slot, i);
		*slot = i;
	}
	if (aggs != DOF_NONE)
		OT_TRY(aggvars(r, aggs));
	return opts == DOF_NONE ? NULL : options(r, opts);
}

static struct ot_err *read_all(struct reader *r)
{
	struct dif_program *prog = r->prog;
	uint32_t necbs;

	OT_TRY(survey(r, &necbs));
	r->objects = ot_arena_alloc(&prog->arena, (r->nsections + 1ull) * sizeof(*r->objects));
	prog->clauses = ot_arena_alloc(&prog->arena, (necbs + 1ull) * sizeof(*prog->clauses));
	if (!r->objects || !prog->clauses)
		return ot_err_nomem();
	for (uint32_t i = 0; i < r->nsections; i++) {
		if (r->sections[i].type != DOF_ECBDESC)
			continue;
		OT_TRY(ot_err_prefix(clause(r, i, prog->nclauses, &prog->clauses[prog->nclauses]),
				     "clause %u", prog->nclauses));
		prog->nclauses++;
	}
	return NULL;
}

static struct ot_err *open_file(struct reader *r, const void *data, size_t size)
{
	struct dof_header h;

	if (size < sizeof(h) || size > DOF_SIZE_MAX)
		return BAD("%zu bytes", size);
	uint8_t *copy = ot_arena_alloc(&r->prog->arena, size);
	if (!copy)
		return ot_err_nomem();
	memcpy(copy, data, size);
	memcpy(&h, copy, sizeof(h));
	OT_TRY(check_header(&h, size));
	r->data = copy;
	r->sections = (const struct dof_section *)(const void *)(copy + h.secoff);
	r->nsections = h.secnum;
	for (uint32_t i = 0; i < h.secnum; i++)
		OT_TRY(check_section(&r->sections[i], i, h.filesz));
	return NULL;
}

struct ot_err *dif_dof_read(const void *data, size_t size, struct dif_program *ret)
{
	struct dif_program prog;
	struct reader r = { .prog = &prog };

	dif_program_init(&prog);
	struct ot_err *err = open_file(&r, data, size);
	if (!err)
		err = read_all(&r);
	if (err) {
		dif_program_deinit(&prog);
		return err;
	}
	*ret = prog;
	return NULL;
}
