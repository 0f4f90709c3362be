// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/message_layout.h"

#include <algorithm>
#include <optional>

namespace ui {

namespace {

/// Collects the selected text; separators are written only between pieces that are present.
class CopyWriter {
public:
    CopyWriter(SourceRange range, FormulaForm form)
        : m_range(range)
        , m_form(form) {}

    void addBlock(const BlockView& block) {
        part(block.isTight() ? QStringLiteral("\n") : QStringLiteral("\n\n"));
        addMarkers(block);
        addParts(block);
    }

    void addParts(const BlockView& block) {
        std::optional<std::size_t> before;
        for (std::size_t i = 0; i < block.parts().size(); ++i) {
            const TextPiece& piece = block.parts()[i].piece;
            if (isOutside(piece))
                continue;
            if (block.columnCount() > 0)
                partCells(block, before, i);
            before = i;
            add(piece.textBetween(m_range, m_form));
            const int newline = piece.source().end - 1;
            if (piece.endsLine() && newline < m_range.end && newline >= m_range.begin)
                m_between += u'\n';
        }
    }

    QString text() const { return m_text; }

private:
    bool isOutside(const TextPiece& piece) const {
        const SourceRange own = piece.source();
        return own.isEmpty() || own.end <= m_range.begin || own.begin >= m_range.end;
    }

    void part(const QString& between) { m_between = m_text.isEmpty() ? QString() : between; }

    void add(const QString& text) {
        m_text += m_between + text;
        m_between.clear();
    }

    /// What parts a cell of a table from the one that was copied before it. Cells without text are
    /// in no selection, but keep their columns: between others, and in front of the first cell if
    /// the selection begins before it.
    void partCells(const BlockView& block, std::optional<std::size_t> before, std::size_t cell) {
        const auto hasText = [](const PlacedPiece& placed) {
            return !placed.piece.source().isEmpty();
        };
        const auto first = block.parts().begin();
        const auto own = first + static_cast<std::ptrdiff_t>(cell);
        if (!before && m_range.begin < own->piece.source().begin &&
            std::none_of(first, own, hasText))
            before = std::size_t{0};
        const auto columns = static_cast<std::size_t>(block.columnCount());
        for (std::size_t i = before.value_or(cell) + 1; i <= cell; ++i)
            m_between += i % columns == 0 ? u'\n' : u'\t';
    }

    /// A marker is copied with the beginning of its item.
    void addMarkers(const BlockView& block) {
        if (block.markers().empty() || block.parts().empty())
            return;
        const SourceRange first = block.parts().front().piece.source();
        if (first.isEmpty() || first.begin < m_range.begin || first.begin >= m_range.end)
            return;
        QString markers(2 * std::max(0, block.listDepth() - 1), u' ');
        const QString shown = block.markers().back().piece.textBetween({0, first.begin + 1});
        if (shown == u"\u2022")
            markers += QStringLiteral("- ");
        else if (shown == u"\u2610")
            markers += QStringLiteral("- [ ] ");
        else if (shown == u"\u2611")
            markers += QStringLiteral("- [x] ");
        else
            markers += shown + u' ';
        add(markers);
    }

    SourceRange m_range;
    FormulaForm m_form;
    QString m_text;
    QString m_between;
};

} // namespace

QString copiedText(const MessageLayout& layout, SourceRange range, FormulaForm form) {
    CopyWriter writer(range, form);
    for (const BlockView& block : layout.blocks()) {
        const SourceRange own = sourceOf(block);
        if (own.begin >= 0 && own.end > range.begin && own.begin < range.end)
            writer.addBlock(block);
    }
    return writer.text();
}

QString copiedCode(const BlockView& block) {
    CopyWriter writer(sourceOf(block), FormulaForm::Source);
    writer.addParts(block);
    return writer.text();
}

} // namespace ui
