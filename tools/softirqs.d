#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * softirqs: time in soft interrupts, by handler
 *
 * Use:
 *   outsight tool softirqs [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *   HANDLER                    TIMES        us
 *   run_timer_softirq             63     16872
 *   rcu_core_si                  108       722
 *   run_rebalance_domains        145     14870
 *
 * Caveats:
 *   net_rx_action is NET_RX, rcu_core_si RCU, run_timer_softirq TIMER, and so on.
 *   Hard interrupts in between count as the handler's.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	every = $1 > 0 ? $1 : 1;
	left = every;
	tables = $2 > 0 ? $2 : -1;
}

fbt::net_rx_action:entry, fbt::net_tx_action:entry, fbt::run_timer_softirq:entry,
fbt::hrtimer_run_softirq:entry, fbt::tasklet_action:entry, fbt::tasklet_hi_action:entry,
fbt::rcu_core_si:entry, fbt::run_rebalance_domains:entry, fbt::sched_balance_softirq:entry,
fbt::blk_done_softirq:entry, fbt::irq_poll_softirq:entry
{
	self->began = timestamp;
}

fbt::net_rx_action:return, fbt::net_tx_action:return, fbt::run_timer_softirq:return,
fbt::hrtimer_run_softirq:return, fbt::tasklet_action:return, fbt::tasklet_hi_action:return,
fbt::rcu_core_si:return, fbt::run_rebalance_domains:return, fbt::sched_balance_softirq:return,
fbt::blk_done_softirq:return, fbt::irq_poll_softirq:return
/self->began/
{
	@times[probefunc] = count();
	@us[probefunc] = sum(timestamp - self->began);
	self->began = 0;
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%-22s %9s %9s\n", "HANDLER", "TIMES", "us");
	normalize(@us, 1000);
	printa("%-22s %@9d %@9d\n", @times, @us);
	trunc(@times);
	trunc(@us);
	left = every;
	tables--;
}

tick-1s
/tables == 0/
{
	exit(0);
}

END
{
	printf("%-22s %9s %9s\n", "HANDLER", "TIMES", "us");
	normalize(@us, 1000);
	printa("%-22s %@9d %@9d\n", @times, @us);
}
