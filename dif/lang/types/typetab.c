/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The type table: D's own types, and looking types up. */
#include "dif/lang/types/typetab.h"

#include <string.h>

#include "dif/lang/types/world.h"

struct dif_type *dif_type_new(struct dif_compiler *c, enum dif_ckind kind, const char *name, uint64_t size)
{
	struct dif_type *t = dif_new(c, &c->arena, struct dif_type);

	if (!t)
		return NULL;
	t->kind = kind;
	t->complete = true;
	t->is_d = true;
	t->name = name;
	t->module = "D";
	t->size = size;
	return t;
}

struct dif_type *dif_type_pointer(struct dif_compiler *c, struct dif_type *to)
{
	struct dif_type *t = to ? dif_type_new(c, DIF_C_POINTER, "", 8) : NULL;

	if (t)
		t->ref = to;
	return t;
}

struct dif_type *dif_type_array(struct dif_compiler *c, struct dif_type *of, uint64_t nelems)
{
	struct dif_type *t = of ? dif_type_new(c, DIF_C_ARRAY, "", 0) : NULL;

	if (!t)
		return NULL;
	t->ref = of;
	t->nelems = nelems;
	t->size = nelems * dif_sizeof(c, of);
	return t;
}

struct dif_type *dif_type_qualified(struct dif_compiler *c, enum dif_ckind kind, struct dif_type *of)
{
	struct dif_type *t = of ? dif_type_new(c, kind, "", of->size) : NULL;

	if (t)
		t->ref = of;
	return t;
}

static struct dif_type *add_base(struct dif_compiler *c, enum dif_ckind kind, const char *name, uint64_t size,
				 bool is_signed)
{
	struct dif_type *t = dif_type_new(c, kind, name, size);

	if (!t)
		return NULL;
	t->is_signed = is_signed;
	if (!ot_map_puts(&c->types->typedefs, name, t))
		return dif_fail_memory(c);
	return t;
}

static struct dif_type *add_typedef(struct dif_compiler *c, const char *name, struct dif_type *of)
{
	struct dif_type *t = dif_type_new(c, DIF_C_TYPEDEF, name, of ? of->size : 0);

	if (!t || !of)
		return NULL;
	t->ref = of;
	if (!ot_map_puts(&c->types->typedefs, name, t))
		return dif_fail_memory(c);
	return t;
}

static void init_base(struct dif_compiler *c, struct dif_typetab *t)
{
	t->void_ = add_base(c, DIF_C_VOID, "void", 0, false);
	t->char_ = add_base(c, DIF_C_INT, "char", 1, true);
	t->schar = add_base(c, DIF_C_INT, "signed char", 1, true);
	t->uchar = add_base(c, DIF_C_INT, "unsigned char", 1, false);
	t->short_ = add_base(c, DIF_C_INT, "short", 2, true);
	t->ushort = add_base(c, DIF_C_INT, "unsigned short", 2, false);
	t->int_ = add_base(c, DIF_C_INT, "int", 4, true);
	t->uint = add_base(c, DIF_C_INT, "unsigned int", 4, false);
	t->long_ = add_base(c, DIF_C_INT, "long", 8, true);
	t->ulong = add_base(c, DIF_C_INT, "unsigned long", 8, false);
	t->llong = add_base(c, DIF_C_INT, "long long", 8, true);
	t->ullong = add_base(c, DIF_C_INT, "unsigned long long", 8, false);
	t->bool_ = add_base(c, DIF_C_INT, "_Bool", 1, false);
	t->float_ = add_base(c, DIF_C_FLOAT, "float", 4, true);
	t->double_ = add_base(c, DIF_C_FLOAT, "double", 8, true);
	t->ldouble = add_base(c, DIF_C_FLOAT, "long double", 16, true);
	t->string = add_base(c, DIF_C_STRING, "string", 0, false);
	t->dynamic = add_base(c, DIF_C_DYNAMIC, "<DYN>", 0, false);
	t->stack = add_base(c, DIF_C_STACK, "stack", 8, false);
	t->symaddr = add_base(c, DIF_C_SYMADDR, "_symaddr", 8, false);
	t->usymaddr = add_base(c, DIF_C_USYMADDR, "_usymaddr", 16, false);
	if (c->diag.failed)
		return;
	t->char_->is_char = t->uchar->is_char = t->schar->is_char = true;
	t->bool_->is_bool = true;
}

static void init_typedefs(struct dif_compiler *c, struct dif_typetab *t)
{
	t->int8 = add_typedef(c, "int8_t", t->schar);
	t->int16 = add_typedef(c, "int16_t", t->short_);
	t->int32 = add_typedef(c, "int32_t", t->int_);
	t->int64 = add_typedef(c, "int64_t", t->long_);
	t->uint8 = add_typedef(c, "uint8_t", t->uchar);
	t->uint16 = add_typedef(c, "uint16_t", t->ushort);
	t->uint32 = add_typedef(c, "uint32_t", t->uint);
	t->uint64 = add_typedef(c, "uint64_t", t->ulong);
	t->uintptr = add_typedef(c, "uintptr_t", t->ulong);
	add_typedef(c, "intptr_t", t->long_);
	t->size = add_typedef(c, "size_t", t->ulong);
	add_typedef(c, "ssize_t", t->long_);
	t->ptrdiff = add_typedef(c, "ptrdiff_t", t->long_);
	add_typedef(c, "uchar_t", t->uchar);
	add_typedef(c, "ushort_t", t->ushort);
	add_typedef(c, "uint_t", t->uint);
	add_typedef(c, "ulong_t", t->ulong);
	add_typedef(c, "longlong_t", t->llong);
	add_typedef(c, "u_longlong_t", t->ullong);
	t->id = add_typedef(c, "id_t", t->int_);
	t->pid = add_typedef(c, "pid_t", t->int_);
	t->void_ptr = dif_type_pointer(c, t->void_);
	t->char_ptr = dif_type_pointer(c, t->char_);
}

bool dif_types_init(struct dif_compiler *c)
{
	c->types->owner = c;
	ot_map_init(&c->types->tags);
	ot_map_init(&c->types->typedefs);
	init_base(c, c->types);
	if (!c->diag.failed)
		init_typedefs(c, c->types);
	return !c->diag.failed;
}

void dif_types_deinit(struct dif_typetab *tab)
{
	ot_map_deinit(&tab->tags);
	ot_map_deinit(&tab->typedefs);
}

/* Ask the world. "mod`name" searches one module, "`name" all. */
static struct dif_type *ask_world(struct dif_compiler *c, enum dif_ckind kind, const char *name)
{
	const char *tick = strrchr(name, '`'), *module = NULL;

	if (!c->world->find_type)
		return NULL;
	if (tick) {
		if (tick > name)
			module = dif_strndup(c, c->nodes, name, (size_t)(tick - name));
		name = tick + 1;
	}
	return *name ? c->world->find_type(c->world->env, module, kind, name) : NULL;
}

/* D`name and C`name are the program's own. */
static const char *own_name(const char *name)
{
	return (name[0] == 'D' || name[0] == 'C') && name[1] == '`' ? name + 2 : NULL;
}

/* Linux's counterpart of a lock's type, or of a message's, without known members. */
static struct dif_type *weak_struct(struct dif_compiler *c, const char *tag)
{
	struct dif_type *t = dif_tag_find(c, DIF_C_STRUCT, tag);

	return t ? t : dif_type_new(c, DIF_C_FORWARD, tag, 0);
}

/* Types that the headers of Solaris and BSD define for every program; any other definition of these names is
 * preferred. */
static struct dif_type *weak_typedef(struct dif_compiler *c, const char *name)
{
	const struct dif_typetab *t = c->types;
	const struct {
		const char *name;
		struct dif_type *type;
	} names[] = {
		{ "uid_t", t->uint32 },        { "gid_t", t->uint32 },     { "major_t", t->uint32 },
		{ "minor_t", t->uint32 },      { "ipaddr_t", t->uint32 },  { "in_addr_t", t->uint32 },
		{ "in_port_t", t->uint16 },    { "socklen_t", t->uint32 }, { "zoneid_t", t->int32 },
		{ "processorid_t", t->int32 }, { "psetid_t", t->int32 },   { "chipid_t", t->int32 },
		{ "lgrp_id_t", t->int32 },     { "taskid_t", t->int32 },   { "projid_t", t->int32 },
		{ "lwpid_t", t->int32 },       { "boolean_t", t->int_ },   { "time_t", t->long_ },
		{ "hrtime_t", t->llong },      { "offset_t", t->llong },   { "caddr_t", t->char_ptr },
		{ "u_char", t->uchar },        { "u_short", t->ushort },   { "u_int", t->uint },
		{ "u_long", t->ulong },        { "quad_t", t->int64 },     { "u_quad_t", t->uint64 },
	};
	static const struct {
		const char *name, *tag;
	} structs[] = { { "kmutex_t", "mutex" },
			{ "krwlock_t", "rw_semaphore" },
			{ "mblk_t", "msgb" },
			{ "in6_addr_t", "in6_addr" } };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].type;
	for (size_t i = 0; i < OT_ARRAY_SIZE(structs); i++)
		if (!strcmp(structs[i].name, name))
			return weak_struct(c, structs[i].tag);
	return NULL;
}

struct dif_type *dif_type_find(struct dif_compiler *c, const char *name)
{
	const char *own = own_name(name);
	struct dif_type *t = ot_map_gets(&c->types->typedefs, own ? own : name);

	if (!t && !own)
		t = ask_world(c, DIF_C_TYPEDEF, name);
	return t ? t : weak_typedef(c, name);
}

static const char *tag_word(enum dif_ckind kind)
{
	return kind == DIF_C_STRUCT ? "struct" : kind == DIF_C_UNION ? "union" : "enum";
}

struct dif_type *dif_tag_find(struct dif_compiler *c, enum dif_ckind kind, const char *name)
{
	const char *own = own_name(name);
	const char *key = ot_arena_printf(c->nodes, "%s %s", tag_word(kind), own ? own : name);

	if (!key)
		return dif_fail_memory(c);
	struct dif_type *t = ot_map_gets(&c->types->tags, key);
	return t || own ? t : ask_world(c, kind, name);
}
