// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Outsight's guest agent: hands the guest's tracepoints and kprobes to the host through memory.
 * It has no device and no file; the host reads it, and writes its requests into the control
 * block. agent_abi.h documents who writes what, and when.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include <asm/tsc.h>

#include "ga.h"

struct ga_header outsight_agent __aligned(PAGE_SIZE) = {
	.version = GA_VERSION,
	.size = sizeof(struct ga_header),
};

/* Slots, catalogue, header: see ga.h. */
DEFINE_MUTEX(ga_lock);

static unsigned long ring_kib = 512;
module_param(ring_kib, ulong, 0444);
MODULE_PARM_DESC(ring_kib, "size of each CPU's ring in KiB (64 to 4096)");

static struct ga_control *ga_control;
static u64 ga_token; /* ours: the header's can be read by all */
static void ga_poll(struct work_struct *work);
static DECLARE_DELAYED_WORK(ga_poll_work, ga_poll);

/* When the host was last seen alive. Under ga_lock. */
static u64 ga_last_beat;
static unsigned long ga_beat_at; /* jiffies */
static bool ga_lapsed;

static bool ga_owned(void)
{
	u64 owner = READ_ONCE(ga_control->owner);

	return owner != ga_token && (owner & ~0xffULL) == ga_token;
}

static bool ga_host_alive(void)
{
	u64 beat = READ_ONCE(ga_control->beat);

	if (beat != ga_last_beat) {
		ga_last_beat = beat;
		ga_beat_at = jiffies;
	}
	return time_before(jiffies, ga_beat_at + msecs_to_jiffies(GA_LEASE_MS));
}

/* Everything off, until the host is back or another has come. */
static void ga_turn_off(bool lapsed)
{
	if (outsight_agent.armed)
		ga_slots_apply(NULL);
	if (lapsed && !ga_lapsed)
		outsight_agent.lapses++;
	ga_lapsed = lapsed;
	WRITE_ONCE(outsight_agent.applied, 0);
}

/* Turning a thousand probes on takes seconds: not on a CPU's own queue, where other work waits. */
static void ga_poll_in(unsigned int ms)
{
	queue_delayed_work(system_unbound_wq, &ga_poll_work, msecs_to_jiffies(ms));
}

static void ga_poll(struct work_struct *work)
{
	u32 generation;

	mutex_lock(&ga_lock);
	if (!ga_owned()) {
		ga_turn_off(false);
		ga_beat_at = jiffies; /* a new owner has the whole lease */
		goto out;
	}
	if (!ga_host_alive()) {
		ga_turn_off(true);
		goto out;
	}
	ga_lapsed = false;
	generation = READ_ONCE(ga_control->generation);
	if (generation != outsight_agent.applied) {
		/* Pairs with the host's release: slots first, then their generation. */
		smp_rmb();
		ga_slots_apply(ga_control->slots);
		/* A reader that sees the generation also sees its results. */
		smp_store_release(&outsight_agent.applied, generation);
		ga_walks_begin();
	}
	ga_clock_mark();
out:
	mutex_unlock(&ga_lock);
	ga_poll_in(GA_POLL_MS);
}

static int ga_control_init(void)
{
	ga_control = alloc_pages_exact(sizeof(*ga_control), GFP_KERNEL | __GFP_ZERO);
	if (!ga_control)
		return -ENOMEM;
	/* Not guessable, so that no memory holds it by chance. */
	do {
		get_random_bytes(&ga_token, sizeof(ga_token));
		ga_token &= ~0xffULL;
	} while (!ga_token);
	ga_control->owner = ga_token;
	outsight_agent.token = ga_token;
	outsight_agent.control_gpa = virt_to_phys(ga_control);
	outsight_agent.control_size = sizeof(*ga_control);
	return 0;
}

static int __init ga_init(void)
{
	int ret = ga_control_init();

	if (ret)
		return ret;
	ret = ga_rings_init(ring_kib << 10);
	if (ret)
		goto free_control;
	ret = ga_catalogue_init();
	if (ret)
		goto free_rings;
	outsight_agent.tsc_khz = tsc_khz;
	ga_beat_at = jiffies;
	WRITE_ONCE(outsight_agent.state, GA_LIVE);
	/* Complete before it can be found. */
	smp_store_release(&outsight_agent.magic, GA_MAGIC);
	ga_poll_in(0);
	return 0;
free_rings:
	ga_rings_stop();
	ga_rings_free();
free_control:
	free_pages_exact(ga_control, sizeof(*ga_control));
	return ret;
}

/* True: the memory that the host may write is ours alone again. */
static bool ga_take_back(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(2 * GA_LEASE_MS);

	ga_last_beat = READ_ONCE(ga_control->beat);
	ga_beat_at = jiffies;
	while (cmpxchg(&ga_control->owner, ga_token, 0) != ga_token) {
		/* No longer ours, and its owner is gone. */
		if (!ga_owned() || !ga_host_alive() || time_after(jiffies, end))
			return false;
		msleep(20);
	}
	return true;
}

static void __exit ga_exit(void)
{
	WRITE_ONCE(outsight_agent.state, GA_CLOSING);
	cancel_delayed_work_sync(&ga_poll_work);
	mutex_lock(&ga_lock);
	ga_slots_apply(NULL);
	mutex_unlock(&ga_lock);
	ga_walks_exit();
	ga_rings_stop();
	/* Probes under way on other CPUs still use slots and rings. */
	tracepoint_synchronize_unregister();
	ga_catalogue_exit();
	if (ga_take_back()) {
		ga_rings_free();
		free_pages_exact(ga_control, sizeof(*ga_control));
	} else {
		pr_notice("the host did not let go of the rings: their memory is left behind\n");
	}
	WRITE_ONCE(outsight_agent.magic, 0);
}

module_init(ga_init);
module_exit(ga_exit);
MODULE_DESCRIPTION("Outsight's guest agent");
MODULE_LICENSE("GPL");
