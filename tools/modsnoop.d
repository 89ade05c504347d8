#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modsnoop: kernel modules as they are loaded and unloaded
 *
 * Use:
 *   outsight tool modsnoop [-g GUEST]
 *
 * Example:
 *       PID PROGRAM          EVENT   MODULE
 *       306 rmmod            unload  dummy
 *       305 insmod           load    dummy
 *
 * Caveats:
 *   A module whose own start fails is loaded and unloaded.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %-7s %s\n", "PID", "PROGRAM", "EVENT", "MODULE");
}

fbt::do_init_module:entry, fbt::free_module:entry
{
	printf("%7d %-16s %-7s %s\n", pid, execname, probefunc == "free_module" ? "unload" : "load",
	    stringof(((struct module *)arg0)->name));
}
