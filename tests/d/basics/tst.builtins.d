/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The names, ID and EPID of the firing probe; execname without a guest.
 */
#pragma D option quiet

BEGIN
{
	printf("%s:%s:%s:%s\n", probeprov, probemod, probefunc, probename);
	printf("%d %d %s\n", id, epid, execname);
}

BEGIN
{
	printf("%d %d\n", id, epid);
	exit(0);
}
