/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/window.h"

#include <stdlib.h>
#include <string.h>

struct ot_err *cli_window_begin(struct cli_window *w, struct vp_session *s)
{
	uint32_t n = vp_session_nguests(s);

	w->before = calloc(n + 1, sizeof(*w->before));
	if (!w->before)
		return ot_err_nomem();
	for (uint32_t i = 0; i < n; i++)
		OT_TRY(vp_session_stolen(s, i, &w->before[i]));
	return NULL;
}

void cli_window_deinit(struct cli_window *w)
{
	free(w->before);
	w->before = NULL;
}

/* What was added since. A guest's word for it: it may have been set back. */
static uint64_t since(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

/* The window alone: both are known before and after. */
static struct ot_err *stolen(const struct cli_window *w, struct vp_session *s, uint32_t guest,
			     struct vp_stolen *ret)
{
	const struct vp_stolen *before = &w->before[guest];

	OT_TRY(vp_session_stolen(s, guest, ret));
	ret->at_ns = since(before->at_ns, ret->at_ns);
	ret->by_guest &= before->by_guest;
	ret->by_host &= before->by_host;
	ret->host_ns = since(before->host_ns, ret->host_ns);
	for (uint32_t i = 0; i < ret->nvcpus; i++)
		ret->vcpu_ns[i] = since(before->vcpu_ns[i], ret->vcpu_ns[i]);
	return NULL;
}

static void print_clock(const struct vp_clock_mark *m, FILE *fp)
{
	if (!m->bound_ns) {
		fputs("nothing was timed inside\n", fp);
		return;
	}
	fprintf(fp, "times inside are exact to %llu ns\n", (unsigned long long)m->bound_ns);
	fprintf(fp,
		"clocks: the guest's counter stood at %llu when the host's clock stood at %llu.%09llu s\n",
		(unsigned long long)m->tsc, (unsigned long long)(m->ns / 1000000000),
		(unsigned long long)(m->ns % 1000000000));
}

static void print_stolen(const struct vp_stolen *t, FILE *fp)
{
	fputs("stolen, as the guest counts it:", fp);
	for (uint32_t i = 0; t->by_guest && i < t->nvcpus; i++)
		fprintf(fp, "%s vCPU %u %.3f ms", i ? "," : "", i, (double)t->vcpu_ns[i] / 1e6);
	fputs(t->by_guest ? "\n" : " nothing, as its hypervisor does not tell it\n", fp);
	if (t->by_host)
		fprintf(
		    fp,
		    "stolen, as the host counts it: threads of the VMM waited %.3f ms for a CPU, in %.3f s\n",
		    (double)t->host_ns / 1e6, (double)t->at_ns / 1e9);
}

struct ot_err *cli_window_print(const struct cli_window *w, struct vp_session *s, FILE *fp)
{
	for (uint32_t i = 0; i < vp_session_nguests(s); i++) {
		struct vp_clock_mark mark = vp_session_agent_clock(s, i);
		struct vp_stolen t;

		OT_TRY(stolen(w, s, i, &t));
		putc('\n', fp);
		if (vp_session_nguests(s) > 1)
			fprintf(fp, "guest %s:\n", vp_session_guest_name(s, i));
		print_clock(&mark, fp);
		print_stolen(&t, fp);
	}
	return NULL;
}

static void json_clock(const struct vp_clock_mark *m, struct ot_json *j)
{
	if (!m->bound_ns) {
		ot_json_null(j);
		return;
	}
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "tsc");
	ot_json_uint(j, m->tsc);
	ot_json_key(j, "host_ns");
	ot_json_uint(j, m->ns);
	ot_json_key(j, "bound_ns");
	ot_json_uint(j, m->bound_ns);
	ot_json_end(j);
}

static void json_stolen(const struct vp_stolen *t, struct ot_json *j)
{
	if (!t->by_guest) {
		ot_json_null(j);
		return;
	}
	ot_json_array(j, OT_JSON_INLINE);
	for (uint32_t i = 0; i < t->nvcpus; i++)
		ot_json_uint(j, t->vcpu_ns[i]);
	ot_json_end(j);
}

static void json_guest(const char *name, const struct vp_clock_mark *m, const struct vp_stolen *t,
		       struct ot_json *j)
{
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "guest");
	ot_json_string(j, name);
	ot_json_key(j, "window_ns");
	ot_json_uint(j, t->at_ns);
	ot_json_key(j, "clock");
	json_clock(m, j);
	ot_json_key(j, "stolen_ns");
	json_stolen(t, j);
	ot_json_key(j, "vmm_waited_ns");
	if (t->by_host)
		ot_json_uint(j, t->host_ns);
	else
		ot_json_null(j);
	ot_json_end(j);
}

struct ot_err *cli_window_json(const struct cli_window *w, struct vp_session *s, struct ot_json *j)
{
	ot_json_array(j, OT_JSON_LINES);
	for (uint32_t i = 0; i < vp_session_nguests(s); i++) {
		struct vp_clock_mark mark = vp_session_agent_clock(s, i);
		struct vp_stolen t;

		OT_TRY(stolen(w, s, i, &t));
		json_guest(vp_session_guest_name(s, i), &mark, &t, j);
	}
	ot_json_end(j);
	return NULL;
}
