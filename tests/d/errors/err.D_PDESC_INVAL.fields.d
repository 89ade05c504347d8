/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Five fields are invalid without a guest.
 */
a:b:c:d:e
{
}
