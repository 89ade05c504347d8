/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes that the whole project uses, spelled once. */
#ifndef OT_BASE_COMPILER_H
#define OT_BASE_COMPILER_H

#include <stddef.h>

#define OT_MUST_CHECK        __attribute__((warn_unused_result))
#define OT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define OT_EXPORT            __attribute__((visibility("default")))
#define OT_NORETURN          __attribute__((noreturn))
#define OT_UNUSED            __attribute__((unused))
#define OT_NONNULL_RESULT    __attribute__((returns_nonnull))

#define ot_likely(x)   __builtin_expect(!!(x), 1)
#define ot_unlikely(x) __builtin_expect(!!(x), 0)

#define OT_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* It would take the minus for a sign: */
/* clang-format off */
#define OT_CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
/* clang-format on */

/* A compiler barrier: orders the program text, costs no instruction. */
#define OT_BARRIER() __asm__ volatile("" ::: "memory")

#endif
