# The one target every target of ours links: warnings (errors with NEVE_WERROR), and floating point is never
# reordered or contracted, because a fused multiply-add in a decoder breaks the error bound. Without errno a
# square root is an instruction and no call to libm.
add_library(neve_flags INTERFACE)
target_compile_options(neve_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-ffp-contract=off;-fno-fast-math;-fno-math-errno>"
  $<$<AND:$<BOOL:${NEVE_WERROR}>,$<COMPILE_LANGUAGE:C,CXX>>:-Werror>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(NEVE_SANITIZE)
  target_compile_options(neve_flags INTERFACE
    -fsanitize=${NEVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(neve_flags INTERFACE -fsanitize=${NEVE_SANITIZE})
endif()
