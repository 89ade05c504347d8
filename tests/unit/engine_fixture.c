/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine tests' guest, session and consumer. */
#include "tests/unit/engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAUSES_MAX 16
#define ACTIONS_MAX 16
#define AGGS_MAX    16
#define BUFSIZE     4096

static const struct dif_rtype u64_type = { .ckind = DIF_CTF_INTEGER, .size = 8 };
static const struct dif_rtype string_type = { .kind = DIF_TYPE_STRING,
					      .ckind = DIF_CTF_UNKNOWN,
					      .flags = DIF_TF_BYREF };

/* --- the guest -------------------------------------------------------------------------------------- */

static void map_pages(struct ef *f, uint64_t va, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		vp_fake_map(f->fake, f->kernel_root, va + i * VP_FAKE_PAGE, vp_fake_page(f->fake), 0, 12);
}

static void poke(struct ef *f, uint64_t va, uint64_t value, size_t len)
{
	vp_fake_write(f->fake, f->kernel_root, va, &value, len);
}

static void make_text(struct ef *f)
{
	static const uint8_t nop[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	uint64_t gpa = 0x200000;

	vp_fake_map(f->fake, f->kernel_root, EF_TEXT, gpa, 0, 21);
	for (unsigned i = 0; i < 3; i++) {
		vp_fake_write(f->fake, f->kernel_root, EF_FUNC_A + i * 0x100, nop, sizeof(nop));
		poke(f, EF_RET(EF_FUNC_A + i * 0x100), 0xc3, 1);
	}
}

static void make_task(struct ef *f, uint32_t cpu)
{
	uint64_t task = EF_TASKS + cpu * VP_FAKE_PAGE, percpu = EF_PERCPU + cpu * VP_FAKE_PAGE;
	uint64_t cred = task + 0x800, stack = EF_STACKS + cpu * 0x4000ull;
	char comm[24]; /* a task has 16 of them */

	map_pages(f, task, 1);
	map_pages(f, percpu, 1);
	map_pages(f, stack, 1);
	poke(f, percpu + EF_PERCPU_CURRENT, task, 8);
	poke(f, percpu + EF_PERCPU_RQ + EF_RQ_CLOCK, 5000, 8);
	snprintf(comm, sizeof(comm), "swapper/%u", cpu);
	vp_fake_write(f->fake, f->kernel_root, task + EF_TASK_COMM, comm, 16);
	poke(f, task + EF_TASK_PID, 100 + cpu, 4);
	poke(f, task + EF_TASK_TGID, 90 + cpu, 4);
	poke(f, task + EF_TASK_PARENT, EF_TASKS, 8); /* the first task is everyone's parent, its own too */
	poke(f, task + EF_TASK_CRED, cred, 8);
	poke(f, cred + EF_CRED_UID, 1000 + cpu, 4);
	poke(f, cred + EF_CRED_GID, 2000 + cpu, 4);
	poke(f, task + EF_TASK_START, 77 + cpu, 8);
	poke(f, task + EF_TASK_RUNTIME, 10000, 8);
	poke(f, task + EF_TASK_EXEC_START, 4000, 8);
	poke(f, task + EF_TASK_STACK, stack, 8);
	poke(f, task + EF_TASK_MM, 1, 8);
	vp_fake_set_reg(f->fake, cpu, VP_RSP, stack + 0x800);
	vp_fake_set_reg(f->fake, cpu, VP_CS, 0x10);
	vp_fake_set_reg(f->fake, cpu, VP_CR3, f->user_root | 0x1000);
}

static void make_user(struct ef *f)
{
	for (unsigned i = 0; i < 2; i++)
		vp_fake_map(f->fake, f->user_root, EF_USER + i * VP_FAKE_PAGE, vp_fake_page(f->fake), 4, 12);
}

static void make_facts(struct ef *f)
{
	struct vp_facts *k = &f->facts;

	memset(k, 0xff, sizeof(*k)); /* this kernel lacks all features but those that a test sets */
	k->size = sizeof(*k);
	k->guest_id = 7;
	memset(k->guest_name, 0, sizeof(k->guest_name));
	memcpy(k->guest_name, "fake", 5);
	k->kernel_root = f->kernel_root;
	k->levels = f->config.levels;
	k->nvcpus = f->config.nvcpus;
	k->user_pgd_mask = ~0x1fffull;
	memset(k->percpu_base, 0, sizeof(k->percpu_base));
	for (uint32_t i = 0; i < f->config.nvcpus; i++)
		k->percpu_base[i] = EF_PERCPU + i * VP_FAKE_PAGE;
	k->current_task = EF_PERCPU_CURRENT;
	k->preempt_count = EF_PERCPU_PREEMPT;
	k->nmi_mask = 0xf00000;
	k->hardirq_mask = 0xf0000;
	k->softirq_mask = 0xff00;
	k->task_comm = EF_TASK_COMM;
	k->task_comm_size = 16;
	k->task_pid = EF_TASK_PID;
	k->task_tgid = EF_TASK_TGID;
	k->task_real_parent = EF_TASK_PARENT;
	k->task_cred = EF_TASK_CRED;
	k->task_start_time = EF_TASK_START;
	k->task_sum_exec_runtime = EF_TASK_RUNTIME;
	k->task_exec_start = EF_TASK_EXEC_START;
	k->task_stack = EF_TASK_STACK;
	k->task_mm = EF_TASK_MM;
	k->cred_uid = EF_CRED_UID;
	k->cred_gid = EF_CRED_GID;
	k->ptregs_args[0] = EF_PTREGS_DI * 8;
	k->ptregs_args[1] = EF_PTREGS_SI * 8;
	k->ptregs_args[2] = EF_PTREGS_DX * 8;
	k->ptregs_args[3] = EF_PTREGS_R10 * 8;
	k->ptregs_args[4] = EF_PTREGS_R8 * 8;
	k->ptregs_pc = EF_PTREGS_IP * 8;
	k->ptregs_sp = EF_PTREGS_SP * 8;
	k->ptregs_fp = EF_PTREGS_BP * 8;
	k->ptregs_mode = EF_PTREGS_CS * 8;
	k->ptregs_size = EF_PTREGS_WORDS * 8;
	k->runqueues = EF_PERCPU_RQ;
	k->rq_clock_task = EF_RQ_CLOCK;
	k->text_start = EF_TEXT;
	k->text_end = EF_TEXT + 0x200000;
	k->modules_start = k->modules_end = 0;
	k->stack_size = EF_STACK_SIZE;
	k->stack_padding = 0;
	k->stack_padding = 0;
}

struct ef *ef_create_with(const struct vp_fake_config *config)
{
	struct ef *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->config = *config;
	EF_OK(vp_fake_create(config, &f->fake));
	f->kernel_root = vp_fake_root(f->fake);
	f->user_root = vp_fake_root(f->fake);
	/* The mask takes PTI's bit 12 away too, so a root must be 8 KiB aligned, as Linux has it. */
	while (f->user_root & 0x1000)
		f->user_root = vp_fake_root(f->fake);
	make_text(f);
	make_user(f);
	for (uint32_t i = 0; i < config->nvcpus; i++)
		make_task(f, i);
	make_facts(f);
	dif_program_init(&f->prog);
	f->prog.clauses = ot_arena_alloc(&f->prog.arena, CLAUSES_MAX * sizeof(*f->prog.clauses));
	f->prog.aggs = ot_arena_alloc(&f->prog.arena, AGGS_MAX * sizeof(*f->prog.aggs));
	f->open = (struct vp_msg_open){
		.bufsize = BUFSIZE,
		.aggsize = BUFSIZE,
		.globals_size = 4096,
		.strsize = 32,
		.stackframes = 8,
		.ustackframes = 8,
		.jstackframes = 8,
		.nspec = 2,
		.specsize = 1024,
		.nvcpus = config->nvcpus,
		.bufpolicy = VP_BUF_SWITCH,
	};
	f->next_epid = 1;
	f->next_probe_id = 10;
	ef_batch_clear(f);
	return f;
}

struct ef *ef_create(void)
{
	const struct vp_fake_config config = {
		.nvcpus = 2,
		.ram_size = 8u << 20,
		.levels = 4,
		.can_profile = true,
		.can_count = true,
	};

	return ef_create_with(&config);
}

void ef_destroy(struct ef *f)
{
	ef_close(f);
	vp_fake_destroy(f->fake);
	free(f->shared);
	dif_program_deinit(&f->prog);
	ot_buf_deinit(&f->probes);
	ot_buf_deinit(&f->sites);
	ot_buf_deinit(&f->ecbs);
	ot_buf_deinit(&f->strings);
	free(f);
}

/* --- programs ------------------------------------------------------------------------------------------- */

static void *need(void *p)
{
	assert_non_null(p);
	return p;
}

struct dif_object *ef_obj(struct ef *f, const uint32_t *text, uint32_t len, struct dif_rtype ret)
{
	struct dif_object *o = need(ot_arena_new(&f->prog.arena, struct dif_object));

	o->text = need(ot_arena_alloc(&f->prog.arena, len * sizeof(*text)));
	memcpy(o->text, text, len * sizeof(*text));
	o->text_len = len;
	o->ints = need(ot_arena_alloc(&f->prog.arena, 4 * sizeof(uint64_t)));
	o->strs = need(ot_arena_strdup(&f->prog.arena, ""));
	o->str_len = 1;
	o->ret = ret;
	return o;
}

static void set_int(struct dif_object *o, uint64_t value)
{
	o->ints[0] = value;
	o->int_len = 1;
}

struct dif_object *ef_int(struct ef *f, uint64_t value)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_setx, 0, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	set_int(o, value);
	return o;
}

struct dif_object *ef_var(struct ef *f, uint32_t var)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_ldgs, var, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };

	return ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);
}

struct dif_object *ef_string_var(struct ef *f, uint32_t var)
{
	struct dif_object *o = ef_var(f, var);

	o->ret = string_type;
	return o;
}

struct dif_object *ef_string(struct ef *f, const char *s)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_sets, 1, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), string_type);

	o->strs = need(ot_arena_alloc(&f->prog.arena, strlen(s) + 2));
	memcpy(o->strs + 1, s, strlen(s) + 1);
	o->str_len = (uint32_t)strlen(s) + 2;
	return o;
}

struct dif_object *ef_var_eq(struct ef *f, uint32_t var, uint64_t value)
{
	const uint32_t text[] = {
		dif_insn_index(DIF_OP_ldgs, var, 1), dif_insn_index(DIF_OP_setx, 0, 2),
		dif_insn(DIF_OP_cmp, 1, 2, 0),       dif_insn_branch(DIF_OP_be, 6),
		dif_insn(DIF_OP_mov, 0, 0, 1),       dif_insn(DIF_OP_ret, 0, 0, 1),
		dif_insn_index(DIF_OP_setx, 1, 1),   dif_insn(DIF_OP_ret, 0, 0, 1),
	};
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	o->ints[0] = value;
	o->ints[1] = 1;
	o->int_len = 2;
	return o;
}

struct dif_object *ef_deref(struct ef *f, uint64_t address, bool user)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_setx, 0, 1),
				  dif_insn(user ? DIF_OP_uldx : DIF_OP_ldx, 1, 0, 1),
				  dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	set_int(o, address);
	return o;
}

static void add_variable(struct ef *f, struct dif_object *o, uint32_t id, unsigned scope)
{
	o->vars = need(ot_arena_new(&f->prog.arena, struct dif_var));
	*o->vars = (struct dif_var){
		.id = id,
		.kind = DIF_VARKIND_SCALAR,
		.scope = (uint8_t)scope,
		.flags = DIF_VARF_REF | DIF_VARF_MOD,
		.type = u64_type,
	};
	o->var_len = 1;
}

struct dif_object *ef_global_add(struct ef *f, uint32_t id, uint64_t value)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_ldgs, id, 1), dif_insn_index(DIF_OP_setx, 0, 2),
				  dif_insn(DIF_OP_add, 1, 2, 1), dif_insn_index(DIF_OP_stgs, id, 1),
				  dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	set_int(o, value);
	add_variable(f, o, id, DIF_SCOPE_GLOBAL);
	return o;
}

struct dif_object *ef_global(struct ef *f, uint32_t id)
{
	struct dif_object *o = ef_var(f, id);

	add_variable(f, o, id, DIF_SCOPE_GLOBAL);
	return o;
}

struct dif_object *ef_call(struct ef *f, uint32_t subr)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_call, subr, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };

	return ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);
}

struct dif_object *ef_self_set(struct ef *f, uint32_t id, struct dif_object *value)
{
	uint32_t text[16], n = value->text_len - 1; /* all but its ret */

	assert_true(n + 3 <= OT_ARRAY_SIZE(text));
	memcpy(text, value->text, n * sizeof(*text));
	text[n++] = dif_insn_index(DIF_OP_stts, id, 1);
	text[n++] = dif_insn_index(DIF_OP_ldts, id, 1);
	text[n++] = dif_insn(DIF_OP_ret, 0, 0, 1);
	struct dif_object *o = ef_obj(f, text, n, u64_type);
	memcpy(o->ints, value->ints, value->int_len * sizeof(*o->ints));
	o->int_len = value->int_len;
	add_variable(f, o, id, DIF_SCOPE_THREAD);
	return o;
}

struct dif_object *ef_self(struct ef *f, uint32_t id)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_ldts, id, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	add_variable(f, o, id, DIF_SCOPE_THREAD);
	return o;
}

uint32_t ef_clause(struct ef *f, struct dif_object *predicate)
{
	uint32_t i = f->prog.nclauses++;

	assert_true(i < CLAUSES_MAX);
	f->prog.clauses[i] = (struct dif_clause){
		.probe = { "", "", "", "", "", 0 },
		.predicate = predicate,
		.actions = need(ot_arena_alloc(&f->prog.arena, ACTIONS_MAX * sizeof(struct dif_action))),
	};
	return i;
}

struct dif_action *ef_action(struct ef *f, uint32_t clause, uint32_t kind, struct dif_object *object)
{
	struct dif_clause *c = &f->prog.clauses[clause];
	struct dif_action *a = &c->actions[c->nactions++];

	assert_true(c->nactions <= ACTIONS_MAX);
	*a = (struct dif_action){ .kind = (enum dif_action_kind)kind, .object = object };
	return a;
}

struct dif_action *ef_key(struct ef *f, uint32_t clause, struct dif_object *object)
{
	struct dif_action *a = ef_action(f, clause, DIF_ACT_difexpr, object);

	a->is_key = true;
	return a;
}

struct dif_action *ef_agg(struct ef *f, uint32_t clause, uint32_t kind, struct dif_object *object,
			  uint32_t nkeys)
{
	struct dif_action *a = ef_action(f, clause, kind, object);
	uint32_t id = ++f->prog.naggs;

	assert_true(id <= AGGS_MAX);
	a->ntuple = nkeys + 1;
	a->aggid = id;
	f->prog.aggs[id - 1] = (struct dif_aggvar){
		.name = need(ot_arena_printf(&f->prog.arena, "a%u", id)),
		.id = id,
		.kind = (enum dif_agg_kind)kind,
		.nkeys = nkeys,
	};
	return a;
}

/* --- sessions ------------------------------------------------------------------------------------------- */

struct ot_err *ef_try_open(struct ef *f)
{
	struct ot_buf dof;
	struct ot_err *err;

	EF_OK(vp_shared_layout(&f->open, &f->shared_size));
	free(f->shared);
	f->shared = aligned_alloc(4096, f->shared_size);
	assert_non_null(f->shared);
	memset(f->shared, 0, f->shared_size);
	if (f->open.dynvars_size)
		EF_OK(dif_dynvars_format(f->shared + f->open.dynvars_offset, f->open.dynvars_size,
					 f->open.nvcpus, 128, 64));
	ot_buf_init(&dof);
	EF_OK(dif_dof_write(&f->prog, &dof));
	err = vp_engine_session_open(vp_fake_engine(f->fake), &f->open, dof.data, dof.len, &f->facts,
				     f->shared, f->shared_size, f->orc, f->orc_size, &f->es);
	ot_buf_deinit(&dof);
	return err;
}

void ef_open(struct ef *f)
{
	EF_OK(ef_try_open(f));
}

void ef_close(struct ef *f)
{
	vp_engine_session_close(f->es);
	f->es = NULL;
}

static uint32_t add_string(struct ef *f, const char *s)
{
	uint32_t at = (uint32_t)f->strings.len;

	ot_buf_append(&f->strings, s, strlen(s) + 1);
	return at;
}

uint32_t ef_probe(struct ef *f, uint32_t kind, uint32_t args, const char *function, const char *name)
{
	struct vp_batch_probe p = {
		.id = f->next_probe_id++,
		.kind = kind,
		.args = args,
		.provider = add_string(f, "fbt"),
		.module = add_string(f, "vmlinux"),
		.function = add_string(f, function),
		.name = add_string(f, name),
		.first_site = f->nsites,
	};

	ot_buf_append(&f->probes, &p, sizeof(p));
	return f->nprobes++;
}

static struct vp_batch_probe *probe_at(struct ef *f, uint32_t i)
{
	assert_true(i < f->nprobes);
	return (struct vp_batch_probe *)(void *)f->probes.data + i;
}

void ef_probe_id(struct ef *f, uint32_t probe, uint32_t id)
{
	probe_at(f, probe)->id = id;
}

void ef_event(struct ef *f, uint32_t probe, uint32_t event)
{
	((struct vp_batch_probe *)(void *)f->probes.data)[probe].event = event;
}

void ef_cpc(struct ef *f, uint32_t probe, const struct vp_cpc_event *event)
{
	probe_at(f, probe)->cpc = *event;
}

void ef_interval(struct ef *f, uint32_t probe, uint64_t ns)
{
	probe_at(f, probe)->interval_ns = ns;
}

void ef_agent_probe(struct ef *f, uint32_t probe, uint32_t slot, uint64_t address, uint32_t nargs,
		    uint32_t want)
{
	struct vp_batch_probe *p = probe_at(f, probe);

	p->agent.slot = slot;
	p->agent.address = address;
	p->agent.nargs = nargs;
	p->agent.want = want;
}

void ef_site(struct ef *f, uint64_t gva, uint64_t function)
{
	struct vp_batch_site s = {
		.gva = gva,
		.offset = (uint32_t)(gva - function),
		.length = gva == function ? 5 : 1,
		.room = gva == function ? 5 : 1,
	};

	memcpy(s.bytes, (uint8_t *)vp_fake_ram(f->fake, 0x200000) + (gva - EF_TEXT), s.length);
	ot_buf_append(&f->sites, &s, sizeof(s));
	f->nsites++;
	probe_at(f, f->nprobes - 1)->nsites++;
}

uint32_t ef_ecb(struct ef *f, uint32_t probe, uint32_t clause)
{
	struct vp_batch_ecb e = { .epid = f->next_epid++, .clause = clause, .probe = probe };

	assert_true(e.epid < OT_ARRAY_SIZE(f->clause_of));
	f->clause_of[e.epid] = clause;
	ot_buf_append(&f->ecbs, &e, sizeof(e));
	f->necbs++;
	return e.epid;
}

void ef_batch_clear(struct ef *f)
{
	ot_buf_clear(&f->probes);
	ot_buf_clear(&f->sites);
	ot_buf_clear(&f->ecbs);
	ot_buf_clear(&f->strings);
	ot_buf_append(&f->strings, "", 1);
	f->nprobes = f->nsites = f->necbs = 0;
}

void *ef_batch(struct ef *f, size_t *ret_size)
{
	struct vp_batch h = { .nprobes = f->nprobes, .nsites = f->nsites, .necbs = f->necbs };
	struct ot_buf out;

	ot_buf_init(&out);
	ot_buf_append(&out, &h, sizeof(h));
	ot_buf_align(&out, 8);
	h.probes_offset = (uint32_t)out.len;
	ot_buf_append(&out, f->probes.data, f->probes.len);
	ot_buf_align(&out, 8);
	h.sites_offset = (uint32_t)out.len;
	ot_buf_append(&out, f->sites.data, f->sites.len);
	ot_buf_align(&out, 8);
	h.ecbs_offset = (uint32_t)out.len;
	ot_buf_append(&out, f->ecbs.data, f->ecbs.len);
	if (f->agent) {
		ot_buf_align(&out, 8);
		h.nagents = 1;
		h.agent_offset = (uint32_t)out.len;
		ot_buf_append(&out, f->agent, sizeof(*f->agent));
	}
	if (f->dof) {
		h.dof_offset = (uint32_t)out.len;
		h.dof_size = (uint32_t)f->dof->len;
		ot_buf_append(&out, f->dof->data, f->dof->len);
	}
	h.strings_offset = (uint32_t)out.len;
	h.strings_size = (uint32_t)f->strings.len;
	ot_buf_append(&out, f->strings.data, f->strings.len);
	h.size = (uint32_t)out.len;
	memcpy(out.data, &h, sizeof(h));
	*ret_size = out.len;
	return need(ot_buf_take(&out));
}

struct ot_err *ef_try_enable(struct ef *f)
{
	size_t size;
	void *batch = ef_batch(f, &size);
	struct ot_err *err = vp_engine_session_enable(f->es, batch, size);

	free(batch);
	return err;
}

void ef_enable(struct ef *f)
{
	EF_OK(ef_try_enable(f));
	ef_batch_clear(f);
}

void ef_start(struct ef *f)
{
	EF_OK(vp_engine_session_start(f->es));
}

uint32_t ef_enable_entry(struct ef *f, uint32_t clause, uint64_t function)
{
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "func", "entry");

	ef_site(f, function, function);
	uint32_t epid = ef_ecb(f, probe, clause);
	ef_enable(f);
	return epid;
}

uint32_t ef_trace(struct ef *f, uint32_t clause)
{
	ef_open(f);
	uint32_t epid = ef_enable_entry(f, clause, EF_FUNC_A);
	ef_start(f);
	return epid;
}

/* --- the consumer's side -------------------------------------------------------------------------------- */

struct vp_msg_switch_reply ef_switch(struct ef *f)
{
	struct vp_msg_switch_reply reply;

	EF_OK(vp_engine_session_switch(f->es, &reply));
	return reply;
}

const struct vp_vcpu_status *ef_status(struct ef *f, uint32_t cpu)
{
	return (const struct vp_vcpu_status *)(void *)(f->shared + f->open.status_offset) + cpu;
}

static uint32_t record_size(struct ef *f, uint32_t epid)
{
	struct dif_layout_opts opts = { f->open.strsize, f->open.stackframes, f->open.ustackframes,
					f->open.jstackframes, f->open.jstackstrsize };
	struct dif_clause_layout layout;

	if (epid == VP_EPID_FAULT)
		return sizeof(struct vp_fault_record);
	EF_OK(dif_clause_layout(&f->prog.clauses[f->clause_of[epid]], &opts, &f->prog.arena, &layout));
	return layout.size;
}

static uint32_t walk(struct ef *f, uint32_t cpu, const uint8_t *half, uint64_t at, uint64_t end,
		     struct ef_record *ret, uint32_t n, uint32_t max)
{
	uint32_t head[3];

	while (at + 4 <= end) {
		memcpy(head, half + at, 4);
		if (!head[0]) {
			at += 4;
			continue;
		}
		assert_true(at + sizeof(head) <= end);
		memcpy(head, half + at, sizeof(head));
		assert_true(n < max);
		ret[n++] = (struct ef_record){ head[0], cpu, (uint64_t)head[1] << 32 | head[2], half + at };
		at += record_size(f, head[0]);
		assert_true(at <= end);
	}
	return n;
}

uint32_t ef_records(struct ef *f, uint32_t cpu, struct ef_record *ret, uint32_t max)
{
	const struct vp_vcpu_status *s = ef_status(f, cpu);
	unsigned half = s->active ^ 1;
	const struct vp_half *h = &s->principal[half];
	const uint8_t *mem = f->shared + vp_principal_offset(&f->open, cpu, half);
	uint32_t n = 0;

	if (h->wrapped != ~0ull)
		n = walk(f, cpu, mem, h->wrapped, f->open.bufsize, ret, n, max);
	return walk(f, cpu, mem, 0, h->used, ret, n, max);
}

bool ef_agg_entry(struct ef *f, uint32_t cpu, uint32_t n, const uint8_t **ret_key, const uint64_t **ret_words)
{
	const struct vp_vcpu_status *s = ef_status(f, cpu);
	unsigned half = s->active ^ 1;
	const uint8_t *mem = f->shared + vp_aggregation_offset(&f->open, cpu, half);
	struct dif_aggtab_entry e;
	size_t pos = 0;

	do
		if (!dif_aggtab_next(mem, s->aggregation[half].used, &pos, &e))
			return false;
	while (n--);
	*ret_key = (const uint8_t *)e.tuple + 4;
	*ret_words = e.words;
	return true;
}

uint64_t ef_agg_total(struct ef *f)
{
	uint64_t total = 0;
	const uint8_t *key;
	const uint64_t *words;

	for (uint32_t cpu = 0; cpu < f->open.nvcpus; cpu++)
		for (uint32_t n = 0; ef_agg_entry(f, cpu, n, &key, &words); n++)
			total += *words;
	return total;
}

uint64_t ef_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}
