/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames from a confined child, each length bounded before anything is allocated, and answers to it. */
#include "vmm-probe/confined/receive.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define CHUNK   4096u
#define WAIT_MS 200
#define DEAF_NS 2000000000u /* until the end of a child that takes no answers has arrived */

/* --- frames ---------------------------------------------------------------------------------------------- */

static void check_frame(const struct vp_confined_job *job, struct vp_confined_incoming *i)
{
	uint64_t len = i->frame.len;

	i->follows = len;
	switch (i->frame.kind) {
	case VP_CONFINED_RESULT:
		/* One byte is the NUL's. */
		i->is_too_large = len >= (uint64_t)job->limits.result_mib << 20;
		i->follows = 0;
		return;
	case VP_CONFINED_ERROR:
		i->is_broken = len > VP_CONFINED_ERROR_TEXT;
		return;
	case VP_CONFINED_ASKS:
		i->is_broken = !job->answer || len > VP_CONFINED_QUESTION;
		return;
	default:
		i->is_broken = true;
	}
}

/* Read the next message, once. *ret_end: the child has closed its end. */
static struct ot_err *read_some(const struct vp_confined_job *job, int in, struct vp_confined_incoming *i,
				bool *ret_end)
{
	bool in_frame = i->have < sizeof(i->frame);
	size_t want = in_frame ? sizeof(i->frame) - i->have : i->follows - i->body.len;
	char beyond, *to = (char *)&i->frame + i->have;

	want = want < CHUNK ? want : CHUNK;
	if (!in_frame) {
		if (!ot_grow(&i->body.data, &i->body.cap, i->body.len + want + 1, 1))
			return ot_err_nomem();
		to = want ? i->body.data + i->body.len : &beyond;
	}
	ssize_t n = read(in, to, want ? want : 1);
	if (n < 0)
		return errno == EINTR ? NULL : ot_err_os(errno, "read");
	*ret_end = n == 0;
	if (in_frame) {
		i->have += (size_t)n;
		if (i->have == sizeof(i->frame))
			check_frame(job, i);
		return NULL;
	}
	if (!want) {
		i->is_broken |= n > 0;
		return NULL;
	}
	i->body.len += (size_t)n;
	i->body.data[i->body.len] = '\0';
	return NULL;
}

/* --- answers --------------------------------------------------------------------------------------------- */

/* The child may not read the reply, so this never waits for it. A child that has closed its end has probably
 * ended, which reading detects. */
static void send_now(int to, const struct ot_buf *message, struct vp_confined_incoming *i)
{
	ssize_t n = send(to, message->data, message->len, MSG_NOSIGNAL | MSG_DONTWAIT);

	i->is_deaf |= n < 0 && (errno == EPIPE || errno == ECONNRESET);
	i->is_broken |= !i->is_deaf && (size_t)n != message->len;
}

static struct ot_err *answer(const struct vp_confined_job *job, int answers, struct vp_confined_incoming *i)
{
	ot_auto(ot_buf_deinit) struct ot_buf bytes, message;
	struct vp_confined_reply reply = { 0 };

	ot_buf_init(&bytes);
	ot_buf_init(&message);
	struct ot_err *err = job->answer(job->answer_arg, ot_buf_str(&i->body), i->body.len, &bytes);
	if (err) {
		reply.code = ot_err_code(err);
		ot_buf_clear(&bytes);
		ot_buf_append(&bytes, ot_err_message(err),
			      strnlen(ot_err_message(err), VP_CONFINED_ERROR_TEXT));
		ot_err_destroy(err);
	}
	reply.len = (uint32_t)bytes.len;
	ot_buf_append(&message, &reply, sizeof(reply));
	ot_buf_append(&message, ot_buf_str(&bytes), bytes.len);
	if (bytes.failed || message.failed)
		return ot_err_nomem();
	i->is_broken = bytes.len > VP_CONFINED_ANSWER;
	if (!i->is_broken)
		send_now(answers, &message, i);
	i->have = 0;
	ot_buf_clear(&i->body);
	return NULL;
}

/* --- all of it ------------------------------------------------------------------------------------------- */

struct ot_err *vp_confined_receive(const struct vp_confined_job *job, int in, int answers,
				   struct vp_confined_incoming *ret)
{
	uint64_t deadline = ot_now_ns() + (uint64_t)job->limits.wall_s * 1000000000u;
	bool end = false;

	while (!end && !ret->is_too_large && !ret->is_broken) {
		struct pollfd p = { .fd = in, .events = POLLIN };
		int left = ot_ms_until(deadline);

		if (poll(&p, 1, left < WAIT_MS ? left : WAIT_MS) < 0 && errno != EINTR)
			return ot_err_os(errno, "poll");
		if (job->waiting)
			job->waiting(job->waiting_arg);
		if (ot_now_ns() >= deadline) {
			*(ret->is_deaf ? &ret->is_broken : &ret->is_late) = true;
			return NULL;
		}
		if (!p.revents)
			continue;
		OT_TRY(read_some(job, in, ret, &end));
		if (vp_confined_is_whole(ret) && ret->frame.kind == VP_CONFINED_ASKS)
			OT_TRY(answer(job, answers, ret));
		if (ret->is_deaf && deadline > ot_now_ns() + DEAF_NS)
			deadline = ot_now_ns() + DEAF_NS;
	}
	return NULL;
}
