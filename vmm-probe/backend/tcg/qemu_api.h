/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of QEMU's plugin API that this backend uses, and the two GLib arrays that appear in it. Declared
 * here because no distribution packages the header, and written from the API's documentation.
 *
 * Versions 4 (QEMU 10.0) to 7 (11.1 and later) are supported. Their differences:
 *
 *   5  QEMU 10.1, 10.2; its additions are not used
 *   6  QEMU 11.0; read_register() returns success as a bool, no longer a number
 *   7  each callback gets a pointer that was registered with it, as its last parameter, and no plugin id as
 * its first; a register's descriptor is longer
 *
 * A function that takes a pointer since version 7 is declared and called with it: older ones ignore an
 * additional argument, by x86-64's calling convention. Callbacks are distinguished in api.c.
 *
 * All functions are found in the QEMU process at load time. The references are weak, so that a QEMU without
 * these functions still loads the library, which then reports that it is too old.
 */
#ifndef VP_TCG_QEMU_API_H
#define VP_TCG_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum {
	VP_QEMU_API_MIN = 4,
	VP_QEMU_API_USERDATA = 7, /* from this on callbacks get pointers instead of the plugin's id */
	VP_QEMU_API_MAX = 7,
};

#define VP_QEMU_WEAK __attribute__((weak))

/* The information passed to qemu_plugin_install(). */
struct qemu_info {
	const char *target_name; /* "x86_64" */
	struct {
		int min, cur; /* plugin API versions that this QEMU speaks */
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus; /* when system_emulation */
	} system;
};

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS, /* the callback reads registers: QEMU writes them back before the call */
};

enum qemu_plugin_cond {
	QEMU_PLUGIN_COND_NEVER,
	QEMU_PLUGIN_COND_ALWAYS,
	QEMU_PLUGIN_COND_EQ,
	QEMU_PLUGIN_COND_NE
};
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_plugin_scoreboard;

/* A uint64_t in each vCPU's element of a scoreboard; passed by value. */
struct qemu_plugin_u64 {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

struct qemu_plugin_reg_descriptor {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
};

/* GArray and GByteArray: their public beginnings. */
struct vp_garray {
	char *data;
	unsigned int len;
};

struct vp_gbytes {
	uint8_t *data;
	unsigned int len;
};

/* Of the whole plugin: its parameters depend on the API's version. */
typedef void (*qemu_any_cb)(void);
typedef void (*qemu_vcpu_udata_cb)(unsigned int vcpu, void *udata);

/* The symbol that QEMU reads from the library. */
OT_EXPORT extern int qemu_plugin_version;
OT_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

/* Callbacks of the whole plugin; NULL unregisters one. */
void VP_QEMU_WEAK qemu_plugin_reset(uint64_t id, qemu_any_cb done, void *udata);
void VP_QEMU_WEAK qemu_plugin_register_vcpu_init_cb(uint64_t id, qemu_any_cb cb, void *udata);
void VP_QEMU_WEAK qemu_plugin_register_vcpu_idle_cb(uint64_t id, qemu_any_cb cb, void *udata);
void VP_QEMU_WEAK qemu_plugin_register_vcpu_resume_cb(uint64_t id, qemu_any_cb cb, void *udata);
void VP_QEMU_WEAK qemu_plugin_register_vcpu_syscall_cb(uint64_t id, qemu_any_cb cb, void *udata);
void VP_QEMU_WEAK qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_any_cb cb, void *udata);
void VP_QEMU_WEAK qemu_plugin_register_atexit_cb(uint64_t id, qemu_any_cb cb, void *udata);

/* A block that is being translated. Handles are valid during the translation callback. */
size_t VP_QEMU_WEAK qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *VP_QEMU_WEAK qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t VP_QEMU_WEAK qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len);
size_t VP_QEMU_WEAK qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t VP_QEMU_WEAK qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *VP_QEMU_WEAK qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

void VP_QEMU_WEAK qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_vcpu_udata_cb cb,
							 enum qemu_plugin_cb_flags flags, void *udata);
void VP_QEMU_WEAK qemu_plugin_register_vcpu_insn_exec_cond_cb(
    struct qemu_plugin_insn *insn, qemu_vcpu_udata_cb cb, enum qemu_plugin_cb_flags flags,
    enum qemu_plugin_cond cond, struct qemu_plugin_u64 entry, uint64_t imm, void *udata);
void VP_QEMU_WEAK qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
								      enum qemu_plugin_op op,
								      struct qemu_plugin_u64 entry,
								      uint64_t imm);
void VP_QEMU_WEAK qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb, qemu_vcpu_udata_cb cb,
							    enum qemu_plugin_cb_flags flags,
							    enum qemu_plugin_cond cond,
							    struct qemu_plugin_u64 entry, uint64_t imm,
							    void *udata);

/* Registers of the calling vCPU thread's vCPU. The array is the caller's; its elements are descriptors, with
 * additional members since version 6 or 7. read appends to @buf, or not on failure; it returns the number of
 * bytes up to version 5, a bool since. */
struct vp_garray *VP_QEMU_WEAK qemu_plugin_get_registers(void);
void VP_QEMU_WEAK qemu_plugin_read_register(struct qemu_plugin_register *handle, struct vp_gbytes *buf);

/* Exist since version 5, and since 6, which identifies versions. Never called. */
void VP_QEMU_WEAK qemu_plugin_write_register(void);
void VP_QEMU_WEAK qemu_plugin_set_pc(void);

/* Per-vCPU memory that inline operations work on; any thread. find() and u64 functions abort for a
 * vCPU that was never there. */
struct qemu_plugin_scoreboard *VP_QEMU_WEAK qemu_plugin_scoreboard_new(size_t element_size);
uint64_t VP_QEMU_WEAK qemu_plugin_u64_get(struct qemu_plugin_u64 entry, unsigned int vcpu);
void VP_QEMU_WEAK qemu_plugin_u64_set(struct qemu_plugin_u64 entry, unsigned int vcpu, uint64_t value);

struct vp_gbytes *VP_QEMU_WEAK g_byte_array_sized_new(unsigned int reserved);
unsigned int VP_QEMU_WEAK g_array_get_element_size(struct vp_garray *array);
char *VP_QEMU_WEAK g_array_free(struct vp_garray *array, int free_data);

/* Not part of the API, which has no such function: does the guest run (not stopped by `stop`, a migration …)?
 * Only in a QEMU that exports its functions to its own modules, as distributions build it. Any thread. */
bool VP_QEMU_WEAK runstate_is_running(void);

/* Nor are these: QEMU's big lock, and whether the calling thread holds it (10.0 and later). A vCPU thread
 * holds it when it calls the idle and resume callbacks, and never in a block. All three exist, or none. */
void VP_QEMU_WEAK bql_lock_impl(const char *file, int line);
void VP_QEMU_WEAK bql_unlock(void);
bool VP_QEMU_WEAK bql_locked(void);

/* Nor are these, for leaving a block at an instruction: a vCPU by number; its registers as they are at the
 * instruction whose translated code has address @p host_pc, false: that is in no block; dropping all
 * translations, at once or before the vCPU's next block (tb_flush() up to 10.1, queue_tb_flush() since 10.2);
 * continuing with the vCPU's next block. vCPU, in a callback of an instruction. */
struct qemu_cpu;
struct qemu_cpu *VP_QEMU_WEAK qemu_get_cpu(int index);
bool VP_QEMU_WEAK cpu_restore_state(struct qemu_cpu *cpu, uintptr_t host_pc);
void VP_QEMU_WEAK tb_flush(struct qemu_cpu *cpu);
void VP_QEMU_WEAK queue_tb_flush(struct qemu_cpu *cpu);
void VP_QEMU_WEAK __attribute__((noreturn)) cpu_loop_exit(struct qemu_cpu *cpu);

/* Nor is this: @fn(cpu, data) on that vCPU's thread, once no vCPU is in a block, also if it is halted or the
 * guest is paused. QEMU has a union of 8 bytes as @data. Any thread. */
void VP_QEMU_WEAK async_safe_run_on_cpu(struct qemu_cpu *cpu, void (*fn)(struct qemu_cpu *cpu, uint64_t data),
					uint64_t data);

#endif
