// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

namespace ui {

/// A share as the literature writes it: ".97", "1.00"; a value above 1 as it is, "1.36".
QString shareText(double share);

/// A factor: "1.33×".
QString factorText(double factor);

/// How many there are, as English writes it: "1 token", "1,200 tokens". %1 stands for the number
/// in both forms.
QString countText(qint64 count, const QString& one, const QString& many);

} // namespace ui
