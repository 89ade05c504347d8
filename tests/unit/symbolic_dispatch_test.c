/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/symbolic: a tree of comparisons as compilers write a switch, followed for each number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/symbolic/dispatch.h"

#define BASE 0xffffffff81000000ull
#define A    (BASE + 0x1000) /* the functions that it chooses from */
#define B    (BASE + 0x2000)
#define C    (BASE + 0x3000)
#define NONE (BASE + 0x4000)

/* clang-format off */
static const uint8_t tree[] = {
	0xe8, 0xfb, 0x4f, 0x00, 0x00, /*  0: call tracer */
	0x83, 0xfe, 0x05,             /*  5: cmp $5,%esi */
	0x74, 0x16,                   /*  8: je 32 */
	0x77, 0x0a,                   /* 10: ja 22 */
	0x83, 0xfe, 0x02,             /* 12: cmp $2,%esi */
	0x74, 0x14,                   /* 15: je 37 */
	0xe9, 0xea, 0x3f, 0x00, 0x00, /* 17: jmp NONE */
	0x83, 0xfe, 0x07,             /* 22: cmp $7,%esi */
	0x74, 0x0f,                   /* 25: je 42 */
	0xe9, 0xe0, 0x3f, 0x00, 0x00, /* 27: jmp NONE */
	0xe9, 0xdb, 0x0f, 0x00, 0x00, /* 32: jmp A */
	0xe9, 0xd6, 0x1f, 0x00, 0x00, /* 37: jmp B */
	0xe8, 0xd1, 0x2f, 0x00, 0x00, /* 42: call C */
	0xc3,                         /* 47: ret */
};
/* by a table */
static const uint8_t table[] = {
	0x89, 0xf0,                                     /*  0: mov %esi,%eax */
	0xff, 0x24, 0xc5, 0x00, 0x10, 0x00, 0x82,       /*  2: jmp *-0x7dfff000(,%rax,8) */
};
/* on something else than the number */
static const uint8_t other[] = {
	0x83, 0xfa, 0x05,             /* 0: cmp $5,%edx */
	0x0f, 0x84, 0xf7, 0x0f, 0, 0, /* 3: je A */
	0xe9, 0xf2, 0x1f, 0x00, 0x00, /* 9: jmp B */
};
static const uint8_t forever[] = { 0x83, 0xfe, 0x05, /* 0: cmp $5,%esi */ 0xeb, 0xfb /* 3: jmp 0 */ };
/* clang-format on */

struct code {
	const uint8_t *bytes;
	size_t size;
};

static unsigned text(void *arg, uint64_t gva, uint8_t ret[15])
{
	const struct code *code = arg;

	if (gva - BASE >= code->size)
		return 0;
	size_t n = code->size - (gva - BASE);
	n = n < 15 ? n : 15;
	memcpy(ret, code->bytes + (gva - BASE), n);
	return (unsigned)n;
}

static uint64_t target(const uint8_t *bytes, size_t size, uint64_t number)
{
	struct code code = { bytes, size };
	struct vp_dispatch d = {
		.arg = &code, .text = text, .start = BASE, .size = size, .hook = BASE, .reg = VP_RSI
	};
	const struct vp_code_ops *ops;

	assert_null(vp_arch_code(&vp_arch_x86, &ops));
	assert_null(ops->executor_create(&d.executor));
	uint64_t found = vp_dispatch_target(&d, number);
	vp_executor_destroy(d.executor);
	return found;
}

static void each_number_leads_to_its_function(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(target(tree, sizeof(tree), i), i == 5 ? A : i == 2 ? B : i == 7 ? C : NONE);
}

static void what_is_not_known_is_refused(void **state)
{
	(void)state;
	assert_int_equal(target(table, sizeof(table), 1), 0);
	assert_int_equal(target(other, sizeof(other), 5), 0);
	assert_int_equal(target(forever, sizeof(forever), 5), 0);
	for (size_t cut = 0; cut < sizeof(tree); cut++) {
		uint64_t found = target(tree, cut, 7);
		assert_true(found == 0 || found == C || found - BASE < sizeof(tree));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_number_leads_to_its_function),
		cmocka_unit_test(what_is_not_known_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
