/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An option that does not exist.
 */
#pragma D option nosuch

BEGIN
{
}
