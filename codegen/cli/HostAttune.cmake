# The program `attune` where it is not built with the project: one that is there already, or, when the
# project is compiled for another machine, a build of its own for this one.
add_executable(attune IMPORTED GLOBAL)
if(ATTUNE_EXECUTABLE)
  set_target_properties(attune PROPERTIES IMPORTED_LOCATION ${ATTUNE_EXECUTABLE})
else()
  find_program(ATTUNE_HOST_CXX NAMES c++ g++ clang++ REQUIRED NO_CMAKE_FIND_ROOT_PATH DOC "C++ compiler for this machine")
  include(ExternalProject)
  set(build ${PROJECT_BINARY_DIR}/attune_for_host)
  ExternalProject_Add(attune_for_host
    SOURCE_DIR ${PROJECT_SOURCE_DIR}
    BINARY_DIR ${build}
    # A toolchain file in the environment is the target's.
    CMAKE_ARGS -DCMAKE_TOOLCHAIN_FILE= -DCMAKE_CXX_COMPILER=${ATTUNE_HOST_CXX} -DBUILD_TESTING=OFF
    BUILD_COMMAND ${CMAKE_COMMAND} --build ${build} --target attune
    BUILD_BYPRODUCTS ${build}/attune
    BUILD_ALWAYS ON
    INSTALL_COMMAND "")
  set_target_properties(attune PROPERTIES IMPORTED_LOCATION ${build}/attune)
  add_dependencies(attune attune_for_host)
endif()
