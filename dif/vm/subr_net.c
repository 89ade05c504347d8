/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subroutines that format network addresses. Address families are those of Linux, the guest. */
#include "dif/vm/vm_priv.h"

#define GUEST_AF_INET      2
#define GUEST_AF_INET6     10
#define ARPHRD_ETHER_      1
#define ARPHRD_INFINIBAND_ 32
#define LINK_ADDRESS_MAX   20

struct text {
	char s[64];
	uint32_t len;
};

static void put(struct text *t, char c)
{
	t->s[t->len++] = c;
}

static void put_number(struct text *t, unsigned v, unsigned base)
{
	char digits[8];
	unsigned n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (n)
		put(t, digits[--n]);
}

static void put_v4(struct text *t, const uint8_t *a)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			put(t, '.');
		put_number(t, a[i], 10);
	}
}

/* The first of the longest runs of at least two zero groups; -1: none. */
static int zero_run(const uint8_t *a, int *ret_len)
{
	int best = -1, best_len = 1;

	for (int i = 0; i < 8; i++) {
		int n = 0;
		while (i + n < 8 && !a[2 * (i + n)] && !a[2 * (i + n) + 1])
			n++;
		if (n > best_len) {
			best = i;
			best_len = n;
		}
		i += n;
	}
	*ret_len = best_len;
	return best;
}

static void put_v6(struct text *t, const uint8_t *a)
{
	int run_len, run = zero_run(a, &run_len);

	for (int i = 0; i < 8; i++) {
		if (i == run) {
			put(t, ':');
			i += run_len - 1;
			if (i == 7)
				put(t, ':');
			continue;
		}
		if (i)
			put(t, ':');
		put_number(t, (unsigned)a[2 * i] << 8 | a[2 * i + 1], 16);
	}
}

/* The prefix of an embedded v4 address, which is mapped (::ffff:a.b.c.d) or compatible (::a.b.c.d, except ::
 * and ::1). NULL: there is none. */
static const char *v4_prefix(const uint8_t *a)
{
	static const uint8_t zeros[15];

	if (memcmp(a, zeros, 10) != 0)
		return NULL;
	if (a[10] == 0xff && a[11] == 0xff)
		return "::ffff:";
	if (a[10] || a[11] || (memcmp(a, zeros, 15) == 0 && a[15] <= 1))
		return NULL;
	return "::";
}

static uint64_t result(struct dif_vm *vm, const struct text *t)
{
	return dif_scratch_string(vm, t->s, t->len);
}

static uint64_t format_v4(struct dif_vm *vm, uint64_t addr)
{
	struct text t = { .len = 0 };
	uint8_t a[4];

	if (!dif_mem_load(vm, addr, a, sizeof(a), false))
		return 0;
	put_v4(&t, a);
	return result(vm, &t);
}

/* @bare: without the prefix of an embedded v4 address. */
static uint64_t format_v6(struct dif_vm *vm, uint64_t addr, bool bare)
{
	struct text t = { .len = 0 };
	uint8_t a[16];

	if (!dif_mem_load(vm, addr, a, sizeof(a), false))
		return 0;
	const char *prefix = v4_prefix(a);
	if (!prefix) {
		put_v6(&t, a);
	} else {
		for (const char *p = bare ? "" : prefix; *p; p++)
			put(&t, *p);
		put_v4(&t, a + 12);
	}
	return result(vm, &t);
}

uint64_t dif_subr_inet_ntoa(struct dif_vm *vm)
{
	return format_v4(vm, dif_arg(vm, 0));
}

uint64_t dif_subr_inet_ntoa6(struct dif_vm *vm)
{
	return format_v6(vm, dif_arg(vm, 0), true);
}

uint64_t dif_subr_inet_ntop(struct dif_vm *vm)
{
	switch ((uint32_t)dif_arg(vm, 0)) {
	case GUEST_AF_INET:
		return format_v4(vm, dif_arg(vm, 1));
	case GUEST_AF_INET6:
		return format_v6(vm, dif_arg(vm, 1), false);
	}
	dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
	return 0;
}

uint64_t dif_subr_link_ntop(struct dif_vm *vm)
{
	uint32_t type = (uint32_t)dif_arg(vm, 0);
	uint32_t n = type == ARPHRD_ETHER_ ? 6 : type == ARPHRD_INFINIBAND_ ? LINK_ADDRESS_MAX : 0;
	uint8_t a[LINK_ADDRESS_MAX];
	struct text t = { .len = 0 };

	if (!n) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return 0;
	}
	if (!dif_mem_load(vm, dif_arg(vm, 1), a, n, false))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			put(&t, ':');
		put(&t, "0123456789abcdef"[a[i] >> 4]);
		put(&t, "0123456789abcdef"[a[i] & 15]);
	}
	return result(vm, &t);
}
