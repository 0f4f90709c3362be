// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/math/math_node.h"

#include <QStringView>

#include <optional>

namespace ui {

/// A command that stands for one sign. A plain value.
struct MathSymbol {
    const char* name;
    const char16_t* sign;
    AtomClass atom;
};

/// The sign of a command without its backslash; null when it is none.
const MathSymbol* symbolOf(QStringView name);

/// The class of a character that is written directly.
AtomClass classOf(QChar character);

/// The large operator of a command ("sum", "int"), as a node without scripts.
std::optional<MathNode> operatorOf(QStringView name);

/// The name of a function ("sin"), as a node; "lim" and others take limits.
std::optional<MathNode> functionOf(QStringView name);

/// The fence of a command or a character as one sign; empty for "." (none), null when it is none.
QString fenceOf(QStringView written);

/// The sign of an accent ("hat"); null when it is none.
QString accentOf(QStringView name);

/// A letter of another alphabet ("mathbb", "mathcal", "mathfrak"); the letter itself where there is
/// none.
QString letterOf(QStringView alphabet, QChar letter);

} // namespace ui
