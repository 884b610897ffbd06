// Loops that the compiler makes vectors of, for three kinds of machines.
#pragma once

/// Before a function: it is compiled for every x86-64, for AVX2 with FMA, and for AVX-512; the machine chooses when the program starts.
/// Sources with it are compiled with -fno-trapping-math and -fno-math-errno: else g++ 12 makes branches of comparisons, and calls of square
/// roots, and the loop is no vector but with AVX-512's masks.
#define ROOF_VECTOR_CLONES [[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
