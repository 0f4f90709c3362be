// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/math/math_node.h"

#include <QStringView>

#include <optional>

namespace ui {

/// Bounds on formulas, which may come from a model: beyond them a formula is shown as its source.
constexpr int kLongestFormula = 4000;
constexpr int kDeepestFormula = 48;
constexpr int kMostMathNodes = 3000;

/// Reads a LaTeX formula without its dollar signs. A command that is not known becomes a Source
/// node with its arguments. Nothing for a formula that is not complete (a brace without its
/// partner, \left without \right) or beyond the bounds. Thread: any.
std::optional<MathNode> parseMath(QStringView latex);

} // namespace ui
