/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string and an integer give the string from there on.
 */
#pragma D option quiet


BEGIN
{
	this->s = "abcdef";
	printf("%s %c %c\n", this->s + 2, this->s[3], *(this->s + 1));
	exit(0);
}
