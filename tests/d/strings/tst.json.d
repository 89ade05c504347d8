/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: json finds an element by its path.
 */
#pragma D option quiet

BEGIN
{
	this->d = "{\"a\": {\"b\": [1, \"two\", true]}, \"n\": -5}";
	printf("%s %s\n", json(this->d, "n"), json(this->d, "a.b[1]"));
	printf("%s %s\n", json(this->d, "a.b[2]"), json(this->d, "a.b"));
	printf("%d\n", json(this->d, "a.x") == NULL);
	exit(0);
}
