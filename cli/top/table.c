/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of the live view: see table.h. */
#include "cli/top/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEAST 8u

void cli_top_table_clear(struct cli_top_table *t, const struct cli_top_shape *shape)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->rows[i].name);
	t->count = 0;
	t->shape = shape;
}

void cli_top_table_deinit(struct cli_top_table *t)
{
	cli_top_table_clear(t, NULL);
	free(t->rows);
	*t = (struct cli_top_table){ 0 };
}

struct ot_err *cli_top_table_add(struct cli_top_table *t, uint64_t id, const char *name, size_t n,
				 struct cli_top_row **ret)
{
	struct ot_buf text;

	if (!ot_grow(&t->rows, &t->cap, t->count + 1, sizeof(*t->rows)))
		return ot_err_nomem();
	ot_buf_init(&text);
	cli_top_escape(&text, name, n);
	struct cli_top_row *row = &t->rows[t->count];
	row->id = id;
	row->name = ot_buf_take(&text);
	if (!row->name)
		return ot_err_nomem();
	for (unsigned i = 0; i < CLI_TOP_VALUES; i++)
		row->values[i] = NAN;
	t->count++;
	*ret = row;
	return NULL;
}

/* --- order ----------------------------------------------------------------------------------------------- */

struct order {
	unsigned value;
	bool by_name, reversed;
};

/* NANs follow all numbers, in either order. */
static int compare_values(double a, double b, bool reversed)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	int less = (a < b) - (a > b);
	return reversed ? -less : less;
}

static int compare(const void *x, const void *y, void *arg)
{
	const struct cli_top_row *a = x, *b = y;
	const struct order *o = arg;
	int by_name = strcmp(a->name, b->name);
	int by = o->by_name ? (o->reversed ? -by_name : by_name)
			    : compare_values(a->values[o->value], b->values[o->value], o->reversed);

	return by ? by : by_name ? by_name : (a->id > b->id) - (a->id < b->id);
}

void cli_top_table_sort(struct cli_top_table *t, unsigned column, bool reversed)
{
	struct order order = { .by_name = !column || column > t->shape->ncolumns, .reversed = reversed };

	if (t->shape->in_order || !t->count)
		return;
	if (!order.by_name)
		order.value = t->shape->columns[column - 1].value;
	qsort_r(t->rows, t->count, sizeof(*t->rows), compare, &order);
}

size_t cli_top_table_find(const struct cli_top_table *t, uint64_t id)
{
	size_t i = 0;

	while (i < t->count && t->rows[i].id != id)
		i++;
	return i;
}

/* --- lines ----------------------------------------------------------------------------------------------- */

/* The columns after the name. */
static unsigned others_width(const struct cli_top_table *t)
{
	unsigned width = 0;

	for (unsigned i = 0; i < t->shape->ncolumns; i++)
		width += 1 + t->shape->columns[i].width;
	return width;
}

static unsigned name_width(const struct cli_top_table *t, unsigned width)
{
	unsigned others = others_width(t);

	return others + NAME_LEAST < width ? width - others : NAME_LEAST;
}

unsigned cli_top_table_width(const struct cli_top_table *t)
{
	size_t name = NAME_LEAST;

	for (size_t i = 0; i < t->count; i++)
		name = strlen(t->rows[i].name) > name ? strlen(t->rows[i].name) : name;
	return (unsigned)name + others_width(t);
}

/* A terminal may be narrower than the columns. */
static void put_line(struct ot_buf *out, const struct ot_buf *line, unsigned width)
{
	if (line->failed)
		out->failed = true;
	else
		cli_top_fit(out, ot_buf_str(line), width, false);
}

void cli_top_table_titles(const struct cli_top_table *t, unsigned sorted, unsigned width, struct ot_buf *out)
{
	char title[32];
	struct ot_buf line;

	ot_buf_init(&line);
	snprintf(title, sizeof(title), "%s%s", t->shape->name, sorted || t->shape->in_order ? "" : "*");
	cli_top_fit(&line, title, name_width(t, width), false);
	for (unsigned i = 0; i < t->shape->ncolumns; i++) {
		const struct cli_top_column *c = &t->shape->columns[i];

		snprintf(title, sizeof(title), "%s%s", sorted == i + 1 && !t->shape->in_order ? "*" : "",
			 c->title);
		ot_buf_putc(&line, ' ');
		cli_top_fit(&line, title, c->width, true);
	}
	put_line(out, &line, width);
	ot_buf_deinit(&line);
}

void cli_top_table_line(const struct cli_top_table *t, size_t row, unsigned width, struct ot_buf *out)
{
	const struct cli_top_row *r = &t->rows[row];
	char number[CLI_TOP_NUMBER];
	struct ot_buf line;

	ot_buf_init(&line);
	cli_top_fit(&line, r->name, name_width(t, width), false);
	for (unsigned i = 0; i < t->shape->ncolumns; i++) {
		const struct cli_top_column *c = &t->shape->columns[i];

		if (t->shape->in_order && isnan(r->values[c->value]))
			*number = '\0';
		else
			cli_top_number(r->values[c->value], c->form, number);
		ot_buf_putc(&line, ' ');
		cli_top_fit(&line, number, c->width, true);
	}
	put_line(out, &line, width);
	ot_buf_deinit(&line);
}
