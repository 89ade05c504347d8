/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VMM's machine as observed: vCPUs by descriptor, memory slots, and guest RAM among them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "vmm-probe/hook/internal.h"
#include "vmm-probe/machines/ram_ranges.h"

/* Written once for each descriptor, before the vCPU's first KVM_RUN. */
static _Atomic(struct vp_hook_vcpu *) by_fd[VP_HOOK_FDS_MAX];

struct vp_hook_vcpu *vp_hook_vcpu_of(int fd)
{
	if (fd < 0 || fd >= (int)VP_HOOK_FDS_MAX)
		return NULL;
	return atomic_load_explicit(&by_fd[fd], memory_order_acquire);
}

static struct kvm_run *map_run(int fd)
{
	if (!vp_hook.run_size) {
		int size = vp_hook_syscall(vp_hook.kvm, KVM_GET_VCPU_MMAP_SIZE, NULL);
		if (size < (int)sizeof(struct kvm_run))
			return NULL;
		vp_hook.run_size = (size_t)size;
	}
	void *run = mmap(NULL, vp_hook.run_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return run == MAP_FAILED ? NULL : run;
}

/* The descriptor of @v was closed, and is now that of vCPU @id: KVM gives no two vCPUs of a VM the same id.
 */
static bool reuse(struct vp_hook_vcpu *v, uint32_t id)
{
	struct kvm_run *run = map_run(v->fd);

	if (!run)
		return false;
	munmap(v->run, vp_hook.run_size);
	pthread_mutex_destroy(&v->debug);
	*v = (struct vp_hook_vcpu){ .fd = v->fd, .id = id, .run = run };
	pthread_mutex_init(&v->debug, NULL);
	return true;
}

static struct vp_hook_vcpu *new_vcpu(int fd, uint32_t id)
{
	struct kvm_run *run = map_run(fd);
	struct vp_hook_vcpu *v = run ? aligned_alloc(64, sizeof(*v)) : NULL;

	if (!v) {
		if (run)
			munmap(run, vp_hook.run_size);
		return NULL;
	}
	*v = (struct vp_hook_vcpu){ .fd = fd, .id = id, .run = run };
	pthread_mutex_init(&v->debug, NULL);
	return v;
}

static int by_id(const void *a, const void *b)
{
	const struct vp_hook_vcpu *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

struct vp_hook_vcpu *vp_hook_add_vcpu(int fd, uint32_t id)
{
	struct vp_hook_vcpu *v = vp_hook_vcpu_of(fd);

	if (v && v->id == id)
		return v;
	if (v) {
		if (!reuse(v, id))
			return NULL;
	} else {
		if (vp_hook.nvcpus == VP_HOOK_VCPUS_MAX || fd < 0 || fd >= (int)VP_HOOK_FDS_MAX)
			return NULL;
		v = new_vcpu(fd, id);
		if (!v)
			return NULL;
		vp_hook.vcpus[vp_hook.nvcpus++] = v;
	}
	/* As an engine numbers vCPUs. */
	qsort(vp_hook.vcpus, vp_hook.nvcpus, sizeof(vp_hook.vcpus[0]), by_id);
	atomic_store_explicit(&by_fd[fd], v, memory_order_release);
	return v;
}

/* --- slots ------------------------------------------------------------------------------------------- */

static uint32_t slot_index(uint32_t number)
{
	uint32_t i = 0;

	while (i < vp_hook.nslots && vp_hook.slots[i].number != number)
		i++;
	return i;
}

const struct vp_hook_slot *vp_hook_find_slot(uint32_t number)
{
	uint32_t i = slot_index(number);

	return i < vp_hook.nslots ? &vp_hook.slots[i] : NULL;
}

/* A slot of size 0 is removed. */
void vp_hook_add_slot(const struct vp_hook_slot *slot)
{
	uint32_t i = slot_index(slot->number);

	if (!slot->size) {
		if (i < vp_hook.nslots)
			vp_hook.slots[i] = vp_hook.slots[--vp_hook.nslots];
		return;
	}
	if (i == VP_HOOK_SLOTS_MAX) {
		vp_hook.slots_lost = true;
		return;
	}
	vp_hook.slots[i] = *slot;
	if (i == vp_hook.nslots)
		vp_hook.nslots++;
}

/* A logged slot is being migrated, or a display's; a read-only slot is ROM. */
bool vp_hook_slot_is_ram(const struct vp_hook_slot *slot)
{
	return !slot->flags && vp_ram_is_kernels(slot->gpa, slot->gpa + slot->size);
}

bool vp_hook_touches_found(uint64_t gpa, uint64_t size)
{
	uint64_t end = gpa + (size ? size : 1);

	for (uint32_t i = 0; i < vp_hook.nslots; i++) {
		const struct vp_hook_slot *s = &vp_hook.slots[i];
		if (s->number >= VP_HOOK_SLOT_FOUND && s->gpa < end && gpa < s->gpa + s->size)
			return true;
	}
	return false;
}

void vp_hook_forget_slots(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < vp_hook.nslots; i++)
		if (vp_hook.slots[i].number < VP_HOOK_SLOT_FOUND)
			vp_hook.slots[n++] = vp_hook.slots[i];
	vp_hook.nslots = n;
	vp_hook.slots_stale = false;
}

/* --- RAM --------------------------------------------------------------------------------------------- */

uint32_t vp_hook_ram(struct vp_ram_range *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < vp_hook.nslots; i++) {
		const struct vp_hook_slot *s = &vp_hook.slots[i];
		if (vp_hook_slot_is_ram(s) && (s->number >= VP_HOOK_SLOT_FOUND) == vp_hook.live)
			n = vp_ram_add(ret, n, VP_HOOK_SLOTS_MAX, s->gpa, s->gpa + s->size, s->host);
	}
	return vp_ram_join(ret, n);
}
