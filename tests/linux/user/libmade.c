/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libmade.so: one static probe, whose names are places that "made" writes its own to. */
#include "note.h"

void made_pass(long value, const char *text);

__attribute__((noipa)) void made_pass(long value, const char *text)
{
	NOTE("PROVIDER", "THEPROBE", "0", "8@%%rdi 8@%%rsi", "D"(value), "S"(text));
}
