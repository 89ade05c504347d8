/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a merger asks of its fleet: each host by itself, and what it has said. */
#include "fleet/operator/relay.h"

#include "fleet/operator/internal.h"

struct ot_err *fl_relay_add(struct fl_fleet *fleet, struct fl_carrier *carrier, struct fl_seal *seal,
			    const char *name, struct fl_bytes run, uint32_t *ret)
{
	struct fl_host *h;

	*ret = fleet->nhosts;
	OT_TRY(fl_fleet_add_sealed(fleet, carrier, seal, name, ""));
	h = fleet->hosts[*ret];
	ot_buf_append(&h->run, run.data, run.len);
	return h->run.failed ? ot_err_nomem() : NULL;
}

struct ot_err *fl_relay_tell(struct fl_fleet *fleet, uint32_t host, enum fl_kind kind)
{
	struct fl_host *h = fleet->hosts[host];

	if (fl_host_is_over(h))
		return NULL;
	if (kind == FL_STOP)
		return fl_host_ask_to_stop(h);
	if (kind != FL_START || !fleet->prog || h->state < FL_HOST_READY)
		return ot_err_new(OT_ERR_BAD_DATA, "%s out of its order", fl_kind_name(kind));
	return h->state == FL_HOST_READY ? fl_host_begin(h) : NULL;
}

bool fl_relay_is_over(const struct fl_fleet *fleet, uint32_t host)
{
	return fl_host_is_over(fleet->hosts[host]);
}

void fl_relay_drop(struct fl_fleet *fleet, uint32_t host, const char *why)
{
	if (!fl_host_is_over(fleet->hosts[host]))
		fl_host_lose(fleet->hosts[host], why);
}

const struct vp_enabled *fl_relay_enabled(const struct fl_fleet *fleet, uint32_t host, uint32_t epid)
{
	return ot_map_get(&fleet->hosts[host]->enabled, &epid, sizeof(epid));
}

struct fl_bytes fl_relay_program(const struct fl_fleet *fleet, const struct vp_enabled *ecb)
{
	const struct fl_host *h = fleet->hosts[fl_relay_host(ecb->guest)];

	for (uint32_t i = 0; i < h->nprograms; i++) {
		const struct fl_program_there *p = h->programs[i];

		if (ecb->clause >= p->prog.clauses && ecb->clause < p->prog.clauses + p->prog.nclauses)
			return p->message;
	}
	return (struct fl_bytes){ 0 };
}

const char *fl_relay_guest_name(const struct fl_fleet *fleet, uint32_t guest)
{
	struct fl_host *h;
	const struct fl_guest_there *there = fl_guest_of(fleet, guest, &h);

	return there ? there->name : NULL;
}

bool fl_relay_name(const struct fl_fleet *fleet, uint32_t guest, uint64_t number, const char **ret_text,
		   const char **ret_note)
{
	const struct fl_called *called = fl_called_of(fleet, guest, number);

	if (!called)
		return false;
	*ret_text = called->text;
	*ret_note = called->note ? called->note : "";
	return true;
}
