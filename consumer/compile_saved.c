/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --dof: a program that was saved takes the place of texts. It is untrusted, so it is verified. */
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "consumer/compile.h"
#include "dif/obj/verify.h"

#define DOF_MAX (64u << 20)

struct ot_err *con_compile_saved(struct con_compilation *c, const struct con_texts *texts,
				 struct vp_session *s)
{
	const struct dif_world *world = vp_session_world(s, 0);
	struct con_compiled *unit = &c->units[c->nunits++];
	ot_auto_free char *data = NULL;
	struct dif_program loaded;
	struct ot_err *err;
	size_t len;

	err = vp_session_nkernels(s) > 1
		  ? ot_err_new(OT_ERR_UNSUPPORTED,
			       "--dof is a program for one kernel, and the guests run several: "
			       "trace them in sessions of their own")
		  : ot_read_file(texts->dof, DOF_MAX, &data, &len);
	if (!err)
		err = dif_dof_read(data, len, &loaded);
	if (!err) {
		dif_program_deinit(&c->prog);
		c->prog = loaded;
		err = dif_program_verify(&c->prog);
	}
	for (uint32_t i = 0; !err && i < c->prog.nopts; i++)
		err = dif_options_set(texts->opts, c->prog.opts[i].name, c->prog.opts[i].value,
				      DIF_OPT_PROGRAM);
	unit->what = "program";
	unit->used = DIF_ATTRIBUTE_DEFAULT; /* the file doesn't record which attributes its text used */
	unit->name = strdup(texts->dof);
	unit->end = c->prog.nclauses;
	for (uint32_t i = 0; !err && i < c->prog.nclauses; i++) {
		uint64_t n = 0;
		err = world->match(world->env, &c->prog.clauses[i].probe, NULL, NULL, &n);
		unit->matched += n;
	}
	c->matched += unit->matched;
	return ot_err_prefix(err, "failed to load %s", texts->dof);
}
