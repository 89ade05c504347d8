/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of outputs, and their common functions: creating one, and the aggregations that it gets. */
#include "consumer/output/output.h"

#include <stdlib.h>
#include <string.h>

#define POINTER(name) &con_output_##name,
static const struct con_output_ops *const outputs[] = { CON_OUTPUTS(POINTER) };
#undef POINTER

const struct con_output_ops *con_output_find(const char *option)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(outputs); i++)
		if (outputs[i]->option && !strcmp(outputs[i]->option, option))
			return outputs[i];
	return NULL;
}

const struct con_output_ops *con_output_by_format(const char *word)
{
	size_t len = strcspn(word, ",");
	bool pretty = !strcmp(word + len, ",pretty");

	if (word[len] && !pretty)
		return NULL;
	for (size_t i = 0; i < OT_ARRAY_SIZE(outputs); i++) {
		const char *format = outputs[i]->format;
		if (format && strlen(format) == len && !strncmp(format, word, len) &&
		    (!pretty || outputs[i]->has_pretty))
			return outputs[i];
	}
	return NULL;
}

static bool has_suffix(const char *file, const char *suffix)
{
	size_t len = strlen(file), n = strlen(suffix);

	return len > n && !strcmp(file + len - n, suffix);
}

const struct con_output_ops *con_output_of(const struct dif_options *opts, const char *file)
{
	const char *word = ot_map_gets(&opts->set, "oformat");
	const struct con_output_ops *ops = word ? con_output_by_format(word) : NULL;

	for (size_t i = 0; !word && file && i < OT_ARRAY_SIZE(outputs); i++)
		if (outputs[i]->suffix && has_suffix(file, outputs[i]->suffix))
			ops = outputs[i];
	return ops ? ops : &con_output_text;
}

void con_output_formats(struct ot_buf *out)
{
	const char *bar = "";

	for (size_t i = 0; i < OT_ARRAY_SIZE(outputs); i++) {
		if (!outputs[i]->format)
			continue;
		ot_buf_printf(out, "%s%s", bar, outputs[i]->format);
		if (outputs[i]->has_pretty)
			ot_buf_printf(out, "|%s,pretty", outputs[i]->format);
		bar = "|";
	}
}

struct ot_err *con_output_create(const struct con_output_ops *ops, const struct dif_options *opts, FILE *fp,
				 struct con_output **ret)
{
	struct con_output *o = calloc(1, ops->size);

	if (!o)
		return ot_err_nomem();
	o->ops = ops;
	o->printer.fp = fp;
	o->printer.opts = opts;
	*ret = o;
	return NULL;
}

void con_output_destroy(struct con_output *o)
{
	if (o && o->ops->end)
		ot_err_destroy(o->ops->end(o));
	free(o);
}

/* --- aggregations -------------------------------------------------------------------------------------- */

/* By source, not by variable: a new key of another clause is still to be printed at the end. Empty columns
 * count; a printa() of empty aggregations does not. */
static void mark_printed(struct con_agg *agg)
{
	agg->printed_empty |= !agg->count;
	for (size_t i = 0; i < agg->count; i++)
		agg->entries[i]->source->printed = true;
}

static struct ot_err *show(struct con_output *o, struct con_agg_view *view, const struct dif_format *fmt)
{
	struct ot_err *err = o->ops->aggregation(o, view, fmt);

	con_agg_view_deinit(view);
	return err;
}

struct ot_err *con_printa(struct con_output *o, struct con_aggs *aggs, const uint32_t *ids, unsigned nids,
			  const struct dif_format *fmt)
{
	struct con_agg *columns[CON_AGG_COLUMNS];
	struct con_agg_order order = con_agg_order(o->printer.opts);
	struct con_agg_view view;
	bool any = false;

	if (nids > CON_AGG_COLUMNS)
		return ot_err_new(OT_ERR_LIMIT, "printa() of more than %d aggregations", CON_AGG_COLUMNS);
	for (unsigned i = 0; i < nids; i++) {
		columns[i] = con_aggs_get(aggs, ids[i]);
		if (!columns[i])
			return ot_err_new(OT_ERR_BAD_DATA,
					  "printa() of an aggregation that is not in the program");
		any |= columns[i]->count != 0;
	}
	for (unsigned i = 0; any && i < nids; i++)
		mark_printed(columns[i]);
	if (o->printer.opts->aggsortpos > 0 && o->printer.opts->aggsortpos < (int64_t)nids)
		order.column = (unsigned)o->printer.opts->aggsortpos;
	OT_TRY(con_agg_view_init(&view, columns, nids, &order));
	return show(o, &view, fmt);
}

struct ot_err *con_print_rest(struct con_output *o, struct con_aggs *aggs)
{
	struct con_agg_order order = con_agg_order(o->printer.opts);

	for (uint32_t i = 0; i < aggs->nvars; i++) {
		struct con_agg *agg = &aggs->vars[order.reversed ? aggs->nvars - 1 - i : i];
		struct con_agg_view view;

		OT_TRY(con_agg_view_init(&view, &agg, 1, &order));
		con_agg_view_keep_rest(&view);
		OT_TRY(show(o, &view, NULL));
	}
	return NULL;
}
