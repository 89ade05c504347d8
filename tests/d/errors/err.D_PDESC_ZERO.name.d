/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A description that matches no probe.
 */
dtrace:::NOSUCH
{
}
