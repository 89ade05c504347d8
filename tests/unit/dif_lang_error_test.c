/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every error tag of the language has a program that raises it. The last test fails if one was left out. */
#include "tests/unit/dif_lang_fixture.h"

#include "dif/lang/core/diag.h"

static bool covered[DIF_D_COUNT];

static const struct {
	const char *tag;
	const char *text;
} programs[] = {
	{ "D_SYNTAX", "BEGIN { 1 + ; }" },
	{ "D_SYNTAX", "BEGIN" },
	{ "D_SYNTAX", "BEGIN /1/" },
	{ "D_SYNTAX", "BEGIN { (1; }" },
	{ "D_SYNTAX", "BEGIN { x[1; }" },
	{ "D_SYNTAX", "BEGIN { while (1) x = 1; }" },
	{ "D_SYNTAX", "BEGIN { printf(\"%z\", 1); }" },
	{ "D_SYNTAX", "BEGIN { x = 1.5; }" },
	{ "D_SYNTAX", "/* /* */ BEGIN {}" },
	{ "D_SYNTAX", "BEGIN { / no\n }" },
	{ "D_SYNTAX", "BEGIN { \"abc" },
	{ "D_EMPTY", "" },
	{ "D_EMPTY", "/* nothing */" },
	{ "D_TYPE_MEMBER", "BEGIN { trace(curthread->nothing); }" },
	{ "D_UNKNOWN", "BEGIN { trace(offsetof(struct task_struct, nothing)); }" },
	{ "D_CG_EXPR", "BEGIN { x = 1 + 2; count(); }" },
	{ "D_CG_DYN",
	  "struct s { int a; }; translator struct s < int i > { a = i; }; BEGIN { xlate <struct s> (1); }" },
	{ "D_PDESC_ZERO", "nothing:::here {}" },
	{ "D_PDESC_INVAL", "a:b:c:d:e {}" },
	{ "D_PDESC_INVAL", "a:b:c:d:e:f:g {}" },
	{ "D_PDESC_INVAL", "99 {}" },
	{ "D_PRED_SCALAR", "BEGIN /\"s\"/ {}" },
	{ "D_NOREG", "BEGIN { trace(arg0 + (arg1 + (arg2 + (arg3 + (arg4 + (arg5 + (arg6 + (arg7 + (arg0 + "
		     "(arg1 + (arg2 + "
		     "(arg3 + (arg4 + (arg5 + (arg6 + (arg7 + arg8)))))))))))))))); }" },
	{ "D_ARR_BOUNDS", "int slots[2]; BEGIN { slots[2] = 1; }" },
	{ "D_FUNC_IDENT", "BEGIN { (&arg0)(1); }" },
	{ "D_FUNC_UNDEF", "BEGIN { frobnicate(1); }" },
	{ "D_FUNC_IDKIND", "BEGIN { arg0(1); }" },
	{ "D_OFFSETOF_TYPE", "BEGIN { trace(offsetof(int, x)); }" },
	{ "D_OFFSETOF_BITFIELD", "struct b { int f:3; }; BEGIN { trace(offsetof(struct b, f)); }" },
	{ "D_SIZEOF_TYPE", "BEGIN { trace(sizeof(void)); }" },
	{ "D_SIZEOF_TYPE", "BEGIN { @a = count(); trace(sizeof(@a)); }" },
	{ "D_SIZEOF_BITFIELD", "struct b { int f:3; }; struct b v; BEGIN { trace(sizeof(v.f)); }" },
	{ "D_STRINGOF_TYPE", "struct b { int f; }; struct b v; BEGIN { trace(stringof(v)); }" },
	{ "D_OP_INT", "BEGIN { trace(~\"a\"); }" },
	{ "D_OP_INT", "BEGIN { trace(1 % \"a\"); }" },
	{ "D_OP_SCALAR", "struct b { int f; }; struct b v; BEGIN { trace(!v); }" },
	{ "D_OP_SCALAR", "struct b { int f; }; struct b v; BEGIN { trace(v && 1); }" },
	{ "D_OP_ARITH", "BEGIN { trace(-\"a\"); }" },
	{ "D_OP_ARITH", "BEGIN { trace(1 * \"a\"); }" },
	{ "D_OP_WRITE", "BEGIN { timestamp = 1; }" },
	{ "D_OP_WRITE", "BEGIN { `jiffies = 1; }" },
	{ "D_OP_LVAL", "BEGIN { 1 = 2; }" },
	{ "D_OP_LVAL", "inline int i = 1; BEGIN { i = 2; }" },
	{ "D_OP_INCOMPAT", "BEGIN { x = 1; x = \"a\"; }" },
	{ "D_OP_INCOMPAT", "BEGIN { trace(1 == \"a\"); }" },
	{ "D_OP_INCOMPAT", "BEGIN { trace(arg0 ? 1 : \"a\"); }" },
	{ "D_OP_INCOMPAT",
	  "struct s { int a; }; struct r { int a; }; translator struct s < int i > { a = i; };"
	  "inline struct r *bad = xlate <struct s> (1);" },
	{ "D_OP_INCOMPAT", "BEGIN { trace((void *)arg0 + 1); }" },
	{ "D_OP_VFPTR", "BEGIN { this->p = (void *)arg0; this->p++; }" },
	{ "D_OP_VFPTR", "BEGIN { this->p = (void *)arg0; this->p += 1; }" },
	{ "D_OP_ARRFUN", "int a[2]; int b[2]; BEGIN { a = b; }" },
	{ "D_OP_PTR", "BEGIN { trace(arg0->x); }" },
	{ "D_OP_SOU", "BEGIN { trace(arg0.x); }" },
	{ "D_OP_SOU", "BEGIN { trace(((int *)arg0)->x); }" },
	{ "D_OP_INCOMPLETE", "struct never; BEGIN { trace(*(struct never *)arg0); }" },
	{ "D_OP_DYN", "struct s { int a; }; translator struct s < int i > { a = i; };"
		      "BEGIN { x = (1, xlate <struct s *> (1)); }" },
	{ "D_OP_DYN", "struct s { int a; }; translator struct s < int i > { a = i; };"
		      "BEGIN { x = pid ? xlate <struct s *> (1) : xlate <struct s *> (2); }" },
	{ "D_OP_INCOMPAT", "struct s { int a; }; translator struct s < int i > { a = i; };"
			   "BEGIN { x = xlate <struct s *> (1); }" },
	{ "D_OP_INCOMPAT", "BEGIN { x = trace(1); }" },
	{ "D_OP_ACT", "BEGIN { x = 1, trace(1); }" },
	{ "D_OP_ACT", "BEGIN { arg0 ? trace(1) : trace(2); }" },
	{ "D_DIV_ZERO", "BEGIN { trace(1 / 0); }" },
	{ "D_DIV_ZERO", "BEGIN { x = 1; x %= 0; }" },
	{ "D_DEREF_NONPTR", "BEGIN { trace(*arg0); }" },
	{ "D_DEREF_VOID", "BEGIN { trace(*(void *)arg0); }" },
	{ "D_DEREF_FUNC", "BEGIN { trace(*(int (*)(void))arg0); }" },
	{ "D_ADDROF_LVAL", "BEGIN { trace(&1); }" },
	{ "D_ADDROF_VAR", "BEGIN { x = 1; trace(&x); }" },
	{ "D_ADDROF_BITFIELD", "BEGIN { trace(&curthread->flags); }" },
	{ "D_CAST_INVAL", "struct b { int f; }; BEGIN { trace((struct b)1); }" },
	{ "D_AGG_REDEF", "BEGIN { @a = count(); @a = sum(1); }" },
	{ "D_AGG_FUNC", "BEGIN { @a = 1; }" },
	{ "D_AGG_FUNC", "BEGIN { @a = strlen(\"x\"); }" },
	{ "D_AGG_MDIM", "BEGIN { @a[1][2] = count(); }" },
	{ "D_AGG_COMM", "BEGIN { commit(1); @a = count(); }" },
	{ "D_AGG_SPEC", "BEGIN { speculate(1); @a = count(); }" },
	{ "D_AGG_NULL", "BEGIN { @a[1]; }" },
	{ "D_AGG_NULL", "BEGIN { @a = count(); x = @a; }" },
	{ "D_AGG_SCALAR", "BEGIN { @a = sum(\"x\"); }" },
	{ "D_ARR_BADREF", "int a[4]; BEGIN { trace(a[1, 2]); }" },
	{ "D_ARR_LOCAL", "BEGIN { this->a[1] = 2; }" },
	{ "D_KEY_TYPE", "BEGIN { @a[bcopy(NULL, NULL, 0)] = count(); }" },
	{ "D_XLATE_REDECL", "struct s { int a; }; translator struct s < int i > { a = i; }; translator "
			    "struct s < int i > { a = i; };" },
	{ "D_XLATE_NOCONV", "struct s { int a; int b; }; translator struct s < int i > { a = i; };"
			    "BEGIN { trace(xlate <struct s> (1).b); }" },
	{ "D_XLATE_NONE", "struct s { int a; }; BEGIN { trace(xlate <struct s> (1).a); }" },
	{ "D_XLATE_SOU", "translator int < int i > { a = i; };" },
	{ "D_XLATE_INCOMPAT", "struct s { int a; }; translator struct s < int i > { a = \"x\"; };" },
	{ "D_XLATE_MEMB", "struct s { int a; }; translator struct s < int i > { b = i; };" },
	{ "D_PRAGERR", "#error no\nBEGIN {}" },
	{ "D_PRAGERR", "#pragma D error \"no\"\nBEGIN {}" },
	{ "D_PRAGCTL_INVAL", "#include <x.h>\nBEGIN {}" },
	{ "D_PRAGMA_INVAL", "#pragma D nonsense\nBEGIN {}" },
	{ "D_PRAGMA_UNUSED", "#pragma D attributes Stable/Stable/Common nobody\nBEGIN {}" },
	{ "D_PRAGMA_MALFORM", "#pragma D option\nBEGIN {}" },
	{ "D_PRAGMA_INVAL", "#pragma D attributes Good/Good/Good x\nBEGIN {}" },
	{ "D_PRAGMA_OPTSET", "#pragma D option nonsense\nBEGIN {}" },
	{ "D_PRAGMA_OPTSET", "#pragma D option bufsize=banana\nBEGIN {}" },
	{ "D_PRAGMA_DEPEND", "#pragma D depends_on library net.d\nBEGIN {}" },
	{ "D_PRAGMA_DEPEND", "#pragma D depends_on provider absent\nBEGIN {}" },
	{ "D_PRAGMA_DEPEND", "#pragma D depends_on struct absent\nBEGIN {}" },
	{ "D_TYPE_MEMBER",
	  "BEGIN { trace(__has_member(struct task_struct, pid) ? curthread->absent : 1); }" },
	{ "D_MACRO_UNDEF", "BEGIN { trace($1); }" },
	{ "D_MACRO_UNDEF", "BEGIN { trace($nobody); }" },
	{ "D_INT_OFLOW", "BEGIN { trace(0x10000000000000000); }" },
	{ "D_INT_DIGIT", "BEGIN { trace(089); }" },
	{ "D_STR_NL", "BEGIN { trace(\"a\nb\"); }" },
	{ "D_CHR_NL", "BEGIN { trace('\n'); }" },
	{ "D_CHR_NULL", "BEGIN { trace(''); }" },
	{ "D_CHR_OFLOW", "BEGIN { trace('123456789'); }" },
	{ "D_IDENT_BADREF", "BEGIN { a[1] = 2; trace(a); }" },
	{ "D_IDENT_BADREF", "BEGIN { trace(strlen); }" },
	{ "D_IDENT_UNDEF", "BEGIN { trace(nobody); }" },
	{ "D_IDENT_UNDEF", "BEGIN { trace(`nobody); }" },
	{ "D_IDENT_AMBIG", "int TASK_DEAD; BEGIN { trace(curthread->state == TASK_DEAD); }" },
	{ "D_SYM_NOTYPES", "BEGIN { trace(`untyped); }" },
	{ "D_SYM_BADREF", "BEGIN { trace(vmlinux``jiffies); }" },
	{ "D_IDENT_UNDEF", "BEGIN { trace(``jiffies); }" },
	{ "D_CG_DYN",
	  "struct i { int a; }; struct o { struct i *p; }; translator struct i < int n > { a = n; };"
	  "translator struct o < int n > { p = xlate <struct i *> (n); };"
	  "struct o v; BEGIN { v = xlate <struct o> (1); }" },
	{ "D_VAR_UNDEF", "BEGIN { trace(self->nobody); }" },
	{ "D_VAR_UNDEF", "BEGIN { trace(this->nobody); }" },
	{ "D_PROTO_LEN", "BEGIN { trace(strlen()); }" },
	{ "D_PROTO_LEN", "BEGIN { a[1, 2] = 3; trace(a[1]); }" },
	{ "D_PROTO_LEN", "BEGIN { exit(); }" },
	{ "D_PROTO_ARG", "BEGIN { trace(strlen(1)); }" },
	{ "D_PROTO_ARG", "BEGIN { a[1] = 3; trace(a[\"x\"]); }" },
	{ "D_PROTO_ARG", "BEGIN { exit(\"x\"); }" },
	{ "D_ARGS_MULTI", "fbt::do_*:entry { trace(args[0]); }" },
	{ "D_ARGS_NONE", "inline int outside = args[0]; BEGIN { trace(outside); }" },
	{ "D_PROTO_ARG", "fbt::do_exit:entry { trace(args[arg0]); }" },
	{ "D_PROTO_LEN", "fbt::do_exit:entry { trace(args[0, 1]); }" },
	{ "D_PROTO_ARG", "BEGIN { trace(uregs[arg0]); }" },
	{ "D_REGS_IDX", "BEGIN { trace(uregs[-1]); }" },
	{ "D_ARGS_IDX", "fbt::do_exit:entry { trace(args[2]); }" },
	{ "D_ARGS_IDX", "fbt::do_exit:entry { trace(args[-1]); }" },
	{ "D_ARGS_TYPE", "fbt::schedule:entry { trace(args[2]); }" },
	{ "D_ARGS_TYPE", "io:::start { trace(args[0]->at); }" },
	{ "D_ARGS_XLATOR", "typedef struct { long at; } lxinfo_t; io:::start { trace(args[0]->at); }" },
	{ "D_REGS_IDX", "BEGIN { trace(uregs[1000000]); }" },
	{ "D_PRINTF_DYN_PROTO", "BEGIN { printf(\"%*d\"); }" },
	{ "D_PRINTF_DYN_TYPE", "BEGIN { printf(\"%*d\", \"x\", 1); }" },
	{ "D_PRINTF_AGG_CONV", "BEGIN { printf(\"%@d\", 1); }" },
	{ "D_PRINTF_ARG_PROTO", "BEGIN { printf(\"%d %d\", 1); }" },
	{ "D_PRINTF_ARG_TYPE", "BEGIN { printf(\"%d\", \"x\"); }" },
	{ "D_PRINTF_ARG_TYPE", "BEGIN { printf(\"%ld\", 1); }" },
	{ "D_PRINTF_ARG_EXTRA", "BEGIN { printf(\"%d\", 1, 2); }" },
	{ "D_PRINTF_ARG_FMT", "BEGIN { printf(execname); }" },
	{ "D_PRINTF_FMT_EMPTY", "BEGIN { printf(\"\"); }" },
	{ "D_PRINTA_PROTO", "BEGIN { printa(\"%d\"); }" },
	{ "D_PRINTA_AGGARG", "BEGIN { printa(\"%d\", 1); }" },
	{ "D_PRINTA_AGGBAD", "BEGIN { printa(@never); }" },
	{ "D_PRINTA_AGGKEY", "BEGIN { @a[1] = count(); @b = count(); printa(@a, @b); }" },
	{ "D_PRINTA_AGGPROTO", "BEGIN { @a[1] = count(); @b[\"x\"] = count(); printa(@a, @b); }" },
	{ "D_TRACE_VOID", "BEGIN { trace((void)1); }" },
	{ "D_TRACE_DYN", "struct s { int a; }; translator struct s < int i > { a = i; }; BEGIN { trace(xlate "
			 "<struct s *> (1)); }" },
	{ "D_TRACE_AGG", "BEGIN { @a = count(); trace(@a); }" },
	{ "D_PRINT_VOID", "BEGIN { print((void)1); }" },
	{ "D_PRINT_DYN", "struct s { int a; }; translator struct s < int i > { a = i; }; BEGIN { print(xlate "
			 "<struct s *> (1)); }" },
	{ "D_PRINT_AGG", "BEGIN { @a = count(); print(@a); }" },
	{ "D_TRACEMEM_ADDR", "struct b { int f; }; struct b v; BEGIN { tracemem(v, 4); }" },
	{ "D_TRACEMEM_SIZE", "BEGIN { tracemem(arg0, arg1); }" },
	{ "D_TRACEMEM_SIZE", "BEGIN { tracemem(arg0, 0); }" },
	{ "D_TRACEMEM_ARGS", "BEGIN { tracemem(arg0, 4, 4, 4); }" },
	{ "D_TRACEMEM_DYNSIZE", "BEGIN { tracemem(arg0, 4, \"x\"); }" },
	{ "D_STACK_PROTO", "BEGIN { stack(1, 2); }" },
	{ "D_STACK_SIZE", "BEGIN { stack(0); }" },
	{ "D_USTACK_FRAMES", "BEGIN { ustack(0); }" },
	{ "D_USTACK_STRSIZE", "BEGIN { ustack(1, -1); }" },
	{ "D_USTACK_PROTO", "BEGIN { ustack(1, 2, 3); }" },
	{ "D_PRINTM_ADDR", "BEGIN { printm(4, 1); }" },
	{ "D_PRINTM_SIZE", "BEGIN { printm(0, memref(&`jiffies, 8)); }" },
	{ "D_DECL_CHARATTR", "short char c;" },
	{ "D_DECL_VOIDATTR", "unsigned void *v;" },
	{ "D_DECL_SIGNINT", "unsigned float f;" },
	{ "D_DECL_LONGINT", "short double d;" },
	{ "D_DECL_CLASS", "extern typedef int i;" },
	{ "D_DECL_BADCLASS", "static int i;" },
	{ "D_DECL_PARMCLASS", "int f(static int i);" },
	{ "D_DECL_COMBO", "int float f;" },
	{ "D_DECL_ARRSUB", "int a[-1];" },
	{ "D_DECL_ARRNULL", "int a[];" },
	{ "D_DECL_ARRBIG", "int a[0x7fffffffffffffff];" },
	{ "D_DECL_IDRED", "int a; string a;" },
	{ "D_DECL_IDRED", "int strlen;" },
	{ "D_DECL_IDRED", "typedef int foo; typedef int foo;" },
	{ "D_DECL_TYPERED", "struct s { int a; }; struct s { int b; };" },
	{ "D_DECL_MNAME", "struct s { int; };" },
	{ "D_DECL_SCOPE", "int vmlinux`x;" },
	{ "D_DECL_BFCONST", "struct s { int a : \"x\"; };" },
	{ "D_DECL_BFSIZE", "struct s { int a : 33; };" },
	{ "D_DECL_BFTYPE", "struct s { string a : 3; };" },
	{ "D_DECL_ENCONST", "enum e { A = \"x\" };" },
	{ "D_DECL_ENOFLOW", "enum e { A = 0x7fffffff, B };" },
	{ "D_DECL_USELESS", "int;" },
	{ "D_DECL_LOCASSC", "this int a[int];" },
	{ "D_DECL_VOIDOBJ", "void v;" },
	{ "D_DECL_PROTO_FORM", "int f(int x, int x);" },
	{ "D_DECL_DYNOBJ", "struct s { int a[int]; };" },
	{ "D_DECL_INCOMPLETE", "struct never v;" },
	{ "D_DECL_PROTO_VARARGS", "int a[int, ...];" },
	{ "D_DECL_PROTO_VOID", "int f(int, void);" },
	{ "D_DECL_PROTO_NAME", "int f(void v);" },
	{ "D_DECL_PROTO_TYPE", "int a[void, char];" },
	{ "D_UNKNOWN", "BEGIN { trace((long short)0); }" },
	{ "D_PROTO_LEN", "BEGIN { x = arg0 ? printf(\"a\") : trace(); }" },
	{ "D_PROTO_ARG", "BEGIN { @ = lquantize(1, execname, 10); }" },
	{ "D_PROTO_ARG", "BEGIN { trace(mutex_owned(\"x\")); }" },
	{ "D_OP_ARITH", "BEGIN { x = 1 + -trace(0); }" },
	{ "D_VAR_UNDEF", "BEGIN { x -= trace(0); }" },
	{ "D_OP_INCOMPAT", "BEGIN { x = 1; x += \"a\"; }" },
	{ "D_OP_VFPTR", "BEGIN { x = 1; x -= alloca(1); }" },
	{ "D_OP_SCALAR", "BEGIN /\"a\" && \"b\"/ {}" },
	{ "D_OP_SCALAR", "BEGIN { x = \"a\" ? 1 : 2; }" },
	{ "D_OP_SCALAR", "BEGIN { x = \"a\"; x++; }" },
	{ "D_STRINGOF_TYPE", "BEGIN { trace(stringof(trace(0))); }" },
	{ "D_FUNC_IDENT", "BEGIN { @a[0][2] = tick - 1(); }" },
	{ "D_ACT_SPEC", "BEGIN { speculate(1); copyout(NULL, 0, 0); }" },
	{ "D_COMM_COMM", "BEGIN { commit(1); commit(2); }" },
	{ "D_COMM_DREC", "BEGIN { trace(1); commit(1); }" },
	{ "D_SPEC_SPEC", "BEGIN { speculate(1); speculate(1); }" },
	{ "D_SPEC_COMM", "BEGIN { commit(1); speculate(1); }" },
	{ "D_SPEC_DREC", "BEGIN { trace(1); speculate(1); }" },
	{ "D_ACT_SPEC", "BEGIN { speculate(1); stop(); }" },
	{ "D_EXIT_SPEC", "BEGIN { speculate(1); exit(0); }" },
	{ "D_DREC_COMM", "BEGIN { commit(1); trace(1); }" },
	{ "D_LQUANT_BASETYPE", "BEGIN { @ = lquantize(1, arg0, 10); }" },
	{ "D_LQUANT_BASEVAL", "BEGIN { @ = lquantize(1, 0x100000000, 10); }" },
	{ "D_LQUANT_LIMTYPE", "BEGIN { @ = lquantize(1, 0, arg0); }" },
	{ "D_LQUANT_LIMVAL", "BEGIN { @ = lquantize(1, 0, 0x100000000); }" },
	{ "D_LQUANT_MISMATCH", "BEGIN { @ = lquantize(1, 10, 0); }" },
	{ "D_LQUANT_STEPTYPE", "BEGIN { @ = lquantize(1, 0, 10, -1); }" },
	{ "D_LQUANT_STEPVAL", "BEGIN { @ = lquantize(1, 0, 100000, 70000); }" },
	{ "D_LQUANT_STEPLARGE", "BEGIN { @ = lquantize(1, 0, 10, 20); }" },
	{ "D_LQUANT_STEPSMALL", "BEGIN { @ = lquantize(1, 0, 100000, 1); }" },
	{ "D_LQUANT_MATCHBASE", "BEGIN { @ = lquantize(1, 0, 10, 1); @ = lquantize(1, 1, 11, 1); }" },
	{ "D_LQUANT_MATCHLIM", "BEGIN { @ = lquantize(1, 0, 10, 1); @ = lquantize(1, 0, 11, 1); }" },
	{ "D_LQUANT_MATCHSTEP", "BEGIN { @ = lquantize(1, 0, 10, 1); @ = lquantize(1, 0, 10, 2); }" },
	{ "D_LLQUANT_FACTORTYPE", "BEGIN { @ = llquantize(1, arg0, 0, 6, 10); }" },
	{ "D_LLQUANT_FACTORVAL", "BEGIN { @ = llquantize(1, 70000, 0, 6, 10); }" },
	{ "D_LLQUANT_FACTORMATCH",
	  "BEGIN { @ = llquantize(1, 10, 0, 6, 20); @ = llquantize(1, 2, 0, 6, 2); }" },
	{ "D_LLQUANT_LOWTYPE", "BEGIN { @ = llquantize(1, 10, arg0, 6, 10); }" },
	{ "D_LLQUANT_LOWVAL", "BEGIN { @ = llquantize(1, 10, 70000, 6, 10); }" },
	{ "D_LLQUANT_LOWMATCH",
	  "BEGIN { @ = llquantize(1, 10, 0, 6, 10); @ = llquantize(1, 10, 1, 6, 10); }" },
	{ "D_LLQUANT_HIGHTYPE", "BEGIN { @ = llquantize(1, 10, 0, arg0, 10); }" },
	{ "D_LLQUANT_HIGHVAL", "BEGIN { @ = llquantize(1, 10, 0, 70000, 10); }" },
	{ "D_LLQUANT_HIGHMATCH",
	  "BEGIN { @ = llquantize(1, 10, 0, 6, 10); @ = llquantize(1, 10, 0, 7, 10); }" },
	{ "D_LLQUANT_NSTEPTYPE", "BEGIN { @ = llquantize(1, 10, 0, 6, arg0); }" },
	{ "D_LLQUANT_NSTEPVAL", "BEGIN { @ = llquantize(1, 10, 0, 6, 70000); }" },
	{ "D_LLQUANT_NSTEPMATCH",
	  "BEGIN { @ = llquantize(1, 10, 0, 6, 10); @ = llquantize(1, 10, 0, 6, 20); }" },
	{ "D_LLQUANT_MAGRANGE", "BEGIN { @ = llquantize(1, 10, 6, 6, 10); }" },
	{ "D_LLQUANT_FACTORNSTEPS", "BEGIN { @ = llquantize(1, 10, 0, 6, 5); }" },
	{ "D_LLQUANT_FACTOREVEN", "BEGIN { @ = llquantize(1, 10, 0, 6, 30); }" },
	{ "D_LLQUANT_FACTORSMALL", "BEGIN { @ = llquantize(1, 1, 0, 6, 10); }" },
	{ "D_LLQUANT_MAGTOOBIG", "BEGIN { @ = llquantize(1, 10, 0, 30, 10); }" },
	{ "D_CLEAR_PROTO", "BEGIN { clear(); }" },
	{ "D_CLEAR_AGGARG", "BEGIN { clear(1); }" },
	{ "D_CLEAR_AGGBAD", "BEGIN { clear(@never); }" },
	{ "D_NORMALIZE_PROTO", "BEGIN { @a = count(); normalize(@a); }" },
	{ "D_NORMALIZE_SCALAR", "BEGIN { @a = count(); normalize(@a, \"x\"); }" },
	{ "D_NORMALIZE_AGGARG", "BEGIN { normalize(1, 1); }" },
	{ "D_NORMALIZE_AGGBAD", "BEGIN { normalize(@never, 1); }" },
	{ "D_TRUNC_PROTO", "BEGIN { trunc(); }" },
	{ "D_TRUNC_SCALAR", "BEGIN { @a = count(); trunc(@a, \"x\"); }" },
	{ "D_TRUNC_AGGARG", "BEGIN { trunc(1); }" },
	{ "D_TRUNC_AGGBAD", "BEGIN { trunc(@never); }" },
	{ "D_PROV_BADNAME", "provider foo1 { probe p(); };" },
	{ "D_ATTR_MIN", "#pragma D option amin=Evolving/Evolving/Common\nBEGIN { trace(curthread); }" },
	{ "D_PRAGMA_SCOPE", "#pragma D attributes Stable/Stable/Common pid\nBEGIN { }" },
	{ "D_PROV_INCOMPAT", "provider fan { probe p(); }; provider fan { probe p(int); };" },
	{ "D_PROV_PRDUP", "provider fan { probe p(); probe p(); };" },
	{ "D_PROV_PRXLATOR", "struct s { int a; }; provider foo { probe p(int x) : (struct s x); };" },
};

/* Tags that no D text can raise here, and why. */
static const struct {
	const char *tag, *why;
} elsewhere[] = {
	{ "D_TYPE_ERR", "a type source that fails makes the type void" },
	{ "D_ASRELO", "there are no relocations" },
	{ "D_ID_OFLOW", "test_id_overflow" },
	{ "D_OP_IDENT", "++ on a name that can't be one is D_OP_LVAL" },
	{ "D_MACRO_OFLOW", "test_macros" },
	{ "D_MACRO_UNUSED", "test_macros" },
	{ "D_SYM_MODEL", "there is one data model" },
	{ "D_VAR_UNSUP", "every built-in exists everywhere" },
	{ "D_FREOPEN_INVALID", "freopen(\"\") needs no reserved name" },
	{ "D_DECL_IDENT", "a syntax error here" },
	{ "D_QUANT_PROTO", "quantize()'s count is D_PROTO_LEN" },
	{ "D_PROC_OFF", "raised by the pid provider" },
	{ "D_PROC_ALIGN", "raised by the pid provider" },
	{ "D_PROC_NAME", "raised by the pid provider" },
	{ "D_PROC_GRAB", "raised by the pid provider" },
	{ "D_PROC_DYN", "raised by the pid provider" },
	{ "D_PROC_LIB", "raised by the pid provider" },
	{ "D_PROC_FUNC", "raised by the pid provider" },
	{ "D_PROC_CREATEFAIL", "raised by the pid provider" },
	{ "D_PROC_NODEV", "raised by the pid provider" },
	{ "D_PROC_BADPID", "raised by the pid provider" },
	{ "D_PROC_BADPROV", "raised by the pid provider" },
	{ "D_PROC_USDT", "raised by the pid provider" },
	{ "D_PROV_PRARGLEN", "test_long_probe" },
};

static enum dif_errtag tag_number(const char *name)
{
	for (int i = 1; i < DIF_D_COUNT; i++)
		if (!strcmp(dif_errtag_name((enum dif_errtag)i), name))
			return (enum dif_errtag)i;
	fail_msg("no tag %s", name);
	return DIF_D_NONE;
}

static void test_every_program_fails(void **state)
{
	bool ok = true;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(programs); i++) {
		struct lx lx;
		lx_init(&lx);
		bool compiled = lx_compile(&lx, programs[i].text);
		const char *tag = compiled ? "compiled" : lx.diag->tag ? lx.diag->tag : "no tag";
		if (strcmp(tag, programs[i].tag)) {
			print_message("%s: %s: %s\n", programs[i].text, tag,
				      compiled ? "" : lx.diag->message);
			ok = false;
		}
		covered[tag_number(programs[i].tag)] = true;
		lx_deinit(&lx);
	}
	assert_true(ok);
}

static void test_macros(void **state)
{
	struct lx lx;
	(void)state;

	lx_init(&lx);
	lx.args[1] = "99999999999999999999";
	lx.args[2] = "x";
	lx.nargs = 3;
	assert_false(lx_compile(&lx, "BEGIN { trace($1); trace($$2); }"));
	assert_string_equal(lx.diag->tag, "D_MACRO_OFLOW");
	assert_false(lx_compile(&lx, "BEGIN { trace($$1); }"));
	assert_string_equal(lx.diag->tag, "D_MACRO_UNUSED");
	lx.opts.argref = true;
	assert_true(lx_compile(&lx, "BEGIN { trace($$1); }"));
	lx_deinit(&lx);
}

static void test_id_overflow(void **state)
{
	struct ot_buf text = { 0 };
	struct lx lx;
	(void)state;

	lx_init(&lx);
	for (unsigned i = 0; i < DIF_VAR_PROVIDER_MIN - DIF_VAR_USER_MIN + 1; i++)
		ot_buf_printf(&text, "int v%u;\n", i);
	assert_false(lx_compile(&lx, ot_buf_str(&text)));
	assert_string_equal(lx.diag->tag, "D_ID_OFLOW");
	ot_buf_deinit(&text);
	lx_deinit(&lx);
}

static void test_long_probe(void **state)
{
	struct ot_buf text = { 0 };
	struct lx lx;
	(void)state;

	lx_init(&lx);
	ot_buf_puts(&text, "provider foo { probe p(int");
	for (int i = 0; i < 255; i++)
		ot_buf_puts(&text, ", int");
	ot_buf_puts(&text, "); };");
	assert_false(lx_compile(&lx, ot_buf_str(&text)));
	assert_string_equal(lx.diag->tag, "D_PROV_PRARGLEN");
	ot_buf_deinit(&text);
	lx_deinit(&lx);
}

static void test_text(void **state)
{
	struct ot_buf out = { 0 };
	struct lx lx;
	(void)state;

	lx_init(&lx);
	assert_false(lx_compile(&lx, "BEGIN\n{\n\ttrace(1) trace(2);\n}\n"));
	dif_diag_print(lx.diag, true, &out);
	assert_string_equal(ot_buf_str(&out), "[D_SYNTAX] line 3: syntax error near \"trace\"");
	assert_int_equal(lx.diag->column, 11);
	ot_buf_clear(&out);
	assert_false(lx_compile(&lx, "# 7 \"lib.h\" 1\nint 5;\n"));
	dif_diag_print(lx.diag, false, &out);
	assert_string_equal(ot_buf_str(&out), "\"lib.h\", line 7: syntax error near \"5\"");
	ot_buf_deinit(&out);
	lx_deinit(&lx);
}

/* Types of another system's kernel, and members of its threads. */
static void test_hints_for_other_systems(void **state)
{
	static const struct {
		const char *text, *hint;
	} cases[] = {
		{ "BEGIN { trace(((vnode_t *)arg0)->v_path); }", "vnode_t is no type" },
		{ "BEGIN { this->x = (vnode_t **)arg0; }", "vnode_t is no type" },
		{ "BEGIN { this->x = (zio_type_t)arg0; }", "zio_type_t is no type" },
		{ "BEGIN { trace(offsetof(vnode_t, v_path)); }", "vnode_t is no type" },
		{ "BEGIN { trace(curthread->t_procp); }", "curthread is the traced kernel's own" },
		{ "BEGIN { trace((long)`untyped); }", "`untyped has no type" },
		{ "BEGIN { trace(`untyped > 1); }", "`untyped has no type" },
		{ "BEGIN { trace(`untyped[2]); }", "`untyped has no type" },
		{ "int x; BEGIN { trace((x *)arg0); }", NULL },
		{ "int x; BEGIN { trace((x)arg0); }", NULL },
	};
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct lx lx;

		lx_init(&lx);
		assert_false(lx_compile(&lx, cases[i].text));
		if (cases[i].hint)
			assert_memory_equal(lx.diag->hint ? lx.diag->hint : cases[i].text, cases[i].hint,
					    strlen(cases[i].hint));
		else
			assert_null(lx.diag->hint);
		lx_deinit(&lx);
	}
}

static struct ot_err *no_such_process(void *env, const struct dif_probedesc *desc,
				      bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
				      uint64_t *ret_count)
{
	(void)env;
	(void)desc;
	(void)each;
	(void)arg;
	(void)ret_count;
	return ot_err_new(OT_ERR_NOT_FOUND, "D_PROC_GRAB: failed to grab process 3");
}

/* A provider of another system's kernel whose name ends with a number is taken for a program's. */
static void test_hint_for_numbered_provider(void **state)
{
	struct dif_world world = lx_world;
	struct lx lx;
	(void)state;

	lx_init(&lx);
	dif_compiler_destroy(lx.comp);
	world.match = no_such_process;
	assert_null(dif_compiler_create(&world, &lx.opts, &lx.comp));
	assert_false(lx_compile(&lx, "nfsv3:::op-start {}"));
	assert_string_equal(lx.diag->message, "failed to grab process 3");
	assert_string_equal(lx.diag->hint,
			    "a number behind a provider's name is a process's: nfsv in process 3");
	assert_false(lx_compile(&lx, "pid3::main:entry {}"));
	assert_null(lx.diag->hint);
	lx_deinit(&lx);
}

static void test_failure_leaves_the_program(void **state)
{
	struct lx lx;
	(void)state;

	lx_init(&lx);
	assert_true(lx_compile(&lx, "BEGIN { trace(1); }"));
	assert_false(lx_compile(&lx, "BEGIN { trace(2); } END { nonsense(); }"));
	assert_int_equal(lx.prog.nclauses, 1);
	assert_true(lx_compile(&lx, "END { trace(2); }"));
	assert_int_equal(lx.first, 1);
	assert_int_equal(lx.prog.nclauses, 2);
	lx_deinit(&lx);
}

/* Runs last. */
static void test_all_tags_covered(void **state)
{
	bool ok = true;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(elsewhere); i++) {
		assert_false(covered[tag_number(elsewhere[i].tag)]);
		covered[tag_number(elsewhere[i].tag)] = true;
	}
	for (int i = 1; i < DIF_D_COUNT; i++) {
		if (!covered[i]) {
			print_message("%s has no program\n", dif_errtag_name((enum dif_errtag)i));
			ok = false;
		}
	}
	assert_true(ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_program_fails),
		cmocka_unit_test(test_macros),
		cmocka_unit_test(test_id_overflow),
		cmocka_unit_test(test_long_probe),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_hints_for_other_systems),
		cmocka_unit_test(test_hint_for_numbered_provider),
		cmocka_unit_test(test_failure_leaves_the_program),
		cmocka_unit_test(test_all_tags_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
