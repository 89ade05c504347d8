/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the shared numbers, from the lists in names.h and opcodes.h. */
#include "dif/obj/names.h"

#include <stddef.h>

#include "dif/obj/object.h"

const char *dif_op_name(unsigned op)
{
	switch (op) {
#define X(num, name, class) \
	case num:           \
		return #name;
		DIF_OPCODES(X)
#undef X
	}
	return NULL;
}

enum dif_op_class dif_op_class(unsigned op)
{
	switch (op) {
#define X(num, name, class) \
	case num:           \
		return DIF_CLASS_##class;
		DIF_OPCODES(X)
#undef X
	}
	return DIF_CLASS_NONE;
}

const char *dif_var_name(unsigned id)
{
	switch (id) {
#define X(num, name, ...) \
	case num:         \
		return #name;
		DIF_VARS(X)
#undef X
	}
	return NULL;
}

bool dif_var_is_string(unsigned id)
{
	switch (id) {
#define X(num, name, type, ...) \
	case num:               \
		return __builtin_strcmp(type, "string") == 0;
		DIF_VARS(X)
#undef X
	}
	return false;
}

const char *dif_subr_name(unsigned subr)
{
	const struct dif_function *func = dif_subr_find(subr);

	return func ? func->name : NULL;
}

const char *dif_action_name(unsigned kind)
{
	switch (kind) {
#define X(num, name, ...) \
	case num:         \
		return #name;
		DIF_ACTIONS(X)
		DIF_AGGS(X)
#undef X
	}
	return NULL;
}

const char *dif_fault_text(enum dif_fault fault)
{
	switch ((unsigned)fault) {
#define X(num, name, text, addr) \
	case num:                \
		return text;
		DIF_FAULTS(X)
#undef X
	}
	return "unknown fault";
}

bool dif_fault_has_address(enum dif_fault fault)
{
	switch ((unsigned)fault) {
#define X(num, name, text, addr) \
	case num:                \
		return addr;
		DIF_FAULTS(X)
#undef X
	}
	return false;
}
