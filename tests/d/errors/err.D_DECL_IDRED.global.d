/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A name can be declared once.
 */
int x;
char x;

BEGIN
{
}
