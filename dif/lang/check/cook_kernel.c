/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subroutines that read a Linux kernel's own structures: locks, open files, paths. They are expanded into
 * expressions with the offsets of the kernel's types, so an engine needs no knowledge of them. Where a
 * structure is not known (no types, or another kernel's subroutine) the call stays, and faults with its first
 * argument's address when it is made.
 */
#include "dif/lang/check/cook.h"

/* The low bits of an owner word are flags; a task's address has none there. */
#define OWNER_FLAGS  7ull
/* A struct rw_semaphore's count: bit 0 a writer, from bit 8 on the readers. */
#define WRITER       1
#define READER_SHIFT 8

/* --- offsets --------------------------------------------------------------------------------- */

static struct dif_type *struct_named(struct dif_compiler *c, const char *tag)
{
	struct dif_type *t = dif_tag_find(c, DIF_C_STRUCT, tag);

	return t && !dif_is_incomplete(c, t) ? t : NULL;
}

/* Bytes from the start of struct @tag to its @member, and to @inner in that (NULL: no further). */
static bool offset_of(struct dif_compiler *c, const char *tag, const char *member, const char *inner,
		      uint64_t *ret)
{
	struct dif_type *t = struct_named(c, tag);
	uint64_t outer_bits, inner_bits = 0;
	struct dif_member *m = t ? dif_member_find(c, t, member, &outer_bits) : NULL;

	if (m && inner) {
		struct dif_type *sou = dif_base(c, m->type);
		m = dif_is_sou(c, sou) ? dif_member_find(c, sou, inner, &inner_bits) : NULL;
	}
	if (!m)
		return false;
	*ret = (outer_bits + inner_bits) / 8;
	return true;
}

/* --- expressions ------------------------------------------------------------------------------ */

static struct dif_node *number(struct dif_compiler *c, uint64_t value)
{
	return dif_node_int(c, value, c->types->uint64);
}

/* Operands are cooked; NULL ones (an error was raised) give NULL. */
static struct dif_node *op2(struct dif_compiler *c, enum dif_oper op, struct dif_node *l, struct dif_node *r)
{
	struct dif_node *n = l && r ? dif_node_op2(c, op, l, r) : NULL;

	return n ? dif_cook(c, n) : NULL;
}

/* *(uint64_t *)(base + offset), or of another integer type */
static struct dif_node *load(struct dif_compiler *c, struct dif_node *base, uint64_t offset,
			     struct dif_type *type)
{
	struct dif_node *addr = base ? dif_cast_to(c, base, c->types->uint64) : NULL;
	struct dif_type *to = dif_type_pointer(c, type);

	addr = op2(c, DIF_O_ADD, addr, number(c, offset));
	addr = addr && to ? dif_cast_to(c, addr, to) : NULL;
	addr = addr ? dif_node_op1(c, DIF_O_DEREF, addr) : NULL;
	return addr ? dif_cook(c, addr) : NULL;
}

static struct dif_node *word(struct dif_compiler *c, struct dif_node *base, uint64_t offset)
{
	return load(c, base, offset, c->types->uint64);
}

static struct dif_node *current_thread(struct dif_compiler *c)
{
	struct dif_node *n = dif_node_name(c, DIF_NAME_GLOBAL, "curthread");

	n = n ? dif_cook(c, n) : NULL;
	return n ? dif_cast_to(c, n, c->types->uint64) : NULL;
}

/* --- locks ------------------------------------------------------------------------------------ */

static struct dif_node *owner_of(struct dif_compiler *c, struct dif_node *lock, uint64_t at)
{
	return op2(c, DIF_O_AND, word(c, lock, at), number(c, ~OWNER_FLAGS));
}

static struct dif_node *mutex(struct dif_compiler *c, uint32_t subr, struct dif_node *lock, uint64_t at)
{
	switch (subr) {
	case DIF_SUBR_mutex_owned:
		return op2(c, DIF_O_EQ, owner_of(c, lock, at), current_thread(c));
	case DIF_SUBR_mutex_owner:
		return owner_of(c, lock, at);
	default:
		/* a struct mutex may sleep or spin; the lock is read in either case */
		return op2(c, DIF_O_COMMA, word(c, lock, at),
			   number(c, subr == DIF_SUBR_mutex_type_adaptive));
	}
}

static struct dif_node *rw_lock(struct dif_compiler *c, uint32_t subr, struct dif_node *lock, uint64_t count,
				uint64_t owner)
{
	switch (subr) {
	case DIF_SUBR_rw_iswriter:
		/* readers mark the owner word, so it is a task's address only while that one writes */
		return op2(c, DIF_O_EQ, word(c, lock, owner), current_thread(c));
	case DIF_SUBR_rw_write_held:
		return op2(c, DIF_O_AND, word(c, lock, count), number(c, WRITER));
	default:
		return op2(c, DIF_O_GT,
			   op2(c, DIF_O_RSH, load(c, lock, count, c->types->int64), number(c, READER_SHIFT)),
			   dif_node_int(c, 0, c->types->int64));
	}
}

/* --- open files ------------------------------------------------------------------------------- */

/* curthread->files->fdt: fd < max_fds ? fdt->fd[fd] : 0 */
static struct dif_node *open_file(struct dif_compiler *c, struct dif_node *fd)
{
	uint64_t files, table, max, array;

	if (!offset_of(c, "task_struct", "files", NULL, &files) ||
	    !offset_of(c, "files_struct", "fdt", NULL, &table) ||
	    !offset_of(c, "fdtable", "max_fds", NULL, &max) || !offset_of(c, "fdtable", "fd", NULL, &array))
		return NULL;
	struct dif_type *uint = ot_map_gets(&c->types->typedefs, "uint32_t");
	struct dif_node *fdt = word(c, word(c, current_thread(c), files), table);
	struct dif_node *again = fdt ? dif_node_clone(c, fdt) : NULL;
	struct dif_node *index = dif_cast_to(c, fd, uint);
	struct dif_node *index2 = index ? dif_node_clone(c, index) : NULL;
	struct dif_node *slot =
	    op2(c, DIF_O_MUL, index2 ? dif_cast_to(c, index2, c->types->uint64) : NULL, number(c, 8));
	struct dif_node *choice = dif_node_new(c, DIF_N_OP3);

	slot = op2(c, DIF_O_ADD, word(c, again, array), slot);
	if (!choice)
		return NULL;
	choice->left = op2(c, DIF_O_LT, index, load(c, fdt, max, uint));
	choice->right = word(c, slot, 0);
	choice->third = number(c, 0);
	return choice->left && choice->right && choice->third ? dif_cook(c, choice) : NULL;
}

/* --- paths ------------------------------------------------------------------------------------ */

/* d_path() walks in the engine: the offsets go along as arguments, four of 16 bits in each (subr_dpath.c). */
static bool add_path_offsets(struct dif_compiler *c, struct dif_node *call)
{
	static const struct {
		const char *tag, *member, *inner;
	} what[] = {
		{ "path", "mnt", NULL },
		{ "path", "dentry", NULL },
		{ "dentry", "d_parent", NULL },
		{ "dentry", "d_name", "name" },
		{ "dentry", "d_name", "len" },
		{ "vfsmount", "mnt_root", NULL },
		{ "mount", "mnt", NULL },
		{ "mount", "mnt_parent", NULL },
		{ "mount", "mnt_mountpoint", NULL },
	};
	uint64_t packed[3] = { 0 };
	struct dif_node *last = call->args;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(what); i++) {
		uint64_t at;
		if (!offset_of(c, what[i].tag, what[i].member, what[i].inner, &at) || at > 0xffff)
			return false;
		packed[i / 4] |= at << 16 * (i % 4);
	}
	for (unsigned i = 0; i < OT_ARRAY_SIZE(packed); i++, last = last->next) {
		last->next = number(c, packed[i]);
		if (!last->next)
			return false;
		last->next->is_cooked = true;
	}
	return true;
}

/* --- what calls mean -------------------------------------------------------------------------- */

/* @n in place of @call, if it could be expanded. */
static struct dif_node *meaning(struct dif_compiler *c, struct dif_node *call, struct dif_node *n)
{
	if (c->diag.failed)
		return NULL;
	return n ? dif_cast_to(c, n, call->type) : call;
}

struct dif_node *dif_lower_mutex(struct dif_compiler *c, struct dif_node *call)
{
	uint64_t at;

	if (!offset_of(c, "mutex", "owner", NULL, &at))
		return meaning(c, call, NULL);
	return meaning(c, call, mutex(c, call->ident->func->id, call->args, at));
}

struct dif_node *dif_lower_rw_lock(struct dif_compiler *c, struct dif_node *call)
{
	uint64_t count, owner;

	if (!offset_of(c, "rw_semaphore", "count", NULL, &count) ||
	    !offset_of(c, "rw_semaphore", "owner", NULL, &owner))
		return meaning(c, call, NULL);
	return meaning(c, call, rw_lock(c, call->ident->func->id, call->args, count, owner));
}

struct dif_node *dif_lower_open_file(struct dif_compiler *c, struct dif_node *call)
{
	return meaning(c, call, open_file(c, call->args));
}

struct dif_node *dif_lower_path(struct dif_compiler *c, struct dif_node *call)
{
	add_path_offsets(c, call);
	return meaning(c, call, NULL);
}
