/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the sites of tracepoints. Each entry of the jump table with the tracepoint's key is one of:
 *
 *   an event     its code makes the tracepoint's static call: a probe there sees each event
 *   a gate       trace_NAME_enabled(): its code reaches the call through another entry's. If that other entry
 *                is reached through the gate only, the gate is the event
 *   only a test  its code does not reach the call
 */
#include "vmm-probe/provider/tracepoint_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/static_keys.h"
#include "vmm-probe/provider/boundary.h"
#include "vmm-probe/provider/flow.h"
#include "vmm-probe/provider/text.h"

#define SITES_MAX    1024u /* of one tracepoint; Debian's kernels have 300 of one */
#define FUNCTION_MAX (1u << 20)

/* The tracepoints of a module that came after the others were read. */
struct arrived {
	struct arrived *next;
	struct vp_guest_tracepoints tracepoints;
};

struct vp_tracepoint_finder {
	struct vp_probes *probes;
	struct vp_guest *guest;
	struct vp_text *text;
	struct vp_guest_tracepoints tracepoints;
	struct arrived *arrived; /* newest first */
	struct vp_static_keys keys;
	bool have_keys;
	struct vp_executor *executor;
	struct vp_exprs exprs;
	uint64_t online_mask; /* address of the mask of CPUs that are online; 0: unknown */
};

/* The kind of an entry's code. */
struct candidate {
	const struct vp_jump_entry *entry;
	uint64_t function;
	uint8_t length;
	struct vp_block block;
	bool is_gated; /* its events pass through gates only, which are its sites */
};

/* One tracepoint. */
struct search {
	struct vp_tracepoint_finder *f;
	const struct vp_guest_tracepoint *tp;
	uint64_t size;
	unsigned nargs;
	const struct vp_jump_entry *entries; /* with its key */
	size_t nentries;
	const struct vp_jump_entry *from; /* the one whose code is evaluated */
	uint8_t from_length;
	struct candidate *list;
	size_t count;
	uint64_t asked; /* the function whose callers were searched last; 0: none */
	bool has_others;
};

/* Of all, or of @module. */
static struct ot_err *read_list(struct vp_tracepoint_finder *f, const struct vp_module *module,
				struct vp_guest_tracepoints *ret)
{
	struct vp_budget budget;

	vp_guest_budget_begin(f->guest, &budget, &vp_readings[VP_READ_TRACEPOINTS]);
	struct ot_err *err = module ? vp_guest_tracepoints_read_module(f->guest, module, ret)
				    : vp_guest_tracepoints_read(f->guest, ret);
	vp_budget_end(&budget);
	return vp_guest_note_missing(f->guest, "no tracepoints", err);
}

static struct ot_err *read_keys(struct vp_tracepoint_finder *f)
{
	struct vp_budget budget;

	if (f->have_keys)
		return NULL;
	vp_guest_budget_begin(f->guest, &budget, &vp_readings[VP_READ_KEYS]);
	struct ot_err *err = vp_static_keys_read(f->guest, &f->keys);
	vp_budget_end(&budget);
	f->have_keys = !err;
	return err;
}

struct ot_err *vp_tracepoint_finder_create(struct vp_probes *probes, struct vp_tracepoint_finder **ret)
{
	struct vp_tracepoint_finder *f = calloc(1, sizeof(*f));
	struct vp_gva mask = { 0 };

	if (!f)
		return ot_err_nomem();
	f->probes = probes;
	f->guest = vp_probes_guest(probes);
	vp_exprs_init(&f->exprs);
	struct ot_err *err = read_list(f, NULL, &f->tracepoints);
	/* without it, vp_probes_text() refuses each tracepoint that a description matches */
	if (!err && vp_arch_native.code)
		err = vp_arch_native.code->executor_create(&f->executor);
	if (err) {
		vp_tracepoint_finder_destroy(f);
		return err;
	}
	ot_err_destroy(vp_guest_symbol(f->guest, "__cpu_online_mask", &mask));
	f->online_mask = mask.v;
	*ret = f;
	return NULL;
}

void vp_tracepoint_finder_destroy(struct vp_tracepoint_finder *f)
{
	if (!f)
		return;
	for (struct arrived *a = f->arrived, *next; a; a = next) {
		next = a->next;
		vp_guest_tracepoints_deinit(&a->tracepoints);
		free(a);
	}
	vp_guest_tracepoints_deinit(&f->tracepoints);
	vp_static_keys_deinit(&f->keys);
	vp_executor_destroy(f->executor);
	vp_exprs_deinit(&f->exprs);
	free(f);
}

const struct vp_guest_tracepoints *vp_tracepoint_list(const struct vp_tracepoint_finder *f)
{
	return &f->tracepoints;
}

struct ot_err *vp_tracepoint_finder_add(struct vp_tracepoint_finder *f, const struct vp_module *module)
{
	struct arrived *a = calloc(1, sizeof(*a));

	if (!a)
		return ot_err_nomem();
	a->next = f->arrived;
	f->arrived = a;
	if (f->have_keys)
		vp_static_keys_deinit(&f->keys);
	f->have_keys = false;
	return read_list(f, module, &a->tracepoints);
}

const struct vp_guest_tracepoints *vp_tracepoint_latest(const struct vp_tracepoint_finder *f)
{
	return f->arrived ? &f->arrived->tracepoints : &f->tracepoints;
}

/* The module of a stored one may be unloaded, and its memory reused. */
static bool is_there(const struct vp_tracepoint_finder *f, const struct vp_guest_tracepoint *tp)
{
	const struct vp_modules *modules = vp_guest_modules(f->guest);

	for (size_t i = 0; i < modules->count; i++)
		if (vp_module_room(&modules->list[i], tp->key))
			return !strcmp(modules->list[i].name, tp->module);
	return !strcmp(tp->module, "vmlinux");
}

static bool is_used_in(const struct vp_tracepoint_finder *f, const struct vp_guest_tracepoint *tp,
		       const struct vp_module *module)
{
	size_t n;
	const struct vp_jump_entry *e = vp_static_keys_jumps(&f->keys, tp->key, &n);

	if (vp_module_room(module, tp->key)) /* its own, or an earlier module's */
		return false;
	for (size_t i = 0; i < n; i++)
		if (!e[i].is_init && vp_module_room(module, e[i].code))
			return true;
	return false;
}

struct ot_err *
vp_tracepoint_each_used(struct vp_tracepoint_finder *f, const struct vp_module *module,
			struct ot_err *(*each)(void *arg, const struct vp_guest_tracepoint *tp), void *arg)
{
	const struct vp_guest_tracepoints *all = &f->tracepoints;
	const struct arrived *a = f->arrived;
	struct ot_err *err = read_keys(f);

	if (vp_modules_guests_fault(err, &err))
		return NULL;
	OT_TRY(err);
	/* the latest list is the module's own */
	for (a = a ? a->next : NULL; all; all = a ? &a->tracepoints : NULL, a = a ? a->next : NULL)
		for (size_t i = 0; i < all->count; i++)
			if (is_used_in(f, &all->list[i], module) && is_there(f, &all->list[i]))
				OT_TRY(each(arg, &all->list[i]));
	return NULL;
}

struct vp_exprs *vp_tracepoint_exprs(struct vp_tracepoint_finder *f)
{
	return &f->exprs;
}

/* --- what stands at an entry ---------------------------------------------------------------------------- */

/* The function that contains @p gva; NULL: none. */
static const struct vp_symbol *function_of(const struct vp_tracepoint_finder *f, uint64_t gva,
					   uint64_t *ret_offset)
{
	const struct vp_symtab *tab = vp_guest_symtab(f->guest);
	const struct vp_symbol *sym = vp_symtab_find_addr(tab, vp_gva(gva), ret_offset);

	return sym && vp_symbol_is_function(sym) ? sym : NULL;
}

static struct ot_err *bad_entry(const struct search *s, const struct vp_jump_entry *e, const char *what)
{
	return ot_err_new(OT_ERR_BAD_DATA, "the jump table's entry for %s at 0x%llx: %s", s->tp->name,
			  (unsigned long long)e->code, what);
}

static struct ot_err *check_entry(struct search *s, const struct vp_jump_entry *e, struct candidate *ret)
{
	const struct vp_symtab *tab = vp_guest_symtab(s->f->guest);
	const struct vp_symbol *sym;
	const uint8_t *code;
	uint64_t offset, size;

	sym = function_of(s->f, e->code, &offset);
	size = sym ? vp_symbol_size(tab, sym) : 0;
	if (!size || size > FUNCTION_MAX || offset >= size)
		return bad_entry(s, e, "it is in no function");
	OT_TRY(vp_text_read(s->f->text, sym->addr, size, &code));
	*ret = (struct candidate){ .entry = e, .function = sym->addr };
	ret->length = vp_native_static_branch(code + offset, size - offset, (int64_t)(e->target - e->code));
	if (!ret->length)
		return bad_entry(s, e, "there is neither its nop nor its jump");
	if (!vp_boundary_is(code, size, offset))
		return bad_entry(s, e, "no instruction begins there");
	return NULL;
}

/* --- evaluating its code -------------------------------------------------------------------------------- */

static unsigned text_at(void *arg, uint64_t gva, uint8_t ret[15])
{
	struct search *s = arg;
	const uint8_t *code;
	unsigned len = 15;

	for (; len; len /= 2) { /* the text may end there */
		struct ot_err *err = vp_text_read(s->f->text, gva, len, &code);
		ot_err_destroy(err);
		if (err)
			continue;
		memcpy(ret, code, len);
		break;
	}
	return len;
}

static enum vp_block_mark mark_at(void *arg, uint64_t gva, uint64_t *ret_target)
{
	const struct search *s = arg;
	const struct vp_static_call *call = vp_static_keys_call(&s->f->keys, gva);
	const struct vp_jump_entry *jump;

	if (gva == s->from->code + s->from_length || gva == s->from->code)
		return VP_MARK_END;
	if (call && call->key == s->tp->call_key)
		return VP_MARK_EVENT;
	jump = vp_static_keys_jump(&s->f->keys, gva);
	if (!jump || jump->key != s->tp->key)
		return VP_MARK_NONE;
	*ret_target = jump->target;
	return VP_MARK_BRANCH;
}

/* Only functions that have a branch on the same key. */
static bool enters(void *arg, uint64_t gva)
{
	const struct search *s = arg;
	uint64_t offset;
	const struct vp_symbol *sym = function_of(s->f, gva, &offset);
	uint64_t size = sym && !offset ? vp_symbol_size(vp_guest_symtab(s->f->guest), sym) : 0;

	for (size_t i = 0; i < s->nentries; i++)
		if (s->entries[i].code - gva < size)
			return true;
	return false;
}

/* The kernel tests that its CPU is online, and that the tracepoint has functions. */
static bool is_set(void *arg, uint64_t gva)
{
	const struct search *s = arg;

	return (s->f->online_mask && gva - s->f->online_mask < 1024) || gva - s->tp->gva < s->size;
}

/* … which some compilers leave in a function of its own. */
static bool is_true(void *arg, uint64_t gva)
{
	const struct search *s = arg;
	uint64_t offset;
	const struct vp_symbol *sym = function_of(s->f, gva, &offset);

	return sym && !offset && !strcmp(vp_symbol_name(vp_guest_symtab(s->f->guest), sym), "cpu_online");
}

static struct ot_err *evaluate(struct search *s, struct candidate *c)
{
	const struct vp_block_env env = {
		.arg = s,
		.text = text_at,
		.mark = mark_at,
		.enters = enters,
		.is_set = is_set,
		.is_true = is_true,
		.stable = s->tp->gva,
		.stable_size = s->size,
	};

	s->from = c->entry;
	s->from_length = c->length;
	return vp_block_evaluate(s->f->executor, &s->f->exprs, &env, c->entry->target, s->nargs, &c->block);
}

static struct ot_err *evaluate_all(struct search *s)
{
	for (size_t i = 0; i < s->nentries; i++) {
		const struct vp_jump_entry *e = &s->entries[i];
		if (e->is_init)
			continue;
		OT_TRY(check_entry(s, e, &s->list[s->count]));
		OT_TRY(evaluate(s, &s->list[s->count]));
		s->count++;
	}
	return NULL;
}

/* --- gates ---------------------------------------------------------------------------------------------- */

/* Is function @p entered called by others than gates? Hundreds of gates may need the same answer, and each
 * costs a pass over the kernel's text. */
static struct ot_err *has_other_callers(struct search *s, uint64_t entered, bool *ret)
{
	size_t n = 0;

	if (s->asked != entered) {
		uint64_t *calls = calloc(s->count, sizeof(*calls));
		if (!calls)
			return ot_err_nomem();
		for (size_t i = 0; i < s->count; i++)
			if (s->list[i].block.entered == entered)
				calls[n++] = s->list[i].block.call;
		s->has_others = vp_flow_has_other_callers(s->f->text, entered, calls, n);
		s->asked = entered;
		free(calls);
	}
	*ret = s->has_others;
	return NULL;
}

/* Can the branch at @p code be reached while the key is off? In a function that a gate calls this is so if
 * others call it too. */
static struct ot_err *is_passed(struct search *s, uint64_t code, uint64_t entered, enum vp_reach *ret)
{
	const struct vp_flow_env env = { vp_guest_symtab(s->f->guest), s->f->text, &s->f->keys };
	bool others;

	if (!entered)
		return vp_flow_reaches(&env, s->tp->key, 0, code, ret);
	OT_TRY(has_other_callers(s, entered, &others));
	*ret = others ? VP_REACH_YES : VP_REACH_NO;
	return NULL;
}

static struct candidate *candidate_at(struct search *s, uint64_t code)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].entry->code == code)
			return &s->list[i];
	return NULL;
}

/* Can one pass through the gate be several events? */
static struct ot_err *is_loop(const struct search *s, const struct vp_block *gate, bool *ret)
{
	const struct vp_flow_env env = { vp_guest_symtab(s->f->guest), s->f->text, &s->f->keys };
	enum vp_reach again, call_again = VP_REACH_NO;

	OT_TRY(vp_flow_reaches(&env, s->tp->key, gate->after, gate->inner, &again));
	if (gate->entered)
		OT_TRY(vp_flow_reaches(&env, s->tp->key, gate->call + 5, gate->call, &call_again));
	*ret = again != VP_REACH_NO || call_again != VP_REACH_NO;
	return NULL;
}

/* Gates that are the only way to their events are the events; other gates are only tests. */
static struct ot_err *resolve_gates(struct search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct candidate *gate = &s->list[i], *inner = candidate_at(s, gate->block.inner);
		enum vp_reach passed;
		bool loops = false;

		if (!inner)
			continue;
		if (!inner->is_gated) {
			OT_TRY(is_passed(s, inner->entry->code, gate->block.entered, &passed));
			if (passed == VP_REACH_UNKNOWN)
				return ot_err_new(
				    OT_ERR_UNSUPPORTED,
				    "it can't be determined whether an event needs it to be enabled");
			inner->is_gated = passed == VP_REACH_NO;
		}
		if (!inner->is_gated)
			gate->block.reached = false;
		else
			OT_TRY(is_loop(s, &gate->block, &loops));
		if (loops)
			return ot_err_new(OT_ERR_UNSUPPORTED,
					  "several events pass where the kernel tests whether it is enabled");
	}
	return NULL;
}

/* With tests in its code, some of its events may pass only while it is enabled. */
static struct ot_err *check_tests(struct search *s)
{
	enum vp_reach passed;
	bool tests = false;

	for (size_t i = 0; i < s->count; i++)
		tests |= !s->list[i].block.reached || s->list[i].block.inner;
	for (size_t i = 0; tests && i < s->count; i++) {
		const struct candidate *c = &s->list[i];
		if (!c->block.reached || c->is_gated || c->block.inner)
			continue;
		OT_TRY(is_passed(s, c->entry->code, 0, &passed));
		if (passed != VP_REACH_YES)
			return ot_err_new(OT_ERR_UNSUPPORTED,
					  "the kernel works out its arguments only while it is enabled");
	}
	return NULL;
}

/* --- the result ------------------------------------------------------------------------------------------ */

static void add_site(const struct search *s, const struct candidate *c, struct vp_event_sites *ret)
{
	struct vp_event_site *site = &ret->list[ret->count++];

	*site = (struct vp_event_site){ .gva = c->entry->code,
					.target = c->entry->target,
					.function = c->function,
					.length = c->length,
					.when = c->block.when };
	memcpy(site->args, c->block.args, sizeof(site->args));
	for (unsigned n = 0; n < s->nargs; n++)
		if (!site->args[n])
			ret->known_args &= ~(1u << n);
}

static struct ot_err *choose(struct search *s, struct vp_event_sites *ret)
{
	OT_TRY(resolve_gates(s));
	OT_TRY(check_tests(s));
	ret->list = vp_probes_alloc(s->f->probes, (s->count + 1) * sizeof(*ret->list));
	if (!ret->list)
		return ot_err_nomem();
	ret->known_args = (1u << s->nargs) - 1;
	for (size_t i = 0; i < s->count; i++) {
		const struct candidate *c = &s->list[i];
		if (!c->block.reached || c->is_gated)
			continue;
		if (!c->block.exact)
			return ot_err_new(OT_ERR_UNSUPPORTED,
					  "the condition of its events can't be computed");
		/* A thread's flag, or another key: the function's effect need not be visible in the code. */
		if (s->tp->regfunc && !c->block.inner)
			return ot_err_new(OT_ERR_UNSUPPORTED, "its events happen only once enabling it has "
							      "made the kernel call a function for that");
		add_site(s, c, ret);
	}
	if (!ret->count)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "the kernel works out its arguments only while it is enabled");
	return NULL;
}

struct ot_err *vp_tracepoint_find_sites(struct vp_tracepoint_finder *f, const struct vp_guest_tracepoint *tp,
					unsigned nargs, struct vp_event_sites *ret)
{
	struct search s = { .f = f, .tp = tp, .size = f->tracepoints.size };

	*ret = (struct vp_event_sites){ 0 };
	s.nargs = nargs < VP_BLOCK_ARGS ? nargs : VP_BLOCK_ARGS;
	OT_TRY(vp_probes_text(f->probes, &f->text));
	OT_TRY(read_keys(f));
	s.entries = vp_static_keys_jumps(&f->keys, tp->key, &s.nentries);
	if (!s.nentries || !tp->call_key)
		return ot_err_new(OT_ERR_UNSUPPORTED, "no code of the guest has this tracepoint");
	if (s.nentries > SITES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u branches on its static key", SITES_MAX);
	s.list = calloc(s.nentries, sizeof(*s.list));
	if (!s.list)
		return ot_err_nomem();
	struct ot_err *err = evaluate_all(&s);
	if (!err)
		err = choose(&s, ret);
	free(s.list);
	return err;
}
