/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assembling the agent's events about processes or modules into passes. */
#include "vmm-probe/guest/agent_pass.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define PID_MAX (4u << 20) /* PID_MAX_LIMIT, include/linux/threads.h */
#define UNKNOWN UINT64_MAX

void vp_agent_pass_init(struct vp_agent_pass *pass, enum ga_pass what)
{
	*pass = (struct vp_agent_pass){ .what = what, .announced = UNKNOWN };
}

void vp_agent_pass_deinit(struct vp_agent_pass *pass)
{
	vp_census_deinit(&pass->items);
	free(pass->names);
	pass->names = NULL;
	pass->nnames = pass->names_cap = 0;
}

static void begin(struct vp_agent_pass *pass, uint64_t number)
{
	pass->number = number;
	pass->events = pass->error = 0;
	pass->announced = UNKNOWN;
	vp_census_deinit(&pass->items);
	pass->nnames = 0;
}

static struct ot_err *add_task(struct vp_agent_pass *pass, const uint64_t words[5])
{
	if (!words[1] || words[1] > PID_MAX)
		return NULL;
	return vp_census_add(&pass->items, words[1], 0, 0, &words[2], GA_COMM);
}

static struct ot_err *add_module(struct vp_agent_pass *pass, const uint64_t words[5])
{
	uint64_t number = words[1] >> 8, part = words[1] & 0xff;
	size_t size = GA_NAME_WORDS * sizeof(words[0]);

	if (part >= GA_NAME_PARTS || number >= VP_FOUND_MAX)
		return NULL;
	if (number >= pass->nnames) {
		if (!ot_grow(&pass->names, &pass->names_cap, number + 1, sizeof(*pass->names)))
			return ot_err_nomem();
		memset(pass->names[pass->nnames], 0, (number + 1 - pass->nnames) * sizeof(*pass->names));
		pass->nnames = number + 1;
	}
	memcpy(pass->names[number] + part * size, &words[2], size);
	return NULL;
}

struct ot_err *vp_agent_pass_add(struct vp_agent_pass *pass, bool end, const uint64_t words[5])
{
	if (end && words[1] != pass->what)
		return NULL;
	if (words[0] < pass->number)
		return NULL;
	if (words[0] > pass->number)
		begin(pass, words[0]);
	if (end) {
		pass->announced = words[2];
		pass->error = words[3];
		return NULL;
	}
	pass->events++;
	return pass->what == GA_PASS_TASKS ? add_task(pass, words) : add_module(pass, words);
}

static struct ot_err *add_names(struct vp_agent_pass *pass)
{
	for (size_t i = 0; i < pass->nnames; i++)
		if (*pass->names[i])
			OT_TRY(vp_census_add(&pass->items, 0, 0, 0, pass->names[i], sizeof(pass->names[i])));
	return NULL;
}

struct ot_err *vp_agent_pass_take(struct vp_agent_pass *pass, uint32_t way, struct vp_census *ret,
				  bool *ret_whole, uint64_t *ret_error)
{
	*ret_whole = false;
	if (pass->announced == UNKNOWN || (!pass->error && pass->events != pass->announced))
		return NULL;
	*ret_error = pass->error;
	if (!pass->error) {
		OT_TRY(add_names(pass));
		for (size_t i = 0; i < pass->items.count; i++)
			pass->items.items[i].ways = way;
		*ret = pass->items;
		ret->ways = way;
		memset(&pass->items, 0, sizeof(pass->items));
	}
	begin(pass, pass->number + 1); /* late events of this pass are ignored */
	*ret_whole = true;
	return NULL;
}
