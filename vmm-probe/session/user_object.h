/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that a guest's processes map, with its names. */
#ifndef VP_SESSION_USER_OBJECT_H
#define VP_SESSION_USER_OBJECT_H

#include "vmm-probe/guest/process/maps.h"

struct vp_elf;
struct vp_user_object;

/** Read the names of @p file: from its pages that are in the guest's memory, and from the operator's copies
 * of it where these have more. A file of which nothing can be read has no names. @p ps is borrowed as long as
 * the object lives. Only memory can be missing. */
OT_MUST_CHECK struct ot_err *vp_user_object_read(struct vp_processes *ps, const struct vp_file *file,
						 const char *sysroot, struct vp_user_object **ret);
/** NULL is fine. */
void vp_user_object_destroy(struct vp_user_object *object);

/** Its headers; NULL: they can't be read. Borrowed. vp_user_object_forget() follows, once its pages are no
 * longer needed. */
struct vp_elf *vp_user_object_elf(struct vp_user_object *object);
void vp_user_object_forget(struct vp_user_object *object);
/** Page @p index of the file; NULL: it is not in the guest's memory. The same holds of it.
 */
const uint8_t *vp_user_object_page(struct vp_user_object *object, uint64_t index);

/** The last part of its path; borrowed. */
const char *vp_user_object_name(const struct vp_user_object *object);
/** Bytes that its names take. */
size_t vp_user_object_size(const struct vp_user_object *object);

/** The name of the object at @p offset of the file, and the distance from its beginning: a symbol's, or
 * "sub_1234", a function that begins at the address 0x1234 as the file was linked and that has no symbol.
 * False: none. The name is borrowed until the next call. */
OT_MUST_CHECK bool vp_user_object_find(struct vp_user_object *object, uint64_t offset, const char **ret_name,
				       uint64_t *ret_behind);

/** The reason why names that were looked up are missing, once: "libjvm.so: 654 of 5896 pages are not in the
 * guest's memory (.strtab): …". False: none are missing, or it has been reported. */
bool vp_user_object_note(struct vp_user_object *object, char *buf, size_t size);

#endif
