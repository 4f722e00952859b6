# build/toolkit: what build systems of others take for the CUDA Toolkit (CUDACXX=build/toolkit/bin/nvcc). The links are
# relative, so that a tree may be moved. libcudart and libnccl are the emulator itself, so
# that a C++ compiler links with them too; the others are names, which `ridge cc` knows when it links (app/nvcc).
set(toolkit ${CMAKE_BINARY_DIR}/toolkit)
file(REMOVE_RECURSE ${toolkit}/lib64) # a link of before would be written through
file(MAKE_DIRECTORY ${toolkit}/bin ${toolkit}/lib64 ${toolkit}/nvvm/libdevice)
file(RELATIVE_PATH headers ${toolkit} ${PROJECT_SOURCE_DIR}/runtime/simt/include)
file(CREATE_LINK ../../bin/ridge ${toolkit}/bin/nvcc SYMBOLIC)
file(CREATE_LINK ../../bin/ridge ${toolkit}/bin/__nvcc_device_query SYMBOLIC)
file(CREATE_LINK lib64 ${toolkit}/lib SYMBOLIC)
file(CREATE_LINK ${headers} ${toolkit}/include SYMBOLIC)
file(CREATE_LINK ../../lib/libridge_simt.a ${toolkit}/lib64/libridge_simt.a SYMBOLIC)
file(CREATE_LINK ../../lib/libridge_dynamic.a ${toolkit}/lib64/libridge_dynamic.a SYMBOLIC)
foreach(name cudart.so cudart_static.a) # for the linker; a C compiler links programs, too
  file(WRITE ${toolkit}/lib64/lib${name} "INPUT(libridge_dynamic.a libridge_simt.a -lstdc++ -lm -lpthread)\n")
endforeach()
foreach(name nccl.so nccl_static.a)
  file(CREATE_LINK ../../lib/libridge_collectives.a ${toolkit}/lib64/lib${name} SYMBOLIC)
endforeach()
foreach(name cuda.so cudadevrt.a culibos.a cublas.so cublas_static.a cublasLt.so cublasLt_static.a curand.so curand_static.a
             cusparse.so cusparse_static.a nvToolsExt.so nvidia-ml.so)
  file(WRITE ${toolkit}/lib64/lib${name} "!<arch>\n")
endforeach()
if(TARGET ridge_fft)
  file(CREATE_LINK ../../lib/libridge_fft.a ${toolkit}/lib64/libridge_fft.a SYMBOLIC)
  foreach(name cufft.so cufft_static.a)
    file(WRITE ${toolkit}/lib64/lib${name} "INPUT(libridge_fft.a libridge_dynamic.a libridge_simt.a -lfftw3 -lfftw3f)\n")
  endforeach()
endif()
