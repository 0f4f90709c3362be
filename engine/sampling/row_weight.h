// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace engine {

/// Sum of e^((logit - highest) / temperature) over a whole row, within 1e-13 of its value; terms
/// below kLeastExponent count as almost nothing. The same bits on every processor. Shapes: logits
/// [vocab], finite; temperature above 0. Thread: any.
double rowWeight(std::span<const double> logits, double highest, double temperature);

} // namespace engine
