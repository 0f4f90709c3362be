// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chats/chat_row_delegate.h"

#include "ui/views/chats/chat_list_model.h"

#include <QLineEdit>
#include <QPainter>
#include <QTextLayout>

namespace ui {

namespace {

constexpr double kRowHeight = 44.0;
constexpr double kSectionHeight = 32.0;
constexpr double kSidePadding = 12.0;
constexpr double kTitleTop = 4.0;
constexpr double kTitleHeight = 20.0;
constexpr double kSubtitleHeight = 16.0;
constexpr double kMarkWidth = 3.0;

} // namespace

ChatRowDelegate::ChatRowDelegate(const Theme& theme, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_theme(theme) {}

int ChatRowDelegate::sectionHeight(const QModelIndex& index) const {
    return index.data(ChatListModel::IsFirstOfSectionRole).toBool() ? m_theme.scaled(kSectionHeight)
                                                                    : 0;
}

QSize ChatRowDelegate::sizeHint(const QStyleOptionViewItem& /*option*/,
                                const QModelIndex& index) const {
    return {m_theme.scaled(120), m_theme.scaled(kRowHeight) + sectionHeight(index)};
}

void ChatRowDelegate::paintSection(QPainter& painter,
                                   const QRect& area,
                                   const QString& name) const {
    QFont font = m_theme.font(TextRole::Small);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(m_theme.colours().muted);
    painter.drawText(area.adjusted(m_theme.scaled(kSidePadding), m_theme.scaled(8), 0, 0),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     name);
}

// Background and mark show which chat is open; the ring shows the focused row, which may be another
// one.
void ChatRowDelegate::paintGround(QPainter& painter,
                                  const QStyleOptionViewItem& option,
                                  bool isShown) const {
    const Colours& colours = m_theme.colours();
    const QRect& area = option.rect;
    const bool hasFocus = option.state.testFlag(QStyle::State_HasFocus);
    if (isShown) {
        painter.fillRect(area, colours.selection);
        painter.fillRect(QRect(area.topLeft(), QSize(m_theme.scaled(kMarkWidth), area.height())),
                         colours.accent);
    } else if (hasFocus || option.state.testFlag(QStyle::State_MouseOver)) {
        painter.fillRect(area, colours.hover);
    }
    if (hasFocus && (!isShown || option.state.testFlag(QStyle::State_KeyboardFocusChange))) {
        painter.setPen(QPen(colours.focus, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(area.adjusted(1, 1, -1, -1));
    }
}

/// The second line, with the words of the search highlighted.
void ChatRowDelegate::paintSubtitle(QPainter& painter,
                                    const QRect& line,
                                    const QModelIndex& index) const {
    const QFont font = m_theme.font(TextRole::Tiny);
    QFont bold = font;
    bold.setWeight(QFont::DemiBold);
    const QString text = QFontMetrics(bold).elidedText(
        index.data(ChatListModel::SubtitleRole).toString(), Qt::ElideRight, line.width());
    QTextCharFormat found;
    found.setFont(bold);
    found.setForeground(m_theme.colours().text);
    QList<QTextLayout::FormatRange> ranges;
    for (const QString& word : index.data(ChatListModel::FoundWordsRole).toStringList())
        for (qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive); at >= 0;
             at = text.indexOf(word, at + word.size(), Qt::CaseInsensitive))
            ranges.append({static_cast<int>(at), static_cast<int>(word.size()), found});
    QTextLayout layout(text, font);
    layout.setFormats(ranges);
    layout.beginLayout();
    layout.createLine().setLineWidth(line.width());
    layout.endLayout();
    painter.setPen(m_theme.colours().muted);
    layout.draw(
        &painter,
        {double(line.left()), line.top() + (line.height() - layout.boundingRect().height()) / 2});
}

void ChatRowDelegate::paint(QPainter* painter,
                            const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
    const Colours& colours = m_theme.colours();
    QStyleOptionViewItem rowOption = option;
    QRect& row = rowOption.rect;
    const int sectionPixels = sectionHeight(index);
    const bool isShown = index.data(ChatListModel::ChatIdRole).toLongLong() == m_shownId;
    painter->save();
    if (sectionPixels > 0)
        paintSection(*painter,
                     QRect(row.topLeft(), QSize(row.width(), sectionPixels)),
                     index.data(ChatListModel::SectionRole).toString());
    row.setTop(row.top() + sectionPixels);
    paintGround(*painter, rowOption, isShown);

    QFont titleFont = m_theme.font(TextRole::Interface);
    if (isShown)
        titleFont.setWeight(QFont::DemiBold);
    const int side = m_theme.scaled(kSidePadding);
    QRect line(row.left() + side,
               row.top() + m_theme.scaled(kTitleTop),
               row.width() - 2 * side,
               m_theme.scaled(kTitleHeight));
    const auto drawLine = [&](const QFont& font, const QColor& colour, const QString& text) {
        painter->setFont(font);
        painter->setPen(colour);
        painter->drawText(line,
                          Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                          QFontMetrics(font).elidedText(text, Qt::ElideRight, line.width()));
    };
    drawLine(titleFont, colours.text, index.data(Qt::DisplayRole).toString());
    line.moveTop(line.bottom() + 1);
    line.setHeight(m_theme.scaled(kSubtitleHeight));
    paintSubtitle(*painter, line, index);
    painter->restore();
}

QWidget* ChatRowDelegate::createEditor(QWidget* parent,
                                       const QStyleOptionViewItem& /*option*/,
                                       const QModelIndex& /*index*/) const {
    auto* const editor = new QLineEdit(parent);
    editor->setAccessibleName(tr("Title of the chat"));
    editor->setMaxLength(200);
    return editor;
}

/// What was typed stays when the chat changes meanwhile, as when an answer in it ends.
void ChatRowDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const {
    const auto* line = qobject_cast<const QLineEdit*>(editor);
    if (line == nullptr || !line->isModified())
        QStyledItemDelegate::setEditorData(editor, index);
}

void ChatRowDelegate::updateEditorGeometry(QWidget* editor,
                                           const QStyleOptionViewItem& option,
                                           const QModelIndex& index) const {
    QRect row = option.rect;
    row.setTop(row.top() + sectionHeight(index));
    const int side = m_theme.scaled(kSidePadding) - m_theme.scaled(6);
    editor->setGeometry(row.left() + side,
                        row.top() + m_theme.scaled(kTitleTop) - 2,
                        row.width() - 2 * side,
                        m_theme.scaled(24));
}

} // namespace ui
