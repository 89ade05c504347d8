/*
 * ASSERTION: programs written for other systems find the types of their headers, and locks have Linux's types.
 */
#pragma D option quiet

hrtime_t started;

BEGIN
{
	started = (hrtime_t)5;
	printf("%lld %d %d\n", started, sizeof(boolean_t), sizeof(time_t));
	printf("%d %d %d %d\n", sizeof(caddr_t), sizeof(offset_t), sizeof(in_port_t), sizeof(lwpid_t));
	printf("%d %d %d %d %d %d\n", sizeof(u_char), sizeof(u_short), sizeof(u_int), sizeof(u_long),
	    sizeof(quad_t), sizeof(u_quad_t));
	printf("%d %d\n", (int)(quad_t)-1, (u_quad_t)-1 > 0);
	printf("%d %d\n", msgsize((mblk_t *)0), msgdsize((mblk_t *)0));
}

BEGIN
{
	trace(mutex_owned((kmutex_t *)8));
}

BEGIN
{
	trace(rw_iswriter((krwlock_t *)8));
}

BEGIN
{
	printf("%d %d\n", sizeof(in6_addr_t *), (uintptr_t)(in6_addr_t *)8);
}

BEGIN
{
	exit(0);
}
