// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

#include <vector>

namespace ui {

/// Where a formula stands in a text, its marks included.
struct FormulaSpan {
    int begin = 0;
    int end = 0;
    bool isDisplay = false; ///< on a line of its own: "$$" or "\["

    bool operator==(const FormulaSpan&) const = default;
};

/// The formulas of a Markdown text, ascending: $...$, \(...\), $$...$$ and \[...\], none of them
/// across a blank line, in code, or longer than a formula may be. A dollar that may mean money is
/// no mark: before or behind a letter or digit, or around prose; nor is one in a web address, or in
/// the address or title of a link. Takes time in proportion to the text. Thread: any.
std::vector<FormulaSpan> findFormulas(QStringView text);

/// A text of the same length in which formulas are words without any marks.
QString withoutFormulas(QStringView text, const std::vector<FormulaSpan>& formulas);

} // namespace ui
