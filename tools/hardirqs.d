#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hardirqs: time in hard interrupts, by device
 *
 * Use:
 *   outsight tool hardirqs [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *    IRQ NAME                       TIMES        us
 *     25 virtio0-virtqueues             1      7630
 *
 * Caveats:
 *   Interrupts with a number: the local timer's and those between CPUs have none and are not seen.
 *   Of a line that devices share, the first one's name.
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

fbt::__handle_irq_event_percpu:entry, fbt::handle_irq_event_percpu:entry
/probefunc == "__handle_irq_event_percpu" || !__has_symbol(`__handle_irq_event_percpu)/
{
	self->desc = (struct irq_desc *)arg0;
	self->began = timestamp;
}

fbt::__handle_irq_event_percpu:return, fbt::handle_irq_event_percpu:return
/self->began && self->desc->action != NULL/
{
	@times[self->desc->irq_data.irq, stringof(self->desc->action->name)] = count();
	@us[self->desc->irq_data.irq, stringof(self->desc->action->name)] = sum(timestamp - self->began);
}

fbt::__handle_irq_event_percpu:return, fbt::handle_irq_event_percpu:return
{
	self->began = 0;
	self->desc = 0;
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%4s %-22s %9s %9s\n", "IRQ", "NAME", "TIMES", "us");
	normalize(@us, 1000);
	printa("%4d %-22s %@9d %@9d\n", @times, @us);
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
	printf("%4s %-22s %9s %9s\n", "IRQ", "NAME", "TIMES", "us");
	normalize(@us, 1000);
	printa("%4d %-22s %@9d %@9d\n", @times, @us);
}
