/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Pointers count in what they lead to, and lead to memory that can be written.
 */
#pragma D option quiet


struct pair { int x; int y; };

BEGIN
{
	this->p = (int *)alloca(12);
	*this->p = 1;
	*(this->p + 1) = 2;
	this->p[2] = 3;
	printf("%d %d\n", this->p[1] + this->p[2], &this->p[2] - this->p);
	*((char *)this->p) = 9;
	printf("%d\n", *this->p);
	this->q = (struct pair *)alloca(2 * sizeof(struct pair));
	this->q->y = 7;
	this->q[1].x = 8;
	this->r = &this->q[1];
	printf("%d %d %d\n", this->q->y, this->r->x, (uintptr_t)this->r - (uintptr_t)this->q);
	this->r--;
	printf("%d\n", this->r == this->q);
	exit(0);
}
