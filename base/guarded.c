/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses to memory that may disappear. Between the first instruction and the last nothing is pushed, so if
 * any of them faults, the handler (guarded_handler.c) can continue at ot_guarded_failed, which returns false
 * to the caller. Written for the host's own processor, x86-64.
 */
#include "base/guarded.h"
#include "base/guarded_internal.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREADS_ARE_CHECKED
#endif
#if __has_feature(address_sanitizer)
#define ADDRESSES_ARE_CHECKED
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define THREADS_ARE_CHECKED
#endif
#ifdef __SANITIZE_ADDRESS__
#define ADDRESSES_ARE_CHECKED
#endif

bool ot_guarded_copy(void *dst, const void *src, size_t len);
bool ot_guarded_swap(void *at, uint64_t old, uint64_t new);

/* clang-format off */
__asm__(
	".pushsection .text\n"
	".balign 16\n"
	".hidden ot_guarded_first, ot_guarded_end, ot_guarded_failed, ot_guarded_copy, ot_guarded_swap\n"
	".globl ot_guarded_first, ot_guarded_end, ot_guarded_failed, ot_guarded_copy, ot_guarded_swap\n"
	".type ot_guarded_copy, @function\n"
	".type ot_guarded_swap, @function\n"
	"ot_guarded_first:\n"

	/* rdi, rsi, rdx: to, from, length. A length's last bytes are copied by an access that overlaps the one
	 * before it. */
	"ot_guarded_copy:\n"
	".cfi_startproc\n"
	"	cmp	$8, %rdx\n"
	"	jne	1f\n"
	"	mov	(%rsi), %rax\n"
	"	mov	%rax, (%rdi)\n"
	"	mov	$1, %eax\n"
	"	ret\n"
	"1:	jb	4f\n"
	"	cmp	$16, %rdx\n"
	"	jb	3f\n"
	"2:	movdqu	(%rsi), %xmm0\n"
	"	movdqu	%xmm0, (%rdi)\n"
	"	add	$16, %rsi\n"
	"	add	$16, %rdi\n"
	"	sub	$16, %rdx\n"
	"	cmp	$16, %rdx\n"
	"	jae	2b\n"
	"	test	%rdx, %rdx\n"
	"	jz	7f\n"
	"	movdqu	-16(%rsi,%rdx), %xmm0\n"
	"	movdqu	%xmm0, -16(%rdi,%rdx)\n"
	"	mov	$1, %eax\n"
	"	ret\n"
	"3:	mov	(%rsi), %rax\n"
	"	mov	-8(%rsi,%rdx), %rcx\n"
	"	mov	%rax, (%rdi)\n"
	"	mov	%rcx, -8(%rdi,%rdx)\n"
	"	mov	$1, %eax\n"
	"	ret\n"
	"4:	cmp	$4, %rdx\n"
	"	jb	5f\n"
	"	mov	(%rsi), %eax\n"
	"	mov	%eax, (%rdi)\n"
	"	je	7f\n"
	"	mov	-4(%rsi,%rdx), %eax\n"
	"	mov	%eax, -4(%rdi,%rdx)\n"
	"	mov	$1, %eax\n"
	"	ret\n"
	"5:	cmp	$2, %rdx\n"
	"	jb	6f\n"
	"	movzwl	(%rsi), %eax\n"
	"	mov	%ax, (%rdi)\n"
	"	je	7f\n"
	"	movzbl	2(%rsi), %eax\n"
	"	mov	%al, 2(%rdi)\n"
	"	mov	$1, %eax\n"
	"	ret\n"
	"6:	test	%rdx, %rdx\n"
	"	jz	7f\n"
	"	movzbl	(%rsi), %eax\n"
	"	mov	%al, (%rdi)\n"
	"7:	mov	$1, %eax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size ot_guarded_copy, . - ot_guarded_copy\n"

	/* rdi, rsi, rdx: where, old, new */
	"ot_guarded_swap:\n"
	".cfi_startproc\n"
	"	mov	%rsi, %rax\n"
	"	lock cmpxchg %rdx, (%rdi)\n"
	"	sete	%al\n"
	"	movzbl	%al, %eax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size ot_guarded_swap, . - ot_guarded_swap\n"

	"ot_guarded_end:\n"
	"ot_guarded_failed:\n"
	"	xor	%eax, %eax\n"
	"	ret\n"
	".popsection\n");
/* clang-format on */

#ifdef THREADS_ARE_CHECKED

/* ThreadSanitizer does not see assembly: ordering by it would be reported as a race. In its tests no memory
 * disappears. */
bool ot_guarded_read(void *dst, const void *src, size_t len)
{
	if (len == 8)
		__atomic_store_n((uint64_t *)dst, __atomic_load_n((const uint64_t *)src, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELAXED);
	else if (len == 4)
		__atomic_store_n((uint32_t *)dst, __atomic_load_n((const uint32_t *)src, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELAXED);
	else
		return ot_guarded_copy(dst, src, len);
	return true;
}

bool ot_guarded_write(void *dst, const void *src, size_t len)
{
	if (len == 8)
		__atomic_store_n((uint64_t *)dst, *(const uint64_t *)src, __ATOMIC_RELEASE);
	else if (len == 4)
		__atomic_store_n((uint32_t *)dst, *(const uint32_t *)src, __ATOMIC_RELEASE);
	else
		return ot_guarded_copy(dst, src, len);
	return true;
}

bool ot_guarded_exchange(void *at, uint64_t old, uint64_t new)
{
	return __atomic_compare_exchange_n((uint64_t *)at, &old, new, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

#else

#ifdef ADDRESSES_ARE_CHECKED
/* as GCC's built-in functions */
void __asan_loadN(void *at, long len);
void __asan_storeN(void *at, long len);
#define CHECK_LOAD(at, len)  __asan_loadN((void *)(uintptr_t)(at), (long)(len))
#define CHECK_STORE(at, len) __asan_storeN(at, (long)(len))
#else
#define CHECK_LOAD(at, len)  ((void)0)
#define CHECK_STORE(at, len) ((void)0)
#endif

bool ot_guarded_read(void *dst, const void *src, size_t len)
{
	CHECK_LOAD(src, len);
	CHECK_STORE(dst, len);
	return ot_guarded_copy(dst, src, len);
}

bool ot_guarded_write(void *dst, const void *src, size_t len)
{
	CHECK_LOAD(src, len);
	CHECK_STORE(dst, len);
	return ot_guarded_copy(dst, src, len);
}

bool ot_guarded_exchange(void *at, uint64_t old, uint64_t new)
{
	CHECK_STORE(at, sizeof(old));
	return ot_guarded_swap(at, old, new);
}

#endif
