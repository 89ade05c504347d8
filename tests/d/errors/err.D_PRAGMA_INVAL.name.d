/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An unknown D pragma.
 */
#pragma D nosuch x

BEGIN
{
}
