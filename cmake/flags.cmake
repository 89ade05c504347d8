# Flags that every target of ours has. Nothing touches CMAKE_C_FLAGS.
add_library(outsight_flags INTERFACE)
target_include_directories(outsight_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(outsight_flags INTERFACE _GNU_SOURCE OUTSIGHT_VERSION="${PROJECT_VERSION}")
target_compile_options(outsight_flags INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
	-Wimplicit-fallthrough -Wpointer-arith -Wno-missing-field-initializers
	-fno-strict-aliasing -fno-common)
if(OUTSIGHT_WERROR)
	target_compile_options(outsight_flags INTERFACE -Werror)
endif()
# Without any optimisation most of AddressSanitizer's time is loads and stores of locals, which it checks one by one. With it, and
# with its checks in between, a compiler warns of more than is there, each release of other places: these are no errors.
if(OUTSIGHT_SANITIZE MATCHES "address")
	target_compile_options(outsight_flags INTERFACE "$<$<CONFIG:Debug>:-O1;-Wno-error=maybe-uninitialized;\
-Wno-error=format-truncation;-Wno-error=format-overflow;-Wno-error=stringop-overflow;-Wno-error=array-bounds>")
endif()
if(OUTSIGHT_SANITIZE)
	target_compile_options(outsight_flags INTERFACE
		-fsanitize=${OUTSIGHT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	# What a sanitizer prints needs functions and lines. Variables too would cost a sixth of the time to compile.
	target_compile_options(outsight_flags INTERFACE "$<$<CONFIG:Debug>:-g1>")
	target_link_options(outsight_flags INTERFACE -fsanitize=${OUTSIGHT_SANITIZE})
endif()
# libFuzzer finds its way by coverage of the code under test, so everything is instrumented.
if(OUTSIGHT_FUZZ)
	target_compile_options(outsight_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
