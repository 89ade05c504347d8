/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An associative array that is first seen under a unary operator has values of type int64_t.
 */
#pragma D option quiet

BEGIN
/!pending["a"]/
{
	printf("none yet\n");
	pending["a"]++;
}

BEGIN
/-seen[1, "x"] == 0 && ~self->mask[2] == -1/
{
	printf("%d %d\n", sizeof (seen[1, "x"]), sizeof (self->mask[2]));
	seen[1, "x"] = -5;
	self->mask[2] = 1;
	printf("%d %d %d\n", pending["a"], seen[1, "x"], self->mask[2]);
	exit(0);
}
