/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A printer, and outputs that print by it, whose text is compared with what is expected. */
#ifndef TESTS_UNIT_CONSUMER_TEST_PRINT_H
#define TESTS_UNIT_CONSUMER_TEST_PRINT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "consumer/output/text.h"

struct output {
	struct con_printer p;
	struct dif_options opts; /* only what printers read is set */
	struct con_text state;   /* of the output that output_by() made last */
	char *text;
	size_t len;
};

static inline void output_init(struct output *o)
{
	memset(o, 0, sizeof(*o));
	o->opts.stackindent = 14;
	o->opts.ustackframes = 20;
	o->opts.jstackframes = 50;
	o->p.opts = &o->opts;
	o->p.fp = open_memstream(&o->text, &o->len);
	assert_non_null(o->p.fp);
}

/* An output without state, which writes to the printer's stream. */
static inline struct con_output *output_by(struct output *o, const struct con_output_ops *ops)
{
	assert_true(ops->size <= sizeof(o->state));
	o->state = (struct con_text){ .base = { .ops = ops, .printer = o->p } };
	return &o->state.base;
}

/* What was printed since the last call. */
static inline void output_is(struct output *o, const char *expected)
{
	fclose(o->p.fp);
	assert_string_equal(o->text, expected);
	free(o->text);
	o->p.fp = open_memstream(&o->text, &o->len);
}

/* Every address of the kernel is in one function of one module: printer.symbols.kernel. */
static inline void output_kernel_name(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form,
				      char *buf, size_t size)
{
	(void)arg;
	(void)guest;
	snprintf(buf, size, form == VP_SYM_OFFSET ? "vmlinux`f+0x%llx" : "vmlinux`f",
		 (unsigned long long)addr);
}

static inline void output_deinit(struct output *o)
{
	fclose(o->p.fp);
	free(o->text);
}

#endif
