// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/kernels/pass_arguments.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace backend_cuda {

/// Strips, slabs and chunks of a matrix of this form; its weights stay null.
DeviceMatrix outlineMatrix(int outputs, int columns, Form form);

/// Of the matrix in memory.
std::size_t matrixBytes(const DeviceMatrix& matrix);

/// Where the numbers of an output come from: [columns] in the order of the packed columns, or null
/// for one that is filled up.
using OutputNumbers = std::function<const float*(int output)>;

/// The matrix as kernels read it. `columnOf` [columns of the matrix] tells which of an output's
/// numbers stands in a column, -1 for a column that is filled up; empty: each in its place.
/// Nothing if a number does not fit the form.
std::vector<std::byte> packMatrix(const DeviceMatrix& matrix,
                                  const OutputNumbers& numbersOf,
                                  const std::vector<int>& columnOf);

} // namespace backend_cuda
