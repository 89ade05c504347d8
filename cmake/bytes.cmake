# A file as bytes in the program: the array NAME, which HEADER declares, in SOURCE.
function(ot_bytes file source header name)
	file(READ ${file} bytes HEX)
	string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
	file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
		"#include \"@header@\"\nconst char @name@[] = { @bytes@ 0 };\n")
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()
