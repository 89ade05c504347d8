/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Thread-local variables live on from clause to clause.
 */
#pragma D option quiet

BEGIN
{
	self->x = 5;
	self->s = "text";
	self->a[1, "k"] = 6;
}

BEGIN
/self->x/
{
	printf("%d %s %d\n", self->x, self->s, self->a[1, "k"]);
	self->x = 0;
}

BEGIN
/!self->x/
{
	printf("freed\n");
	exit(0);
}
