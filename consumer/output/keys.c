/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of keys, and their texts: see keys.h. */
#include <string.h>

#include "base/utf8.h"
#include "consumer/output/fold.h"
#include "consumer/output/keys.h"
#include "dif/obj/object.h"

/* The code of a variable is `ldgs variable, %r1` and `ret %r1`. */
const char *con_datum_variable(const struct con_datum *d)
{
	const struct dif_object *code = d->action->object;

	if (!code || code->text_len != 2 || code->text[0] >> 24 != DIF_OP_ldgs ||
	    code->text[1] >> 24 != DIF_OP_ret)
		return NULL;
	return dif_var_name(code->text[0] >> 8 & 0xffff);
}

void con_key_name(const struct con_datum *data, unsigned i, char buf[CON_KEY_NAME_MAX])
{
	const char *name = con_datum_variable(&data[i]);

	for (unsigned k = 0; name && k < i; k++) {
		const char *other = con_datum_variable(&data[k]);
		if (other && !strcmp(other, name))
			name = NULL;
	}
	if (name)
		snprintf(buf, CON_KEY_NAME_MAX, "%s", name);
	else
		snprintf(buf, CON_KEY_NAME_MAX, "key%u", i);
}

static void put_bytes(struct ot_buf *out, const struct con_datum *d)
{
	size_t len = con_text_length(d->data, d->size);

	if (len) {
		ot_utf8_append(out, d->data, len);
		return;
	}
	ot_buf_puts(out, "0x");
	for (uint32_t i = 0; i < d->size; i++)
		ot_buf_printf(out, "%02x", d->data[i]);
}

/* A name ends before its buffer's end, which may be within a character. */
static void put_symbol(struct ot_buf *out, struct con_printer *p, const struct con_datum *d)
{
	char text[CON_SYMBOL_MAX];

	con_symbol_text(p, d, text, sizeof(text));
	ot_utf8_append(out, text, strlen(text));
}

static void put_stack(struct ot_buf *out, struct con_printer *p, const struct con_datum *d)
{
	struct ot_buf line;

	ot_buf_init(&line);
	con_fold_frames(&line, p, d);
	ot_utf8_append(out, ot_buf_str(&line), line.len);
	out->failed |= line.failed;
	ot_buf_deinit(&line);
}

void con_key_text(struct ot_buf *out, struct con_printer *p, const struct con_datum *d)
{
	switch (con_datum_shape(d)) {
	case CON_SHAPE_INTEGER:
		ot_buf_printf(out, "%lld", (long long)con_load_integer(d->data, d->size));
		return;
	case CON_SHAPE_STRING:
		ot_utf8_append(out, d->data, strnlen((const char *)d->data, d->size));
		return;
	case CON_SHAPE_SYMBOL:
		put_symbol(out, p, d);
		return;
	case CON_SHAPE_STACK:
		put_stack(out, p, d);
		return;
	default:
		put_bytes(out, d);
	}
}

void con_key_title(struct ot_buf *out, struct con_printer *p, const struct con_agg *agg,
		   const struct con_row *row)
{
	ot_buf_printf(out, "@%s", !strcmp(agg->name, "_") ? "" : agg->name);
	for (uint32_t i = 0; i < row->nkeys; i++) {
		ot_buf_puts(out, i ? ", " : "[");
		con_key_text(out, p, &row->keys[i]);
	}
	if (row->nkeys)
		ot_buf_puts(out, "]");
}

void con_key_identity(struct ot_buf *out, const struct con_agg *agg, const struct con_agg_source *source,
		      const struct con_row *row)
{
	ot_buf_append(out, &agg, sizeof(agg));
	ot_buf_append(out, &source, sizeof(source));
	for (uint32_t i = 0; i < row->nkeys; i++)
		ot_buf_append(out, row->keys[i].data, row->keys[i].size);
}
