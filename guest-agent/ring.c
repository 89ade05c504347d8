// SPDX-License-Identifier: GPL-2.0-or-later
/* Records: one ring a CPU, this CPU produces, the host consumes. */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <asm/local.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "ga.h"

#define GA_RING_BYTES_MAX (4UL << 20)

/*
 * What the host can't reach. A probe may be interrupted by another on its CPU, in an NMI too, but
 * shares this with no other CPU: local operations are enough, and nothing is ever waited for.
 */
struct ga_cpu {
	struct ga_ring *ring; /* NULL: none */
	u64 records;
	local_t head; /* number of the record to be reserved next */
};

static DEFINE_PER_CPU(struct ga_cpu, ga_cpus);
static struct ga_ring_place *ga_places;
static unsigned long ga_ring_bytes;
static int ga_hotplug_state = -1;

/*
 * The host traps these two. Each needs a body of its own and a first instruction that can be
 * replaced, which -pg gives it: so neither notrace nor inline.
 */
static noinline void ga_doorbell(void)
{
	asm volatile("# doorbell" : : : "memory");
}

static noinline void ga_mark(void)
{
	asm volatile("# mark" : : : "memory");
}

static size_t ga_ring_size(u64 records)
{
	return sizeof(struct ga_ring) + records * sizeof(struct ga_record);
}

/* Reserve a record: its number in @ret. False: the ring is full. */
static __always_inline bool ga_reserve(struct ga_cpu *cpu, struct ga_ring *ring, u64 *ret)
{
	long head = local_read(&cpu->head), seen;

	for (;;) {
		/* The host's word: a wrong difference of any kind means full. */
		if ((u64)head - READ_ONCE(ring->tail) >= cpu->records)
			return false;
		seen = local_cmpxchg(&cpu->head, head, head + 1);
		if (seen == head)
			break;
		head = seen;
	}
	*ret = head;
	return true;
}

static __always_inline void ga_fill(struct ga_record *rec, const struct ga_slot *slot, u32 flags,
				    const u64 args[GA_ARGS])
{
	struct task_struct *task = current;

	rec->tsc = rdtsc();
	rec->task = (unsigned long)task;
	rec->pid = task->pid;
	rec->tgid = task->tgid;
	memcpy(rec->comm, task->comm, GA_COMM);
	rec->slot = slot->index;
	rec->preempt = preempt_count();
	rec->cpu = raw_smp_processor_id();
	rec->nargs = slot->nargs;
	rec->flags = flags;
	memcpy(rec->args, args, sizeof(rec->args));
}

void notrace ga_emit(const struct ga_slot *slot, u32 flags, const u64 args[GA_ARGS])
{
	struct ga_cpu *cpu;
	struct ga_ring *ring;
	struct ga_record *rec;
	u64 n;

	/* Tracepoints of system calls may come with preemption on. */
	preempt_disable_notrace();
	cpu = this_cpu_ptr(&ga_cpus);
	ring = READ_ONCE(cpu->ring);
	if (!ring)
		goto out;
	if (!ga_reserve(cpu, ring, &n)) {
		/* One instruction, so that an NMI's own loss is not overwritten. */
		local_inc((local_t *)&ring->lost);
		goto out;
	}
	rec = &ring->records[n & (cpu->records - 1)];
	ga_fill(rec, slot, flags, args);
	/* Pairs with the consumer's acquire: who sees the number sees the record. */
	smp_store_release(&rec->seq, n + 1);
	if (slot->flags & GA_WANT_DOORBELL || !((n + 1) & (cpu->records / 2 - 1)))
		ga_doorbell();
out:
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(ga_emit);

void ga_clock_mark(void)
{
	unsigned long flags;
	u64 before, after;

	local_irq_save(flags);
	before = rdtsc_ordered();
	ga_mark();
	after = rdtsc_ordered();
	local_irq_restore(flags);

	WRITE_ONCE(outsight_agent.clock_seq, outsight_agent.clock_seq + 1);
	smp_wmb(); /* odd before the times, even behind them */
	WRITE_ONCE(outsight_agent.clock_before, before);
	WRITE_ONCE(outsight_agent.clock_after, after);
	smp_wmb(); /* as above */
	WRITE_ONCE(outsight_agent.clock_seq, outsight_agent.clock_seq + 1);
}

/* A CPU that has no ring when memory is short drops its events; the host sees that it has none. */
static int ga_cpu_prepare(unsigned int cpu)
{
	u64 records = rounddown_pow_of_two(ga_ring_bytes / sizeof(struct ga_record));
	struct ga_cpu *c = per_cpu_ptr(&ga_cpus, cpu);
	struct ga_ring *ring = NULL;

	if (c->ring)
		return 0;
	for (; !ring && records >= 64; records /= 2) {
		ring = alloc_pages_exact(ga_ring_size(records), GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
		c->records = records;
	}
	if (!ring)
		return 0;
	ga_places[cpu].percpu = per_cpu_offset(cpu);
	ga_places[cpu].records = c->records;
	/* Complete before the host can find it, and then probes on that CPU. */
	smp_store_release(&ga_places[cpu].gpa, virt_to_phys(ring));
	/* Pairs with nothing stronger than the dependency in ga_emit(). */
	smp_store_release(&c->ring, ring);
	return 0;
}

/*
 * For the CPUs that are there already. 5.10 does not call a dynamic state of this section for
 * them, whatever it is asked, and newer kernels do: so none is asked.
 */
static void ga_cpus_prepare(void)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) ga_cpu_prepare(cpu);
	cpus_read_unlock();
}

int ga_rings_init(unsigned long bytes)
{
	int ret;

	BUILD_BUG_ON(sizeof(struct ga_record) != 128);
	BUILD_BUG_ON(sizeof(struct ga_ring) != PAGE_SIZE);
	BUILD_BUG_ON(sizeof(local_t) != sizeof(__u64));
	BUILD_BUG_ON(GA_RING_BYTES_MAX / sizeof(struct ga_record) > GA_RECORDS_MAX);
	ga_ring_bytes = clamp(bytes, 64UL << 10, GA_RING_BYTES_MAX);
	ga_places = kvcalloc(nr_cpu_ids, sizeof(*ga_places), GFP_KERNEL);
	if (!ga_places)
		return -ENOMEM;
	outsight_agent.rings_gva = (unsigned long)ga_places;
	outsight_agent.nrings = nr_cpu_ids;
	outsight_agent.record_size = sizeof(struct ga_record);
	outsight_agent.doorbell_gva = (unsigned long)ga_doorbell;
	outsight_agent.mark_gva = (unsigned long)ga_mark;
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "outsight:rings", ga_cpu_prepare, NULL);
	if (ret < 0) {
		ga_rings_free();
		return ret;
	}
	ga_hotplug_state = ret;
	ga_cpus_prepare();
	return 0;
}

void ga_rings_stop(void)
{
	if (ga_hotplug_state >= 0)
		cpuhp_remove_state_nocalls(ga_hotplug_state);
	ga_hotplug_state = -1;
}

void ga_rings_free(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
	{
		struct ga_cpu *c = per_cpu_ptr(&ga_cpus, cpu);

		if (c->ring)
			free_pages_exact(c->ring, ga_ring_size(c->records));
		c->ring = NULL;
	}
	kvfree(ga_places);
	ga_places = NULL;
}
