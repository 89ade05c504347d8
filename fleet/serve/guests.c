/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which guests an operator is told of. */
#include <string.h>

#include "base/clock.h"
#include "dif/obj/program.h"
#include "fleet/serve/policy.h"
#include "fleet/serve/serve.h"
#include "vmm-probe/hosts/machines.h"

#define KEPT_NS 2000000000ull

/* Questions come from outside, and a list asks every engine of this host. */
static struct vp_machines *list(void)
{
	static struct vp_machines machines;
	static uint64_t listed_ns;
	static bool is_there;
	uint64_t now = ot_now_ns();

	if (is_there && now - listed_ns < KEPT_NS)
		return &machines;
	if (is_there)
		vp_machines_deinit(&machines);
	struct ot_err *err = vp_machines_list(NULL, &machines);

	is_there = !err;
	listed_ns = now;
	if (err)
		fl_serve_log(ot_err_message(err));
	ot_err_destroy(err);
	return is_there ? &machines : NULL;
}

static bool is_meant(const char *pattern, const char *name)
{
	return !*pattern || !strcmp(pattern, "all") || dif_glob_match(pattern, name);
}

void fl_serve_guests(const struct fl_conf_operator *operator, const char * pattern, struct ot_buf *out)
{
	const struct vp_machines *machines = list();

	for (size_t i = 0; machines && i < machines->count && out->len < FL_ANSWER_MAX / 2; i++) {
		const struct vp_machine *m = &machines->items[i];
		const char *name = *m->domain_name ? m->domain_name : m->guest.name;

		if ((m->how == VP_HOW_NOW || m->how == VP_HOW_ATTACH) && m->guest.pid &&
		    is_meant(pattern, name) && fl_policy_guest(operator, name))
			fl_body_put_presence(out, &(struct fl_presence){ name, m->guest.release });
	}
}
