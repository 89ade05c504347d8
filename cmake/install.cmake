# What an operator's machine gets. The libraries are loaded into VMMs and the D libraries read by outsight, so
# both stand in a folder of their own; base/installed.c finds it.
install(TARGETS outsight outsight-vmm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS vp_tcg vp_hook LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/outsight)
add_custom_target(installed DEPENDS outsight outsight-vmm vp_tcg vp_hook)
install(DIRECTORY cli/d/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/outsight/d FILES_MATCHING PATTERN "*.d")
# Scripts, whose first line names the program.
install(DIRECTORY tools/ DESTINATION ${CMAKE_INSTALL_DATADIR}/outsight/tools
	FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
	FILES_MATCHING PATTERN "*.d")
install(FILES docs/outsight.1 docs/outsight-vmm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/outsight-types.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES README.md docs/limits.md docs/tools.md docs/benchmarks.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What shells ask at TAB, where bash-completion and zsh look for it.
install(FILES completions/outsight.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME outsight)
install(FILES completions/_outsight DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# The agent's sources, as kbuild and DKMS take them: below /usr they are where DKMS looks for outsight/VERSION.
install(DIRECTORY guest-agent/ DESTINATION src/outsight-${PROJECT_VERSION} FILES_MATCHING
	PATTERN "*.[ch]" PATTERN Kbuild PATTERN Makefile PATTERN dkms.conf)
