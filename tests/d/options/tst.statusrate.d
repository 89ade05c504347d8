/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Where a program sets statusrate, its exit() is noticed when that is due, not at once.
 * @@exit: 2
 */
#pragma D option statusrate=4sec
#pragma D option quiet

tick-500ms
/n++ == 1/
{
	exit(2);
	called = timestamp;
}

END
{
	printf("%s\n", timestamp - called > 2000000000 ? "later" : "at once");
}
