/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies that have no entry of their own in the debugging information.
 *
 * Where the compiler repeats code (a loop is unrolled, a path is split in two) the inlined function in it is
 * there several times, but described once: one set of ranges, and the entry of one of them. The line table
 * has them all: GCC writes a row with the line and column of the function's declaration wherever a copy is
 * entered. So each such row is a copy, but for those of the function's own code.
 *
 * A function that a macro writes has the line and column of the macro's use for its statements too, and for
 * other functions of the macro. Its rows say nothing, and if a copy of it has several ranges, it is not
 * certain that all copies are known.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/dwarf/reader_internal.h"

static size_t count_found(const struct ot_buf *list)
{
	return list->len / sizeof(struct vp_dwarf_found);
}

static struct vp_dwarf_found *found_at(const struct ot_buf *list, size_t i)
{
	return (struct vp_dwarf_found *)(void *)list->data + i;
}

/* --- which function a row is the entry of ----------------------------------------------------------------- */

static int by_line(const void *a, const void *b)
{
	const struct vp_dwarf_origin *x = *(struct vp_dwarf_origin *const *)a;
	const struct vp_dwarf_origin *y = *(struct vp_dwarf_origin *const *)b;

	return (x->line > y->line) - (x->line < y->line);
}

static bool same_place(const struct vp_dwarf_origin *o, int line, int column, const char *file)
{
	return o->line == line && o->column == column && o->file && file && !strcmp(o->file, file);
}

/* The function that is declared there; NULL: none, or several, as of a macro. @list is ordered by line, and
 * @at is the first of that line. */
static struct vp_dwarf_origin *declared_at(struct vp_dwarf_origin *const *list, size_t n, size_t at, int line,
					   int column, const char *file)
{
	struct vp_dwarf_origin *found = NULL;

	for (; at < n && list[at]->line == line; at++) {
		if (!same_place(list[at], line, column, file))
			continue;
		if (found)
			found->is_one_line = list[at]->is_one_line = true;
		found = list[at];
	}
	return found && !found->is_one_line ? found : NULL;
}

static size_t first_of_line(struct vp_dwarf_origin *const *list, size_t n, int line)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle]->line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- a row ------------------------------------------------------------------------------------------------ */

/* A row of the line table: the entry of a copy of `origin`. */
struct row {
	struct vp_dwarf_origin *origin;
	Dwarf_Addr addr;
	uint64_t view;
};

static bool in_copy(const struct vp_dwarf_reader *r, const struct vp_dwarf_found *f, Dwarf_Addr addr)
{
	const struct vp_copies_range *ranges = (const void *)r->maker.ranges.data;

	for (uint32_t i = 0; i < f->nranges; i++)
		if (addr - r->base >= ranges[f->first_range + i].start &&
		    addr - r->base < ranges[f->first_range + i].end)
			return true;
	return false;
}

/* Is it in the function's own code, outside of copies? */
static bool in_body(const struct vp_dwarf_reader *r, const struct row *row)
{
	for (size_t i = 0; i < count_found(&r->bodies_here); i++) {
		struct vp_dwarf_found *f = found_at(&r->bodies_here, i);

		if (f->origin == row->origin && dwarf_haspc(&f->die, row->addr) > 0)
			return true;
	}
	return false;
}

/* Add the row's copy, unless it is described: *@same counts the rows at this address that are. */
static void add_row(struct vp_dwarf_reader *r, const struct row *row, const struct row *before,
		    uint32_t *same)
{
	struct vp_dwarf_found *within = NULL;
	uint32_t described = 0;

	for (size_t i = 0; i < count_found(&r->copies_here); i++) {
		struct vp_dwarf_found *f = found_at(&r->copies_here, i);

		if (f->origin != row->origin)
			continue;
		described += f->entry == row->addr;
		if (!within && in_copy(r, f, row->addr))
			within = f;
	}
	*same = before->origin == row->origin && before->addr == row->addr ? *same + 1 : 1;
	/* Two rows for one entry: a statement's is like the function's. */
	if (*same > (described ? described : 1))
		row->origin->is_one_line = true;
	if (described || *same > 1 || in_body(r, row) || row->addr < r->base ||
	    row->addr - r->base >= UINT32_MAX)
		return;
	vp_dwarf_add_copy(r, row->origin, within ? &within->die : NULL, row->addr, row->view,
			  within ? within->first_range : 0, within ? within->nranges : 0);
}

/* --- a unit ----------------------------------------------------------------------------------------------- */

/* Go through the rows. libdw orders them by address, and leaves those of one address in their order, which
 * numbers the views. */
static void each_row(struct vp_dwarf_reader *r, Dwarf_Lines *lines, size_t nlines,
		     struct vp_dwarf_origin *const *origins, size_t norigins)
{
	struct row row = { 0 }, before = { 0 };
	bool ended = true;
	uint32_t same = 0;

	for (size_t i = 0; i < nlines; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		int number = 0, column = 0;
		bool is_statement = false;
		Dwarf_Addr addr = 0;

		if (dwarf_lineaddr(line, &addr) != 0)
			continue;
		row.view = !ended && addr == row.addr ? row.view + 1 : 0;
		row.addr = addr;
		(void)dwarf_lineendsequence(line, &ended);
		(void)dwarf_linebeginstatement(line, &is_statement);
		(void)dwarf_lineno(line, &number);
		(void)dwarf_linecol(line, &column);
		size_t first = first_of_line(origins, norigins, number);
		if (ended || !is_statement || first == norigins || origins[first]->line != number)
			continue;
		row.origin =
		    declared_at(origins, norigins, first, number, column, dwarf_linesrc(line, NULL, NULL));
		if (row.origin)
			add_row(r, &row, &before, &same);
		before = row;
	}
}

/* Copies added for a function whose rows are ambiguous are removed. */
static void drop_one_lines(struct vp_dwarf_reader *r, size_t first_copy)
{
	struct vp_copies_function *functions = (void *)r->maker.functions.data;
	struct vp_copies_copy *copies = (void *)r->maker.copies.data;
	uint32_t *owners = (void *)r->maker.owners.data;
	size_t n = r->maker.copies.len / sizeof(*copies), kept = first_copy;
	struct vp_dwarf_origin **origins = (void *)r->origins_here.data;
	size_t norigins = r->origins_here.len / sizeof(*origins);

	for (size_t i = first_copy; i < n; i++) {
		bool drop = false;

		for (size_t o = 0; o < norigins && !drop; o++)
			drop = origins[o]->function == owners[i] && origins[o]->is_one_line;
		if (drop)
			continue;
		copies[kept] = copies[i];
		owners[kept++] = owners[i];
	}
	r->maker.copies.len = kept * sizeof(*copies);
	r->maker.owners.len = kept * sizeof(*owners);
	for (size_t i = 0; i < count_found(&r->copies_here); i++) {
		const struct vp_dwarf_found *f = found_at(&r->copies_here, i);

		if (f->origin->is_one_line && f->nranges > 1)
			functions[f->origin->function].flags |= VP_COPIES_UNCERTAIN;
	}
}

struct ot_err *vp_dwarf_add_rows(struct vp_dwarf_reader *r, Dwarf_Die *unit)
{
	struct vp_dwarf_origin **origins = (void *)r->origins_here.data;
	size_t n = r->origins_here.len / sizeof(*origins), nlines, first_copy;
	Dwarf_Lines *lines;

	if (r->origins_here.failed || r->copies_here.failed || r->bodies_here.failed ||
	    r->maker.copies.failed || r->maker.owners.failed || r->maker.functions.failed ||
	    r->maker.ranges.failed)
		return ot_err_nomem();
	if (!n || dwarf_getsrclines(unit, &lines, &nlines) != 0)
		return NULL;
	qsort(origins, n, sizeof(*origins), by_line);
	first_copy = r->maker.copies.len / sizeof(struct vp_copies_copy);
	each_row(r, lines, nlines, origins, n);
	drop_one_lines(r, first_copy);
	return NULL;
}
