/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This host's counters of a VMM's process, read without touching it or its guest: proc(5)'s stat, io and the
 * threads' schedstat, and KVM's counts of exits. All numbers only grow, except a kernel counter that wraps.
 */
#ifndef CLI_TOP_COUNTERS_H
#define CLI_TOP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "vmm-probe/backend/kvm/state.h"

/* Where it is read. */
struct cli_top_host {
	const char *proc; /* "/proc" */
	const char *kvm;  /* KVM's folder in debugfs, "/sys/kernel/debug/kvm" */
};

/* Exits of all vCPUs, and some of them by kind: names as KVM has them. */
#define CLI_TOP_EXITS(X)              \
	X(all, "exits")               \
	X(halt, "halt_exits")         \
	X(io, "io_exits")             \
	X(mmio, "mmio_exits")         \
	X(irq, "irq_exits")           \
	X(window, "irq_window_exits") \
	X(emulated, "insn_emulation") \
	X(signal, "signal_exits")     \
	X(fault, "pf_fixed")

enum {
#define CLI_TOP_EXIT_NUMBER(id, name) CLI_TOP_EXIT_##id,
	CLI_TOP_EXITS(CLI_TOP_EXIT_NUMBER)
#undef CLI_TOP_EXIT_NUMBER
	    CLI_TOP_NEXITS
};

struct cli_top_counters {
	uint64_t at_ns;  /* when they were read, by ot_now_ns() */
	uint64_t began;  /* when the process began; with its PID this identifies it */
	uint64_t cpu_ns; /* CPU time of all its threads, the guest's included */
	uint64_t faults; /* page faults, for its guest too */
	bool has_wait;
	uint64_t
	    wait_ns; /* for which its vCPUs' threads waited for a CPU; all threads, if these are unknown */
	bool has_io;
	uint64_t read_bytes, written_bytes; /* from and to disks */
	uint32_t exits_known;               /* a bit for each of those below */
	uint64_t exits[CLI_TOP_NEXITS];
};

/* A VMM's threads and files, looked up once. */
struct cli_top_vmm {
	pid_t pid;
	pid_t *threads; /* of vCPUs, or all; owned */
	size_t nthreads, threads_cap;
	int *stats; /* descriptors of its vCPUs' statistics in KVM; owned */
	size_t nstats, stats_cap;
	struct vp_kvm_stat offsets[CLI_TOP_NEXITS]; /* an empty name: this KVM has none */
	char *debugfs; /* the folder of its statistics, if there are no descriptors; owned */
};

/** Look up the threads and KVM's statistics of process @p pid. Unreadable parts are left out. NOT_FOUND:
 * there is no such process. */
OT_MUST_CHECK struct ot_err *cli_top_vmm_init(struct cli_top_vmm *v, const struct cli_top_host *host,
					      pid_t pid);
void cli_top_vmm_deinit(struct cli_top_vmm *v);

/** Look up its threads once more: vCPUs come and go. */
OT_MUST_CHECK struct ot_err *cli_top_vmm_threads(struct cli_top_vmm *v, const struct cli_top_host *host);

/** Read its counters. False: there is no such process any more. */
bool cli_top_counters_read(const struct cli_top_vmm *v, const struct cli_top_host *host,
			   struct cli_top_counters *ret);

/* exits.c: KVM's part of these. */
OT_MUST_CHECK struct ot_err *cli_top_exits_find(struct cli_top_vmm *v, const struct cli_top_host *host);
void cli_top_exits_read(const struct cli_top_vmm *v, struct cli_top_counters *ret);

/** Read a small file as a string of less than @p size bytes. False: it can't be read. */
bool cli_top_read_text(const char *path, char *buf, size_t size);

#endif
