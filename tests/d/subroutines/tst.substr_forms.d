/* ASSERTION: substr() with all signs of its index and length. */
#pragma D option quiet

BEGIN
{
	this->s = "foobarbaz";
	printf("[%s] [%s] [%s]\n", substr(this->s, 3), substr(this->s, 9), substr(this->s, -3));
	printf("[%s] [%s] [%s]\n", substr(this->s, 3, 3), substr(this->s, 3, 100), substr(this->s, 3, 0));
	printf("[%s] [%s] [%s]\n", substr(this->s, 3, -3), substr(this->s, 3, -6), substr(this->s, 3, -7));
	printf("[%s] [%s] [%s]\n", substr(this->s, -6, 3), substr(this->s, -6, -3), substr(this->s, -6, -7));
	printf("[%s] [%s] [%s]\n", substr(this->s, -12, 4), substr(this->s, -12, 3), substr(this->s, -12));
	printf("[%s] [%s]\n", substr(this->s, 400, 1), substr(this->s, 400, -1));
	exit(0);
}
