/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Indices of regs[] and uregs[] on x86-64 (vmm-probe/arch/x86/regs.h), by each of their usual names. */
inline int R_RAX = 0;
inline int R_RCX = 1;
inline int R_RDX = 2;
inline int R_RBX = 3;
inline int R_RSP = 4;
inline int R_RBP = 5;
inline int R_RSI = 6;
inline int R_RDI = 7;
inline int R_R8 = 8;
inline int R_R9 = 9;
inline int R_R10 = 10;
inline int R_R11 = 11;
inline int R_R12 = 12;
inline int R_R13 = 13;
inline int R_R14 = 14;
inline int R_R15 = 15;
inline int R_RIP = 16;
inline int R_RFL = 17;
inline int R_CS = 18;
inline int R_SS = 19;
inline int R_FSBASE = 20;
inline int R_GSBASE = 21;

inline int R_EAX = R_RAX;
inline int R_ECX = R_RCX;
inline int R_EDX = R_RDX;
inline int R_EBX = R_RBX;
inline int R_ESP = R_RSP;
inline int R_EBP = R_RBP;
inline int R_ESI = R_RSI;
inline int R_EDI = R_RDI;
inline int R_EIP = R_RIP;
inline int R_EFL = R_RFL;

/* registers that every processor has */
inline int R_PC = R_RIP;
inline int R_SP = R_RSP;
inline int R_FP = R_RBP;
inline int R_PS = R_RFL;
inline int R_R0 = R_RAX;
inline int R_R1 = R_RBX;
