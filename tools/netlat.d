#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netlat: how long TCP takes to connect, and its round trips, as distributions by peer
 *
 * Use:
 *   outsight tool netlat [-g GUEST]
 *
 * Example:
 *   connecting to 127.0.0.1, us
 *              value  ------------- Distribution ------------- count
 *              32768 |                                         0
 *              65536 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1
 *             131072 |                                         0
 *   round trips to 127.0.0.1, us
 *              value  ------------- Distribution ------------- count
 *              16384 |                                         0
 *              32768 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 2
 *              65536 |                                         0
 *
 * Caveats:
 *   A round trip is the kernel's smoothed estimate when a connection closes; 0 without one.
 *   Ctrl-C prints the distributions.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

fbt::tcp_connect:entry
{
	began[arg0] = timestamp;
}

fbt::tcp_finish_connect:entry
/began[arg0]/
{
	@connect[xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_raddr] = quantize((timestamp - began[arg0]) / 1000);
}

fbt::tcp_finish_connect:entry, fbt::tcp_done:entry
{
	began[arg0] = 0;
}

fbt::tcp_set_state:entry
/arg1 == 7 && ((struct sock *)arg0)->__sk_common.skc_state != 2 && xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_rport/
{
	@trips[xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_raddr] = quantize(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_srtt);
}

END
{
	printa("\nconnecting to %s, us%@d", @connect);
	printa("\nround trips to %s, us%@d", @trips);
}
