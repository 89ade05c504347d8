/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --plan: a line for each place in a guest that a program would probe. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/list.h"
#include "consumer/messages.h"
#include "consumer/output/print.h"

struct planning {
	struct vp_session *s;
	FILE *fp;
	bool several; /* several guests: each line names its own */
};

static void print_bytes(const struct vp_planned *p, FILE *fp)
{
	/* what is covered behind the instruction is covered too */
	unsigned n = p->verdict.covers > p->site.length ? p->verdict.covers : p->site.length;
	char text[3 * sizeof(p->site.bytes) + 1] = "";

	for (unsigned i = 0; i < n && i < sizeof(p->site.bytes); i++)
		snprintf(text + 3 * (size_t)i, 4, "%02x ", p->site.bytes[i]);
	fprintf(fp, "%-25s", text);
}

static const char *kind(const struct vp_planned *p)
{
	if (p->site.sentinel)
		return "sentinel";
	return p->trapped ? vp_plan_kind_name(p->verdict.kind) : "none";
}

static bool print_site(void *arg, const struct vp_planned *p)
{
	const struct planning *plan = arg;
	char where[1024];

	vp_session_symbol(plan->s, p->guest, p->site.gva, VP_SYM_OFFSET, where, sizeof(where));
	ot_utf8_tame_string(where);
	if (plan->several)
		fprintf(plan->fp, "%-15s ", vp_session_guest_name(plan->s, p->guest));
	fprintf(plan->fp, "%016" PRIx64 " %-8s %3u  ", p->site.gva, kind(p), p->verdict.covers);
	print_bytes(p, plan->fp);
	fprintf(plan->fp, " %s\n", where);
	return !ferror(plan->fp);
}

int cli_plan(struct vp_session *s, const struct cli_invocation *inv, struct con_compilation *c, FILE *fp)
{
	struct planning plan = { s, fp, vp_session_nguests(s) > 1 };

	if (plan.several)
		fprintf(fp, "%-15s ", "GUEST");
	fprintf(fp, "%16s %-8s %3s  %-25s %s\n", "ADDRESS", "TRAP", "LEN", "BYTES", "PLACE");
	struct ot_err *err = vp_session_plan(s, &c->prog, print_site, &plan);
	if (err)
		return con_fail(err, NULL);
	return con_finish_output(fp, inv->out ? inv->out : "<stdout>");
}
