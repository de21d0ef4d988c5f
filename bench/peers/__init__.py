"""Generated kernels against other libraries, side by side: `./run peers --help`."""
