/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * d_path(): the name of a Linux struct path, by walking up its dentries and mounts (as prepend_path(),
 * fs/d_path.c). The compiler passes the offsets of the members in three more arguments, four offsets of 16
 * bits in each, in the order of enum member (cook_kernel.c).
 */
#include "dif/vm/vm_priv.h"

/* Limits the walk: links may form a loop. */
#define STEPS_MAX 1024
#define NAME_MAX_ 255u

enum member {
	PATH_MNT,
	PATH_DENTRY,
	D_PARENT,
	D_NAME,
	D_NAME_LEN,
	MNT_ROOT,
	MOUNT_MNT,
	MOUNT_PARENT,
	MOUNT_POINT,
};

struct place {
	uint64_t mnt, dentry;
};

static uint64_t offset(struct dif_vm *vm, enum member m)
{
	return dif_arg(vm, 1 + m / 4) >> 16 * (m % 4) & 0xffff;
}

static bool pointer(struct dif_vm *vm, uint64_t base, enum member m, uint64_t *ret)
{
	return dif_mem_load(vm, base + offset(vm, m), ret, sizeof(*ret), false);
}

/* Prepend "/name" of a dentry to the path at @text + *@at. Of a path that is too long, the end is kept. */
static bool prepend(struct dif_vm *vm, uint64_t dentry, char *text, uint32_t *at)
{
	uint64_t name;
	uint32_t len;

	if (!pointer(vm, dentry, D_NAME, &name) ||
	    !dif_mem_load(vm, dentry + offset(vm, D_NAME_LEN), &len, sizeof(len), false))
		return false;
	if (len > NAME_MAX_) {
		dif_vm_raise(vm, DIF_FAULT_BADADDR, dentry);
		return false;
	}
	if (len + 1 > *at) {
		uint32_t n = *at;
		*at = 0;
		return dif_mem_load(vm, name + len - n, text, n, false);
	}
	if (!dif_mem_load(vm, name, text + *at - len, len, false))
		return false;
	*at -= len + 1;
	text[*at] = '/';
	return true;
}

/* One step up; false: the top, no room, or a fault. */
static bool step(struct dif_vm *vm, struct place *p, char *text, uint32_t *at)
{
	uint64_t root, parent;

	if (!pointer(vm, p->mnt, MNT_ROOT, &root))
		return false;
	if (p->dentry == root) {
		uint64_t mount = p->mnt - offset(vm, MOUNT_MNT);
		if (!pointer(vm, mount, MOUNT_PARENT, &parent) || parent == mount ||
		    !pointer(vm, mount, MOUNT_POINT, &p->dentry))
			return false;
		p->mnt = parent + offset(vm, MOUNT_MNT);
		return true;
	}
	if (!pointer(vm, p->dentry, D_PARENT, &parent) || parent == p->dentry ||
	    !prepend(vm, p->dentry, text, at))
		return false;
	p->dentry = parent;
	return *at > 0;
}

uint64_t dif_subr_d_path(struct dif_vm *vm)
{
	struct dif_vm_priv *p = vm->priv;
	struct place place;
	char *text = p->tmp[0];
	uint32_t end = vm->strsize - 1, at = end;

	if (dif_nargs(vm) < 4) { /* the kernel's types are unknown */
		dif_vm_raise(vm, DIF_FAULT_BADADDR, dif_arg(vm, 0));
		return 0;
	}
	if (!pointer(vm, dif_arg(vm, 0), PATH_MNT, &place.mnt) ||
	    !pointer(vm, dif_arg(vm, 0), PATH_DENTRY, &place.dentry))
		return 0;
	for (unsigned i = 0; i < STEPS_MAX && step(vm, &place, text, &at); i++)
		continue;
	if (vm->fault)
		return 0;
	return at == end ? dif_scratch_string(vm, "/", 1) : dif_scratch_string(vm, text + at, end - at);
}
