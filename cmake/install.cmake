# What an operator's machine gets. The libraries are loaded into VMMs and the D libraries read by outsight, so
# both stand in a folder of their own; base/installed.c finds it.
install(TARGETS outsight outsight-serve outsight-vmm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS vp_tcg vp_hook LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/outsight)
add_custom_target(installed DEPENDS outsight outsight-serve outsight-vmm vp_tcg vp_hook liboutsight)
# The library, and what is needed to build programs with it; its other name is for those that load DTrace's (lib/CMakeLists.txt).
install(TARGETS liboutsight LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY lib/outsight DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/lib/pkgconfig/outsight.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/lib/outsight/libdtrace.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/outsight)
install(DIRECTORY cli/d/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/outsight/d FILES_MATCHING PATTERN "*.d")
# Scripts, whose first line names the program.
install(DIRECTORY tools/ DESTINATION ${CMAKE_INSTALL_DATADIR}/outsight/tools
	FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
	FILES_MATCHING PATTERN "*.d")
# Standing programs to copy to /etc/outsight/standing.d, and the dashboard that shows their metrics.
install(DIRECTORY share/standing share/grafana DESTINATION ${CMAKE_INSTALL_DATADIR}/outsight)
install(FILES docs/outsight.1 docs/outsight-vmm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/outsight-types.5 docs/outsight-serve.conf.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES docs/outsight-serve.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
install(FILES README.md docs/limits.md docs/tools.md docs/fleet.md docs/benchmarks.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What shells ask at TAB, where bash-completion and zsh look for it.
install(FILES completions/outsight.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME outsight)
install(FILES completions/_outsight DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# The agent's sources, as kbuild and DKMS take them: below /usr they are where DKMS looks for outsight/VERSION.
install(DIRECTORY guest-agent/ DESTINATION src/outsight-${PROJECT_VERSION} FILES_MATCHING
	PATTERN "*.[ch]" PATTERN Kbuild PATTERN Makefile PATTERN dkms.conf)

# The library's manual: a page, and a link to it from each of its functions.
file(GLOB pages CONFIGURE_DEPENDS docs/*.3)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
foreach(page ${pages})
	get_filename_component(name ${page} NAME_WE)
	file(STRINGS ${page} functions REGEX "^\\.Nm (dtrace|outsight)_")
	foreach(line ${functions})
		string(REGEX REPLACE "^\\.Nm ([a-z0-9_]+).*" "\\1" function ${line})
		if(NOT function STREQUAL name)
			file(WRITE ${CMAKE_BINARY_DIR}/man3/${function}.3 ".so man3/${name}.3\n")
			install(FILES ${CMAKE_BINARY_DIR}/man3/${function}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
		endif()
	endforeach()
endforeach()

# Python's package, where Debian's python3 finds those of packages.
set(OUTSIGHT_PYTHONDIR lib/python3/dist-packages CACHE STRING "Python's packages, below the prefix")
install(DIRECTORY python/outsight DESTINATION ${OUTSIGHT_PYTHONDIR} FILES_MATCHING PATTERN "*.py" PATTERN py.typed)
