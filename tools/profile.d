#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile: where programs and the kernel spend CPU time: stacks, sampled 99 times a second
 *
 * Use:
 *   outsight tool profile [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *     spin
 *   vmlinux`asm_sysvec_apic_timer_interrupt
 *   --
 *   0x401800
 *   0x31c4b3e2
 *                 10
 *
 * Caveats:
 *   Kernel stack, then the process's. Frames of a process are known as far as its frame pointers are.
 *   CPUs that are idle are left out. Ctrl-C prints the stacks, the most frequent last.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

profile-99
/pid && ($$1 == "" || execname == $$1)/
{
	@samples[execname, stack(), ustack()] = count();
}

END
{
	trunc(@samples, 50);
	printa("\n  %s%k--%k%@16d\n", @samples);
}
