/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes and bindings of names by #pragma D. The name may be defined before the pragma or after it, but
 * in the same program: D's own names and those of libraries are not affected.
 */
#include <string.h>

#include "dif/lang/types/pending.h"
#include "dif/lang/types/provider_priv.h"

static void modify(struct dif_ident *id, const struct dif_pending_pragma *p)
{
	if (p->version)
		id->version = p->version;
	else
		id->attr = p->attr;
}

/* Pragmas wait in a table: for names, and, with a word in front that no name can have, for providers. */
static const char *key(struct dif_compiler *c, const char *name, bool is_provider)
{
	char *k;

	if (!is_provider)
		return name;
	k = dif_alloc(c, &c->scratch, strlen(name) + sizeof("provider "));
	if (k)
		stpcpy(stpcpy(k, "provider "), name);
	return k;
}

/* Pragmas that wait for @name, in order: the last one applies. */
static struct dif_pending_pragma *take(struct dif_compiler *c, const char *name, bool is_provider)
{
	const char *k = c->idents->npending ? key(c, name, is_provider) : NULL;
	struct dif_pending_pragma *list = k ? ot_map_gets(&c->idents->pending, k) : NULL;

	if (list && !ot_map_puts(&c->idents->pending, k, NULL))
		return dif_fail_memory(c);
	if (list)
		c->idents->npending--;
	return list;
}

void dif_pragma_apply(struct dif_compiler *c, struct dif_ident *id)
{
	for (struct dif_pending_pragma *p = take(c, id->name, false); p; p = p->next)
		modify(id, p);
}

void dif_pragma_apply_translator(struct dif_compiler *c)
{
	/* a translator is as stable as the sources of its members: nothing to keep */
	take(c, "translator", false);
}

static bool set_provider(struct dif_compiler *c, const struct dif_pending_pragma *p)
{
	struct dif_provider *prov = dif_provider_get(c, p->name);

	if (!prov)
		return false;
	prov->has_attr[p->part] = true;
	prov->attrs[p->part] = p->attr;
	return true;
}

bool dif_pragma_apply_provider(struct dif_compiler *c, const char *name)
{
	for (struct dif_pending_pragma *p = take(c, name, true); p; p = p->next)
		if (!set_provider(c, p))
			return false;
	return !c->diag.failed;
}

static bool wait_for(struct dif_compiler *c, const struct dif_pending_pragma *p)
{
	const char *k = key(c, p->name, p->is_provider);
	struct dif_pending_pragma *copy = k ? dif_new(c, &c->scratch, struct dif_pending_pragma) : NULL,
				  *list;

	if (!copy)
		return false;
	*copy = *p;
	copy->next = NULL;
	copy->last = copy;
	list = ot_map_gets(&c->idents->pending, k);
	if (list) {
		list->last->next = copy;
		list->last = copy;
		return true;
	}
	c->idents->npending++;
	return ot_map_puts(&c->idents->pending, k, copy) || dif_fail_memory(c);
}

/* Declared in D, or existing without a declaration. */
static bool provider_exists(struct dif_compiler *c, const char *name)
{
	return dif_provider_find(c, name) || dif_provider_is_real(c, name);
}

bool dif_pragma_modify(struct dif_compiler *c, const struct dif_pending_pragma *p)
{
	struct dif_ident *id;

	if (p->is_provider)
		return provider_exists(c, p->name) ? set_provider(c, p) : wait_for(c, p);
	id = dif_ident_find(c, DIF_NAME_GLOBAL, p->name);
	if (!id)
		return wait_for(c, p);
	if (id->gen != c->idents->gen)
		return dif_fail(c, DIF_D_PRAGMA_SCOPE, p->line,
				"#pragma %s cannot modify entity defined outside program scope", p->pragma);
	modify(id, p);
	return true;
}

bool dif_pragma_end(struct dif_compiler *c)
{
	for (size_t i = 0; c->idents->npending && i < c->idents->pending.count; i++) {
		const struct dif_pending_pragma *p = c->idents->pending.entries[i]->value;
		if (p)
			return dif_fail(c, DIF_D_PRAGMA_UNUSED, c->diag.line, "unused #pragma %s", p->pragma);
	}
	return true;
}
