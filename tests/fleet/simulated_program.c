/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RUN on a simulated host: compiled for a kernel that has one function, and no types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dif/obj/verify.h"
#include "tests/fleet/simulated.h"

#define GUEST "web"

/* --- the kernel --------------------------------------------------------------------------------------- */

static const struct dif_probe_info probes[] = {
	{ 1, "dtrace", "", "", "BEGIN", -1 },
	{ 2, "dtrace", "", "", "END", -1 },
	{ 3, "dtrace", "", "", "ERROR", -1 },
	{ 4, "profile", "", "", "tick", -1 },
	{ 5, "fbt", "vmlinux", "simulated", "entry", 1 },
};
static const struct dif_probe_info *const of_guest = &probes[4];

static bool is_tick(const struct dif_probedesc *desc)
{
	return !strncmp(desc->name, "tick-", 5);
}

static bool matches(const struct dif_probedesc *desc, const struct dif_probe_info *p)
{
	if (is_tick(desc))
		return !strcmp(p->name, "tick");
	return dif_glob_match(desc->provider, p->provider) && dif_glob_match(desc->module, p->module) &&
	       dif_glob_match(desc->function, p->function) && dif_glob_match(desc->name, p->name);
}

static struct ot_err *match(void *env, const struct dif_probedesc *desc,
			    bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
			    uint64_t *ret)
{
	bool more = true;

	(void)env;
	*ret = 0;
	for (size_t i = 0; i < OT_ARRAY_SIZE(probes); i++) {
		if (!matches(desc, &probes[i]))
			continue;
		++*ret;
		if (more && each)
			more = each(arg, &probes[i]);
	}
	return NULL;
}

static struct dif_type *find_type(void *env, const char *module, enum dif_ckind kind, const char *name)
{
	(void)env;
	(void)module;
	(void)kind;
	(void)name;
	return NULL;
}

static bool find_symbol(void *env, const char *module, const char *name, struct dif_symbol *ret)
{
	(void)env;
	(void)module;
	(void)name;
	(void)ret;
	return false;
}

static bool probe_arg(void *env, uint32_t id, unsigned n, struct dif_probe_arg *ret)
{
	(void)env;
	(void)id;
	(void)n;
	(void)ret;
	return false;
}

static bool macro(void *env, const char *name, int64_t *ret)
{
	(void)env;
	(void)name;
	(void)ret;
	return false;
}

static bool has_dependency(void *env, const char *kind, const char *name)
{
	(void)env;
	(void)kind;
	(void)name;
	return false;
}

static const struct dif_world world = {
	.find_type = find_type,
	.find_symbol = find_symbol,
	.match = match,
	.probe_arg = probe_arg,
	.macro = macro,
	.has_dependency = has_dependency,
};

/* --- data --------------------------------------------------------------------------------------------- */

static bool is_string(const struct dif_action *a)
{
	return a->object && a->object->ret.kind == DIF_TYPE_STRING;
}

/* The built-in variable that the expression is, and nothing else; 0: it is more. */
static unsigned variable_of(const struct dif_action *a)
{
	const struct dif_object *o = a->object;

	return o && o->text_len == 2 && dif_insn_op(o->text[0]) == DIF_OP_ldgs ? dif_insn_idx(o->text[0]) : 0;
}

static bool is_named(const struct dif_action *a)
{
	switch ((unsigned)a->kind) {
	case DIF_ACT_stack:
	case DIF_ACT_ustack:
	case DIF_ACT_jstack:
	case DIF_ACT_sym:
	case DIF_ACT_mod:
	case DIF_ACT_usym:
	case DIF_ACT_umod:
	case DIF_ACT_uaddr:
		return true;
	default:
		return false;
	}
}

bool sim_is_hosts(const struct dif_action *action)
{
	return is_named(action) || (is_string(action) && variable_of(action) == DIF_VAR_guest);
}

bool sim_is_varying(const struct dif_action *action)
{
	unsigned v = variable_of(action);

	return v != DIF_VAR_guest && v != DIF_VAR_probeprov && v != DIF_VAR_probemod &&
	       v != DIF_VAR_probefunc && v != DIF_VAR_probename;
}

static void put_text(const char *text, uint8_t *at, uint32_t size)
{
	size_t len = strnlen(text, size);

	memset(at, 0, size);
	memcpy(at, text, len);
}

static void put_string(const struct dif_action *a, uint64_t k, uint8_t *at, uint32_t size)
{
	char key[32];

	snprintf(key, sizeof(key), "key%05llu", (unsigned long long)k);
	switch (variable_of(a)) {
	case DIF_VAR_guest:
		put_text(GUEST, at, size);
		break;
	case DIF_VAR_probeprov:
		put_text(of_guest->provider, at, size);
		break;
	case DIF_VAR_probemod:
		put_text(of_guest->module, at, size);
		break;
	case DIF_VAR_probefunc:
		put_text(of_guest->function, at, size);
		break;
	case DIF_VAR_probename:
		put_text(of_guest->name, at, size);
		break;
	default:
		put_text(key, at, size);
	}
}

/* Each host has its own numbers for the same texts. */
static uint64_t name_number(const struct sim_host *host, uint64_t n)
{
	return 0x10000 + host->number * SIM_NAMES + n % SIM_NAMES;
}

/* Frames, or an address; those of a process have its number before them. */
static void put_names(const struct dif_action *a, const struct sim_host *host, uint64_t k, uint8_t *at,
		      uint32_t size)
{
	bool is_stack = a->kind == DIF_ACT_stack || a->kind == DIF_ACT_ustack || a->kind == DIF_ACT_jstack;
	bool is_kernels = a->kind == DIF_ACT_stack || a->kind == DIF_ACT_sym || a->kind == DIF_ACT_mod;
	uint64_t pid = 100 + k, frames = is_stack ? 3 : 1;

	memset(at, 0, size);
	if (!host)
		return;
	if (!is_kernels && size >= sizeof(pid)) {
		memcpy(at, &pid, sizeof(pid));
		at += sizeof(pid);
		size -= sizeof(pid);
	}
	for (uint64_t i = 0; i < frames && size >= 8; i++, at += 8, size -= 8)
		memcpy(at, &(uint64_t){ name_number(host, k + i) }, 8);
}

void sim_put_datum(const struct dif_action *action, const struct sim_host *host, uint64_t k, uint8_t *at,
		   uint32_t size)
{
	if (is_named(action))
		put_names(action, host, k, at, size);
	else if (is_string(action))
		put_string(action, k, at, size);
	else
		memcpy(at, &k, size < sizeof(k) ? size : sizeof(k));
}

void sim_put_names(const struct sim_host *host, struct ot_buf *out)
{
	char text[64];

	for (uint32_t i = 0; i < SIM_NAMES; i++) {
		snprintf(text, sizeof(text), "vmlinux`simulated_%u", i);
		fl_put_name(out, &(struct fl_name){ 0, name_number(host, i), text, "" });
	}
}

/* --- the program -------------------------------------------------------------------------------------- */

static struct ot_err *compile_text(struct sim_program *p, const struct con_program *text)
{
	const struct dif_diag *diag = NULL;
	const struct dif_source src = {
		.kind = text->is_script ? DIF_SOURCE_SCRIPT : DIF_SOURCE_COMMAND_LINE,
		.spec = text->spec,
		.name = text->arg,
		.text = text->is_script ? text->text : text->arg,
		.len = text->len,
		.args = p->run.args.items,
		.nargs = (unsigned)p->run.args.count,
	};
	uint32_t first;
	struct ot_err *err = dif_compile(p->comp, &src, &p->prog, &first, &diag);

	if (!err || !diag)
		return err;
	struct ot_err *said = ot_err_new(OT_ERR_SYNTAX, "%s", diag->message);

	ot_err_destroy(err);
	return said;
}

static struct ot_err *put_program(struct sim_program *p)
{
	struct ot_buf dof = { 0 };
	struct ot_err *err = dif_dof_write(&p->prog, &dof);

	if (!err)
		fl_put_program(&p->program,
			       &(struct fl_program){ { (const uint8_t *)dof.data, (uint32_t)dof.len },
						     p->opts.strsize,
						     p->opts.stackframes,
						     p->opts.ustackframes,
						     p->opts.jstackframes,
						     p->opts.jstackstrsize });
	ot_buf_deinit(&dof);
	return err;
}

/* One tuple for each row, or one for all if no key depends on it. */
static struct ot_err *make_tuples(struct sim_program *p, const struct dif_clause *clause,
				  const struct dif_agg_layout *l, uint32_t rows, uint8_t **ret)
{
	const uint32_t aggid = clause->actions[l->action].aggid;
	uint8_t *tuples = ot_arena_alloc(&p->arena, (size_t)rows * l->tuple_size);

	if (!tuples)
		return ot_err_nomem();
	for (uint32_t k = 0; k < rows; k++) {
		uint8_t *tuple = tuples + (size_t)k * l->tuple_size;

		memcpy(tuple, &aggid, sizeof(aggid));
		for (uint32_t i = 0; i < l->nkeys; i++)
			sim_put_datum(&clause->actions[l->keys[i].action], NULL, k, tuple + l->keys[i].offset,
				      l->keys[i].size);
	}
	*ret = tuples;
	return NULL;
}

static struct ot_err *enable(struct sim_program *p, uint32_t index, uint32_t rows)
{
	const struct dif_clause *clause = &p->prog.clauses[index];
	struct sim_enabled *e = &p->enabled[p->nenabled];

	if (is_tick(&clause->probe) || !matches(&clause->probe, of_guest))
		return NULL;
	p->nenabled++;
	e->clause = index;
	for (uint32_t i = 0; i < clause->nactions; i++)
		p->has_names |= is_named(&clause->actions[i]);
	OT_TRY(dif_clause_layout(clause, &p->opts, &p->arena, &e->layout));
	e->tuples = ot_arena_alloc(&p->arena, (e->layout.naggs + 1) * sizeof(*e->tuples));
	if (!e->tuples)
		return ot_err_nomem();
	for (uint32_t i = 0; i < e->layout.naggs; i++)
		OT_TRY(make_tuples(p, clause, &e->layout.aggs[i], rows, &e->tuples[i]));
	return NULL;
}

static struct ot_err *make(struct sim_program *p, const void *run, size_t len, uint32_t rows)
{
	fl_run_here_init(&p->run);
	dif_program_init(&p->prog);
	ot_arena_init(&p->arena);
	OT_TRY(fl_run_here_read(&p->run, run, len));
	OT_TRY(dif_compiler_create(&world, &p->run.opts, &p->comp));
	for (size_t i = 0; i < p->run.texts.count; i++)
		OT_TRY(compile_text(p, &p->run.texts.items[i]));
	OT_TRY(dif_program_verify(&p->prog));
	p->opts =
	    (struct dif_layout_opts){ (uint32_t)p->run.opts.strsize, (uint32_t)p->run.opts.stackframes,
				      (uint32_t)p->run.opts.ustackframes, (uint32_t)p->run.opts.jstackframes,
				      (uint32_t)p->run.opts.jstackstrsize };
	p->enabled = ot_arena_alloc(&p->arena, (p->prog.nclauses + 1) * sizeof(*p->enabled));
	if (!p->enabled)
		return ot_err_nomem();
	for (uint32_t i = 0; i < p->prog.nclauses; i++)
		OT_TRY(enable(p, i, rows));
	return put_program(p);
}

static void destroy(struct sim_program *p)
{
	ot_buf_deinit(&p->program);
	dif_compiler_destroy(p->comp);
	dif_program_deinit(&p->prog);
	fl_run_here_deinit(&p->run);
	ot_arena_deinit(&p->arena);
	free(p);
}

struct ot_err *sim_program_of(const void *run, size_t len, uint32_t rows, const struct sim_program **ret)
{
	static struct ot_map known; /* by the digest of RUN; its programs are in use until the process ends */
	uint8_t digest[FL_DIGEST];

	fl_digest(run, len, digest);
	struct sim_program *p = ot_map_get(&known, digest, sizeof(digest));

	*ret = p;
	if (p)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return ot_err_nomem();
	struct ot_err *err = make(p, run, len, rows);

	if (!err && !ot_map_put(&known, digest, sizeof(digest), p))
		err = ot_err_nomem();
	if (err)
		destroy(p);
	else
		*ret = p;
	return err;
}
