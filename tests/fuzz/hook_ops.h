/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VMM's calls, as fuzz_hook's input has them: an array of struct hook_op. */
#ifndef TESTS_FUZZ_HOOK_OPS_H
#define TESTS_FUZZ_HOOK_OPS_H

#include <stdint.h>

enum hook_op_kind {
	HOOK_CREATE_VM,   /* a: its type */
	HOOK_CREATE_VCPU, /* id */
	HOOK_REGION,      /* id: slot; flags; a: gpa, b: size, c: address in the VMM */
	HOOK_ENCRYPT,
	HOOK_FAULTS, /* userfaultfd; flags: mode */
	HOOK_DEBUG,  /* KVM_SET_GUEST_DEBUG of the VMM; flags: control */
	HOOK_ENGINE_DEBUG,
	HOOK_SREGS, /* a: CS base, b: CR0, id: CS selector */
	HOOK_RUN,   /* a: of each bit, whether KVM_RUN ends by a kick */
	HOOK_FOUND, /* QEMU's monitor tells of RAM; as HOOK_REGION */
	HOOK_FORGET,
	HOOK_MMAP_SIZE, /* id: what KVM will say of kvm_run's size */
	HOOK_OTHER,     /* a: the request */
	HOOK_OPS,
};

enum { HOOK_FAILS = 1, HOOK_NULL = 2, HOOK_SIGN = 4, HOOK_REGION2 = 8 };

struct hook_op {
	uint8_t kind;  /* enum hook_op_kind, modulo HOOK_OPS */
	uint8_t which; /* descriptor: of a vCPU, a VM */
	uint8_t how;   /* HOOK_FAILS: the system call does; HOOK_NULL: without an argument; … */
	uint8_t pad;
	uint32_t id, flags, pad2;
	uint64_t a, b, c;
};

#endif
