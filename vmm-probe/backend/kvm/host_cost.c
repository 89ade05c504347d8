/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring the cost of each kind of hit on this host: loops of exits, and the minimum, median and maximum of
 * a few rounds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "vmm-probe/backend/kvm/host_internal.h"

#define ROUNDS  5
#define EXITS   200u
#define COUNTED 2000u /* hits without an exit in a round */
#define TURNS   1000u /* of an empty loop, at first; at most this many times that */
#define FASTER  4096u

/* One round; its time in ns and its number of operations. */
struct round {
	double ns;
	double n;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct ot_err *measure(struct vp_tiny_vm *vm, const struct vp_kvm_host *host, unsigned rounds,
			      struct ot_err *(*one)(struct vp_tiny_vm *, const struct vp_kvm_host *,
						    struct round *),
			      struct vp_kvm_cost *ret)
{
	double each[ROUNDS];

	for (unsigned i = 0; i < rounds; i++) {
		struct round r = { 0, 1 };
		struct ot_err *err = one(vm, host, &r);
		if (err && ot_err_code(err) == OT_ERR_BUSY) {
			/* The host is too busy to measure it, but can still trace. */
			ot_err_destroy(err);
			return NULL;
		}
		OT_TRY(err);
		each[i] = r.ns / r.n;
	}
	qsort(each, rounds, sizeof(each[0]), by_value);
	*ret = (struct vp_kvm_cost){ each[0], each[rounds / 2], each[rounds - 1] };
	return NULL;
}

/* mov $n,%ecx; 1: BODY; dec %ecx; jnz 1b; hlt */
static size_t make_loop(uint8_t *code, uint32_t n, const uint8_t *body, size_t len)
{
	size_t at = 0;

	code[at++] = 0xb9;
	memcpy(code + at, &n, sizeof(n));
	at += sizeof(n);
	if (len)
		memcpy(code + at, body, len);
	at += len;
	memcpy(code + at, (const uint8_t[]){ 0xff, 0xc9, 0x75, (uint8_t)(0u - len - 4), 0xf4 }, 5);
	return at + 5;
}

static struct ot_err *load_loop(struct vp_tiny_vm *vm, uint32_t n, const uint8_t *body, size_t len)
{
	uint8_t code[32];

	return vp_tiny_vm_load(vm, code, make_loop(code, n, body, len));
}

static struct ot_err *run_to_halt(struct vp_tiny_vm *vm)
{
	OT_TRY(vp_tiny_vm_run(vm));
	if (vm->run->exit_reason != KVM_EXIT_HLT)
		return ot_err_new(OT_ERR_UNSUPPORTED, "exit %u from a loop that should have none",
				  vm->run->exit_reason);
	return NULL;
}

/* Two instructions a turn; fewer turns when they are interpreted. */
static struct ot_err *round_insn(struct vp_tiny_vm *vm, const struct vp_kvm_host *host, struct round *r)
{
	uint32_t n = TURNS;

	(void)host;
	for (r->ns = 0; r->ns < 1e6 && n <= FASTER * TURNS; n *= 8) {
		OT_TRY(load_loop(vm, n, NULL, 0));
		uint64_t start = ot_now_ns();
		OT_TRY(run_to_halt(vm));
		r->ns = (double)(ot_now_ns() - start);
		r->n = 2.0 * n;
	}
	return NULL;
}

static struct ot_err *round_exit(struct vp_tiny_vm *vm, const struct vp_kvm_host *host, struct round *r)
{
	const uint8_t body[] = { VP_TRY_OUT };

	(void)host;
	OT_TRY(load_loop(vm, EXITS, body, sizeof(body)));
	uint64_t start = ot_now_ns();
	for (r->n = 0; r->n < EXITS; r->n++) {
		OT_TRY(vp_tiny_vm_run(vm));
		if (vp_tiny_vm_out_port(vm) != VP_TRY_PORT)
			return ot_err_new(OT_ERR_UNSUPPORTED, "an out in a loop did not exit");
	}
	r->ns = (double)(ot_now_ns() - start);
	return NULL;
}

static struct ot_err *round_ioeventfd(struct vp_tiny_vm *vm, const struct vp_kvm_host *host, struct round *r)
{
	const uint8_t body[] = { VP_TRY_OUT };
	ot_auto_close int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint32_t n = COUNTED;
	eventfd_t seen = 0;

	(void)host;
	if (fd < 0)
		return ot_err_os(errno, "eventfd");
	OT_TRY(load_loop(vm, n, body, sizeof(body)));
	OT_TRY(vp_kvm_try_bind(vm, fd, true));
	uint64_t start = ot_now_ns();
	struct ot_err *err = run_to_halt(vm);
	r->ns = (double)(ot_now_ns() - start);
	r->n = n;
	ot_err_destroy(vp_kvm_try_bind(vm, fd, false)); /* it was bound: this can't fail */
	OT_TRY(err);
	if (eventfd_read(fd, &seen) || seen != n)
		return ot_err_new(OT_ERR_UNSUPPORTED, "an eventfd counted %llu of %u",
				  (unsigned long long)seen, n);
	return NULL;
}

/* Continue after the instruction that caused the exit. */
static struct ot_err *skip(struct vp_tiny_vm *vm, unsigned len)
{
	struct kvm_regs regs;

	OT_TRY(vp_tiny_vm_regs(vm, &regs));
	regs.rip += len;
	return vp_tiny_vm_set_regs(vm, &regs);
}

static struct ot_err *round_int3(struct vp_tiny_vm *vm, const struct vp_kvm_host *host, struct round *r)
{
	const uint8_t body[] = { 0xcc };

	OT_TRY(load_loop(vm, EXITS, body, sizeof(body)));
	OT_TRY(vp_tiny_vm_debug(vm, KVM_GUESTDBG_USE_SW_BP, 0));
	uint64_t start = ot_now_ns();
	for (r->n = 0; r->n < EXITS; r->n++) {
		OT_TRY(vp_tiny_vm_run(vm));
		if (vp_kvm_int3_of_exit(vm) != host->int3)
			return ot_err_new(OT_ERR_UNSUPPORTED, "an int3 in a loop did not exit");
		OT_TRY(skip(vm, 1));
	}
	r->ns = (double)(ot_now_ns() - start);
	return NULL;
}

/* Stops at a nop that RIP is then moved over: what a step or debug register costs, without a second exit. */
static struct ot_err *count_stops(struct vp_tiny_vm *vm, unsigned skipped, struct round *r)
{
	uint64_t start = ot_now_ns();

	for (r->n = 0; r->n < EXITS; r->n++) {
		OT_TRY(vp_tiny_vm_run(vm));
		if (vm->run->exit_reason != KVM_EXIT_DEBUG)
			return ot_err_new(OT_ERR_UNSUPPORTED, "there was no debug exit");
		if (skipped)
			OT_TRY(skip(vm, skipped));
	}
	r->ns = (double)(ot_now_ns() - start);
	return NULL;
}

static struct ot_err *round_hw(struct vp_tiny_vm *vm, const struct vp_kvm_host *host, struct round *r)
{
	const uint8_t body[] = { 0x90 };

	(void)host;
	OT_TRY(load_loop(vm, EXITS, body, sizeof(body)));
	OT_TRY(vp_tiny_vm_debug(vm, KVM_GUESTDBG_USE_HW_BP, VP_TINY_CODE + 5));
	return count_stops(vm, 1, r);
}

static struct ot_err *round_step(struct vp_tiny_vm *vm, const struct vp_kvm_host *host, struct round *r)
{
	(void)host;
	OT_TRY(load_loop(vm, EXITS, NULL, 0));
	OT_TRY(vp_tiny_vm_debug(vm, KVM_GUESTDBG_SINGLESTEP, 0));
	return count_stops(vm, 0, r);
}

struct ot_err *vp_kvm_host_measure(struct vp_tiny_vm *vm, struct vp_kvm_host *host, bool quick)
{
	unsigned rounds = quick ? 1 : ROUNDS;

	if (!quick)
		OT_TRY(measure(vm, host, rounds, round_insn, &host->insn_cost));
	if (host->out)
		OT_TRY(measure(vm, host, rounds, round_exit, &host->exit_cost));
	if (host->ioeventfd)
		OT_TRY(measure(vm, host, rounds, round_ioeventfd, &host->ioeventfd_cost));
	if (host->int3 != VP_INT3_NEVER)
		OT_TRY(measure(vm, host, rounds, round_int3, &host->int3_cost));
	if (host->hw)
		OT_TRY(measure(vm, host, rounds, round_hw, &host->hw_cost));
	if (host->step)
		OT_TRY(measure(vm, host, rounds, round_step, &host->step_cost));
	return NULL;
}
