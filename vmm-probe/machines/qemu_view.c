/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the text of `info mtree -f`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc_map.h"
#include "vmm-probe/machines/qemu_view.h"

const char *vp_qemu_view_of(const char *text, const char *space)
{
	char name[64];

	snprintf(name, sizeof(name), " AS \"%s\"", space);
	return strstr(text, name);
}

/* The NAME in a line "  START-LAST (prio N, KIND): NAME …"; NULL: another kind of line. */
static const char *view_line(const char *line, const char *kind, uint64_t *start, uint64_t *last, long *prio)
{
	const char *p = line + strspn(line, " ");
	char behind[16], *at;
	int n = snprintf(behind, sizeof(behind), ", %s):", kind);

	if (p == line || !ot_take_number(&p, 16, '-', start) || !ot_take_number(&p, 16, ' ', last) ||
	    strncmp(p, "(prio ", 6) != 0)
		return NULL;
	*prio = strtol(p + 6, &at, 10);
	if (at == p + 6 || strncmp(at, behind, (size_t)n) != 0)
		return NULL;
	return at + n + strspn(at + n, " ");
}

/* Boards and memory devices map RAM with priority 0, other devices their memory with 1. */
static bool ram_line(const char *line, uint64_t *start, uint64_t *end)
{
	long prio;

	if ((!view_line(line, "ram", start, end, &prio) && !view_line(line, "nv-ram", start, end, &prio)) ||
	    prio || *end < *start || *end == UINT64_MAX)
		return false;
	++*end;
	return true;
}

/* Ports without a device have the name of the address space itself. */
static bool device_line(const char *line, uint64_t *start, uint64_t *last)
{
	long prio;
	const char *name = view_line(line, "i/o", start, last, &prio);

	return name && strncmp(name, "io\n", 3) != 0 && strncmp(name, "io @", 4) != 0;
}

/* The next line of the view that fits; up to the next view. */
static bool next(const char **at, bool (*fits)(const char *line, uint64_t *start, uint64_t *end),
		 uint64_t *start, uint64_t *end)
{
	const char *p = *at ? strchr(*at, '\n') : NULL;

	for (; p && strncmp(p + 1, "FlatView", 8) != 0; p = strchr(p + 1, '\n')) {
		if (!fits(p + 1, start, end))
			continue;
		*at = p + 1;
		return true;
	}
	*at = NULL;
	return false;
}

bool vp_qemu_view_ram(const char **at, uint64_t *start, uint64_t *end)
{
	return next(at, ram_line, start, end);
}

bool vp_qemu_view_device(const char **at, uint64_t *start, uint64_t *last)
{
	return next(at, device_line, start, last);
}
