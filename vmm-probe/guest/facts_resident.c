/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of the kernel's image, and the memory that is certain to be mapped: a task's structure, by its
 * size, and the part of the per-CPU areas that the linker laid out (arch/x86/kernel/vmlinux.lds.S,
 * PERCPU_SECTION). That part's symbols count from 0 in most releases; in newer ones they are addresses in the
 * image, and the areas' bases are differences to these. Either way base plus symbol is the address.
 */
#include "vmm-probe/guest/facts_resident.h"

#include "vmm-probe/guest/btf.h"

#define TASK_MAX   (64ull << 10)
#define PERCPU_MAX (16ull << 20)

/* The places of the guest's tasks, whose stacks may contain addresses in such code: all of them, or none. */
static void find_tasks(struct vp_guest *guest, const struct vp_btf *btf, struct vp_resident_facts *ret)
{
	const struct {
		const char *type, *path;
		uint32_t *offset;
	} members[] = {
		{ "task_struct", "tasks", &ret->tasks },
		{ "task_struct", "signal", &ret->signal },
		{ "task_struct", "thread_node", &ret->thread_node },
		{ "signal_struct", "thread_head", &ret->thread_head },
	};
	bool found = btf && vp_guest_find_symbol(guest, "init_task", &ret->init_task);

	for (size_t i = 0; found && i < OT_ARRAY_SIZE(members); i++)
		found = vp_btf_member_offset(btf, members[i].type, members[i].path, members[i].offset, NULL);
	if (!found)
		ret->tasks = VP_NO_OFFSET;
}

/* Both write text, with what replaces it, to where the room of such code is not. */
static void find_writers(struct vp_guest *guest, struct vp_resident_facts *ret)
{
	static const struct {
		const char *feature, *function;
	} all[VP_WRITERS] = { { "hibernate", "hibernation_snapshot" }, { "kernel_kexec", "machine_kexec" } };
	uint64_t at;

	for (size_t i = 0; i < VP_WRITERS; i++) {
		if (vp_guest_find_symbol(guest, all[i].function, &at))
			ret->writers[i] = at;
		else if (vp_guest_find_symbol(guest, all[i].feature, &at))
			ret->writers[i] = VP_UNNAMED;
	}
}

/* Where `ret` is a jump, it leads to one of these: to the first, as the compiler made it, or to what the
 * kernel has put in its place when it booted, by the processor's defects. */
static void find_thunks(struct vp_guest *guest, struct vp_resident_facts *ret)
{
	static const char *const names[] = { "__x86_return_thunk",      "retbleed_return_thunk",
					     "srso_return_thunk",       "srso_alias_return_thunk",
					     "call_depth_return_thunk", "its_return_thunk" };
	uint32_t n = 0;

	_Static_assert(OT_ARRAY_SIZE(names) <= VP_RETURN_THUNKS, "a place for each");

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (vp_guest_find_symbol(guest, names[i], &ret->thunks[n]))
			n++;
}

void vp_facts_resident(struct vp_guest *guest, struct vp_resident_facts *ret)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	uint64_t first, end, image_end, task = btf ? vp_btf_sizeof(btf, "task_struct") : 0;

	*ret = (struct vp_resident_facts){ 0 };
	if (!vp_guest_find_symbol(guest, "_end", &image_end) ||
	    !vp_guest_find_symbol(guest, "__per_cpu_start", &first) ||
	    !vp_guest_find_symbol(guest, "__per_cpu_end", &end))
		return;
	/* Trampolines have 32 bits with sign for an offset. */
	if ((int64_t)first != (int32_t)first || end <= first || end - first > PERCPU_MAX)
		return;
	*ret = (struct vp_resident_facts){ .image_end = image_end,
					   .task_size = task <= TASK_MAX ? (uint32_t)task : 0,
					   .percpu = (int32_t)first,
					   .percpu_size = (uint32_t)(end - first) };
	find_tasks(guest, btf, ret);
	find_writers(guest, ret);
	find_thunks(guest, ret);
}
