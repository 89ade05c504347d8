#!/usr/sbin/dtrace -s
/*
 * ASSERTION: pragmas that may be there do no harm: null lines, #ident, other people's pragmas,
 * attributes before and behind what they are for, dependencies that are met.
 */
#
#ident "@(#)accepted.d"
#pragma ident "accepted"
#pragma
#pragma D
#pragma pack 4
#pragma once
#pragma D ident "accepted"
#pragma D option quiet
#pragma D depends_on provider dtrace
#pragma D depends_on provider profile
#pragma D attributes Stable/Stable/Common early
#pragma D attributes Evolving/Evolving/ISA provider dtrace name
#pragma D attributes Evolving/Evolving/ISA provider mine args
#pragma D binding "1.2" translator

int early;
int late;
#pragma D attributes Private/Private/Unknown late
#pragma D binding "1.3" late

provider mine { probe p(int a); };

struct in { int a; };
struct out { int b; };
translator struct out < struct in *I > { b = I->a; };

#! not only in the first line
BEGIN
{
#pragma D option strsize=64
	early = late;
	printf("%d\n", sizeof(string));
	exit(0);
}
