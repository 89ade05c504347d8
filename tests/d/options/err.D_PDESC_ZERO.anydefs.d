/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: With anydefs a clause of which no description matches is refused.
 */
#pragma D option anydefs

dtrace:::BEGIN, dtrace:::NOSUCH
{
}

dtrace:::NOSUCH, dtrace:::NEITHER
{
}
