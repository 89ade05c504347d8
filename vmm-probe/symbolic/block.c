/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Following the paths from a branch to the event. Each path has a state of its own; if two of them reach the
 * event, their states are joined by the condition that separated them.
 */
#include "vmm-probe/symbolic/block.h"

#define PATH_MAX_LENGTH 160u /* instructions from the branch to the event: at most 30 in Debian's kernels */
#define WORK_MAX        600u /* instructions on all paths together */
#define FORKS_MAX       10u  /* on one path */

struct walk {
	struct vp_executor *executor;
	struct vp_exprs *exprs;
	const struct vp_block_env *env;
	unsigned nargs;
	uint32_t work;
};

/* The present position of a path. */
struct path {
	struct vp_state state;
	uint64_t pc, back; /* back: the return address of an entered function; 0: none entered */
	uint64_t inner, entered, call;
	unsigned length, forks;
};

static void follow(struct walk *w, struct path *p, struct vp_block *ret);

/* The words of the arguments before the instruction that calls, or jumps to, the event's functions: the first
 * register is the probe's data. */
static void take_args(struct walk *w, const struct path *p, bool is_jump, struct vp_block *ret)
{
	static const uint8_t regs[] = { VP_REGS_ARGS };

	for (unsigned i = 0; i < w->nargs && i < VP_BLOCK_ARGS; i++) {
		unsigned n = i + 1;
		if (n < OT_ARRAY_SIZE(regs)) {
			ret->args[i] = p->state.regs[regs[n]];
			continue;
		}
		uint64_t at = VP_STACK_ARG_AT(n) - (is_jump ? 0u : VP_CALL_PUSHES);
		ret->args[i] = vp_state_load(&p->state, w->exprs,
					     vp_expr_add(w->exprs, p->state.regs[VP_REG_SP], at), 8);
	}
	ret->reached = ret->exact = true;
	ret->inner = p->inner;
	ret->entered = p->entered;
	ret->call = p->call;
}

/* "both" of two conditions, of which NULL is always. */
static const struct vp_expr *both(struct walk *w, const struct vp_expr *a, const struct vp_expr *b)
{
	return !a ? b : !b ? a : vp_expr_binary(w->exprs, VP_EXPR_AND, a, b);
}

/* Join the results of two paths that separated on @when (NULL: unknown): @yes where it holds. */
static void join(struct walk *w, const struct vp_expr *when, const struct vp_block *yes,
		 const struct vp_block *no, struct vp_block *ret)
{
	const struct vp_expr *one = vp_expr_const(w->exprs, 1);

	*ret = yes->reached ? *yes : *no;
	if (!yes->reached && !no->reached)
		return;
	if (yes->reached != no->reached) {
		const struct vp_expr *needed = yes->reached ? when : vp_expr_not(w->exprs, when);
		ret->when = both(w, needed, ret->when);
		ret->exact = ret->exact && needed && ret->when;
		return;
	}
	for (unsigned i = 0; i < w->nargs; i++)
		if (!vp_expr_equal(yes->args[i], no->args[i]))
			ret->args[i] = when ? vp_expr_if(w->exprs, when, yes->args[i], no->args[i]) : NULL;
	ret->exact = yes->exact && no->exact;
	if (!yes->when && !no->when)
		return;
	ret->when = vp_expr_if(w->exprs, when, yes->when ? yes->when : one, no->when ? no->when : one);
	ret->exact = ret->exact && ret->when;
}

/* Is the condition known to be true, or false, whenever the event happens? Before it, the kernel tests that
 * the CPU is online, and that there are functions to call. */
static bool is_decided(struct walk *w, const struct vp_step *step, bool *ret)
{
	const struct vp_expr *when = step->when;
	uint64_t v;

	if (vp_expr_is_const(when, &v)) {
		*ret = v != 0;
		return true;
	}
	if (step->bit_test && w->env->is_set(w->env->arg, step->bit_test)) {
		*ret = step->taken_if_set;
		return true;
	}
	/* word == 0, or that negated */
	bool negated = when && when->op == VP_EXPR_EQ && when->a->op == VP_EXPR_EQ;
	const struct vp_expr *e = negated ? when->a : when;
	if (!e || e->op != VP_EXPR_EQ || e->a->op != VP_EXPR_LOAD || e->a->size != 8 ||
	    !vp_expr_is_const(e->b, &v) || v || !vp_expr_is_const(e->a->a, &v) ||
	    !w->env->is_set(w->env->arg, v))
		return false;
	*ret = negated;
	return true;
}

/* True: @p continues on the one possible branch. False: both branches have been followed. */
static bool fork_path(struct walk *w, struct path *p, const struct vp_step *step, struct vp_block *ret)
{
	struct vp_block yes = { 0 }, no = { 0 };
	struct path taken;
	bool holds;

	if (is_decided(w, step, &holds)) {
		p->pc = holds ? step->target : p->pc + step->len;
		return true;
	}
	if (++p->forks > FORKS_MAX)
		return false;
	taken = *p;
	taken.pc = step->target;
	p->pc += step->len;
	/* The event is more often on the straight path: follow that one first, while work is left. */
	follow(w, p, &no);
	follow(w, &taken, &yes);
	join(w, step->when, &yes, &no, ret);
	return false;
}

/* A call on the way: entered if the event may be in it. */
static void call(struct walk *w, struct path *p, const struct vp_step *step)
{
	if (!p->back && step->target && w->env->enters(w->env->arg, step->target)) {
		p->back = p->pc + step->len;
		p->call = p->pc;
		p->entered = step->target;
		p->pc = step->target;
		p->state.regs[VP_REG_SP] =
		    vp_expr_add(w->exprs, p->state.regs[VP_REG_SP], (uint64_t)-VP_CALL_PUSHES);
		if (VP_CALL_PUSHES)
			vp_state_store(&p->state, p->state.regs[VP_REG_SP], VP_CALL_PUSHES, NULL);
		return;
	}
	bool is_true = step->target && w->env->is_true(w->env->arg, step->target);
	bool memory_unknown = p->state.memory_unknown;

	vp_state_call(&p->state);
	if (is_true) {
		p->state.memory_unknown = memory_unknown;
		p->state.regs[VP_REG_RESULT] = vp_expr_const(w->exprs, 1);
	}
	p->pc += step->len;
}

/* Execute one instruction. False: the path ends here, or its continuation has been examined. */
static bool advance(struct walk *w, struct path *p, struct vp_block *ret)
{
	uint64_t target = 0;
	uint8_t bytes[15];
	enum vp_block_mark mark = w->env->mark(w->env->arg, p->pc, &target);

	if (mark == VP_MARK_END || w->exprs->failed || p->length++ >= PATH_MAX_LENGTH ||
	    w->work++ >= WORK_MAX)
		return false;
	if (mark == VP_MARK_BRANCH) {
		p->inner = p->pc;
		p->pc = target;
		return true;
	}
	unsigned len = w->env->text(w->env->arg, p->pc, bytes);
	struct vp_step step = vp_execute(w->executor, w->exprs, &p->state, p->pc, bytes, len);
	if (mark == VP_MARK_EVENT) {
		if (step.flow == VP_FLOW_CALL || step.flow == VP_FLOW_JUMP || step.flow == VP_FLOW_NEXT)
			take_args(w, p, step.flow == VP_FLOW_JUMP, ret);
		ret->after = p->pc + step.len;
		return false;
	}
	switch (step.flow) {
	case VP_FLOW_NEXT:
		p->pc += step.len;
		return true;
	case VP_FLOW_JUMP:
		p->pc = step.target;
		return true;
	case VP_FLOW_CALL:
		call(w, p, &step);
		return true;
	case VP_FLOW_BRANCH:
		return fork_path(w, p, &step, ret);
	case VP_FLOW_END:
		return false;
	}
	return false;
}

static void follow(struct walk *w, struct path *p, struct vp_block *ret)
{
	while (advance(w, p, ret))
		;
}

struct ot_err *vp_block_evaluate(struct vp_executor *executor, struct vp_exprs *exprs,
				 const struct vp_block_env *env, uint64_t target, unsigned nargs,
				 struct vp_block *ret)
{
	struct walk w = { .executor = executor, .exprs = exprs, .env = env, .nargs = nargs };
	struct path start = { .pc = target };

	*ret = (struct vp_block){ 0 };
	vp_state_init(&start.state, exprs);
	start.state.stable = env->stable;
	start.state.stable_size = env->stable_size;
	follow(&w, &start, ret);
	ret->instructions = w.work;
	return exprs->failed ? ot_err_nomem() : NULL;
}
