/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of resident probes in a VM of /dev/kvm that goes on without it: it is taken away if nothing of
 * the guest would return there. The guest is what the search reads: a page table, one task, its stack, one
 * vCPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vmm-probe/backend/kvm/internal.h"

#define PAGE      4096ull
#define PAGES     32u
#define RAM_GPA   0x100000ull
#define IMAGE     0xffffffff80000000ull
#define IMAGE_END (IMAGE + VP_KVM_LARGE_PAGE)
#define FIRST     9u /* of our entries: one of the image's, eight that are empty */
#define SPARE_GPA 0x140000000ull
#define SLOT      20u
#define EFER_NXE  (1ull << 11)
#define LARGE_GIB 512u

/* Pages of RAM, which the image's first 2 MiB map: four tables, then what the kernel has. */
enum { TOP, SECOND, ENTRIES, LAST, AREA = 8, TASK, STACK, STACK_PAGES = 4 };

/* Offsets in the task. */
enum { TASK_STACK = 8, TASKS = 16, SIGNAL = 32, THREAD_NODE = 40, SIGNAL_STRUCT = 64 };

struct machine {
	int dev, vm, vcpu;
	uint64_t (*ram)[PAGE / 8];
	struct vp_ram_range range;
	struct vp_kvm_vcpu vcpus[1];
	struct vp_kvm_traps traps;
	struct vp_kvm kvm;
	struct vp_kvm_resident resident;
	struct vp_facts facts;
	struct vp_resident_kernel kernel;
};

static struct machine machine;

static uint64_t gva(unsigned page, unsigned offset)
{
	return IMAGE + page * PAGE + offset;
}

static uint64_t *word(unsigned page, unsigned offset)
{
	return &machine.ram[page][offset / 8];
}

static struct ot_err *place(void *arg, uint32_t bits, uint64_t size, uint64_t *ret_gpa, uint32_t *ret_slot)
{
	(void)arg;
	assert_in_range(bits, 32, 52);
	assert_true(size > VP_KVM_LARGE_PAGE && !(size % VP_KVM_LARGE_PAGE));
	*ret_gpa = SPARE_GPA;
	*ret_slot = SLOT;
	return NULL;
}

/* --- the guest ------------------------------------------------------------------------------------- */

static void make_tables(struct machine *m)
{
	const uint64_t how = 3; /* present, writable */

	*word(TOP, 511 * 8) = (RAM_GPA + SECOND * PAGE) | how;
	*word(SECOND, 510 * 8) = (RAM_GPA + ENTRIES * PAGE) | how;
	*word(ENTRIES, 0) = (RAM_GPA + LAST * PAGE) | how;
	for (unsigned i = 0; i < PAGES; i++)
		m->ram[LAST][i] = (RAM_GPA + i * PAGE) | how;
}

/* init_task, alone on both lists, runs. */
static void make_task(struct machine *m)
{
	const uint64_t task = gva(TASK, 0), head = gva(TASK, SIGNAL_STRUCT);

	*word(AREA, 0) = task;
	*word(TASK, TASK_STACK) = gva(STACK, 0);
	*word(TASK, TASKS) = gva(TASK, TASKS);
	*word(TASK, SIGNAL) = head;
	*word(TASK, THREAD_NODE) = head;
	*word(TASK, SIGNAL_STRUCT) = gva(TASK, THREAD_NODE);
	m->facts = (struct vp_facts){
		.kernel_root = RAM_GPA,
		.levels = 4,
		.nvcpus = 1,
		.percpu_base = { gva(AREA, 0) },
		.task_stack = TASK_STACK,
		.stack_size = STACK_PAGES * PAGE,
		.resident = { .tasks = TASKS,
			      .signal = SIGNAL,
			      .thread_node = THREAD_NODE,
			      .init_task = task },
	};
	m->kernel = (struct vp_resident_kernel){ .root = RAM_GPA,
						 .levels = 4,
						 .image_end = IMAGE_END,
						 .percpu_base = m->facts.percpu_base,
						 .facts = &m->facts,
						 .anyway = true };
}

static void set_regs(const struct machine *m, uint64_t rip, uint64_t rsp)
{
	struct kvm_regs regs = { .rip = rip, .rsp = rsp, .rflags = 2 };

	assert_int_equal(ioctl(m->vcpu, KVM_SET_REGS, &regs), 0);
}

static void make_vcpu(struct machine *m)
{
	struct kvm_sregs sregs;

	m->vcpu = ioctl(m->vm, KVM_CREATE_VCPU, 0);
	assert_true(m->vcpu >= 0);
	assert_int_equal(ioctl(m->vcpu, KVM_GET_SREGS, &sregs), 0);
	sregs.gs.base = gva(AREA, 0);
	sregs.efer |= EFER_NXE;
	assert_int_equal(ioctl(m->vcpu, KVM_SET_SREGS, &sregs), 0);
	m->vcpus[0] = (struct vp_kvm_vcpu){ .fd = m->vcpu };
	set_regs(m, gva(0, 0), gva(STACK, 0x800));
}

static int boot(void **state)
{
	struct machine *m = &machine;

	memset(m, 0, sizeof(*m));
	m->dev = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (m->dev < 0)
		return 0;
	m->vm = ioctl(m->dev, KVM_CREATE_VM, 0);
	m->ram = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(m->ram, MAP_FAILED);
	m->range = (struct vp_ram_range){ .gpa = RAM_GPA, .size = PAGES * PAGE, .host = (uintptr_t)m->ram };
	make_tables(m);
	make_task(m);
	make_vcpu(m);
	m->kvm.config.vm = m->vm;
	m->kvm.config.nvcpus = 1;
	m->kvm.config.nram = 1;
	m->kvm.config.place = place;
	m->kvm.ram = &m->range;
	m->kvm.vcpus = m->vcpus;
	m->kvm.resident = &m->resident;
	pthread_mutex_init(&m->kvm.lock, NULL);
	pthread_cond_init(&m->kvm.changed, NULL);
	*state = m;
	return 0;
}

static int end(void **state)
{
	struct machine *m = *state;

	if (!m)
		return 0;
	vp_kvm_resident_free(&m->resident);
	munmap(m->ram, PAGES * PAGE);
	close(m->vcpu);
	close(m->vm);
	close(m->dev);
	return 0;
}

/* --- what is seen of it ---------------------------------------------------------------------------- */

static struct machine *machine_of(void **state)
{
	if (!*state)
		skip();
	return *state;
}

static void opens(struct machine *m)
{
	struct vp_resident_room room;
	struct ot_err *err = vp_kvm_resident_open(&m->kvm, &m->kernel, &room);

	if (err)
		fail_msg("%s", ot_err_message(err));
	assert_true(room.outlived);
	assert_int_equal(room.code_gva, IMAGE + FIRST * VP_KVM_LARGE_PAGE);
}

/* Has the VM memory of ours where it was put? KVM has no two slots in one place. */
static bool has_slots(const struct machine *m)
{
	struct kvm_userspace_memory_region other = { .slot = 1,
						     .guest_phys_addr = SPARE_GPA,
						     .memory_size = PAGE,
						     .userspace_addr = (uintptr_t)m->ram };

	if (ioctl(m->vm, KVM_SET_USER_MEMORY_REGION, &other)) {
		assert_int_equal(errno, EEXIST);
		return true;
	}
	other.memory_size = 0;
	assert_int_equal(ioctl(m->vm, KVM_SET_USER_MEMORY_REGION, &other), 0);
	return false;
}

static unsigned entries(const struct machine *m)
{
	unsigned n = 0;

	for (unsigned i = 1; i < LARGE_GIB; i++)
		n += m->ram[ENTRIES][i] != 0;
	return n;
}

/* While there are jumps in force, which only then may be. */
static bool is_in_room(struct machine *m)
{
	m->traps.jumps = true;
	m->kvm.traps = &m->traps;
	assert_false(vp_kvm_withdraw(&m->kvm));
	bool in = vp_kvm_is_in_room(&m->kvm, 0);
	m->traps.jumps = false;
	assert_false(vp_kvm_is_in_room(&m->kvm, 0));
	m->kvm.traps = NULL;
	assert_false(vp_kvm_is_in_room(&m->kvm, 0));
	return in;
}

static void stays(struct machine *m)
{
	assert_false(vp_kvm_withdraw(&m->kvm));
	assert_non_null(m->resident.mem);
	assert_true(has_slots(m));
	assert_true(entries(m) > 4);
}

static void goes(struct machine *m)
{
	assert_true(vp_kvm_withdraw(&m->kvm));
	assert_null(m->resident.mem);
	assert_false(has_slots(m));
	assert_int_equal(entries(m), 0);
}

static uint64_t trampoline(const struct machine *m)
{
	return m->resident.room.code_gva + 0x40;
}

/* --- the tests ------------------------------------------------------------------------------------- */

static void comes_and_goes(void **state)
{
	struct machine *m = machine_of(state);

	for (unsigned i = 0; i < 3; i++) {
		m->kvm.resident_opened = false; /* each time another engine */
		opens(m);
		assert_true(has_slots(m));
		goes(m);
	}
	assert_true(vp_kvm_withdraw(&m->kvm)); /* there is nothing */
}

static void interrupted_task(void **state)
{
	struct machine *m = machine_of(state);

	opens(m);
	*word(STACK, 0xf00) = trampoline(m);
	stays(m);
	assert_true(is_in_room(m));
	*word(STACK, 0xf00) = m->resident.room.code_gva + m->resident.room.code_size;
	assert_false(is_in_room(m));
	goes(m);
}

static void vcpu_there(void **state)
{
	struct machine *m = machine_of(state);

	opens(m);
	assert_false(is_in_room(m));
	set_regs(m, trampoline(m), gva(STACK, 0x800));
	assert_true(is_in_room(m));
	stays(m);
	set_regs(m, gva(0, 0), gva(STACK + STACK_PAGES, 0)); /* in an interrupt, perhaps */
	assert_true(is_in_room(m));
	stays(m);
	set_regs(m, gva(0, 0), gva(STACK, 0x800));
	goes(m);
}

/* Where the kernel's tasks are not known, the memory stays, and of a vCPU only its place is looked at. */
static void unknown_tasks(void **state)
{
	struct machine *m = machine_of(state);
	struct vp_resident_room room;

	m->facts.resident.tasks = VP_NO_OFFSET;
	m->kernel.anyway = false;
	struct ot_err *err = vp_kvm_resident_open(&m->kvm, &m->kernel, &room);
	assert_non_null(err);
	ot_err_destroy(err);
	m->kernel.anyway = true;
	opens(m);
	stays(m);
	assert_false(is_in_room(m));
	set_regs(m, trampoline(m), 0);
	assert_true(is_in_room(m));
}

/* The next engine knows nothing of what is in the room. */
static void next_engine(void **state)
{
	struct machine *m = machine_of(state);
	struct vp_resident_room room;

	opens(m);
	uint64_t at = trampoline(m);
	opens(m); /* the same engine */
	m->kvm.resident_opened = false;
	*word(STACK + 3, 0xff8) = at;
	struct ot_err *err = vp_kvm_resident_open(&m->kvm, &m->kernel, &room);
	assert_non_null(err);
	assert_non_null(strstr(ot_err_message(err), "those of an earlier session"));
	ot_err_destroy(err);
	*word(STACK + 3, 0xff8) = 0;
	memset(m->resident.mem, 0xcc, 64);
	opens(m);
	assert_int_equal(m->resident.mem[0], 0); /* another memory */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comes_and_goes, boot, end),
		cmocka_unit_test_setup_teardown(interrupted_task, boot, end),
		cmocka_unit_test_setup_teardown(vcpu_there, boot, end),
		cmocka_unit_test_setup_teardown(unknown_tasks, boot, end),
		cmocka_unit_test_setup_teardown(next_engine, boot, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
