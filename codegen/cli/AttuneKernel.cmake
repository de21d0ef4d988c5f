# attune_add_kernel(NAME [SPEC header.h] [EXPR expression] [ISAS isa...])
#
# A static library NAME with the kernel of one spec, generated when it is built: NAME.h is on the
# include path of whatever links it. The spec is `expression` (default: NAME), found in header.h,
# or in the zoo if there is no header. One translation unit per ISA; all of them by default.
#
#   attune_add_kernel(my_attention SPEC my_attention.h EXPR "my_attention<512>" ISAS avx2 avx512)
#   target_link_libraries(app PRIVATE my_attention)
function(attune_add_kernel name)
  cmake_parse_arguments(arg "" "SPEC;EXPR" "ISAS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attune_add_kernel(${name}): don't know ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_EXPR)
    set(arg_EXPR ${name})
  endif()
  if(NOT arg_ISAS)
    set(arg_ISAS portable avx2 avx512)
  endif()

  set(header)
  set(spec ${arg_EXPR})
  if(arg_SPEC)
    get_filename_component(header ${arg_SPEC} ABSOLUTE)
    set(spec ${header} --spec ${arg_EXPR})
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${name}.kernel)
  set(files ${dir}/${name}.h ${dir}/${name}.hpp ${dir}/${name}.cpp)
  foreach(isa IN LISTS arg_ISAS)
    list(APPEND files ${dir}/${name}_${isa}.cpp)
  endforeach()
  list(JOIN arg_ISAS "," isas)

  add_custom_command(OUTPUT ${files}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${dir}
    COMMAND ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER} $<TARGET_FILE:attune> gen ${spec} --name ${name} --isa ${isas} -o ${dir} --quiet
    DEPENDS attune ${header}
    COMMENT "Generating ${name}"
    VERBATIM)
  add_library(${name} STATIC ${files})
  target_include_directories(${name} PUBLIC ${dir})
endfunction()
