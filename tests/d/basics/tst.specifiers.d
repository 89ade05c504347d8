/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: One clause may name several probes, and fields may be empty or globs.
 */
#pragma D option quiet

dtrace:::BEGIN,
E?D
{
	printf("%s\n", probename);
}

B[A-F]G*
{
	exit(0);
}
