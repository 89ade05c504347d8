/* ASSERTION: nor is one that no pid_t can hold, even if no probes were fine. */
#pragma D option zdefs
pid99999999999:::entry
{
}
