/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A confined child: it gives up its rights one after the other, runs the function, and sends the result. */
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

/* Signals as in a new process: handlers of this process must not run in the child. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	/* write() detects that the parent has ended. */
	(void)signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static struct vp_confined_ends own; /* of the child, for vp_confined_ask() */

static struct ot_err *give_up_rights(const struct vp_confined_job *job, pid_t parent)
{
	uint64_t mapped;

	OT_TRY(vp_rights_unmap(own.result, &mapped));
	OT_TRY(vp_rights_close(job, &own));
	OT_TRY(vp_rights_user());
	/* After the change of user, which resets it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	OT_TRY(vp_rights_limit(&job->limits, mapped));
	return vp_rights_filter(own.out);
}

static int send(const struct vp_confined_frame *frame, const void *bytes)
{
	struct ot_err *err = ot_write_all(own.out, frame, sizeof(*frame));

	if (!err)
		err = ot_write_all(own.out, bytes, frame->len);
	return err ? 1 : 0;
}

static int send_error(const struct ot_err *err)
{
	const char *text = ot_err_message(err);
	const struct vp_confined_frame frame = {
		.kind = VP_CONFINED_ERROR,
		.code = ot_err_code(err),
		.len = strnlen(text, VP_CONFINED_ERROR_TEXT),
	};

	return send(&frame, text);
}

static struct ot_err *read_answers(void *to, size_t len)
{
	char *at = to;

	while (len) {
		ssize_t n = read(own.answers, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1); /* its parent has ended */
		at += n;
		len -= (size_t)n;
	}
	return NULL;
}

struct ot_err *vp_confined_ask(const void *question, size_t len, void *answer, size_t answer_len)
{
	const struct vp_confined_frame frame = { .kind = VP_CONFINED_ASKS, .len = len };
	struct vp_confined_reply reply;
	char text[VP_CONFINED_ERROR_TEXT + 1];

	if (own.answers < 0 || len > VP_CONFINED_QUESTION)
		return ot_err_new(OT_ERR_INTERNAL, "a question that a confined child may not ask");
	if (send(&frame, question))
		_exit(1);
	OT_TRY(read_answers(&reply, sizeof(reply)));
	if (!reply.code && reply.len == answer_len)
		return read_answers(answer, answer_len);
	if (!reply.code || reply.len > VP_CONFINED_ERROR_TEXT)
		return ot_err_new(OT_ERR_BAD_DATA, "an answer of %u bytes", reply.len);
	OT_TRY(read_answers(text, reply.len));
	text[reply.len] = '\0';
	return ot_err_new((enum ot_err_code)reply.code, "%s", text);
}

void vp_confined_child(const struct vp_confined_job *job, pid_t parent, const struct vp_confined_ends *ends)
{
	struct ot_buf result;
	struct ot_err *err;

	own = *ends;
	reset_signals();
	err = give_up_rights(job, parent);
	if (err) {
		err = ot_err_new(OT_ERR_UNSUPPORTED, "this host can't confine a process: %s",
				 ot_err_message(err));
		_exit(send_error(err));
	}
	ot_buf_init_fixed(&result, own.result, own.result_size);
	err = job->run(job->arg, &result);
	if (err && !result.failed && ot_err_code(err) == OT_ERR_NO_MEMORY)
		vp_confined_no_memory();
	if (err && !result.failed)
		_exit(send_error(err));
	/* A result that does not fit is refused by its length. */
	const struct vp_confined_frame frame = {
		.kind = VP_CONFINED_RESULT,
		.len = result.failed ? own.result_size : result.len,
	};
	_exit(ot_write_all(own.out, &frame, sizeof(frame)) ? 1 : 0);
}
