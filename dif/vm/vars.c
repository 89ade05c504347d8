/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loading and storing variables. Statics (globals, clause-locals) have a slot: by value 8 bytes, by reference
 * a prefix of 8 bytes and the data. Dynamic ones (thread-local, associative) have a cell in the session's
 * table; their keys are built here.
 */
#include "dif/vm/vm_priv.h"

#define PREFIX    8
#define NULL_MARK 0xff

/* --- built-ins -------------------------------------------------------------------- */

static uint64_t builtin_string(struct dif_vm *vm, uint32_t id)
{
	struct dif_vm_priv *p = vm->priv;
	unsigned i = id & (DIF_NSTRVARS - 1);
	uint64_t addr;

	if (p->strvars[i].clause == p->clause && p->strvars[i].id == id)
		return p->strvars[i].addr;
	char *dst = dif_scratch_alloc(vm, vm->strsize, &addr);
	if (!dst)
		return 0;
	int len = vm->ops->string(vm->env, id, dst, vm->strsize);
	if (len < 0 || (uint32_t)len >= vm->strsize || !dif_vm_burn(vm, (uint64_t)len)) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return 0;
	}
	dst[len] = 0;
	/* Free the unused rest; nothing was allocated since. */
	vm->scratch_used = (addr & 0xffffffffffull) + (uint64_t)len + 1;
	p->strvars[i].clause = p->clause;
	p->strvars[i].id = id;
	p->strvars[i].addr = addr;
	return addr;
}

uint64_t dif_var_builtin(struct dif_vm *vm, uint32_t id)
{
	enum dif_fault fault = DIF_FAULT_NONE;

	if (dif_var_is_string(id))
		return builtin_string(vm, id);
	uint64_t value = vm->ops->scalar(vm->env, id, &fault);
	if (ot_unlikely(fault)) {
		dif_vm_raise(vm, fault, 0);
		return 0;
	}
	return value;
}

/* --- statics ------------------------------------------------------------------------- */

static enum dif_segment seg_of(unsigned scope)
{
	return scope == DIF_SCOPE_GLOBAL ? DIF_SEG_GLOBALS : DIF_SEG_LOCALS;
}

static const struct dif_var_slot *find_slot(struct dif_vm *vm, unsigned scope, uint32_t id)
{
	const struct dif_var_slot *slot = dif_var_slot_find(vm->vars, scope, id);

	if (ot_unlikely(!slot))
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
	return slot;
}

/* Globals are shared by the engines of a session, so words are accessed with relaxed atomics: values are not
 * torn, but not ordered. */
uint64_t dif_var_load_static(struct dif_vm *vm, unsigned scope, uint32_t id)
{
	const struct dif_var_slot *slot = find_slot(vm, scope, id);

	if (ot_unlikely(!slot))
		return 0;
	uint8_t *at = vm->seg[seg_of(scope)].base + slot->offset;
	if (!(slot->type.flags & DIF_TF_BYREF))
		return __atomic_load_n((uint64_t *)(void *)at, __ATOMIC_RELAXED);
	if (__atomic_load_n(at, __ATOMIC_RELAXED) == NULL_MARK)
		return 0;
	return dif_window_addr(seg_of(scope), slot->offset + PREFIX);
}

/* Copy a value of @type at program address @from to @dst, which has type->size bytes, and for a string one
 * more, for its NUL. */
static void copy_in(struct dif_vm *vm, const struct dif_rtype *type, uint64_t from, uint8_t *dst)
{
	bool user = type->flags & DIF_TF_BYUREF;
	struct dif_vm_priv *p = vm->priv;
	struct dif_str str;

	if (type->kind == DIF_TYPE_STRING) {
		if (!dif_mem_string(vm, from, type->size, user, p->tmp[0], &str))
			return;
		memmove(dst, str.s, str.len);
		dst[str.len] = 0;
		return;
	}
	if (!dif_vm_burn(vm, type->size))
		return;
	if (dif_window_has(from)) {
		const uint8_t *src = dif_mem_window(vm, from, type->size);
		if (src) {
			memmove(dst, src, type->size);
			return;
		}
	} else if (vm->ops->load(vm->env, from, dst, type->size, user)) {
		return;
	}
	dif_vm_raise(vm, DIF_FAULT_BADADDR, from);
}

void dif_var_store_static(struct dif_vm *vm, unsigned scope, uint32_t id, uint64_t value)
{
	const struct dif_var_slot *slot = find_slot(vm, scope, id);

	if (ot_unlikely(!slot))
		return;
	uint8_t *at = vm->seg[seg_of(scope)].base + slot->offset;
	if (!(slot->type.flags & DIF_TF_BYREF)) {
		__atomic_store_n((uint64_t *)(void *)at, value, __ATOMIC_RELAXED);
	} else if (!value) {
		__atomic_store_n(at, NULL_MARK, __ATOMIC_RELAXED);
	} else {
		copy_in(vm, &slot->type, value, at + PREFIX);
		if (!vm->fault)
			__atomic_store_n(at, 0, __ATOMIC_RELAXED);
	}
}

/* --- dynamic variables -------------------------------------------------------------------- */

void dif_tuple_push(struct dif_vm *vm, unsigned kind, uint64_t value, uint64_t size, bool byref)
{
	struct dif_vm_priv *p = vm->priv;
	struct dif_str str;

	if (p->ntuple == DIF_NTUPLE) {
		dif_vm_raise(vm, DIF_FAULT_TUPOFLOW, 0);
		return;
	}
	if (!byref) {
		size = 0;
	} else if (kind == DIF_TYPE_STRING) {
		/* Limited like a variable, so that a longer string and its copy in a variable are the same
		 * key. */
		uint32_t max = size && size < vm->strsize ? (uint32_t)size : vm->strsize;
		if (!dif_mem_string(vm, value, max, false, p->tmp[0], &str))
			return;
		size = (uint64_t)str.len + 1;
	} else if (size > INT32_MAX) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return;
	}
	p->tuple[p->ntuple++] = (struct dif_tuple){ value, size, kind == DIF_TYPE_STRING };
}

/* The fixed part of a key; for associative arrays the thread is zero. */
struct key_head {
	uint32_t id;
	uint32_t scope;
	struct dif_thread_key thread;
};
_Static_assert(sizeof(struct key_head) == DIF_DYNVAR_KEY_FIXED, "DIF_DYNVAR_KEY_FIXED in layout.h");

static bool append_element(struct dif_vm *vm, const struct dif_tuple *t, uint32_t *len)
{
	struct dif_vm_priv *p = vm->priv;
	uint64_t bytes = t->size ? (t->size + 7) & ~7ull : 8;

	if (bytes > p->key_cap || *len + 8 + bytes > p->key_cap)
		return false;
	memcpy(p->key + *len, &t->size, 8);
	uint8_t *dst = p->key + *len + 8;
	memset(dst + bytes - 8, 0, 8);
	if (!t->size)
		memcpy(dst, &t->value, 8);
	else if (!dif_mem_load(vm, t->value, dst, t->size - t->text, false))
		return false;
	*len += 8 + (uint32_t)bytes;
	return true;
}

/* Build the key in p->key; returns its length; 0: it is too long (a drop), or a fault was raised. */
static uint32_t build_key(struct dif_vm *vm, unsigned scope, uint32_t id, bool array)
{
	struct dif_vm_priv *p = vm->priv;
	struct key_head head = { .id = id, .scope = scope };
	uint32_t len = sizeof(head);

	if (p->key_cap < len)
		return 0;
	if (scope == DIF_SCOPE_THREAD) {
		if (!p->thread_known) {
			vm->ops->thread_key(vm->env, &p->thread);
			p->thread_known = true;
		}
		head.thread = p->thread;
	}
	memcpy(p->key, &head, sizeof(head));
	for (unsigned i = 0; array && i < p->ntuple; i++) {
		if (!append_element(vm, &p->tuple[i], &len))
			return 0;
	}
	return dif_vm_burn(vm, len) ? len : 0;
}

uint64_t dif_var_load_dynamic(struct dif_vm *vm, unsigned scope, uint32_t id, bool array)
{
	const struct dif_var_slot *slot = find_slot(vm, scope, id);
	struct dif_vm_priv *p = vm->priv;

	if (!slot || !vm->dynvars)
		return 0;
	uint32_t len = build_key(vm, scope, id, array);
	if (!len)
		return 0;
	uint64_t at = dif_dynvars_cell(vm->dynvars, vm->vcpu, p->key, len, 8, DIF_DYNVAR_FIND);
	if (!at)
		return 0;
	if (slot->type.flags & DIF_TF_BYREF)
		return dif_window_addr(DIF_SEG_DYNVARS, at);
	return __atomic_load_n((uint64_t *)(void *)(vm->seg[DIF_SEG_DYNVARS].base + at), __ATOMIC_RELAXED);
}

void dif_var_store_dynamic(struct dif_vm *vm, unsigned scope, uint32_t id, bool array, uint64_t value)
{
	const struct dif_var_slot *slot = find_slot(vm, scope, id);
	struct dif_vm_priv *p = vm->priv;

	if (!slot || !vm->dynvars)
		return;
	bool byref = slot->type.flags & DIF_TF_BYREF;
	uint32_t bytes = byref ? dif_var_bytes(&slot->type) : 0, size = bytes > 8 ? bytes : 8;
	uint32_t len = build_key(vm, scope, id, array);
	if (!len) {
		if (!vm->fault && value)
			dif_dynvars_count_drop(vm->dynvars);
		return;
	}
	if (!value) {
		dif_dynvars_cell(vm->dynvars, vm->vcpu, p->key, len, size, DIF_DYNVAR_FREE);
		return;
	}
	uint64_t at = dif_dynvars_cell(vm->dynvars, vm->vcpu, p->key, len, size, DIF_DYNVAR_ALLOC);
	if (!at)
		return;
	uint8_t *dst = vm->seg[DIF_SEG_DYNVARS].base + at;
	if (byref)
		copy_in(vm, &slot->type, value, dst);
	else
		__atomic_store_n((uint64_t *)(void *)dst, value, __ATOMIC_RELAXED);
}
