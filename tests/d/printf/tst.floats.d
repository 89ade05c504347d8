/*
 * ASSERTION: Floating-point data that exists prints with %e %E %f %g %G and, of long doubles,
 * %Le %LE %Lf %Lg %LG; print() shows it too.
 */
#pragma D option quiet

struct reals { float f; double d; long double l; };

BEGIN
{
	this->p = (struct reals *)alloca(sizeof (struct reals));
	*(uint32_t *)&this->p->f = 0x3fc00000;
	*(uint64_t *)&this->p->d = 0x400921fb54442d18;
	*(uint64_t *)&this->p->l = 0x8000000000000000;
	*(uint16_t *)((char *)&this->p->l + 8) = 0x4000;
	printf("%e %E %f %g %G\n", this->p->f, this->p->f, this->p->f, this->p->f, this->p->f);
	printf("%e %E %f %g %G\n", this->p->d, this->p->d, this->p->d, this->p->d, this->p->d);
	printf("%Le %LE %Lf %Lg %LG %f\n", this->p->l, this->p->l, this->p->l, this->p->l, this->p->l,
	    this->p->l);
	printf("%10.2f|%-10.1f|%+.3e|\n", this->p->d, this->p->d, this->p->d);
	print(*this->p);
	exit(0);
}
