/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library's output: data as dtrace(1)'s text, without the lines and columns around it, which are the
 * command's; faults and drops to the handlers. */
#include <errno.h>

#include "consumer/messages.h"
#include "consumer/output/text.h"
#include "lib/handle.h"

/* Set once the output was made. */
struct output {
	struct con_text base; /* as the functions of text.h expect */
	dtrace_hdl_t *h;
};

static dtrace_hdl_t *handle_of(struct con_output *o)
{
	return ((struct output *)o)->h;
}

void lib_output_init(struct con_output *o, dtrace_hdl_t *h)
{
	((struct output *)o)->h = h;
}

static void begin_record(struct con_output *o, const struct vp_record *r, const struct vp_enabled *next)
{
	(void)next;
	o->printer.guest = r->ecb->guest;
}

static void end_record(struct con_output *o)
{
	(void)o;
}

static void on_fault(struct con_output *o, const struct vp_fault_info *fault, uint64_t count,
		     bool same_address)
{
	dtrace_hdl_t *h = handle_of(o);
	struct lib_enabled *e = NULL;
	char text[1536];

	con_fault_text(fault, count, same_address, text, sizeof(text));
	if (!h->handlers.err) {
		lib_keep_error(h, OUTSIGHT_E_FAULT, text);
		return;
	}
	struct ot_err *err = lib_enabled_of(h, fault->ecb, &e);
	if (err) {
		lib_keep_error(h, ENOMEM, ot_err_message(err));
		ot_err_destroy(err);
		return;
	}
	const dtrace_errdata_t data = {
		.dteda_handle = h,
		.dteda_edesc = e->desc,
		.dteda_pdesc = &e->probe,
		.dteda_cpu = (processorid_t)fault->cpu,
		.dteda_action = (int)fault->action,
		.dteda_offset = fault->offset,
		.dteda_fault = (int)fault->fault,
		.dteda_addr = fault->address,
		.dteda_msg = text,
	};
	if (h->handlers.err(&data, h->handlers.err_arg) == DTRACE_HANDLE_ABORT)
		lib_keep_error(h, OUTSIGHT_E_ABORTED, text);
}

static dtrace_dropkind_t drop_kind(enum vp_drop_kind kind)
{
	switch (kind) {
	case VP_DROP_PRINCIPAL:
		return DTRACEDROP_PRINCIPAL;
	case VP_DROP_AGGREGATION:
		return DTRACEDROP_AGGREGATION;
	case VP_DROP_DYNAMIC:
		return DTRACEDROP_DYNAMIC;
	case VP_DROP_DYNRINSE:
		return DTRACEDROP_DYNRINSE;
	case VP_DROP_DYNDIRTY:
		return DTRACEDROP_DYNDIRTY;
	case VP_DROP_SPEC:
		return DTRACEDROP_SPEC;
	case VP_DROP_SPECBUSY:
		return DTRACEDROP_SPECBUSY;
	case VP_DROP_SPECUNAVAIL:
		return DTRACEDROP_SPECUNAVAIL;
	case VP_DROP_DBLERROR:
		return DTRACEDROP_DBLERROR;
	case VP_DROP_STKSTROVERFLOW:
		return DTRACEDROP_STKSTROVERFLOW;
	default:
		return DTRACEDROP_GUEST;
	}
}

static void on_drop(struct con_output *o, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	dtrace_hdl_t *h = handle_of(o);
	dtrace_dropkind_t what = drop_kind(kind);
	char text[256];

	con_drop_text(kind, cpu, count, text, sizeof(text));
	h->drops[what] += count;
	if (!h->handlers.drop) {
		lib_keep_error(h, OUTSIGHT_E_DROP, text);
		return;
	}
	const dtrace_dropdata_t data = {
		.dtdda_handle = h,
		.dtdda_cpu = (processorid_t)cpu,
		.dtdda_kind = what,
		.dtdda_drops = count,
		.dtdda_total = h->drops[what],
		.dtdda_msg = text,
	};
	if (h->handlers.drop(&data, h->handlers.drop_arg) == DTRACE_HANDLE_ABORT)
		lib_keep_error(h, OUTSIGHT_E_ABORTED, text);
}

static void on_overload(struct con_output *o, const struct vp_overload_info *overload)
{
	char text[1024];

	con_overload_text(overload, text, sizeof(text));
	lib_report(handle_of(o), text);
}

const struct con_output_ops lib_output = {
	.size = sizeof(struct output),
	.record = begin_record,
	.value = con_text_value,
	.text = con_text_text,
	.aggregation = con_text_aggregation,
	.record_end = end_record,
	.fault = on_fault,
	.drop = on_drop,
	.overload = on_overload,
};
