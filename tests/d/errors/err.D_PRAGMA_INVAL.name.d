/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A D pragma that does not exist.
 */
#pragma D nosuch x

BEGIN
{
}
