/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An unknown option.
 */
#pragma D option nosuch

BEGIN
{
}
