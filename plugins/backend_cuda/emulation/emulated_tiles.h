// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace backend_cuda::emulation {

/// Nearest number of 16 bits, ties to even; what is not a number stays none.
unsigned toBf16(float value);
unsigned toHalf(float value);
float fromHalf(unsigned bits);

/// The product of the tiles that 32 lanes brought together, in the layout of m16n8k16: operands are
/// four words of the 16 x 16 tile and two of the 16 x 8 tile a lane, results float[4] a lane. Sums
/// run over the columns in order; a GPU has an order of its own.
void multiplyTiles(const void* const (&operands)[32], void* const (&results)[32], bool isBf16);

/// The same of whole numbers of 8 bits with signs, results int[4] a lane, in the layout of m16n8k16
/// (`halves` 1: operands of two words and one) or m16n8k32 (2: four and two).
void multiplyInt8Tiles(const void* const (&operands)[32], void* const (&results)[32], int halves);

} // namespace backend_cuda::emulation
