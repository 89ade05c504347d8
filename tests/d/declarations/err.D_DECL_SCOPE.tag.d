/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct that D declares belongs to no module.
 */
struct module`tag { int member; };

BEGIN
{
	exit(0);
}
