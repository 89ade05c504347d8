/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of static probes in the forms that programs have them (readelf -n), some put together of several:
 * for the unit test, and seeds of the fuzzer. */
#ifndef TESTS_UNIT_USDT_SPECS_H
#define TESTS_UNIT_USDT_SPECS_H

/* clang-format off */
#define USDT_SPECS(X)                                                                                   \
	/* python3.11: function__entry, gc__start, line, audit */                                       \
	X("8@%rbp 8@%r12 -4@%eax") X("-4@112(%rsp)") X("8@%r14 8@%rax -4@%ebp") X("8@%rbx 8@%r15")      \
	X("8@%rax -4@%edx") X("-8@%r12")                                                                \
	/* libc: setjmp, memory_sbrk_more, memory_mallopt_perturb, memory_mallopt */                    \
	X("8@%rdi -4@%esi 8@%rax") X("8@%rax 8@%r12") X("-4@%eax -4@perturb_byte(%rip)")                \
	X("-4@%eax -4@72+mp_(%rip) -4@80+mp_(%rip)") X("8@%rax 8@8+mp_(%rip) -4@80+mp_(%rip)")          \
	X("8@mp_(%rip) -4@$0 8@%rbx")                                                                   \
	/* libstdc++: catch, throw */                                                                   \
	X("8@%rdx 8@-80(%rbx)") X("8@%rdi 8@%rsi")                                                      \
	/* PostgreSQL 15 */                                                                             \
	X("-4@$0 -4@$0 -4@%ecx -4@16(%rbp) -4@%r9d -4@%eax") X("-4@NBuffers(%rip) -4@%eax -4@%r14d")    \
	X("-4@40+CheckpointStats(%rip) -4@NBuffers(%rip)") X("8@%rax 4@%r14d") X("1@%sil 1@%dil 1@%al")  \
	X("-4@%esi 4@%edx 4@(%rdi) 4@4(%rdi) 4@8(%rdi) -4@12(%rdi)")                                    \
	X("-4@-80(%rbp) -4@-76(%rbp) 4@(%r12) 4@4(%r12) 4@8(%r12) -4@12(%r12) -4@$-1 1@%al 1@$0")       \
	/* Erlang/OTP 25: 12 arguments, of which D has 10; libvirt */                                   \
	X("8@erts_this_node_sysname(%rip) 8@%r12 8@%r13 8@$0") X("8@%rax 8@%r15 8@472(%rbx) 8@%rbp")     \
	X("8@(%rsp) 8@8(%rsp) 8@16(%rsp) -8@24(%rsp) -8@32(%rsp) -8@40(%rsp) -8@48(%rsp) 8@56(%rsp) "   \
	  "8@64(%rsp) 8@72(%rsp) 8@80(%rsp) 8@88(%rsp)")                                                \
	X("8@%r10 8@128(%r10)") X("8@%rbx 8@$1")                                                        \
	/* Forms that compilers also write. */                                                          \
	X("8@-8(%rbp,%rax,8) 2@(%rdi,%rsi) 1@table(,%rcx,4) 4@0x10(,%r15,2) 8@name+4(%rip)")            \
	X("8@counter 4@4198400 8@8(%rsp, %rax, 4)  1@%ah") X("8f@%xmm0 -4@%eax 8@%fs:16 8@x@tpoff(%rip)")
/* clang-format on */

#endif
