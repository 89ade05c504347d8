/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call in another process's main thread, made like the kernel's delivery of a signal: a complete signal
 * frame with the thread's registers is written to its stack, then its registers are set once; after that the
 * thread no longer depends on us. The called function returns into rt_sigreturn(2), which resumes the
 * interrupted code.
 *
 * A safe point is a thread that waits in poll(2) or a similar system call: it holds no lock of libc or of the
 * loader. The system call is restarted afterwards.
 *
 * Sources: arch/x86/kernel/signal_64.c and arch/x86/include/uapi/asm/sigcontext.h of Linux, ptrace(2).
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "vmm-probe/inject/internal.h"

#define TRIES        500
#define TRY_PAUSE_NS 2000000l
#define RED_ZONE     128u
#define XSTATE_MAX   16384u
#define XSTATE_SW    464u /* offset of the 48 bytes for software */
#define MAGIC1       0x46505853u
#define MAGIC2       0x46505845u

/* arch/x86/include/uapi/asm/ucontext.h */
#define UC_FP_XSTATE         1
#define UC_SIGCONTEXT_SS     2
#define UC_STRICT_RESTORE_SS 4
#define SS_LEAVE             0x1234 /* invalid for sigaltstack(2), so the thread's is not changed */

/* The software bytes, struct _fpx_sw_bytes. */
struct sw_bytes {
	uint32_t magic1, extended_size;
	uint64_t xfeatures;
	uint32_t xstate_size, pad[7];
};

/* The frame, from the stack pointer on. */
struct frame {
	uint64_t return_address;
	ucontext_t uc;
};

struct image {
	_Alignas(64) uint8_t xstate[XSTATE_MAX + 4];
	size_t xstate_size;
	struct user_regs_struct regs; /* when it was stopped */
	uint64_t mask;
};

static struct ot_err *trace_error(const struct vp_target *t, const char *what)
{
	return ot_err_os(errno, "process %d: %s", (int)t->pid, what);
}

/* --- the thread's state ------------------------------------------------------------------------------ */

static struct ot_err *read_image(const struct vp_target *t, struct image *im)
{
	struct iovec iov = { im->xstate, XSTATE_MAX };

	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &im->regs))
		return trace_error(t, "registers");
	if (ptrace(PTRACE_GETSIGMASK, t->pid, (void *)sizeof(im->mask), &im->mask))
		return trace_error(t, "signal mask");
	if (ptrace(PTRACE_GETREGSET, t->pid, (void *)NT_X86_XSTATE, &iov) || iov.iov_len < 576)
		return trace_error(t, "floating point state");
	im->xstate_size = iov.iov_len;
	return NULL;
}

/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK (include/linux/errno.h): the system call
 * is to be restarted. */
static bool is_restart(int64_t rax)
{
	return rax == -512 || rax == -513 || rax == -514 || rax == -516;
}

static bool is_safe(const struct user_regs_struct *r)
{
	switch (r->orig_rax) {
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return r->cs == 0x33 && ((int64_t)r->rax >= -4095 || is_restart((int64_t)r->rax));
	default:
		return false;
	}
}

/* --- the frame --------------------------------------------------------------------------------------- */

static void finish_xstate(struct image *im)
{
	struct sw_bytes sw = { .magic1 = MAGIC1,
			       .extended_size = (uint32_t)im->xstate_size + 4,
			       .xstate_size = (uint32_t)im->xstate_size };
	const uint32_t magic2 = MAGIC2;

	/* NT_X86_XSTATE has the mask of enabled features there. */
	memcpy(&sw.xfeatures, im->xstate + XSTATE_SW, sizeof(sw.xfeatures));
	memcpy(im->xstate + XSTATE_SW, &sw, sizeof(sw));
	memcpy(im->xstate + im->xstate_size, &magic2, sizeof(magic2));
}

static void fill_context(const struct image *im, uint64_t xstate, ucontext_t *uc)
{
	const struct user_regs_struct *r = &im->regs;
	greg_t *g = uc->uc_mcontext.gregs;
	bool again = is_restart((int64_t)r->rax);

	memset(uc, 0, sizeof(*uc));
	uc->uc_flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	uc->uc_stack.ss_flags = SS_LEAVE;
	memcpy(&uc->uc_sigmask, &im->mask, sizeof(im->mask));
	uc->uc_mcontext.fpregs = (fpregset_t)(uintptr_t)xstate; /* an address in the target */
	const uint64_t values[] = {
		r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rdi,
		r->rsi, r->rbp, r->rbx, r->rdx, 0,      r->rcx, r->rsp, 0,      r->eflags
	};
	memcpy(g, values, sizeof(values));
	g[REG_RAX] = (greg_t)(again ? r->orig_rax : r->rax);
	g[REG_RIP] = (greg_t)(again ? r->rip - 2 : r->rip); /* `syscall` has two bytes */
	g[REG_CSGSFS] = (greg_t)(r->cs | r->gs << 16 | r->fs << 32 | r->ss << 48);
}

static bool write_at(const struct vp_target *t, uint64_t at, const void *bytes, size_t len)
{
	return pwrite(t->mem, bytes, len, (off_t)at) == (ssize_t)len;
}

/* Write extended state, path and frame below the stack pointer. *ret: the registers for the call of
 * dlopen(). */
static struct ot_err *write_frame(const struct vp_target *t, struct image *im, const char *path,
				  struct user_regs_struct *ret)
{
	uint64_t xstate = (im->regs.rsp - RED_ZONE - im->xstate_size - 4) & ~63ull;
	uint64_t name = xstate - strlen(path) - 1;
	/* aligned as after a call instruction */
	uint64_t at = ((name - sizeof(struct frame)) & ~15ull) - 8;
	struct frame frame = { .return_address = t->restorer };

	finish_xstate(im);
	fill_context(im, xstate, &frame.uc);
	if (!write_at(t, xstate, im->xstate, im->xstate_size + 4) ||
	    !write_at(t, name, path, strlen(path) + 1) || !write_at(t, at, &frame, sizeof(frame)))
		return trace_error(t, "its stack has no room");
	*ret = im->regs;
	ret->rip = t->dlopen;
	ret->rsp = at;
	ret->rdi = name;
	ret->rsi = 2; /* RTLD_NOW | RTLD_LOCAL */
	ret->rax = 0;
	ret->orig_rax = (unsigned long long)-1; /* no system call to restart in this context */
	ret->eflags &= ~0x500ull;               /* TF and DF */
	return NULL;
}

/* --- stopping it ------------------------------------------------------------------------------------- */

/* True: the thread is in the stop that we requested. False: another stop; *ret_signal is the signal to
 * deliver. */
static bool wait_stop(pid_t pid, int *ret_signal)
{
	int status;

	*ret_signal = 0;
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return false;
	if (!WIFSTOPPED(status))
		return false;
	if (status >> 16 == PTRACE_EVENT_STOP)
		return WSTOPSIG(status) == SIGTRAP;
	*ret_signal = WSTOPSIG(status);
	return false;
}

/* *ret_done: the registers were set. */
static struct ot_err *in_stop(const struct vp_target *t, const char *path, bool *ret_done)
{
	struct user_regs_struct regs;
	struct image im;

	OT_TRY(read_image(t, &im));
	if (!is_safe(&im.regs))
		return NULL;
	OT_TRY(write_frame(t, &im, path, &regs));
	if (ptrace(PTRACE_SETREGS, t->pid, NULL, &regs))
		return trace_error(t, "registers");
	*ret_done = true;
	return NULL;
}

/* Without PTRACE_O_EXITKILL: our death must not kill the target. */
static struct ot_err *try_once(const struct vp_target *t, const char *path, bool *ret_done,
			       uint64_t *ret_stop_ns)
{
	struct ot_err *err = NULL;
	uint64_t start = ot_now_ns();
	int sig = 0;

	if (ptrace(PTRACE_SEIZE, t->pid, NULL, NULL))
		return trace_error(t, "ptrace");
	if (ptrace(PTRACE_INTERRUPT, t->pid, NULL, NULL))
		err = trace_error(t, "ptrace");
	else if (wait_stop(t->pid, &sig))
		err = in_stop(t, path, ret_done);
	ptrace(PTRACE_DETACH, t->pid, NULL, (void *)(intptr_t)sig);
	*ret_stop_ns = ot_now_ns() - start;
	return err;
}

struct ot_err *vp_frame_call(const struct vp_target *t, const char *path, uint64_t *ret_stop_ns)
{
	const struct timespec pause = { .tv_nsec = TRY_PAUSE_NS };
	bool done = false;

	for (unsigned i = 0; i < TRIES && !done; i++) {
		if (i)
			nanosleep(&pause, NULL);
		OT_TRY(try_once(t, path, &done, ret_stop_ns));
	}
	return done ? NULL
		    : ot_err_new(OT_ERR_BUSY, "process %d: its main thread never waits: try again",
				 (int)t->pid);
}
