# What an installation holds: bin/weft, the compiler as a library, the runtime, public headers, and find_package(Weft).
#
#   find_package(Weft REQUIRED COMPONENTS runtime)      weft::runtime (static), weft::runtime_shared
#   find_package(Weft REQUIRED COMPONENTS compiler)     weft::compiler, needs LLVM and MLIR 19 where it runs
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(weft_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(weft_runtime_shared PROPERTIES EXPORT_NAME runtime_shared)
install(TARGETS weft_runtime weft_runtime_shared EXPORT WeftRuntime LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY runtime/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS weft_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft)
if(TARGET weft_mpi)
  install(TARGETS weft_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft)
endif()
install(TARGETS weft_emulated LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft)
install(EXPORT WeftRuntime NAMESPACE weft:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weft)

if(WEFT_COMPILER)
  # The public headers need the standard library only, so the package does not ask for LLVM's headers.
  set_target_properties(weft_compiler PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  set_target_properties(weft_tool PROPERTIES INSTALL_RPATH "$ORIGIN/.." INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS weft_compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS weft_tool LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft)
  install(DIRECTORY compiler/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

configure_package_config_file(cmake/WeftConfig.cmake.in ${PROJECT_BINARY_DIR}/WeftConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weft)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/WeftConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/WeftConfig.cmake ${PROJECT_BINARY_DIR}/WeftConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weft)
