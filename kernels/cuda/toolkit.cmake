# Finds a CUDA toolkit: CUDA_HOME, /usr/local/cuda, or what `make cuda-toolkit` fetched. Sets
# ESPALIER_NVCC (empty: none), ESPALIER_CUDA_INCLUDES and ESPALIER_CUDART.
#
# nvcc is called by rules of our own: CMake's CUDA language does not know the layout of the wheels.

set(ESPALIER_CUDA_ARCHITECTURES 80 90 100 CACHE STRING
  "Compute capabilities to compile for; PTX of the last one goes along")

if(ESPALIER_CUDA)
  set(cuda_roots $ENV{CUDA_HOME} /usr/local/cuda ${CMAKE_SOURCE_DIR}/.cuda-toolkit/nvidia/cu13)
  find_program(ESPALIER_NVCC nvcc HINTS ${cuda_roots} PATH_SUFFIXES bin)
  if(ESPALIER_NVCC)
    get_filename_component(nvcc_path ${ESPALIER_NVCC} REALPATH)
    get_filename_component(cuda_root ${nvcc_path}/../.. ABSOLUTE)
    find_path(ESPALIER_CUDA_INCLUDES cuda_runtime_api.h NO_CACHE NO_DEFAULT_PATH REQUIRED
      PATHS ${cuda_root}/include ${cuda_root}/targets/x86_64-linux/include)
    find_library(ESPALIER_CUDART cudart_static NO_CACHE NO_DEFAULT_PATH REQUIRED
      PATHS ${cuda_root}/lib ${cuda_root}/lib64 ${cuda_root}/targets/x86_64-linux/lib)
    message(STATUS "CUDA compiler: ${ESPALIER_NVCC}")
  elseif(NOT ESPALIER_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "ESPALIER_CUDA is ${ESPALIER_CUDA}, but there is no nvcc in CUDA_HOME, "
      "/usr/local/cuda, PATH or .cuda-toolkit; `make cuda-toolkit` fetches one")
  endif()
else()
  set(ESPALIER_NVCC "")
endif()

set(nvcc_errors "")
if(ESPALIER_WARNINGS_ARE_ERRORS)
  set(nvcc_errors -Werror all-warnings)
endif()
# No fused multiply-add: scores must be the host's to the last bit.
set(ESPALIER_NVCC_FLAGS -std=c++20 -O3 --expt-relaxed-constexpr -fmad=false ${nvcc_errors}
  -Xcompiler -Wall,-Wextra,-fvisibility=hidden,-ffp-contract=off $<$<NOT:$<CONFIG:Debug>>:-DNDEBUG>
  -ccbin ${CMAKE_CXX_COMPILER} -I${CMAKE_SOURCE_DIR} -isystem ${ESPALIER_CUDA_INCLUDES}
  -isystem ${ESPALIER_CUDA_INCLUDES}/cccl)

# espalier_cuda_objects(VARIABLE a.cu ...): compiles each file for all architectures; VARIABLE gets
# the object files. What ptxas says of registers and spills is kept beside each as FILE.ptxas.
function(espalier_cuda_objects variable)
  foreach(architecture ${ESPALIER_CUDA_ARCHITECTURES})
    list(APPEND gencode
      --generate-code=arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(GET ESPALIER_CUDA_ARCHITECTURES -1 last)
  list(APPEND gencode --generate-code=arch=compute_${last},code=compute_${last})
  set(launcher "")
  if(ESPALIER_CCACHE)
    set(launcher ${ESPALIER_CCACHE})
  endif()
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    set(table ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptxas)
    add_custom_command(OUTPUT ${object} BYPRODUCTS ${table}
      COMMAND sh -c [[t=$1 && shift && ("$@" 2> "$t" || (cat "$t" >&2 && false))]]
              sh ${table} ${launcher} ${ESPALIER_NVCC} ${ESPALIER_NVCC_FLAGS} -Xptxas -v ${gencode} -MD -MF ${object}.d
              -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
      DEPFILE ${object}.d
      COMMENT "Compiling ${source} for ${ESPALIER_CUDA_ARCHITECTURES}"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()
