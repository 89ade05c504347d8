/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes that are added while a session runs: of a module that the guest loads (modules.c), or of a program
 * that begins (arrivals.c). The session's descriptions are matched against them, and the matches are enabled
 * as an additional batch.
 */
#include "vmm-probe/session/late.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/session/batch.h"

static bool is_same_type(struct dif_type *a, struct dif_type *b)
{
	struct ot_buf x, y;

	if (a == b)
		return true;
	ot_buf_init(&x);
	ot_buf_init(&y);
	dif_type_print(a, &x);
	dif_type_print(b, &y);
	bool same = !strcmp(ot_buf_str(&x), ot_buf_str(&y));
	ot_buf_deinit(&x);
	ot_buf_deinit(&y);
	return same;
}

/* A probe and its registry. */
struct known {
	struct vp_probes *probes;
	const struct vp_probe *probe;
};

static bool is_same_arg(struct known a, struct known b, unsigned n)
{
	struct dif_probe_arg x, y;

	return vp_probes_arg(a.probes, a.probe, n, &x) && vp_probes_arg(b.probes, b.probe, n, &y) &&
	       x.mapping == y.mapping &&
	       !strcmp(x.translated ? x.translated : "", y.translated ? y.translated : "") &&
	       is_same_type(x.native, y.native);
}

/* The probe for whose args[] a clause was compiled, perhaps another guest's. No probe: there is none. */
static struct known compiled_for(const struct vp_session *s, uint32_t clause)
{
	for (size_t i = 0; i < s->program.nenabled; i++) {
		const struct vp_enabled *e = s->program.enabled[i];
		if (e->clause_index == clause && e->probe->kind != VP_PROBE_ERROR && e->guest < s->links.n)
			return (struct known){ s->links.items[e->guest]->probes, e->probe };
	}
	return (struct known){ 0 };
}

static bool args_fit(struct vp_session *s, uint32_t clause, uint32_t guest, const struct vp_probe *probe)
{
	const struct known late = { s->links.items[guest]->probes, probe };
	uint64_t used = s->program.prog->clauses[clause].args_used;
	struct known first = { 0 };

	if (used && strcmp(probe->module, "vmlinux") != 0) /* the core kernel's are those of its build */
		first = compiled_for(s, clause);
	for (unsigned n = 0; first.probe && n < 64; n++)
		if (used & 1ull << n && (n == 63 || !is_same_arg(first, late, n)))
			return false;
	return true;
}

bool vp_late_args_fit(struct vp_session *s, uint32_t clause, uint32_t guest, const struct vp_probe *probe)
{
	char text[256];

	if (args_fit(s, clause, guest, probe))
		return true;
	if (!s->said_args) {
		snprintf(text, sizeof(text),
			 "%s:%s:%s:%s came later and is left out: its args[] have other types than "
			 "those that the clause in line %u was compiled for",
			 probe->provider, probe->module, probe->function, probe->name,
			 s->program.prog->clauses[clause].line);
		vp_session_say(s, text);
	}
	s->said_args = true;
	return false;
}

bool vp_late_fits(struct vp_session *s, uint32_t clause, uint32_t guest, const struct vp_probe *probe)
{
	return (probe->kind == VP_PROBE_SITE || probe->kind == VP_PROBE_AGENT) &&
	       vp_late_args_fit(s, clause, guest, probe);
}

/* The probes above @after, if a description matches one. */
struct ot_err *vp_late_enable(struct vp_session *s, struct vp_feed *feed, uint32_t after)
{
	struct vp_feed late = { .session = s,
				.link = feed->link,
				.guest = feed->guest,
				.ncpus = feed->ncpus,
				.has_work = false,
				.planted = feed->sentinels };
	memcpy(late.registers_before, feed->registers, sizeof(late.registers_before));
	struct ot_err *err = vp_batch_make_late(s, (uint32_t)(feed - s->feeds), after, &late);

	if (!err && late.has_work)
		err = vp_batch_send_retrying(s, &late);
	if (!err && late.has_work) {
		feed->sentinels.keys |= late.sentinels.keys;
		feed->sentinels.maps |= late.sentinels.maps;
		memcpy(feed->registers, late.registers, sizeof(feed->registers));
		vp_batch_keep_agents(feed, &late);
	}
	vp_batch_clear(&late);
	return err;
}
