/* ASSERTION: A NULL string is an invalid address to every subroutine that reads one. */
#pragma D option quiet

BEGIN { strlen(NULL); }
BEGIN { strjoin(NULL, "x"); }
BEGIN { strjoin("x", NULL); }
BEGIN { strchr(NULL, 'x'); }
BEGIN { strrchr(NULL, 'x'); }
BEGIN { strstr("x", NULL); }
BEGIN { strtok("x", NULL); }
BEGIN { substr(NULL, 1); }
BEGIN { index(NULL, "x"); }
BEGIN { rindex("x", NULL); }
BEGIN { basename(NULL); }
BEGIN { dirname(NULL); }
BEGIN { cleanpath(NULL); }
BEGIN { toupper(NULL); }
BEGIN { tolower(NULL); }
BEGIN { strtoll(NULL); }
BEGIN { json(NULL, "x"); }
BEGIN { json("x", NULL); }
BEGIN { inet_ntoa(NULL); }
BEGIN { inet_ntoa6(NULL); }

ERROR
/arg4 == DTRACEFLT_BADADDR && arg5 == 0/
{
	faults++;
}

BEGIN
{
	printf("%d\n", faults);
	exit(0);
}
