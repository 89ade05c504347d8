/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The number of matched probes is printed on stderr.
 * @@stderr: dtrace: script 'tst.matched.d' matched 2 probes
 */
BEGIN
{
	exit(0);
}

END
{
	trace(1);
}
