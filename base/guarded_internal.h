/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by guarded.c and guarded_handler.c: where the accesses are, and where a failed one continues. */
#ifndef OT_BASE_GUARDED_INTERNAL_H
#define OT_BASE_GUARDED_INTERNAL_H

/* Instructions from `first` on and before `end` may fault; `failed` returns false from any of them. */
extern const char ot_guarded_first[] __attribute__((visibility("hidden")));
extern const char ot_guarded_end[] __attribute__((visibility("hidden")));
extern const char ot_guarded_failed[] __attribute__((visibility("hidden")));

#endif
