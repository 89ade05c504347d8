/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: stddev() takes a scalar.
 */
BEGIN
{
	@a = stddev(execname);
}
