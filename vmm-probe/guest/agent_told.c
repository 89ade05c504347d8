/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm-probe/guest/agent_told.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define PID_MAX (4u << 20) /* PID_MAX_LIMIT */
#define UNKNOWN UINT64_MAX

void vp_told_init(struct vp_told *told, enum ga_pass what)
{
	*told = (struct vp_told){ .what = what, .announced = UNKNOWN };
}

void vp_told_deinit(struct vp_told *told)
{
	vp_census_deinit(&told->items);
	free(told->names);
	told->names = NULL;
	told->nnames = told->names_cap = 0;
}

static void begin(struct vp_told *told, uint64_t pass)
{
	told->pass = pass;
	told->events = told->error = 0;
	told->announced = UNKNOWN;
	told->items.count = 0;
	told->nnames = 0;
}

static struct ot_err *add_task(struct vp_told *told, const uint64_t words[5])
{
	if (!words[1] || words[1] > PID_MAX)
		return NULL;
	return vp_census_add(&told->items, words[1], 0, 0, &words[2], GA_COMM);
}

static struct ot_err *add_module(struct vp_told *told, const uint64_t words[5])
{
	uint64_t number = words[1] >> 8, part = words[1] & 0xff;
	size_t size = GA_NAME_WORDS * sizeof(words[0]);

	if (part >= GA_NAME_PARTS || number >= VP_FOUND_MAX)
		return NULL;
	if (number >= told->nnames) {
		if (!ot_grow(&told->names, &told->names_cap, number + 1, sizeof(*told->names)))
			return ot_err_nomem();
		memset(told->names[told->nnames], 0, (number + 1 - told->nnames) * sizeof(*told->names));
		told->nnames = number + 1;
	}
	memcpy(told->names[number] + part * size, &words[2], size);
	return NULL;
}

struct ot_err *vp_told_event(struct vp_told *told, bool end, const uint64_t words[5])
{
	if (end && words[1] != told->what)
		return NULL;
	if (words[0] < told->pass)
		return NULL;
	if (words[0] > told->pass)
		begin(told, words[0]);
	if (end) {
		told->announced = words[2];
		told->error = words[3];
		return NULL;
	}
	told->events++;
	return told->what == GA_PASS_TASKS ? add_task(told, words) : add_module(told, words);
}

static struct ot_err *add_names(struct vp_told *told)
{
	for (size_t i = 0; i < told->nnames; i++)
		if (*told->names[i])
			OT_TRY(vp_census_add(&told->items, 0, 0, 0, told->names[i], sizeof(told->names[i])));
	return NULL;
}

struct ot_err *vp_told_take(struct vp_told *told, uint32_t way, struct vp_census *ret, bool *ret_whole,
			    uint64_t *ret_error)
{
	*ret_whole = false;
	if (told->announced == UNKNOWN || (!told->error && told->events != told->announced))
		return NULL;
	*ret_error = told->error;
	if (!told->error) {
		OT_TRY(add_names(told));
		for (size_t i = 0; i < told->items.count; i++)
			told->items.items[i].ways = way;
		*ret = told->items;
		ret->ways = way;
		memset(&told->items, 0, sizeof(told->items));
	}
	begin(told, told->pass + 1); /* what this one still has is not wanted */
	*ret_whole = true;
	return NULL;
}
