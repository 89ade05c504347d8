/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Booting a guest to trace, for `outsight run`: QEMU with its translator (tcg), our plugin in
 * it, guest RAM in a shared memfd; or our own monitor on KVM. The guest belongs to the process that launched
 * it: it is stopped with it, however that ends.
 */
#ifndef VP_LAUNCH_LAUNCH_H
#define VP_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct vp_launched;

/* All borrowed for the call. NULL or 0: the default named here. */
struct vp_launch_opts {
	const char *kernel; /* bzImage; NULL: @extra selects what to boot */
	const char *initrd; /* NULL: none */
	const char *append; /* kernel command line; "console=ttyS0 panic=-1", in QEMU also "no_timer_check" */
	uint32_t mem_mib;   /* 512 */
	uint32_t smp;       /* 1 */
	const char *cpu;    /* QEMU's -cpu; "max" */
	const char *name;   /* for -g; "outsight-PID" */
	const char
	    *serial; /* file that gets the console's output; "-": stderr; NULL: only vp_launched_trouble() */
	const char *qemu;   /* binary; $OUTSIGHT_QEMU, else "qemu-system-x86_64" */
	bool builtin;       /* our own monitor on KVM instead of QEMU; then no cpu, qemu or extra */
	char *const *extra; /* more arguments of QEMU, after all of ours */
	size_t nextra;
	/* Called between waits: false gives up (the user pressed Ctrl-C). NULL: never. */
	bool (*go_on)(void *arg);
	void *arg;
};

/**
 * Boot a guest and return when its engine answers; the guest's kernel may still be booting then. Takes half a
 * second, 30 s at most.
 *
 * @return UNSUPPORTED: QEMU is older than 10. NOT_FOUND: QEMU, the plugin, the kernel or initrd
 *         is not there. GUEST_GONE: QEMU ended; the message has its output. BUSY: no answer in time, or @p
 *         go_on returned false. The guest is stopped then.
 */
OT_MUST_CHECK struct ot_err *vp_launch(const struct vp_launch_opts *opts, struct vp_launched **ret);

/** Whether vp_launch() would find a QEMU (@p qemu as in struct vp_launch_opts) that is new enough, and the
 * plugin; if not, the error that it would return. */
OT_MUST_CHECK struct ot_err *vp_launch_check(const char *qemu);

/** Stop the guest and free it: asks QEMU to end, and kills it when it does not within 5 s. NULL
 * is fine. */
void vp_launched_destroy(struct vp_launched *vm);

/** Path of the engine's control socket; the guest's for vp_session_attach(). */
const char *vp_launched_socket(const struct vp_launched *vm);

/** Readable once QEMU has ended; owned by the VM. */
int vp_launched_fd(const struct vp_launched *vm);

/** Why the guest failed, as an error: its VMM ended (@p wait_ms is how long to wait for that), with its
 * output; or its kernel panicked, if we read its console. NULL: unknown. */
OT_MUST_CHECK struct ot_err *vp_launched_trouble(struct vp_launched *vm, int wait_ms);

/** The guest kernel's line about its panic, if we read its console. */
bool vp_launched_panic(struct vp_launched *vm, char *buf, size_t size);

#endif
