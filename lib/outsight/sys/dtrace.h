/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where programs for DTrace look for its constants. */
#ifndef OUTSIGHT_SYS_DTRACE_H
#define OUTSIGHT_SYS_DTRACE_H

#include <outsight/dtrace.h>

#endif
