/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deciding how a site is trapped. */
#include "vmm-probe/planner/planner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/planner/places.h"

#define PAGE 4096u

struct vp_planner {
	struct vp_guest *guest; /* NULL: bytes only */
	uint32_t traps;
	enum vp_trap_wish wish;
	struct vp_places places;
	const struct vp_code_ops *code;
	struct vp_stepper *stepper;
	struct ot_arena texts;
	struct ot_map reasons; /* interned: thousands of sites share a few reasons */
};

bool vp_trap_wish_parse(const char *word, enum vp_trap_wish *ret)
{
	static const char *const words[] = {
		[VP_WISH_AUTO] = "auto", [VP_WISH_TEXT] = "text", [VP_WISH_STEP] = "step", [VP_WISH_HW] = "hw"
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(words); i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		*ret = (enum vp_trap_wish)i;
		return true;
	}
	return false;
}

struct ot_err *vp_planner_check(uint32_t traps, enum vp_trap_wish wish)
{
	if (wish == VP_WISH_AUTO)
		return NULL;
	if (!traps)
		return ot_err_new(OT_ERR_UNSUPPORTED, "this guest's probes need no traps: leave -x trap out");
	if (wish == VP_WISH_STEP && !(traps & VP_TRAPS_STEP))
		return ot_err_new(OT_ERR_UNSUPPORTED, "-x trap=step: this host's KVM can't single-step");
	if (wish == VP_WISH_HW && !(traps & VP_TRAPS_HW))
		return ot_err_new(OT_ERR_UNSUPPORTED, "-x trap=hw: this host's KVM has no debug registers");
	return NULL;
}

struct ot_err *vp_planner_create(struct vp_guest *guest, uint32_t traps, enum vp_trap_wish wish,
				 struct vp_planner **ret)
{
	struct vp_planner *p = calloc(1, sizeof(*p));

	if (!p)
		return ot_err_nomem();
	p->guest = guest;
	p->traps = traps;
	p->wish = wish;
	ot_arena_init(&p->texts);
	ot_map_init(&p->reasons);
	struct ot_err *err = vp_arch_code(&vp_arch_native, &p->code);
	if (!err)
		err = p->code->stepper_create(&p->stepper);
	if (!err && guest)
		err = vp_places_read(guest, &p->places);
	if (err) {
		vp_planner_destroy(p);
		return err;
	}
	*ret = p;
	return NULL;
}

struct ot_err *vp_planner_read_again(struct vp_planner *p)
{
	struct vp_places places;

	if (!p->guest)
		return NULL;
	OT_TRY(vp_places_read(p->guest, &places));
	vp_places_deinit(&p->places);
	p->places = places;
	return NULL;
}

void vp_planner_destroy(struct vp_planner *p)
{
	if (!p)
		return;
	if (p->code)
		p->code->stepper_destroy(p->stepper);
	vp_places_deinit(&p->places);
	ot_map_deinit(&p->reasons);
	ot_arena_deinit(&p->texts);
	free(p);
}

/* The interned copy of a reason. */
static const char *intern(struct vp_planner *p, const char *text)
{
	char *known = ot_map_gets(&p->reasons, text);

	if (known)
		return known;
	known = ot_arena_strdup(&p->texts, text);
	return known && ot_map_puts(&p->reasons, known, known) ? known : "it can't be trapped";
}

static struct vp_verdict refuse(struct vp_planner *p, const char *fmt, ...) OT_PRINTF(2, 3);
static struct vp_verdict refuse(struct vp_planner *p, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return (struct vp_verdict){ .kind = VP_PLAN_REFUSE, .why = intern(p, text) };
}

uint8_t vp_planner_covers(const struct vp_batch_site *site)
{
	const struct vp_code_ops *code = vp_arch_native.code;

	return code ? code->covers(site->bytes, site->length, site->room) : site->length;
}

static struct vp_verdict by_debug_register(struct vp_planner *p, struct vp_batch_site *site, bool emulated,
					   const char *no_step)
{
	if (!emulated && no_step)
		return refuse(p, "%s", no_step);
	if (!emulated && !(p->traps & VP_TRAPS_STEP))
		return refuse(p, "it can't be emulated, and this host's KVM can't single-step");
	site->trap = VP_SITE_HW;
	return (struct vp_verdict){ .kind = VP_PLAN_HW };
}

/* Decide by the instruction, the engine's kinds of traps and the operator's wish. */
static struct vp_verdict by_instruction(struct vp_planner *p, struct vp_batch_site *site)
{
	char name[VP_STEPPER_NAME], no_step_text[128];
	const char *no_step = NULL;
	enum vp_emulation how = p->code->emulation(site->bytes, site->length, site->gva);
	bool emulated = how != VP_EMULATION_NONE;
	uint8_t covers = vp_planner_covers(site);

	if (!emulated || p->wish == VP_WISH_STEP) {
		const char *why =
		    p->code->stepper_refuses(p->stepper, site->bytes, site->length, site->gva, name);
		if (why) {
			snprintf(no_step_text, sizeof(no_step_text), "`%s`: %s", name, why);
			no_step = no_step_text;
		}
	}
	if (p->wish == VP_WISH_HW)
		return by_debug_register(p, site, emulated, no_step);
	bool may_step = (p->traps & VP_TRAPS_STEP) && p->wish != VP_WISH_TEXT && !no_step;
	bool step = may_step && (!emulated || p->wish == VP_WISH_STEP);

	if (!emulated && no_step)
		return refuse(p, "%s", no_step);
	if (!emulated && !step)
		return refuse(p, "`%s` is not emulated, and %s", name,
			      p->wish == VP_WISH_TEXT ? "-x trap=text excludes single steps"
						      : "this host's KVM can't single-step");
	if (covers < 2 && !(p->traps & VP_TRAPS_INT3))
		return refuse(p, "an instruction of one byte, and int3 does not exit on this host");
	site->trap = step ? VP_SITE_STEP : VP_SITE_TEXT;
	return (struct vp_verdict){
		.kind = step                      ? VP_PLAN_STEP
			: how == VP_EMULATION_NOP ? VP_PLAN_NATIVE
						  : VP_PLAN_EMULATE,
		.covers = covers,
	};
}

/* Does the site cross a page boundary in a module? Its pages are not contiguous in physical memory, unlike
 * the core kernel's. */
static bool is_torn(const struct vp_planner *p, const struct vp_batch_site *site)
{
	const struct vp_kernel *k = p->guest ? vp_guest_kernel(p->guest) : NULL;

	return k && site->gva % PAGE + site->room > PAGE && site->gva - k->base.v >= k->size;
}

/* Only a resident probe's jump needs the padding behind what a trap covers: that is given up where it can't
 * be used. */
static void leave_padding(const struct vp_planner *p, struct vp_batch_site *site)
{
	uint8_t covers = vp_planner_covers(site);

	if (site->room <= covers || site->target)
		return;
	if (is_torn(p, site) ||
	    vp_places_find(&p->places, site->gva + covers, (uint8_t)(site->room - covers)))
		site->room = covers;
}

/* A page of a program is its file's, which the kernel may write to the disk, and which others read: nothing
 * is planted there. The CPU executes any instruction there. */
static struct vp_verdict in_process(struct vp_planner *p, struct vp_batch_site *site)
{
	if (!(p->traps & VP_TRAPS_USER))
		return refuse(p, "this host's KVM does not stop programs at debug registers");
	site->trap = VP_SITE_HW;
	return (struct vp_verdict){ .kind = VP_PLAN_HW };
}

struct vp_verdict vp_planner_site(struct vp_planner *p, struct vp_batch_site *site)
{
	if (vp_batch_site_is_user(site))
		return in_process(p, site);
	leave_padding(p, site);
	const char *place = site->target ? vp_places_branch(&p->places, site->gva, site->target)
					 : vp_places_find(&p->places, site->gva, vp_planner_covers(site));

	if (place)
		return refuse(p, "%s", place);
	if (p->wish != VP_WISH_HW && is_torn(p, site))
		return refuse(p, "it crosses a page boundary in a module");
	if (p->code->breakpoint(site->bytes, site->length))
		return refuse(p, "the guest has its own breakpoint there");
	return by_instruction(p, site);
}

/* A probe has either few sites in processes, or far too many. */
const char *vp_planner_together(struct vp_planner *p, const struct vp_batch_site *sites, uint32_t n)
{
	uint32_t places = 0;

	for (uint32_t i = 0; i < n && places <= VP_HW_SITES; i++) {
		bool again = !vp_batch_site_is_user(&sites[i]);
		for (uint32_t k = 0; k < i && !again; k++)
			again = sites[k].gva == sites[i].gva;
		places += !again;
	}
	if (places <= VP_HW_SITES)
		return NULL;
	return refuse(p,
		      "it has %u places, and in a guest on KVM each takes one of %d debug registers: a guest "
		      "under TCG has no such limit",
		      n, VP_HW_SITES)
	    .why;
}

const char *vp_planner_function(const struct vp_planner *p, uint64_t gva)
{
	return vp_places_function(&p->places, gva);
}

const char *vp_plan_kind_name(enum vp_plan_kind kind)
{
	static const char *const names[] = {
		[VP_PLAN_REFUSE] = "refuse", [VP_PLAN_NATIVE] = "native", [VP_PLAN_EMULATE] = "emulate",
		[VP_PLAN_STEP] = "step",     [VP_PLAN_HW] = "hw",
	};

	return (size_t)kind < OT_ARRAY_SIZE(names) ? names[kind] : "?";
}
