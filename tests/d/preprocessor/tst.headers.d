/*
 * ASSERTION: C's own headers can be included: functions in them that D has too leave D's alone, and
 * bodies are passed over.
 * @@cpp
 */
#include <sys/types.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <sys/sysinfo.h>
#pragma D option quiet

BEGIN
{
	this->mode = (mode_t)0755;
	this->fixed = (__const int)offsetof(struct sysinfo, mem_unit);
	printf("%d\n", this->fixed);
	printf("%o %d %s %d %d\n", this->mode, sizeof(uint_fast16_t), strchr("abc", 'b'), EPERM, UINT8_MAX);
	exit(0);
}
