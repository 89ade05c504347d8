/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lockstat provider: arg1 of rw-acquire and rw-release, arg2 of rw-block and rw-spin. */
inline int RW_WRITER = 0;
inline int RW_READER = 1;
