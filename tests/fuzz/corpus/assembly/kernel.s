	.globl	_Z1kPfPKfi
	.p2align	4, 0x90
	.type	_Z1kPfPKfi,@function
_Z1kPfPKfi:                             # @_Z1kPfPKfi
.Lfunc_begin0:
	.file	1 "/tmp" "k.cu"
	.loc	1 3 0                           # k.cu:3:0
# %bb.0:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$40, %rsp
	movl	%edx, %r12d
	movq	%rsi, %rbx
	movq	%rdi, %r14
.Ltmp26:
	.loc	1 3 0 prologue_end              # k.cu:3:0
	movq	88(%rsp), %rdi
	callq	__tsan_func_entry@PLT
.Ltmp27:
.Ltmp0:
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp28:
.Ltmp1:
# %bb.1:
	.loc	1 5 37                          # k.cu:5:37
	callq	_ZN10ridge_simt10thread_idxEv@PLT
.Ltmp29:
	.loc	1 6 21                          # k.cu:6:21
	testl	%r12d, %r12d
	.loc	1 6 3 is_stmt 0                 # k.cu:6:3
	jle	.LBB0_13
# %bb.2:
	.loc	1 0 0                           # k.cu:0:0
	movq	%rax, %rbp
.Ltmp2:
.Ltmp30:
	.file	2 "/work/wt/records/runtime/simt/include" "cuda_runtime.h"
	.loc	2 116 63 is_stmt 1              # /work/wt/records/runtime/simt/include/cuda_runtime.h:116:63
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp31:
.Ltmp3:
# %bb.3:
	callq	_ZN10ridge_simt9block_dimEv@PLT
.Ltmp32:
	movq	%rax, %r15
.Ltmp33:
	.loc	1 5 11                          # k.cu:5:11
	callq	_ZN10ridge_simt9block_idxEv@PLT
.Ltmp34:
	.loc	1 5 22 is_stmt 0                # k.cu:5:22
	imull	%r15d, %eax
	.loc	1 5 35                          # k.cu:5:35
	addl	%ebp, %eax
	cltq
	leaq	(%rbx,%rax,4), %rcx
	movq	%rcx, 32(%rsp)                  # 8-byte Spill
	movl	%ebp, %ecx
	movq	%fs:0, %rdx
	leaq	_ZZ1kPfPKfiE1t@TPOFF(%rdx,%rcx,4), %rcx
	movq	%rcx, 24(%rsp)                  # 8-byte Spill
	leaq	(%r14,%rax,4), %rax
	movq	%rax, 8(%rsp)                   # 8-byte Spill
	leaq	4(%r14), %rax
	movq	%rax, 16(%rsp)                  # 8-byte Spill
	.loc	1 6 21 is_stmt 1                # k.cu:6:21
	movl	%r12d, %r13d
	xorl	%r15d, %r15d
	movq	32(%rsp), %r12                  # 8-byte Reload
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
.Ltmp4:
	.loc	1 7 9                           # k.cu:7:9
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp35:
.Ltmp5:
# %bb.5:                                #   in Loop: Header=BB0_4 Depth=1
	movq	%rbx, %rdi
	callq	__tsan_read4@PLT
.Ltmp36:
	movss	(%rbx), %xmm0                   # xmm0 = mem[0],zero,zero,zero
	.loc	1 7 15 is_stmt 0                # k.cu:7:15
	ucomiss	.LCPI0_2(%rip), %xmm0
	.loc	1 7 9                           # k.cu:7:9
	ja	.LBB0_26
# %bb.6:                                #   in Loop: Header=BB0_4 Depth=1
.Ltmp6:
	.loc	1 8 22 is_stmt 1                # k.cu:8:22
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp37:
.Ltmp7:
# %bb.7:                                #   in Loop: Header=BB0_4 Depth=1
	movq	%r12, %rdi
	callq	__tsan_read4@PLT
.Ltmp38:
	.loc	1 0 22 is_stmt 0                # k.cu:0:22
	movss	(%r12), %xmm0                   # xmm0 = mem[0],zero,zero,zero
	.loc	1 8 28                          # k.cu:8:28
	addss	.LCPI0_2(%rip), %xmm0
	movss	%xmm0, 4(%rsp)                  # 4-byte Spill
	movq	24(%rsp), %rbp                  # 8-byte Reload
	.loc	1 8 20                          # k.cu:8:20
	movq	%rbp, %rdi
	callq	__tsan_write4@PLT
.Ltmp39:
	.loc	1 0 20                          # k.cu:0:20
	movss	4(%rsp), %xmm0                  # 4-byte Reload
                                        # xmm0 = mem[0],zero,zero,zero
	.loc	1 8 20                          # k.cu:8:20
	movss	%xmm0, (%rbp)
.Ltmp8:
.Ltmp40:
	.loc	2 123 3 is_stmt 1               # /work/wt/records/runtime/simt/include/cuda_runtime.h:123:3
	leaq	.L.str(%rip), %rdi
	movl	$9, %esi
	callq	_ZN10ridge_simt7barrierEPKci@PLT
.Ltmp41:
.Ltmp9:
# %bb.8:                                #   in Loop: Header=BB0_4 Depth=1
	.loc	1 10 15                         # k.cu:10:15
	movl	%r15d, %eax
	andl	$7, %eax
	.loc	1 10 5 is_stmt 0                # k.cu:10:5
	cmpl	$1, %eax
	jg	.LBB0_15
# %bb.9:                                #   in Loop: Header=BB0_4 Depth=1
	testl	%eax, %eax
	je	.LBB0_20
# %bb.10:                               #   in Loop: Header=BB0_4 Depth=1
	cmpl	$1, %eax
	jne	.LBB0_26
# %bb.11:                               #   in Loop: Header=BB0_4 Depth=1
.Ltmp16:
	.loc	1 10 67                         # k.cu:10:67
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp42:
.Ltmp17:
# %bb.12:                               #   in Loop: Header=BB0_4 Depth=1
	.loc	1 0 67                          # k.cu:0:67
	movq	8(%rsp), %rbp                   # 8-byte Reload
	.loc	1 10 67                         # k.cu:10:67
	movq	%rbp, %rdi
	callq	__tsan_read4@PLT
.Ltmp43:
	.loc	1 0 67                          # k.cu:0:67
	movss	(%rbp), %xmm0                   # xmm0 = mem[0],zero,zero,zero
	.loc	1 10 67                         # k.cu:10:67
	mulss	.LCPI0_1(%rip), %xmm0
	movss	%xmm0, 4(%rsp)                  # 4-byte Spill
	movq	%rbp, %rdi
	callq	__tsan_write4@PLT
.Ltmp44:
	.loc	1 0 67                          # k.cu:0:67
	movss	4(%rsp), %xmm0                  # 4-byte Reload
                                        # xmm0 = mem[0],zero,zero,zero
	.loc	1 10 67                         # k.cu:10:67
	movss	%xmm0, (%rbp)
	.loc	1 10 73                         # k.cu:10:73
	jmp	.LBB0_26
.LBB0_13:
.Ltmp23:
	.loc	1 12 1 is_stmt 1                # k.cu:12:1
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp45:
.Ltmp24:
# %bb.14:
	callq	__tsan_func_exit@PLT
.Ltmp46:
	addq	$40, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
.LBB0_15:                               #   in Loop: Header=BB0_4 Depth=1
	.loc	1 10 5                          # k.cu:10:5
	cmpl	$2, %eax
	je	.LBB0_22
# %bb.16:                               #   in Loop: Header=BB0_4 Depth=1
	cmpl	$3, %eax
	je	.LBB0_24
# %bb.17:                               #   in Loop: Header=BB0_4 Depth=1
	cmpl	$5, %eax
	jne	.LBB0_26
# %bb.18:                               #   in Loop: Header=BB0_4 Depth=1
.Ltmp10:
	.loc	1 10 158 is_stmt 0              # k.cu:10:158
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp47:
.Ltmp11:
# %bb.19:                               #   in Loop: Header=BB0_4 Depth=1
	.loc	1 0 158                         # k.cu:0:158
	movq	8(%rsp), %rbp                   # 8-byte Reload
	.loc	1 10 158                        # k.cu:10:158
	movq	%rbp, %rdi
	callq	__tsan_read4@PLT
.Ltmp48:
	movss	(%rbp), %xmm0                   # xmm0 = mem[0],zero,zero,zero
	.loc	1 10 152                        # k.cu:10:152
	callq	sqrtf@PLT
.Ltmp49:
	.loc	1 0 152                         # k.cu:0:152
	movss	%xmm0, 4(%rsp)                  # 4-byte Spill
	movq	16(%rsp), %rbp                  # 8-byte Reload
	.loc	1 10 150                        # k.cu:10:150
	movq	%rbp, %rdi
	callq	__tsan_write4@PLT
.Ltmp50:
	.loc	1 0 150                         # k.cu:0:150
	movss	4(%rsp), %xmm0                  # 4-byte Reload
                                        # xmm0 = mem[0],zero,zero,zero
	.loc	1 10 150                        # k.cu:10:150
	movss	%xmm0, (%rbp)
	jmp	.LBB0_26
.LBB0_20:                               #   in Loop: Header=BB0_4 Depth=1
.Ltmp18:
	.loc	1 10 39                         # k.cu:10:39
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp51:
.Ltmp19:
# %bb.21:                               #   in Loop: Header=BB0_4 Depth=1
	movq	%fs:0, %rax
	leaq	_ZZ1kPfPKfiE1t@TPOFF(%rax), %rdi
	callq	__tsan_read4@PLT
.Ltmp52:
	movss	%fs:_ZZ1kPfPKfiE1t@TPOFF, %xmm0 # xmm0 = mem[0],zero,zero,zero
	movss	%xmm0, 4(%rsp)                  # 4-byte Spill
	movq	8(%rsp), %rbp                   # 8-byte Reload
	.loc	1 10 37                         # k.cu:10:37
	movq	%rbp, %rdi
	callq	__tsan_write4@PLT
.Ltmp53:
	.loc	1 0 37                          # k.cu:0:37
	movss	4(%rsp), %xmm0                  # 4-byte Reload
                                        # xmm0 = mem[0],zero,zero,zero
	.loc	1 10 37                         # k.cu:10:37
	movss	%xmm0, (%rbp)
	.loc	1 10 45                         # k.cu:10:45
	jmp	.LBB0_26
.LBB0_22:                               #   in Loop: Header=BB0_4 Depth=1
.Ltmp14:
	.loc	1 10 95                         # k.cu:10:95
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp54:
.Ltmp15:
# %bb.23:                               #   in Loop: Header=BB0_4 Depth=1
	.loc	1 0 95                          # k.cu:0:95
	movq	8(%rsp), %rbp                   # 8-byte Reload
	.loc	1 10 95                         # k.cu:10:95
	movq	%rbp, %rdi
	callq	__tsan_read4@PLT
.Ltmp55:
	.loc	1 0 95                          # k.cu:0:95
	movss	(%rbp), %xmm0                   # xmm0 = mem[0],zero,zero,zero
	.loc	1 10 95                         # k.cu:10:95
	addss	.LCPI0_0(%rip), %xmm0
	movss	%xmm0, 4(%rsp)                  # 4-byte Spill
	movq	%rbp, %rdi
	callq	__tsan_write4@PLT
.Ltmp56:
	.loc	1 0 95                          # k.cu:0:95
	movss	4(%rsp), %xmm0                  # 4-byte Reload
                                        # xmm0 = mem[0],zero,zero,zero
	.loc	1 10 95                         # k.cu:10:95
	movss	%xmm0, (%rbp)
	.loc	1 10 101                        # k.cu:10:101
	jmp	.LBB0_26
.LBB0_24:                               #   in Loop: Header=BB0_4 Depth=1
.Ltmp12:
	.loc	1 10 116                        # k.cu:10:116
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp57:
.Ltmp13:
# %bb.25:                               #   in Loop: Header=BB0_4 Depth=1
	.loc	1 10 123                        # k.cu:10:123
	movq	%r14, %rdi
	callq	__tsan_write4@PLT
.Ltmp58:
	movl	$1082130432, (%r14)             # imm = 0x40800000
.LBB0_26:                               #   in Loop: Header=BB0_4 Depth=1
.Ltmp20:
	.loc	1 6 26 is_stmt 1                # k.cu:6:26
	callq	__sanitizer_cov_trace_pc@PLT
.Ltmp59:
.Ltmp21:
# %bb.27:                               #   in Loop: Header=BB0_4 Depth=1
	addq	$1, %r15
	.loc	1 6 21 is_stmt 0                # k.cu:6:21
	addq	$4, %r14
	addq	$4, %rbx
	cmpq	%r15, %r13
	.loc	1 6 3                           # k.cu:6:3
	je	.LBB0_13
	jmp	.LBB0_4
.Ltmp60:
.LBB0_28:
.Ltmp22:
	.loc	1 0 3                           # k.cu:0:3
	movq	%rax, %rbx
	jmp	.LBB0_30
.LBB0_29:
.Ltmp25:
	movq	%rax, %rbx
.LBB0_30:
	callq	__tsan_func_exit@PLT
.Ltmp61:
	movq	%rbx, %rdi
	callq	_Unwind_Resume@PLT
.Ltmp62:
.Lfunc_end0:
	.size	_Z1kPfPKfi, .Lfunc_end0-_Z1kPfPKfi
	.type	_ZZ1kPfPKfiE1t,@object          # @_ZZ1kPfPKfiE1t
	.section	.tbss,"awT",@nobits
	.p2align	4
_ZZ1kPfPKfiE1t:
	.zero	128
	.size	_ZZ1kPfPKfiE1t, 128

	.type	.L.str,@object                  # @.str
	.section	.rodata.str1.1,"aMS",@progbits,1
