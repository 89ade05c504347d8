/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subroutines on numbers: conversion to and from text, byte order, device numbers, rand(). */
#include "dif/vm/vm_priv.h"

/* Base 10 is signed, others are unsigned; the prefix is 0x for 16, and 0 for 8. */
uint64_t dif_subr_lltostr(struct dif_vm *vm)
{
	int64_t base = dif_nargs(vm) > 1 ? (int64_t)dif_arg(vm, 1) : 10;
	uint64_t v = dif_arg(vm, 0);
	bool negative = base == 10 && (int64_t)v < 0;
	char text[72];
	unsigned at = sizeof(text);

	if (base < 2 || base > 36) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return 0;
	}
	if (negative)
		v = -v;
	uint64_t rest = v;
	do {
		text[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[rest % (uint64_t)base];
		rest /= (uint64_t)base;
	} while (rest);
	if (base == 16)
		text[--at] = 'x';
	if (base == 16 || (base == 8 && v)) /* octal zero has no prefix */
		text[--at] = '0';
	if (negative)
		text[--at] = '-';
	return dif_scratch_string(vm, text + at, (uint32_t)(sizeof(text) - at));
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	return 99;
}

uint64_t dif_subr_strtoll(struct dif_vm *vm)
{
	int64_t base = dif_nargs(vm) > 1 ? (int64_t)dif_arg(vm, 1) : 10;
	struct dif_str s;
	uint32_t i = 0;
	uint64_t v = 0;

	if (base < 2 || base > 36) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return 0;
	}
	if (!dif_arg_string(vm, 0, &s) || !dif_vm_burn(vm, s.len))
		return 0;
	while (i < s.len && (s.s[i] == ' ' || s.s[i] == '\t'))
		i++;
	bool negative = i < s.len && s.s[i] == '-';
	if (negative || (i < s.len && s.s[i] == '+'))
		i++;
	if (base == 16 && i + 1 < s.len && s.s[i] == '0' && (s.s[i + 1] | 0x20) == 'x')
		i += 2;
	for (; i < s.len && digit(s.s[i]) < base; i++)
		v = v * (uint64_t)base + (uint64_t)digit(s.s[i]);
	return negative ? -v : v;
}

/* xoroshiro128+, by its published recurrence. Not cryptographic. */
uint64_t dif_subr_rand(struct dif_vm *vm)
{
	uint64_t a = vm->rand_state[0], b = vm->rand_state[1];
	uint64_t result = a + b;

	b ^= a;
	vm->rand_state[0] = (a << 24 | a >> 40) ^ b ^ b << 16;
	vm->rand_state[1] = b << 37 | b >> 27;
	return result;
}

/* --- device numbers: the guest is Linux, a dev_t in the kernel is major << 20 | minor ---------- */

uint64_t dif_subr_getmajor(struct dif_vm *vm)
{
	return (uint32_t)dif_arg(vm, 0) >> 20;
}

uint64_t dif_subr_getminor(struct dif_vm *vm)
{
	return dif_arg(vm, 0) & 0xfffff;
}

/* --- byte order: the guest is little-endian ----------------------------------------------------- */

uint64_t dif_subr_htons(struct dif_vm *vm)
{
	return __builtin_bswap16((uint16_t)dif_arg(vm, 0));
}

uint64_t dif_subr_ntohs(struct dif_vm *vm)
{
	return __builtin_bswap16((uint16_t)dif_arg(vm, 0));
}

uint64_t dif_subr_htonl(struct dif_vm *vm)
{
	return __builtin_bswap32((uint32_t)dif_arg(vm, 0));
}

uint64_t dif_subr_ntohl(struct dif_vm *vm)
{
	return __builtin_bswap32((uint32_t)dif_arg(vm, 0));
}

uint64_t dif_subr_htonll(struct dif_vm *vm)
{
	return __builtin_bswap64(dif_arg(vm, 0));
}

uint64_t dif_subr_ntohll(struct dif_vm *vm)
{
	return __builtin_bswap64(dif_arg(vm, 0));
}
