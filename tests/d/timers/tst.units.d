/*
 * ASSERTION: A timer takes a number alone, which is a frequency, or with one of the units of time.
 */
#pragma D option quiet

int seen[string];

tick-50, tick-50hz, tick-20ms, tick-20msec, tick-20000us, tick-20000usec, tick-20000000ns, tick-20000000nsec,
profile-50, profile-50hz, profile-20ms, profile-20msec, profile-20000us, profile-20000usec, profile-20000000ns,
profile-20000000nsec
/!seen[probename]/
{
	seen[probename] = 1;
	n++;
}

tick-1s, tick-1sec, tick-1m, tick-1min, tick-1h, tick-1hour, tick-1d, tick-1day,
profile-1s, profile-1sec, profile-1m, profile-1min, profile-1h, profile-1hour, profile-1d, profile-1day
/n > 16/
{
	exit(1);
}

tick-20ms
/n == 16/
{
	printf("%d\n", n);
	exit(0);
}
