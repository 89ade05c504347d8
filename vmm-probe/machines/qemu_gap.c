/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the text of `info mtree`: below a line "address-space: NAME" its regions, each indented,
 *
 *   0000000180000000-00000004ffffffff (prio 0, i/o): device-memory
 *
 * up to an empty line. Names are the operator's, so no line is trusted to be well-formed. */
#include "vmm-probe/machines/qemu_gap.h"

#include <string.h>

#include "base/proc_map.h"

#define GIB       (1ull << 30)
#define SPACE     "address-space: memory"
#define ENDS      "\r\n" /* the monitor ends a line with either, or both */
#define BITS_MIN  36u
#define BITS_MAX  52u
#define CONTAINER (1ull << 62) /* what is as large holds others, and maps nothing itself */

/* The region in a line; false: another kind of line, or one that holds all others. */
static bool region(const char *line, struct vp_qemu_window *ret)
{
	const char *p = line + strspn(line, " ");

	if (p == line || !ot_take_number(&p, 16, '-', &ret->start) ||
	    !ot_take_number(&p, 16, ' ', &ret->end) || *p != '(' || ret->end < ret->start ||
	    ret->end - ret->start >= CONTAINER)
		return false;
	ret->end += ret->end != UINT64_MAX;
	return true;
}

static bool overlaps(const struct vp_qemu_window *w, uint64_t at, uint64_t size)
{
	return w->start < at + size && at < w->end;
}

/* NULL: there is none. */
static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

/* The regions of the address space; NULL: it is not there. Another one's name may begin as its does. */
static const char *find_space(const char *mtree)
{
	const char *at = strstr(mtree, SPACE);

	while (at && !strchr(ENDS, at[strlen(SPACE)]))
		at = strstr(at + 1, SPACE);
	return at ? next_line(at) : NULL;
}

/* The end of something in the machine that overlaps; 0: nothing does. */
static uint64_t taken_by_machine(const char *text, uint64_t at, uint64_t size)
{
	struct vp_qemu_window w;

	for (const char *line = text; line && !strchr(ENDS, *line); line = next_line(line))
		if (region(line, &w) && overlaps(&w, at, size))
			return w.end;
	return 0;
}

static uint64_t taken_by_rule(const struct vp_qemu_window *pci, uint64_t at, uint64_t size)
{
	const struct vp_qemu_window all[] = {
		*pci,
		{ (1ull << 46) - (1ull << 43), 1ull << 46 },
		{ (1ull << 47) - (1ull << 44), 1ull << 47 },
		{ 1ull << 39, 1ull << 40 },
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (overlaps(&all[i], at, size))
			return all[i].end;
	return 0;
}

bool vp_qemu_gap(const char *mtree, const struct vp_qemu_window *pci, uint32_t bits, uint64_t size,
		 uint64_t *ret)
{
	const char *text = find_space(mtree);

	if (!text || bits < BITS_MIN || bits > BITS_MAX || !size || size > GIB)
		return false;
	uint64_t limit = (1ull << bits) - (1ull << (bits - 3)), at = 4 * GIB;
	while (at + size <= limit) {
		uint64_t end = taken_by_machine(text, at, size);
		if (!end)
			end = taken_by_rule(pci, at, size);
		if (!end) {
			*ret = at;
			return true;
		}
		if (end > limit)
			return false;
		at = (end + GIB - 1) & ~(GIB - 1);
	}
	return false;
}
