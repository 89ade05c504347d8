/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes on the inlined copies of functions. */
#include "vmm-probe/provider/fbt_inlined.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/derivation.h"
#include "vmm-probe/provider/inlined_copy.h"
#include "vmm-probe/provider/marks.h"

#define PLACES_SHOWN 12u

/* The stored data of a probe. */
struct own {
	const struct vp_copies *all;
	const struct vp_copies_function *function;
	struct vp_inlined_copy *copies; /* that can run; set by resolve() */
	uint32_t ncopies;
	uint32_t ninit;                     /* those in code that is freed after boot */
	uint32_t lacking[VP_COPIES_PARAMS]; /* copies without that parameter */
	struct dif_type *types[VP_COPIES_PARAMS];
};

static struct own *own_of(const struct vp_probe *probe)
{
	return (struct own *)probe->own;
}

bool vp_fbt_is_inlined(const struct vp_probe *probe)
{
	return probe->args == VP_ARGS_SITE;
}

/* --- publishing ------------------------------------------------------------------------------------------- */

static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self,
			  const struct vp_copies *all, const struct vp_copies_function *function)
{
	struct own *own = vp_probes_alloc(probes, sizeof(*own));
	const struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SITE,
		.module = "vmlinux",
		.function = vp_copies_string(all, function->name),
		.name = VP_FBT_INLINED,
		.own = own,
	};

	if (!own)
		return ot_err_nomem();
	own->all = all;
	own->function = function;
	return vp_probes_add(probes, self, &probe);
}

/* The set of functions that already have their probes: a bit each, owned by the registry. */
static uint8_t *published(struct vp_probes *probes, const struct vp_copies *all)
{
	uint8_t **bits = vp_probes_inlined(probes);

	if (!*bits)
		*bits = vp_probes_alloc(probes, all->head->nfunctions / 8 + 1);
	return *bits;
}

static bool matches(const char *pattern, const char *text)
{
	return !pattern || !*pattern || dif_glob_match(pattern, text);
}

struct ot_err *vp_fbt_inlined_provide(struct vp_probes *probes, const struct vp_provider *self,
				      const struct dif_probedesc *desc)
{
	struct vp_guest *guest = vp_probes_guest(probes);
	const struct vp_copies *all;

	if (!desc->name || strcmp(desc->name, VP_FBT_INLINED) != 0 || !matches(desc->module, "vmlinux") ||
	    !vp_guest_vmlinux(guest))
		return NULL;
	OT_TRY(vp_guest_copies(guest, &all));
	uint8_t *done = published(probes, all);
	if (!done)
		return ot_err_nomem();
	for (uint32_t i = 0; i < all->head->nfunctions; i++) {
		const struct vp_copies_function *f = &all->functions[i];

		if (done[i / 8] & 1u << i % 8 || !matches(desc->function, vp_copies_string(all, f->name)))
			continue;
		OT_TRY(add(probes, self, all, f));
		done[i / 8] |= (uint8_t)(1u << i % 8);
	}
	return NULL;
}

/* --- where they are --------------------------------------------------------------------------------------- */

/* The copies of the function that can run, in the guest's text. */
static struct ot_err *find_copies(struct vp_probes *probes, struct own *own)
{
	const struct vp_copies_function *f = own->function;
	struct vp_guest *guest = vp_probes_guest(probes);
	const struct vp_mark_range init = vp_marked(guest, "_sinittext", "_einittext");
	uint64_t image = vp_guest_kernel(guest)->base.v;

	for (uint32_t i = 0; i < f->ncopies; i++) {
		const struct vp_copies_copy *copy = &own->all->copies[f->first_copy + i];
		struct vp_inlined_copy *found = &own->copies[own->ncopies];

		if (vp_mark_has(&init, image + copy->entry)) {
			own->ninit++;
			continue;
		}
		if (own->ncopies && found[-1].copy->entry == copy->entry)
			return ot_err_new(OT_ERR_UNSUPPORTED, "two copies begin at %s+0x%llx", found[-1].name,
					  (unsigned long long)(found[-1].gva - found[-1].function));
		struct ot_err *err = vp_inlined_copy_find(probes, own->all, copy, found);
		if (err)
			return ot_err_prefix(
			    err, "the copy at %s+0x%llx", found->name ? found->name : "_text",
			    (unsigned long long)(found->name ? found->gva - found->function : copy->entry));
		own->ncopies++;
	}
	if (!own->ncopies)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "it is inlined only into initialisation code, which the kernel frees after boot");
	return NULL;
}

static void count_lacking(struct own *own)
{
	for (uint32_t i = 0; i < own->ncopies; i++)
		for (uint32_t n = 0; n < own->function->nparams; n++)
			if (own->all->places[own->copies[i].copy->first_place + n].kind == VP_PLACE_NONE)
				own->lacking[n]++;
}

/* Copies that have their arguments at the same places share a program. */
static struct ot_err *make_programs(struct vp_probes *probes, struct own *own)
{
	ot_auto(ot_map_deinit) struct ot_map programs;
	uint32_t known = 0;

	ot_map_init(&programs);
	for (uint32_t n = 0; n < own->function->nparams; n++)
		known |= own->lacking[n] < own->ncopies ? 1u << n : 0;
	for (uint32_t i = 0; known && i < own->ncopies; i++) {
		struct vp_inlined_copy *c = &own->copies[i];
		uint32_t key = c->copy->first_place;

		c->program = (uint32_t)(uintptr_t)ot_map_get(&programs, &key, sizeof(key));
		if (c->program)
			continue;
		OT_TRY(vp_inlined_copy_program(probes, own->all, own->function, c->copy, known, &c->program));
		if (!ot_map_put(&programs, &key, sizeof(key), (void *)(uintptr_t)c->program))
			return ot_err_nomem();
	}
	return NULL;
}

struct ot_err *vp_fbt_inlined_resolve(struct vp_probes *probes, const struct vp_probe *probe)
{
	struct own *own = own_of(probe);

	if (own->function->flags & VP_COPIES_UNCERTAIN)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "not all of its copies are known: the compiler has repeated code that "
				  "it is inlined into");
	own->copies = vp_probes_alloc(probes, (own->function->ncopies + 1) * sizeof(*own->copies));
	if (!own->copies)
		return ot_err_nomem();
	OT_TRY(find_copies(probes, own));
	count_lacking(own);
	return make_programs(probes, own);
}

struct ot_err *vp_fbt_inlined_sites(struct vp_probes *probes, const struct vp_probe *probe,
				    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct own *own = own_of(probe);
	ot_auto_free struct vp_batch_site *list = calloc(own->ncopies + 1, sizeof(*list));

	if (!list)
		return ot_err_nomem();
	for (uint32_t i = 0; i < own->ncopies; i++)
		OT_TRY(vp_inlined_copy_site(probes, &own->copies[i], &list[i]));
	*ret = ot_move(list);
	*ret_count = own->ncopies;
	return NULL;
}

/* --- arguments -------------------------------------------------------------------------------------------- */

static const struct vp_copies_param *param(const struct own *own, unsigned n)
{
	return &own->all->params[own->function->first_param + n];
}

bool vp_fbt_inlined_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
			struct dif_probe_arg *ret)
{
	struct own *own = own_of(probe);
	const char *type;

	if (n >= own->function->nparams || own->lacking[n] == own->ncopies)
		return false;
	type = vp_copies_string(own->all, param(own, n)->type);
	if (!own->types[n])
		own->types[n] = vp_derivation_type(vp_probes_derivation(probes), type);
	ret->native = own->types[n];
	ret->name = vp_copies_string(own->all, param(own, n)->name);
	ret->mapping = n;
	return ret->native != NULL;
}

int vp_fbt_inlined_nargs(const struct vp_probe *probe)
{
	return (int)own_of(probe)->function->nparams;
}

/* --- what -lv says ---------------------------------------------------------------------------------------- */

void vp_fbt_inlined_describe(struct vp_probes *probes, const struct vp_probe *probe, struct ot_buf *out)
{
	const struct own *own = own_of(probe);

	(void)probes;
	if (probe->refused)
		return;
	ot_buf_printf(out, "Inlined Copies: %u\n", own->ncopies);
	for (uint32_t i = 0; i < own->ncopies && i < PLACES_SHOWN; i++)
		ot_buf_printf(out, "\t%s+0x%llx\n", own->copies[i].name,
			      (unsigned long long)(own->copies[i].gva - own->copies[i].function));
	if (own->ncopies > PLACES_SHOWN)
		ot_buf_printf(out, "\tand %u more\n", own->ncopies - PLACES_SHOWN);
	if (own->ninit)
		ot_buf_printf(out, "\t%u more ran only while the kernel booted\n", own->ninit);
	for (uint32_t n = 0; n < own->function->nparams; n++) {
		const char *name = vp_copies_string(own->all, param(own, n)->name);

		if (own->lacking[n] == own->ncopies)
			ot_buf_printf(out, "\targs[%u] (%s) is not available\n", n, name);
		else if (own->lacking[n])
			ot_buf_printf(out, "\targs[%u] (%s) is not available in %u of %u copies\n", n, name,
				      own->lacking[n], own->ncopies);
	}
}
