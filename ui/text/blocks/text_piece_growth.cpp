// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/blocks/text_piece.h"

#include <algorithm>
#include <limits>
#include <ranges>

// What of a piece looks as it did before its text grew, so that only the rest is painted.

namespace ui {

namespace {

/// The least start of the elements that differ, or that only one of the two lists has.
template <typename Span>
int firstOtherStart(const std::vector<Span>& now, const std::vector<Span>& before) {
    const auto [a, b] = std::ranges::mismatch(now, before);
    int least = std::numeric_limits<int>::max();
    for (const Span& span : std::ranges::subrange(a, now.end()))
        least = std::min(least, span.start);
    for (const Span& span : std::ranges::subrange(b, before.end()))
        least = std::min(least, span.start);
    return least;
}

} // namespace

/// The first laid-out character that is shown in another way; a line that ends before it is as it
/// was.
int TextPiece::firstOther(const TextPiece& before) const {
    const QString text = m_layout->text();
    const QString old = before.m_layout->text();
    const auto same = std::ranges::mismatch(text, old).in1 - text.begin();
    int first = std::min({static_cast<int>(same),
                          firstOtherStart(m_spans, before.m_spans),
                          firstOtherStart(m_signs, before.m_signs),
                          firstOtherStart(m_styles, before.m_styles)});
    for (const TextPiece* piece : {this, &before})
        if (!piece->m_formulas.empty()) // their pictures are not compared
            first = std::min(first, piece->m_formulas.front().start);
    return first;
}

double TextPiece::unchangedHeight(const TextPiece& before) const {
    const int first = firstOther(before);
    const int lines = std::min(m_layout->lineCount(), before.m_layout->lineCount());
    int line = 0;
    for (; line < lines; ++line) {
        const QTextLine own = m_layout->lineAt(line);
        const QTextLine old = before.m_layout->lineAt(line);
        const int end = own.textStart() + own.textLength();
        if (own.textStart() != old.textStart() || own.textLength() != old.textLength() ||
            end > first ||
            m_tops[static_cast<std::size_t>(line) + 1] !=
                before.m_tops[static_cast<std::size_t>(line) + 1])
            break;
    }
    return m_tops[static_cast<std::size_t>(line)];
}

} // namespace ui
