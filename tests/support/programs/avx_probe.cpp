// SPDX-License-Identifier: Apache-2.0
// Ends well where AVX2 is there, and as an illegal instruction elsewhere: shows that an emulated
// older processor really is one.
#include <immintrin.h>

int main(int argc, char** argv) {
    // Memory that the compiler knows nothing about, so that it cannot compute anything in advance.
    const __m256i bytes = _mm256_set1_epi8(argv[0][0]);
    volatile __m256i sums = _mm256_add_epi8(bytes, _mm256_set1_epi8(static_cast<char>(argc)));
    const __m256i found = sums;
    return _mm256_testz_si256(found, found) == 0 ? 0 : 1;
}
