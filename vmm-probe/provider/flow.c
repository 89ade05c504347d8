/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking through a function from its entry, instruction by instruction, each once. */
#include "vmm-probe/provider/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/arch/arch.h"

#define FUNCTION_MAX (1u << 20)

/* A part of the function: itself, and NAME.cold. */
struct part {
	uint64_t gva, size;
	uint8_t *code; /* a copy */
	uint8_t *seen; /* by offset: 1 if the flow reaches it */
};

struct walk {
	const struct vp_flow_env *env;
	const struct vp_code_ops *code;
	uint64_t key;
	struct part parts[2];
	unsigned nparts;
	uint64_t *todo;
	size_t ntodo, cap;
	bool unknown;
};

static struct ot_err *add_part(struct walk *w, const struct vp_symbol *sym)
{
	struct part *p = &w->parts[w->nparts];
	const uint8_t *code;

	p->gva = sym->addr;
	p->size = vp_symbol_size(w->env->symtab, sym);
	if (!p->size || p->size > FUNCTION_MAX) {
		w->unknown = true;
		return NULL;
	}
	OT_TRY(vp_text_read(w->env->text, p->gva, p->size, &code));
	w->nparts++;
	p->code = malloc(p->size);
	p->seen = calloc(p->size, 1);
	if (!p->code || !p->seen)
		return ot_err_nomem();
	memcpy(p->code, code, p->size);
	return NULL;
}

/* The function around @goal is the first part, its unlikely part the second. */
static struct ot_err *find_parts(struct walk *w, uint64_t goal)
{
	const struct vp_symtab *tab = w->env->symtab;
	const struct vp_symbol *sym = vp_symtab_find_addr(tab, vp_gva(goal), NULL), *hot = sym, *cold;
	char name[VP_SYM_NAME_MAX];

	if (!sym) {
		w->unknown = true;
		return NULL;
	}
	snprintf(name, sizeof(name), "%s", vp_symbol_name(tab, sym));
	char *suffix = strstr(name, ".cold");
	if (suffix) {
		*suffix = '\0';
		hot = vp_symtab_find(tab, vp_symbol_module(tab, sym), name);
		cold = sym;
	} else {
		strncat(name, ".cold", sizeof(name) - strlen(name) - 1);
		cold = vp_symtab_find(tab, vp_symbol_module(tab, sym), name);
	}
	if (!hot) {
		w->unknown = true;
		return NULL;
	}
	OT_TRY(add_part(w, hot));
	return cold && !w->unknown ? add_part(w, cold) : NULL;
}

static struct part *part_of(struct walk *w, uint64_t gva)
{
	for (unsigned i = 0; i < w->nparts; i++)
		if (gva - w->parts[i].gva < w->parts[i].size)
			return &w->parts[i];
	return NULL;
}

/* Other targets are not followed: a tail call. */
static struct ot_err *come_to(struct walk *w, uint64_t gva)
{
	struct part *p = part_of(w, gva);

	if (!p || p->seen[gva - p->gva])
		return NULL;
	if (!ot_grow(&w->todo, &w->cap, w->ntodo + 1, sizeof(*w->todo)))
		return ot_err_nomem();
	p->seen[gva - p->gva] = 1;
	w->todo[w->ntodo++] = gva;
	return NULL;
}

/* Unrelated code follows a call of such a function. */
static bool is_noreturn(const struct walk *w, uint64_t gva)
{
	static const char *const names[] = { "__stack_chk_fail", "panic",   "__fortify_panic",
					     "fortify_panic",    "do_exit", "kthread_exit",
					     "make_task_dead" };
	const struct vp_symbol *sym = vp_symtab_find_addr(w->env->symtab, vp_gva(gva), NULL);

	for (size_t i = 0; sym && i < OT_ARRAY_SIZE(names); i++)
		if (sym->addr == gva && !strcmp(vp_symbol_name(w->env->symtab, sym), names[i]))
			return true;
	return false;
}

static struct ot_err *pass(struct walk *w, uint64_t gva)
{
	const struct part *p = part_of(w, gva);
	const struct vp_jump_entry *on_key = vp_static_keys_jump(w->env->keys, gva);
	const uint8_t *bytes = p->code + (gva - p->gva);
	uint64_t left = p->size - (gva - p->gva);
	uint8_t len = w->code->breakpoint(bytes, left);

	if (!len)
		len = w->code->length(bytes, left);
	if (!len) {
		w->unknown = true;
		return NULL;
	}
	/* A branch on a key: either way, but for the key that is off. */
	if (on_key) {
		OT_TRY(come_to(w, gva + len));
		return on_key->key == w->key ? NULL : come_to(w, on_key->target);
	}
	struct vp_branch branch = w->code->branch(bytes, len, gva);
	switch (branch.kind) {
	case VP_BRANCH_RETURN:
		return NULL;
	case VP_BRANCH_JUMP:
		return come_to(w, branch.target);
	case VP_BRANCH_INDIRECT: /* tail calls are calls of a thunk where jumps are protected */
	case VP_BRANCH_TABLE:
		w->unknown = true;
		return NULL;
	case VP_BRANCH_CALL:
		return is_noreturn(w, branch.target) ? NULL : come_to(w, gva + len);
	case VP_BRANCH_JUMP_IF:
		OT_TRY(come_to(w, branch.target));
		return come_to(w, gva + len);
	case VP_BRANCH_NONE:
		break;
	}
	return come_to(w, gva + len);
}

static struct ot_err *walk(struct walk *w, uint64_t from, uint64_t goal, enum vp_reach *ret)
{
	const struct part *p;

	OT_TRY(find_parts(w, goal));
	if (!w->nparts)
		return NULL;
	OT_TRY(come_to(w, from ? from : w->parts[0].gva));
	while (w->ntodo && !w->unknown)
		OT_TRY(pass(w, w->todo[--w->ntodo]));
	p = part_of(w, goal);
	if (p && p->seen[goal - p->gva])
		*ret = VP_REACH_YES;
	else if (!w->unknown && p)
		*ret = VP_REACH_NO;
	return NULL;
}

struct ot_err *vp_flow_reaches(const struct vp_flow_env *env, uint64_t key, uint64_t from, uint64_t goal,
			       enum vp_reach *ret)
{
	struct walk w = { .env = env, .key = key };

	*ret = VP_REACH_UNKNOWN;
	OT_TRY(vp_arch_code(&vp_arch_native, &w.code));
	struct ot_err *err = walk(&w, from, goal, ret);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(w.parts); i++) {
		free(w.parts[i].code);
		free(w.parts[i].seen);
	}
	free(w.todo);
	return err;
}

static bool is_in(uint64_t gva, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (from[i] == gva)
			return true;
	return false;
}

bool vp_flow_has_other_callers(const struct vp_text *text, uint64_t gva, const uint64_t *from, size_t n)
{
	uint64_t start, len, at = 0;
	const uint8_t *code = vp_text_core(text, &start, &len);

	while (vp_arch_native.code) {
		at = vp_arch_native.code->find_call(code, len, start, at, gva);
		if (at >= len)
			break;
		if (!is_in(start + at, from, n))
			return true;
		at++;
	}
	return false;
}
