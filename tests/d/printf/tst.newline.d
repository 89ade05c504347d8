/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: In non-quiet mode a newline follows each record, beside those of printf.
 * @@exit: 3
 */
BEGIN
{
	printf("%d %s\n", 6 * 7, "ok");
	exit(3);
}
