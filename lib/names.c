/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for addresses, and texts of data: dtrace_addr2str(3). */
#include <stdlib.h>
#include <string.h>

#include "lib/handle.h"

/* The printer, set to the guest that a callback runs for. Without tracing there is none: the session names
 * addresses then. */
static struct con_printer printer_of(dtrace_hdl_t *h)
{
	struct con_printer p = { .opts = &h->opts };

	if (h->has_consumer)
		p = h->consumer.out->printer;
	p.guest = h->current.is_set ? h->current.guest : 0;
	return p;
}

static void kernel_text(dtrace_hdl_t *h, uint64_t addr, enum vp_symbol_form form, char *buf, size_t size)
{
	struct con_printer p = printer_of(h);

	*buf = '\0';
	if (h->has_consumer)
		con_kernel_text(&p, addr, form, buf, size);
	else if (h->session)
		vp_session_symbol(h->session, 0, addr, form, buf, size);
	else
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
}

/* Return a text in the way of DTrace's functions. */
static int give(const char *text, char *buf, int size)
{
	int len = (int)strlen(text);

	if (size > 0)
		snprintf(buf, (size_t)size, "%s", text);
	return len + 1;
}

int dtrace_addr2str(dtrace_hdl_t *h, uint64_t addr, char *buf, int size)
{
	char text[CON_SYMBOL_MAX];

	kernel_text(h, addr, VP_SYM_OFFSET, text, sizeof(text));
	return give(text, buf, size);
}

int dtrace_uaddr2str(dtrace_hdl_t *h, pid_t pid, uint64_t addr, char *buf, int size)
{
	struct con_printer p = printer_of(h);
	char text[CON_SYMBOL_MAX] = "";

	if (h->has_consumer)
		con_user_text(&p, (uint64_t)pid, addr, VP_SYM_OFFSET, text, sizeof(text));
	else if (h->session)
		vp_session_user_symbol(h->session, 0, (uint64_t)pid, addr, VP_SYM_OFFSET, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)addr);
	return give(text, buf, size);
}

/* A permanent copy; NULL: no memory. */
static const char *keep_name(dtrace_hdl_t *h, const char *name)
{
	char *copy = ot_map_gets(&h->symbols_seen, name);

	if (copy)
		return copy;
	copy = ot_arena_strdup(&h->arena, name);
	return copy && ot_map_puts(&h->symbols_seen, name, copy) ? copy : NULL;
}

int dtrace_lookup_by_addr(dtrace_hdl_t *h, GElf_Addr addr, GElf_Sym *sym, dtrace_syminfo_t *info)
{
	char text[CON_SYMBOL_MAX];

	kernel_text(h, addr, VP_SYM_OFFSET, text, sizeof(text));
	char *name = strchr(text, '`'); /* module`symbol+0x12 */
	char *plus = name ? strrchr(name, '+') : NULL;
	uint64_t offset = plus ? strtoull(plus + 1, NULL, 16) : 0;

	if (!name || !strncmp(name + 1, "0x", 2))
		return lib_fail(h, OUTSIGHT_E_NO_SYMBOL);
	*name++ = '\0';
	if (plus)
		*plus = '\0';
	if (sym)
		*sym =
		    (GElf_Sym){ .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), .st_value = addr - offset };
	if (info) {
		*info =
		    (dtrace_syminfo_t){ .dts_object = keep_name(h, text), .dts_name = keep_name(h, name) };
		if (!info->dts_object || !info->dts_name)
			return lib_result(h, ot_err_nomem());
	}
	return 0;
}

/* --- what a callback runs for --------------------------------------------------------------------------- */

uint64_t outsight_time(dtrace_hdl_t *h)
{
	return h->current.is_set ? h->current.time_ns : 0;
}

const char *outsight_guest(dtrace_hdl_t *h)
{
	return h->current.is_set && h->current.guest < outsight_guests(h)
		   ? vp_session_guest_name(h->session, h->current.guest)
		   : "";
}

/* The action that recorded it; NULL: the number of a variable, a value, or not a datum of the callback. */
static const struct dif_action *action_of(dtrace_hdl_t *h, const dtrace_recdesc_t *rec)
{
	const struct lib_current *c = &h->current;

	if (!c->is_set || !rec)
		return NULL;
	if (!c->entry) {
		size_t i = (size_t)(rec - c->enabled->desc->dtepd_rec);
		return i < c->enabled->layout->nrecs
			   ? &c->enabled->clause->actions[c->enabled->layout->recs[i].action]
			   : NULL;
	}
	for (uint32_t i = 0; i < c->entry->source->layout->nkeys; i++) {
		struct con_datum d = con_agg_key(c->entry, i);
		if (d.action->kind == rec->dtrd_action && d.size == rec->dtrd_size &&
		    d.action->uarg == rec->dtrd_uarg)
			return d.action;
	}
	return NULL;
}

/* A value of an aggregation that is one number. */
static int value_text(const dtrace_recdesc_t *rec, const void *data, uint64_t normal, char *buf, size_t size)
{
	struct con_aggval val = { (enum dif_agg_kind)rec->dtrd_action, rec->dtrd_arg, data, normal };

	if (!DIF_ACT_IS_AGG(rec->dtrd_action) || con_aggval_is_histogram(val.kind))
		return snprintf(buf, size, "%s", "");
	return snprintf(buf, size, "%lld", (long long)con_aggval_number(&val));
}

int outsight_text(dtrace_hdl_t *h, const dtrace_recdesc_t *rec, const void *data, char *buf, size_t size)
{
	const struct dif_action *action = action_of(h, rec);
	struct con_printer p = printer_of(h);
	struct dif_options plain = h->opts;
	char *text = NULL;
	size_t len = 0;

	if (size)
		*buf = '\0';
	if (!h->current.is_set || !rec || !data)
		return 0;
	if (!action)
		return value_text(rec, data, h->current.entry ? h->current.entry->normal : 1, buf, size);
	plain.quiet = true; /* the value alone */
	p.opts = &plain;
	p.fp = open_memstream(&text, &len);
	if (!p.fp)
		return 0;
	con_print_datum(&p, &(struct con_datum){ action, data, rec->dtrd_size }, CON_WIDTH_TRACE);
	fclose(p.fp);
	len = text ? (size_t)snprintf(buf, size, "%s", text) : 0;
	free(text);
	return (int)len;
}

const char *outsight_version(void)
{
	return OUTSIGHT_VERSION;
}
