/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pulse's tracepoint. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pulse

#if !defined(PULSE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PULSE_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(pulse_beat, TP_PROTO(unsigned int nth), TP_ARGS(nth),
	    TP_STRUCT__entry(__field(unsigned int, nth)), TP_fast_assign(__entry->nth = nth;),
	    TP_printk("nth=%u", __entry->nth));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pulse_trace
#include <trace/define_trace.h>
