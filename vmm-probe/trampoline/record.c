/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record of an event, in the agent's format, which limits the data that the clause's actions may use: the
 * function's arguments, the task's numbers and name, the time. The host evaluates the actions when it takes
 * the record, and by then memory has changed: actions that read any, or that share variables with other
 * clauses, need an exit.
 */
#include "guest-agent/agent_abi.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/trampoline/maker.h"

#define REFUSED(...) ot_err_new(OT_ERR_UNSUPPORTED, __VA_ARGS__)
#define AT(member)   ((int32_t)offsetof(struct ga_record, member))

/* --- what a record holds --------------------------------------------------------------------- */

/* What the clause's actions read; bit n of `args`: argn. */
struct wants {
	uint32_t args;
	bool name;
};

static struct ot_err *want_arg(const struct vp_tramp_maker *m, uint64_t n, struct wants *w)
{
	if (n >= VP_NREGS_ARGS)
		return REFUSED("arg%llu, which is on the stack", (unsigned long long)n);
	if (m->site->args != VP_ARGS_FBT_ENTRY)
		return REFUSED("arg%llu, which is no register here", (unsigned long long)n);
	w->args |= 1u << n;
	return NULL;
}

static struct ot_err *want_builtin(const struct vp_tramp_maker *m, uint32_t id, struct wants *w)
{
	if (id >= DIF_VAR_arg0 && id <= DIF_VAR_arg9)
		return want_arg(m, id - DIF_VAR_arg0, w);
	switch (id) {
	case DIF_VAR_execname:
		w->name = true;
		return NULL;
	case DIF_VAR_curthread:
	case DIF_VAR_timestamp:
	case DIF_VAR_walltimestamp:
	case DIF_VAR_ipl:
	case DIF_VAR_epid:
	case DIF_VAR_id:
	case DIF_VAR_probeprov:
	case DIF_VAR_probemod:
	case DIF_VAR_probefunc:
	case DIF_VAR_probename:
	case DIF_VAR_pid:
	case DIF_VAR_tid:
	case DIF_VAR_cpu:
	case DIF_VAR_vcpu:
	case DIF_VAR_guest:
	case DIF_VAR_guestid:
		return NULL;
	default:
		return REFUSED("%s, which no record has", dif_var_name(id));
	}
}

/* args[] by an index that the instruction before sets, as the compiler writes it. */
static struct ot_err *want_array(const struct vp_tramp_maker *m, const struct dif_object *obj, uint32_t pc,
				 struct wants *w)
{
	uint32_t insn = obj->text[pc], before = pc ? obj->text[pc - 1] : 0;

	if (dif_insn_op(insn) != DIF_OP_ldga || dif_insn_r1(insn) != DIF_VAR_args ||
	    dif_insn_op(before) != DIF_OP_setx || dif_insn_rd(before) != dif_insn_r2(insn))
		return REFUSED("an array, but for args[] by a constant index");
	uint64_t index = obj->ints[dif_insn_idx(before)];
	return index < 10 ? want_arg(m, index, w) : NULL;
}

static struct ot_err *want_insn(const struct vp_tramp_maker *m, const struct dif_object *obj, uint32_t pc,
				struct wants *w)
{
	uint32_t insn = obj->text[pc], op = dif_insn_op(insn), id = dif_insn_idx(insn);

	if (op == DIF_OP_ldgs && id < DIF_VAR_USER_MIN)
		return want_builtin(m, id, w);
	switch (dif_op_class(op)) {
	case DIF_CLASS_ARR:
		return want_array(m, obj, pc, w);
	case DIF_CLASS_CALL:
		return REFUSED("%s()", dif_subr_name(id));
	case DIF_CLASS_LDV:
	case DIF_CLASS_STV:
		return REFUSED("a variable");
	case DIF_CLASS_CMP:
	case DIF_CLASS_TST:
	case DIF_CLASS_BR:
	case DIF_CLASS_RET:
	case DIF_CLASS_IDX:
		return NULL;
	default:
		if ((op >= DIF_OP_or && op <= DIF_OP_mov) || op == DIF_OP_sra || op == DIF_OP_nop)
			return NULL;
		return REFUSED("memory");
	}
}

/* Is it about strings that are constants or built-in? A string at an address would be read too late. */
static bool has_own_strings(const struct dif_object *obj)
{
	bool strings = obj->ret.flags & DIF_TF_BYREF, numbers = false;

	for (uint32_t pc = 0; pc < obj->text_len; pc++) {
		uint32_t op = dif_insn_op(obj->text[pc]);
		strings |= op == DIF_OP_scmp;
		numbers |= op == DIF_OP_ldga || op == DIF_OP_setx ||
			   (op == DIF_OP_ldgs && !dif_var_is_string(dif_insn_idx(obj->text[pc])));
	}
	return !strings || !numbers;
}

static struct ot_err *want_object(const struct vp_tramp_maker *m, const struct dif_object *obj,
				  struct wants *w)
{
	if (!has_own_strings(obj))
		return REFUSED("a string that may be in memory");
	for (uint32_t pc = 0; pc < obj->text_len; pc++)
		OT_TRY(want_insn(m, obj, pc, w));
	return NULL;
}

static struct ot_err *want_action(const struct vp_tramp_maker *m, const struct dif_action *a, struct wants *w)
{
	switch (a->kind) {
	case DIF_ACT_difexpr:
	case DIF_ACT_printf:
	case DIF_ACT_sym:
	case DIF_ACT_mod:
		break;
	default:
		if (!DIF_ACT_IS_AGG(a->kind))
			return REFUSED("%s()", dif_action_name(a->kind));
	}
	return a->object ? ot_err_prefix(want_object(m, a->object, w), "%s()", dif_action_name(a->kind))
			 : NULL;
}

/* --- the record ------------------------------------------------------------------------------ */

static struct vp_tramp_op *store(struct vp_tramp_maker *m, enum vp_tramp_kind kind, int32_t disp,
				 uint8_t size, uint64_t value)
{
	struct vp_tramp_op *op = vp_tramp_add(m, kind);

	op->disp = disp;
	op->size = size;
	op->value = value;
	return op;
}

/* A number of the task's, 0 where the kernel has none. */
static void store_number(struct vp_tramp_maker *m, int32_t disp, uint32_t offset)
{
	bool known = offset != VP_NO_OFFSET;

	store(m, known ? VP_TRAMP_STORE_TASK : VP_TRAMP_STORE_CONST, disp, 4, known ? offset : 0);
}

static bool has_name(const struct vp_facts *facts)
{
	return facts->task_comm != VP_NO_OFFSET && facts->task_comm_size == GA_COMM;
}

/* All of it is stored, as ERROR's clauses may read it too: what is unknown is 0 and "". */
static void store_task(struct vp_tramp_maker *m)
{
	const struct vp_facts *facts = m->guest->facts;
	bool named = has_name(facts);

	store(m, VP_TRAMP_STORE_CURRENT, AT(task), 8, 0);
	store_number(m, AT(pid), facts->task_pid);
	store_number(m, AT(tgid), facts->task_tgid);
	for (uint32_t i = 0; i < GA_COMM; i += 8)
		store(m, named ? VP_TRAMP_STORE_TASK : VP_TRAMP_STORE_CONST, AT(comm) + (int32_t)i, 8,
		      named ? facts->task_comm + i : 0);
}

static void store_args(struct vp_tramp_maker *m, uint32_t nargs)
{
	for (uint32_t i = 0; i < nargs; i++)
		store(m, VP_TRAMP_STORE_ARG, AT(args) + (int32_t)(8 * i), 8, 0)->a = (uint8_t)i;
	/* nargs, and flags behind it: none */
	store(m, VP_TRAMP_STORE_CONST, AT(nargs), 4, nargs);
}

struct ot_err *vp_tramp_record(struct vp_tramp_maker *m)
{
	const struct dif_clause *c = m->clause->clause;
	struct wants w = { 0 };

	if (!m->guest->world.ring.count)
		return REFUSED("a record, where there is no ring");
	for (uint32_t i = 0; i < c->nactions; i++)
		OT_TRY(want_action(m, &c->actions[i], &w));
	if (w.name && !has_name(m->guest->facts))
		return REFUSED("execname, whose place or size is not as expected");
	vp_tramp_add(m, VP_TRAMP_RESERVE)->target = VP_TRAMP_SKIP;
	store(m, VP_TRAMP_STORE_TIME, AT(tsc), 8, 0);
	store_task(m);
	store(m, VP_TRAMP_STORE_CONST, AT(slot), 4, m->clause->slot);
	store(m, VP_TRAMP_STORE_PREEMPT, AT(preempt), 4, 0);
	store(m, VP_TRAMP_STORE_CONST, AT(cpu), 4, 0); /* the ring determines which */
	store_args(m, w.args ? 32 - (uint32_t)__builtin_clz(w.args) : 0);
	store(m, VP_TRAMP_PUBLISH, AT(seq), 8, 0);
	m->out->nrecords++;
	return NULL;
}
