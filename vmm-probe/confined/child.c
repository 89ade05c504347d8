/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A confined child: rights given up one after the other, then the function, then its result. */
#include "vmm-probe/confined/child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/io.h"
#include "vmm-probe/confined/rights.h"

void vp_confined_no_memory(void)
{
	_exit(VP_CONFINED_NO_MEMORY);
}

/* Signals as in a new process: what this one handles is none of the child's. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	/* A parent that has gone is seen by write(). */
	(void)signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static struct ot_err *give_up_rights(const struct vp_confined_job *job, int out)
{
	uint64_t mapped;

	OT_TRY(vp_rights_unmap(&mapped));
	OT_TRY(vp_rights_close(job, out));
	OT_TRY(vp_rights_limit(&job->limits, mapped));
	return vp_rights_filter();
}

static int send(int out, const struct vp_confined_frame *frame, const void *bytes)
{
	struct ot_err *err = ot_write_all(out, frame, sizeof(*frame));

	if (!err)
		err = ot_write_all(out, bytes, frame->len);
	return err ? 1 : 0;
}

static int send_error(int out, const struct ot_err *err)
{
	const char *text = ot_err_message(err);
	const struct vp_confined_frame frame = {
		.is_error = 1,
		.code = ot_err_code(err),
		.len = strnlen(text, VP_CONFINED_ERROR_TEXT),
	};

	return send(out, &frame, text);
}

void vp_confined_child(const struct vp_confined_job *job, pid_t parent, int out)
{
	struct ot_buf result;
	struct ot_err *err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	reset_signals();
	err = give_up_rights(job, out);
	if (err) {
		err = ot_err_new(OT_ERR_UNSUPPORTED, "this host can't confine a process: %s",
				 ot_err_message(err));
		_exit(send_error(out, err));
	}
	ot_buf_init(&result);
	err = job->run(job->arg, &result);
	if (!err && result.failed)
		err = ot_err_nomem();
	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		vp_confined_no_memory();
	if (err)
		_exit(send_error(out, err));
	const struct vp_confined_frame frame = { .len = result.len };
	_exit(send(out, &frame, ot_buf_str(&result)));
}
