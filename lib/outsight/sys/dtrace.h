/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header in which programs for DTrace expect its constants. */
#ifndef OUTSIGHT_SYS_DTRACE_H
#define OUTSIGHT_SYS_DTRACE_H

#include <outsight/dtrace.h>

#endif
