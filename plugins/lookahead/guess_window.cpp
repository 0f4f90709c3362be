// SPDX-License-Identifier: Apache-2.0
#include "plugins/lookahead/guess_window.h"

#include "engine/base/result.h"

namespace lookahead {

using namespace engine;

namespace {

TokenId cell(const Ngram& row, int column) { return row[static_cast<std::size_t>(column)]; }

} // namespace

void GuessWindow::begin(const WindowShape& shape, PromptFiller& filler) {
    ENGINE_CHECK(
        shape.columns >= 1 && shape.size >= 2, "a window of {} by {}", shape.columns, shape.size);
    m_shape = shape;
    m_rows.assign(1, {});
    for (int left = shape.columns + shape.size - 3; left > 0; --left)
        m_rows.front().push_back(filler.next());
}

void GuessWindow::cutTo(int columns) {
    if (columns >= this->columns())
        return;
    if (columns <= 0) {
        m_rows.clear();
        return;
    }
    for (Ngram& row : m_rows)
        row.resize(static_cast<std::size_t>(&row == &m_rows.front() ? columns - 1 : columns));
}

/// Among the rows beside the draft; -1 for the pending token's cell, which is none of them.
int GuessWindow::sideIndex(int row, int column) const { return row * columns() + column - 1; }

std::vector<SideRow> GuessWindow::sides(int draftNodes) const {
    std::vector<SideRow> sides;
    for (int row = 0; row < static_cast<int>(m_rows.size()); ++row)
        for (int column = row == 0 ? 1 : 0; column < columns(); ++column) {
            const int above = row == 0 ? sideIndex(0, column - 1) : sideIndex(row - 1, column);
            const Ngram& tokens = m_rows[static_cast<std::size_t>(row)];
            sides.push_back({cell(tokens, row == 0 ? column - 1 : column),
                             above < 0 ? -1 : draftNodes + above});
        }
    return sides;
}

int GuessWindow::newestRow(int column, int draftNodes) const {
    const int side = sideIndex(static_cast<int>(m_rows.size()) - 1, column);
    return side < 0 ? 0 : 1 + draftNodes + side;
}

std::vector<WindowNgram> GuessWindow::ngrams(TokenId pending, std::span<const TokenId> next) const {
    std::vector<WindowNgram> found;
    for (int column = 0; column < columns(); ++column) {
        WindowNgram ngram;
        ngram.key = column == 0 ? pending : cell(m_rows.front(), column - 1);
        for (std::size_t row = 1; row < m_rows.size(); ++row)
            ngram.behind.push_back(cell(m_rows[row], column));
        ngram.behind.push_back(next[static_cast<std::size_t>(column)]);
        found.push_back(std::move(ngram));
    }
    return found;
}

void GuessWindow::advance(Ngram next) {
    ENGINE_CHECK(static_cast<int>(next.size()) == columns(),
                 "{} tokens behind a window of {} columns",
                 next.size(),
                 columns());
    if (m_rows.empty())
        return;
    const bool wasWarm = isWarm();
    if (!wasWarm && columns() == 1) { // was cut: nothing would be left
        m_rows.clear();
        return;
    }
    m_rows.push_back(std::move(next));
    if (wasWarm)
        m_rows.erase(m_rows.begin());
    const std::size_t narrower = wasWarm ? 1 : m_rows.size();
    for (std::size_t row = 0; row < narrower; ++row)
        m_rows[row].erase(m_rows[row].begin());
}

} // namespace lookahead
