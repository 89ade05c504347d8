/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of programs; printing and matching probe descriptions. */
#include "dif/obj/program.h"

#include <string.h>

void dif_program_init(struct dif_program *prog)
{
	*prog = (struct dif_program){ 0 };
	ot_arena_init(&prog->arena);
}

void dif_program_deinit(struct dif_program *prog)
{
	ot_arena_deinit(&prog->arena);
	*prog = (struct dif_program){ 0 };
}

void dif_probedesc_print(const struct dif_probedesc *desc, struct ot_buf *out)
{
	if (desc->id) {
		ot_buf_printf(out, "%u", desc->id);
		return;
	}
	if (desc->guest && *desc->guest)
		ot_buf_printf(out, "%s:", desc->guest);
	ot_buf_printf(out, "%s:%s:%s:%s", desc->provider, desc->module, desc->function, desc->name);
}
