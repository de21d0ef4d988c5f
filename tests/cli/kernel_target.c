/* The generated header is C as well as C++. */
#include "cli_uniform.h"

size_t workspace_bytes_seen_from_c(void) { return cli_uniform_workspace_bytes(1); }
