# attune_add_kernel(TARGET [SPEC header.h] [NAME spec] [ISAS isa...] [WISDOM file] [THREADS openmp|pool|tbb])
#
# A static library TARGET with the kernel of one spec, generated when it is built: TARGET.h is on the
# include path of what links it. NAME is the spec (default: TARGET), which header.h defines, or the
# zoo if there is no header. One translation unit per ISA; by default all that the target's CPUs may
# have. WISDOM is a file of `attune tune`. THREADS also links what <attune/threads/openmp.h>, pool.h or
# tbb.h needs. CMake 3.21, Ninja or Makefiles.
#
#   attune_add_kernel(my_attention SPEC my_attention.h NAME "my_attention<512>" ISAS avx2 avx512)
#   target_link_libraries(app PRIVATE my_attention)
function(attune_add_kernel target)
  cmake_parse_arguments(arg "" "SPEC;NAME;WISDOM;THREADS" "ISAS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "attune_add_kernel(${target}): don't know, or without a value: ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  if(NOT arg_ISAS)
    set(arg_ISAS portable)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      list(APPEND arg_ISAS avx2 avx512)
    endif()
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernel)
  set(files ${dir}/${target}.h ${dir}/${target}.hpp ${dir}/${target}.cpp)
  foreach(isa IN LISTS arg_ISAS)
    list(APPEND files ${dir}/${target}_${isa}.cpp)
  endforeach()
  list(JOIN arg_ISAS "," isas)

  set(command gen ${arg_NAME} --name ${target} --isa ${isas} -o ${dir} --quiet)
  set(depends attune::attune)
  if(arg_SPEC)
    get_filename_component(arg_SPEC ${arg_SPEC} ABSOLUTE)
    list(INSERT command 1 ${arg_SPEC} --spec)
    list(APPEND command --precompiled ${CMAKE_BINARY_DIR}/attune_dsl --depfile ${dir}/${target}.d)
    list(APPEND depends ${arg_SPEC})
    set(depfile DEPFILE ${dir}/${target}.d)  # the headers that the spec includes
  endif()
  if(arg_WISDOM)
    get_filename_component(arg_WISDOM ${arg_WISDOM} ABSOLUTE)
    list(APPEND command --wisdom ${arg_WISDOM})
    list(APPEND depends ${arg_WISDOM})
  endif()
  if(NOT CMAKE_CROSSCOMPILING)  # else specs run here, and attune asks $CXX, or c++
    set(compiler ${CMAKE_COMMAND} -E env "CXX=${CMAKE_CXX_COMPILER}${CMAKE_CXX_COMPILER_ARG1}")
  endif()
  file(MAKE_DIRECTORY ${dir})
  add_custom_command(OUTPUT ${files} COMMAND ${compiler} $<TARGET_FILE:attune::attune> ${command}
    DEPENDS ${depends} ${depfile} COMMENT "Generating ${target}" VERBATIM)
  add_library(${target} STATIC ${files})
  target_compile_features(${target} PUBLIC cxx_std_17)  # NAME.hpp asks for it, and Clang 14 by itself compiles C++14
  target_compile_options(${target} PRIVATE -O2)  # whatever the build type: it is what a kernel is measured with
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # for shared libraries, too
  target_include_directories(${target} PUBLIC ${dir} $<TARGET_PROPERTY:attune::dsl,INTERFACE_INCLUDE_DIRECTORIES>)

  if(arg_THREADS)
    set(openmp OpenMP OpenMP::OpenMP_CXX)
    set(pool Threads Threads::Threads)
    set(tbb TBB TBB::tbb)
    if(NOT arg_THREADS MATCHES "^(openmp|pool|tbb)$")
      message(FATAL_ERROR "attune_add_kernel(${target}): THREADS is openmp, pool or tbb, not ${arg_THREADS}")
    endif()
    list(GET ${arg_THREADS} 0 package)
    list(GET ${arg_THREADS} 1 library)
    find_package(${package} REQUIRED)
    target_link_libraries(${target} PUBLIC ${library})
  endif()
endfunction()
