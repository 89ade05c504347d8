#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hotkernel: in which kernel functions the CPUs are, sampled 997 times a second
 *
 * Use:
 *   outsight tool hotkernel [-g GUEST] [FUNCTIONS]
 *   FUNCTIONS  how many are printed; 30 without it
 *
 * Example:
 *   FUNCTION                                        SAMPLES
 *   vmlinux`__switch_to                                   3
 *   vmlinux`_flat_send_IPI_mask                           3
 *   ...
 *   vmlinux`native_safe_halt                           1350
 *   all in the kernel                                  2266
 *
 * Caveats:
 *   An idle CPU is in the kernel too: in a function that halts it.
 *   Ctrl-C prints the table.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

profile-997
/arg0/
{
	@samples[func(arg0)] = count();
	@all = count();
}

END
{
	trunc(@samples, $1 ? $1 : 30);
}

END
{
	printf("%-46s %8s\n", "FUNCTION", "SAMPLES");
	printa("%-46a %@8d\n", @samples);
	printa("all in the kernel %@37d\n", @all);
}
