/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest, an engine and a session for the engine's tests: the fake backend with a small "kernel" (text,
 * a task for each vCPU, stacks), programs assembled by hand, and the consumer's view of the buffers.
 */
#ifndef TESTS_UNIT_ENGINE_FIXTURE_H
#define TESTS_UNIT_ENGINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "dif/obj/layout.h"
#include "dif/obj/program.h"
#include "dif/vm/agg.h"
#include "dif/vm/dynvar.h"
#include "vmm-probe/backend/fake/fake.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/shared.h"

/* Where the fake kernel has things. */
#define EF_TEXT       0xffffffff81000000ull /* a large page of text */
#define EF_PERCPU     0xffff888000100000ull /* per-CPU areas, 4 KiB each */
#define EF_TASKS      0xffff888000200000ull /* tasks, 4 KiB each */
#define EF_STACKS     0xffffc90000000000ull /* kernel stacks, one page each, 16 KiB apart */
#define EF_USER       0x0000000000400000ull /* the process's memory, two pages */
#define EF_STACK_SIZE 4096u

#define EF_FUNC_A (EF_TEXT + 0x1000) /* three functions of 0x100 bytes, each a nop and a ret */
#define EF_FUNC_B (EF_TEXT + 0x1100)
#define EF_FUNC_C (EF_TEXT + 0x1200)
#define EF_RET(f) ((f) + 0x40)

/* Offsets in the fake struct task_struct and so on. */
enum {
	EF_TASK_COMM = 16,
	EF_TASK_PID = 64,
	EF_TASK_TGID = 68,
	EF_TASK_PARENT = 72,
	EF_TASK_CRED = 80,
	EF_TASK_START = 88,
	EF_TASK_RUNTIME = 96,
	EF_TASK_EXEC_START = 104,
	EF_TASK_STACK = 112,
	EF_TASK_MM = 120,
	EF_CRED_UID = 4,
	EF_CRED_GID = 8,
	EF_PERCPU_CURRENT = 8,
	EF_PERCPU_PREEMPT = 16,
	EF_PERCPU_RQ = 32,
	EF_RQ_CLOCK = 8,
};

/* struct pt_regs as Linux has it, by 8-byte words. */
enum {
	EF_PTREGS_BP = 4,
	EF_PTREGS_R10 = 7,
	EF_PTREGS_R8 = 9,
	EF_PTREGS_DX = 12,
	EF_PTREGS_SI = 13,
	EF_PTREGS_DI = 14,
	EF_PTREGS_IP = 16,
	EF_PTREGS_CS = 17,
	EF_PTREGS_SP = 19,
	EF_PTREGS_WORDS = 21
};

/* Room in a program. */
enum {
	EF_CLAUSES_MAX = 16,
	EF_ACTIONS_MAX = 16,
	EF_AGGS_MAX = 16,
};

struct ef {
	struct vp_fake *fake;
	struct vp_fake_config config;
	struct vp_facts facts;
	uint64_t kernel_root, user_root;

	struct dif_program prog;
	struct vp_msg_open open; /* sizes and options: change before ef_open() */
	uint64_t shared_size;
	uint8_t *shared;
	struct vp_engine_session *es;
	const void *orc;
	size_t orc_size;

	/* the batch being built */
	struct ot_buf probes, sites, ecbs, strings;
	uint32_t nprobes, nsites, necbs, next_epid, next_probe_id;
	uint32_t clause_of[64];             /* by EPID */
	const struct vp_batch_agent *agent; /* the test's; NULL */
	const struct ot_buf *dof;           /* of the batch's site programs, the test's; NULL */
};

/** A guest of two vCPUs; comm "swapper/N", pid 100 + N, tgid 90 + N. */
struct ef *ef_create(void);
struct ef *ef_create_with(const struct vp_fake_config *config);
void ef_destroy(struct ef *f);

/* --- programs (engine_fixture_programs.c) --- */

struct dif_object *ef_obj(struct ef *f, const uint32_t *text, uint32_t len, struct dif_rtype ret);
struct dif_object *ef_int(struct ef *f, uint64_t value);
/** A built-in scalar, of 8 bytes. */
struct dif_object *ef_var(struct ef *f, uint32_t var);
/** An element of a built-in array. */
struct dif_object *ef_elem(struct ef *f, uint32_t array, uint64_t index);
/** A built-in string. */
struct dif_object *ef_string_var(struct ef *f, uint32_t var);
/** A string constant. */
struct dif_object *ef_string(struct ef *f, const char *s);
/** var == value */
struct dif_object *ef_var_eq(struct ef *f, uint32_t var, uint64_t value);
/** *(uint64_t *)address, guest kernel or user memory. */
struct dif_object *ef_deref(struct ef *f, uint64_t address, bool user);
/** Set a global of 8 bytes to what @p op (add …) makes of it and @p value; its id. */
struct dif_object *ef_global_add(struct ef *f, uint32_t id, uint64_t value);
struct dif_object *ef_global(struct ef *f, uint32_t id);
/** A call of a subroutine without arguments. */
struct dif_object *ef_call(struct ef *f, uint32_t subr);
/** self->id = value; self->id */
struct dif_object *ef_self_set(struct ef *f, uint32_t id, struct dif_object *value);
struct dif_object *ef_self(struct ef *f, uint32_t id);

/** A new clause; its index. */
uint32_t ef_clause(struct ef *f, struct dif_object *predicate);
struct dif_action *ef_action(struct ef *f, uint32_t clause, uint32_t kind, struct dif_object *object);
struct dif_action *ef_key(struct ef *f, uint32_t clause, struct dif_object *object);
/** An aggregating action into a new aggregation, with the keys that stand before it. */
struct dif_action *ef_agg(struct ef *f, uint32_t clause, uint32_t kind, struct dif_object *object,
			  uint32_t nkeys);

/* --- sessions (engine_fixture_session.c) --- */

/** Lay out shared memory and open the session; NULL or the error. */
struct ot_err *ef_try_open(struct ef *f);
void ef_open(struct ef *f);
void ef_close(struct ef *f);

/** Start a probe in the batch; its index in it. Id is counted up from 10. */
uint32_t ef_probe(struct ef *f, uint32_t kind, uint32_t args, const char *function, const char *name);
void ef_probe_id(struct ef *f, uint32_t probe, uint32_t id);
void ef_event(struct ef *f, uint32_t probe, uint32_t event);                 /* of VP_PROBE_VM */
void ef_cpc(struct ef *f, uint32_t probe, const struct vp_cpc_event *event); /* of VP_PROBE_CPC */
void ef_interval(struct ef *f, uint32_t probe, uint64_t ns);
/** Make a probe one of the guest's agent. */
void ef_agent_probe(struct ef *f, uint32_t probe, uint32_t slot, uint64_t address, uint32_t nargs,
		    uint32_t want);
/** A site of the last probe, with the bytes that memory has there. */
void ef_site(struct ef *f, uint64_t gva, uint64_t function);
/** An ECB; its EPID. */
uint32_t ef_ecb(struct ef *f, uint32_t probe, uint32_t clause);
/** The batch so far, to be freed; its size. And the empty batch. */
void *ef_batch(struct ef *f, size_t *ret_size);
void ef_batch_clear(struct ef *f);
struct ot_err *ef_try_enable(struct ef *f);
void ef_enable(struct ef *f);
void ef_start(struct ef *f);

/** The entry of @p function with @p clause, enabled: EPID. */
uint32_t ef_enable_entry(struct ef *f, uint32_t clause, uint64_t function);
/** A session that is opened, has @p clause at EF_FUNC_A's entry, and is started: EPID. */
uint32_t ef_trace(struct ef *f, uint32_t clause);

/* --- the consumer's side (engine_fixture_consumer.c) --- */

struct ef_record {
	uint32_t epid;
	uint32_t cpu;
	uint64_t time_ns;
	const uint8_t *data; /* the record, header included */
};

struct vp_msg_switch_reply ef_switch(struct ef *f);

/** Records of a vCPU in the half handed over; returns how many of at most @p max. */
uint32_t ef_records(struct ef *f, uint32_t cpu, struct ef_record *ret, uint32_t max);
const struct vp_vcpu_status *ef_status(struct ef *f, uint32_t cpu);

/** The only word of the n-th aggregation entry of a vCPU in the half handed over, and its tuple behind the
 * id; false: there is none. */
bool ef_agg_entry(struct ef *f, uint32_t cpu, uint32_t n, const uint8_t **ret_key,
		  const uint64_t **ret_words);
/** Sum of the first words of all entries of all vCPUs. */
uint64_t ef_agg_total(struct ef *f);

uint64_t ef_u64(const uint8_t *p);

#define EF_OK(expr)                                                   \
	do {                                                          \
		struct ot_err *ef_err_ = (expr);                      \
		if (ef_err_) {                                        \
			print_error("%s\n", ot_err_message(ef_err_)); \
			ot_err_destroy(ef_err_);                      \
			fail();                                       \
		}                                                     \
	} while (0)

/* The call fails with this code. */
#define EF_FAILS(expected, expr)                                      \
	do {                                                          \
		struct ot_err *ef_err_ = (expr);                      \
		assert_non_null(ef_err_);                             \
		if (ot_err_code(ef_err_) != (expected))               \
			print_error("%s\n", ot_err_message(ef_err_)); \
		assert_int_equal(ot_err_code(ef_err_), (expected));   \
		ot_err_destroy(ef_err_);                              \
	} while (0)

#endif
