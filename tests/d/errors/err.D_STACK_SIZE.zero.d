/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: stack() takes a positive constant.
 */
BEGIN
{
	stack(0);
}
