/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A clause with empty braces records its EPID and prints a bare line.
 */
BEGIN
{
	exit(0);
}

END
{
}
