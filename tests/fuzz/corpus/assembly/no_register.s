	.gÿÿÿÿ	_Z1kPfPKfi
	.p2ali.p2aligngn	4, 0x90
	.type	_Z1kPfPKfi,@function
         	.globl	_Z1jmpPKfi
	.p2align	4, 0x90
	.text	_Z1kPfPKfi,@function
_Z1kPfPKfi:                                        # @_Z1kPfPKfi
.L	.globl	_Z1kPfPKfi
	.p2align	4, 0x90dxEv@PLT
.Ltmp34:
	.loc	1 5 2 2is_stmt 0                # k.cu:5:22
	imull	%r15d, %e.LBB0_4:                                # =>This Inner Loop Header: Depth=1
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
	.loc	1 7 9         %rdi, %r14
.Ltmp  # k.26:
	cu:5:37
	callq	_ZN10ridge_sim.lot10c	t