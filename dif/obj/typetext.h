/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A type's layout as text: what print()'s action carries in `format`, so that the consumer
 * can show the recorded bytes long after the compiler's types are gone. Written by dif/lang,
 * read by cli/print_type.c; it may come from a file that anyone made, so the reader checks all.
 *
 *   typed   = '"' name '"' type             the type's D name, as shown: "struct task_struct *"
 *   type    = "i" size ";"                  integer of 1, 2, 4 or 8 bytes
 *           | "c" size ";"                  character data of that size
 *           | "f" size ";"                  floating point: 4, 8 or 16 bytes
 *           | "p" size ";"                  pointer
 *           | "P" size ";"                  pointer to a function
 *           | "s" size ";"                  D's string; size 0: all of the record
 *           | "e" size ";" { name "=" value ";" } "}"                enum
 *           | "a" count ";" size ";" typed                           array; size of an element
 *           | ( "S" | "U" ) size ";" { member } "}"                  struct or union
 *           | "v" ";"                       void, a function, or never defined
 *   member  = bit_offset ":" bit_size ":" name ";" typed             bit_size 0: not a bit-field
 *
 * Numbers are decimal, values may have a '-'. An anonymous member's name is empty. Sizes are in
 * bytes, offsets from the start of the struct. Nothing nests deeper than DIF_TYPETEXT_DEPTH.
 *
 *   struct { int a; int b :4; char c[2]; }  →  "struct s"S8;0:0:a;"int"i4;32:4:b;"int"i4;40:0:c;"char
 * [2]"a2;1;"char"c1;}
 */
#ifndef DIF_OBJ_TYPETEXT_H
#define DIF_OBJ_TYPETEXT_H

#define DIF_TYPETEXT_DEPTH 32

#endif
