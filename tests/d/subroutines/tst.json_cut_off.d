/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ASSERTION: a number or a word with which the text ends was cut off, and is no value. */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", json("[12", "0") == NULL ? "none" : "some", json("[12]", "0"));
	printf("%s %s\n", json("[true", "0") == NULL ? "none" : "some", json("[true ]", "0"));
	printf("%s\n", json("{\"a\": 7", "a") == NULL ? "none" : "some");
	exit(0);
}
