// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/math/math_node.h"

namespace ui {

/// A formula in words that can be read aloud without doubt about where its parts end. Thread: any.
QString spokenMath(const MathNode& node);

} // namespace ui
