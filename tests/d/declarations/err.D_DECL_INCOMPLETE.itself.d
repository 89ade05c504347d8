/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct is not its own member.
 */
struct self_made { struct self_made x; };

BEGIN
{
	exit(0);
}
