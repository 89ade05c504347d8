/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The static probes (USDT) of a program: PROVIDERn:OBJECT:FUNCTION:NAME in process n of the guest, at the
 * nops that <sys/sdt.h> has put into its files, with the arguments that their notes describe. What they are
 * made of is in usdt_make.h.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "vmm-probe/provider/derivation.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/tracepoint_sites.h"
#include "vmm-probe/provider/usdt_make.h"

static const struct vp_usdt_probe *own_of(const struct vp_probe *probe)
{
	return probe->own;
}

/* A place's site program is made when a description has matched its probe. */
static struct vp_usdt_probe *own_to_change(const struct vp_probe *probe)
{
	return (struct vp_usdt_probe *)(uintptr_t)probe->own;
}

static struct ot_err *provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	(void)self;
	return vp_usdt_make(probes, desc);
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	(void)probes;
	(void)self;
	return NULL;
}

static bool is_module(const struct vp_probe *probe, const char *pattern)
{
	return vp_pid_object_is(probe->module, own_of(probe)->of_program, pattern);
}

/* --- sites -------------------------------------------------------------------------------------------- */

static struct ot_err *add_program(struct vp_probes *probes, struct vp_usdt_place *place)
{
	struct dif_clause program;

	if (!place->args.count || place->site.raw)
		return NULL;
	OT_TRY(vp_usdt_program(&place->args, vp_tracepoint_exprs(vp_probes_tracepoints(probes)), &program));
	return vp_probes_add_program(probes, &program, &place->site.raw);
}

static struct ot_err *resolve(struct vp_probes *probes, const struct vp_probe *probe)
{
	struct vp_usdt_probe *own = own_to_change(probe);

	for (uint32_t i = 0; i < own->nplaces; i++)
		OT_TRY(add_program(probes, &own->places[i]));
	return NULL;
}

/* The reason why its semaphores are not raised; NULL: they are while the probe is enabled. */
static const char *why_not_raised(const struct vp_probes *probes, const struct vp_usdt_probe *own)
{
	const char *why = vp_probes_no_semaphores(probes);

	return why ? why : own->costly;
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct vp_usdt_probe *own = own_of(probe);

	*ret = malloc(own->nplaces * sizeof(**ret));
	if (!*ret)
		return ot_err_nomem();
	for (uint32_t i = 0; i < own->nplaces; i++) {
		(*ret)[i] = own->places[i].site;
		(*ret)[i].semaphore = why_not_raised(probes, own) ? 0 : own->places[i].semaphore;
	}
	*ret_count = own->nplaces;
	return NULL;
}

static void fill(const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	const struct vp_usdt_probe *own = own_of(probe);

	bp->process = own->process;
	bp->file = own->file;
	bp->stands_in = probe->stands_in;
}

static const char *asleep(const struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_usdt_probe *own = own_of(probe);
	const char *why = why_not_raised(probes, own);

	if (own->file) /* the probes of processes say it */
		return NULL;
	for (uint32_t i = 0; i < own->nplaces; i++) {
		const struct vp_usdt_place *p = &own->places[i];

		if (p->semaphore && why && p->raised <= 0)
			return why;
		if (p->semaphore && p->raised == VP_USDT_NOT_READ)
			return "its page is not in memory: it is raised when that is back";
	}
	return NULL;
}

/* --- arguments ---------------------------------------------------------------------------------------- */

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_usdt_probe *own = own_of(probe);
	uint32_t n = 0;

	(void)probes;
	for (uint32_t i = 0; i < own->nplaces; i++)
		n = own->places[i].args.count > n ? own->places[i].args.count : n;
	return (int)n;
}

/* C's promotion of an integer of that size in an expression. D prints smaller ones without their sign. */
static const char *type_of(uint8_t size, bool is_signed)
{
	if (size == sizeof(long))
		return is_signed ? "long" : "unsigned long";
	return is_signed || size < sizeof(int) ? "int" : "unsigned int";
}

/* A note has sizes and signs, but no types. If places differ, the type is the widest, and signed if one of
 * them is. */
static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	const struct vp_usdt_probe *own = own_of(probe);
	bool is_signed = false;
	uint8_t size = 0;

	for (uint32_t i = 0; i < own->nplaces; i++) {
		const struct vp_usdt_args *args = &own->places[i].args;
		const struct vp_usdt_arg *a = n < args->count ? &args->items[n] : NULL;

		if (!a || a->refused)
			continue;
		size = a->size > size ? a->size : size;
		is_signed |= a->is_signed;
	}
	if (!size)
		return false;
	ret->native = vp_derivation_type(vp_probes_derivation(probes), type_of(size, is_signed));
	ret->mapping = n;
	return ret->native != NULL;
}

/* --- listings ----------------------------------------------------------------------------------------- */

static void describe_semaphore(const struct vp_usdt_place *p, const char *not_raised, struct ot_buf *out)
{
	ot_buf_printf(out, "\tsemaphore: 0x%" PRIx64 ", ", p->semaphore);
	if (p->raised == VP_USDT_NOT_READ)
		ot_buf_puts(out, "not in memory");
	else
		ot_buf_printf(out, "%" PRId32, p->raised);
	if (!not_raised)
		ot_buf_puts(out, ": raised while the probe is enabled\n");
	else if (p->raised > 0)
		ot_buf_puts(out, ": raised by another\n");
	else
		ot_buf_printf(out, ": the program skips the probe until it is raised, which it is not: %s\n",
			      not_raised);
}

static void describe_place(const struct vp_usdt_place *p, const char *not_raised, struct ot_buf *out)
{
	ot_buf_printf(out, "Place: 0x%" PRIx64 "\n", p->site.gva);
	if (p->refused)
		ot_buf_printf(out, "\t%s\n", p->refused);
	for (uint32_t n = 0; n < p->args.count; n++) {
		const struct vp_usdt_arg *a = &p->args.items[n];

		ot_buf_printf(out, "\targ%u: %.*s%s%s\n", n, (int)a->len, a->text,
			      a->refused ? ": it has no value: " : "", a->refused ? a->refused : "");
	}
	if (p->semaphore)
		describe_semaphore(p, not_raised, out);
}

static void describe(struct vp_probes *probes, const struct vp_probe *probe, struct ot_buf *out)
{
	const struct vp_usdt_probe *own = own_of(probe);

	for (uint32_t i = 0; i < own->nplaces; i++)
		describe_place(&own->places[i], why_not_raised(probes, own), out);
}

const struct vp_provider vp_provider_usdt = {
	.name = "usdt",
	.needs_guest = true,
	.is_named = vp_usdt_is_named,
	.follows = vp_usdt_follows,
	.has_news = vp_usdt_has_news,
	.publish = publish,
	.provide = provide,
	.is_module = is_module,
	.resolve = resolve,
	.sites = sites,
	.fill = fill,
	.arg = arg,
	.nargs = nargs,
	.describe = describe,
	.asleep = asleep,
};
