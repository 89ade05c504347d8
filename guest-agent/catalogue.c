// SPDX-License-Identifier: GPL-2.0-or-later
/* Which tracepoints there are: the kernel's, and those of modules as they come and go. */
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "ga.h"

struct ga_slot *ga_slots;
struct ga_entry *ga_catalogue;

static u32 ga_next; /* slots below it have been used */

static void ga_change_begin(void)
{
	WRITE_ONCE(outsight_agent.catalogue_seq, outsight_agent.catalogue_seq + 1);
	smp_wmb(); /* odd is seen before any change, */
}

static void ga_change_end(void)
{
	smp_wmb(); /* and every change before it is even again */
	WRITE_ONCE(outsight_agent.catalogue_seq, outsight_agent.catalogue_seq + 1);
}

/*
 * Slots of modules that went are used again only when no other is left: their numbers stay
 * unambiguous longer.
 */
static struct ga_slot *ga_find_slot(void)
{
	u32 i;

	if (ga_next < GA_TRACEPOINTS)
		return &ga_slots[ga_next++];
	for (i = 0; i < GA_TRACEPOINTS; i++)
		if (!ga_slots[i].tp)
			return &ga_slots[i];
	return NULL;
}

/* A tracepoint of the kernel's, or of module @mod. */
static void ga_add(struct tracepoint *tp, void *mod)
{
	struct ga_slot *slot = ga_find_slot();
	struct ga_entry *entry;

	if (!slot) {
		outsight_agent.omitted++;
		return;
	}
	entry = &ga_catalogue[slot->index];
	slot->tp = tp;
	slot->core = !mod;
	entry->address = (unsigned long)tp;
	entry->error = 0;
	strscpy(entry->name, tp->name, sizeof(entry->name));
}

/*
 * Nothing may call us from a module's tracepoint when its memory goes; the kernel sees to those
 * under way.
 */
static void ga_remove(struct tracepoint *tp)
{
	u32 i;

	for (i = 0; i < ga_next; i++) {
		if (ga_slots[i].tp != tp)
			continue;
		ga_slot_off(&ga_slots[i]);
		ga_slots[i].tp = NULL;
		ga_catalogue[i].address = 0;
		memset(ga_catalogue[i].name, 0, sizeof(ga_catalogue[i].name));
	}
}

static int ga_on_module(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = ((struct tp_module *)data)->mod;
	unsigned int i;

	if (event != MODULE_STATE_COMING && event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&ga_lock);
	ga_change_begin();
	for (i = 0; i < mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (event == MODULE_STATE_COMING)
			ga_add(tp, mod);
		else
			ga_remove(tp);
	}
	ga_change_end();
	mutex_unlock(&ga_lock);
	return NOTIFY_OK;
}

static struct notifier_block ga_modules = { .notifier_call = ga_on_module };

int ga_catalogue_init(void)
{
	int ret;
	u32 i;

	ga_slots = vzalloc(array_size(GA_SLOTS, sizeof(*ga_slots)));
	ga_catalogue = vzalloc(array_size(GA_SLOTS, sizeof(*ga_catalogue)));
	if (!ga_slots || !ga_catalogue) {
		ret = -ENOMEM;
		goto fail;
	}
	for (i = 0; i < GA_SLOTS; i++)
		ga_slots[i].index = i;
	mutex_lock(&ga_lock);
	for_each_kernel_tracepoint(ga_add, NULL);
	mutex_unlock(&ga_lock);
	/* Calls us at once for the modules that are there. */
	ret = register_tracepoint_module_notifier(&ga_modules);
	if (ret)
		goto fail;
	outsight_agent.catalogue_gva = (unsigned long)ga_catalogue;
	outsight_agent.nslots = GA_SLOTS;
	return 0;
fail:
	vfree(ga_slots);
	vfree(ga_catalogue);
	return ret;
}

/* No probe is armed any more, none is running. */
void ga_catalogue_exit(void)
{
	unregister_tracepoint_module_notifier(&ga_modules);
	vfree(ga_slots);
	vfree(ga_catalogue);
}
