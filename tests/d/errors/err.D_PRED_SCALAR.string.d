/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A predicate must be scalar.
 */
BEGIN
/"text"/
{
}
