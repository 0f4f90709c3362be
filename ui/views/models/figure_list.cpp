// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/figure_list.h"

#include <QGridLayout>
#include <QLabel>

#include <algorithm>

namespace ui {

namespace {

QLabel* makeLabel(const QString& text, const QFont& font, const QColor& colour) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setFont(font);
    setTextColour(*label, colour);
    return label;
}

} // namespace

QString breakable(const QString& text) {
    constexpr qsizetype kShortWord = 12;
    constexpr qsizetype kLongestPiece = 12;
    const QChar mayBreak(0x200b);
    const QChar mayNotBreak(0x2060);
    QStringList words = text.split(QLatin1Char(' '));
    for (QString& word : words) {
        if (word.size() <= kShortWord) {
            word.replace(u'/', QLatin1Char('/') + QString(mayNotBreak));
            continue;
        }
        const bool isCode = std::ranges::any_of(
            word, [](QChar letter) { return letter.isDigit(); }); // no word of a sentence
        QString made;
        qsizetype piece = 0; // since the last place where the word may break
        for (qsizetype i = 0; i < word.size(); ++i) {
            made += word[i];
            ++piece;
            const bool isInNumber = word[i] == u'.' && i + 1 < word.size() && word[i + 1].isDigit();
            const bool isMark = QStringLiteral("._/-").contains(word[i]) && !isInNumber;
            if (isMark || (isCode && piece >= kLongestPiece && !word[i].isHighSurrogate())) {
                made += mayBreak;
                piece = 0;
            }
        }
        word = made;
    }
    return words.join(QLatin1Char(' '));
}

FigureList::FigureList(const Theme& theme, TextRole valueRole, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_valueRole(valueRole) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(1, 1);
    connect(&theme, &Theme::changed, this, &FigureList::build);
}

void FigureList::setRows(std::vector<Row> rows) {
    m_rows = std::move(rows);
    build();
    setVisible(!m_rows.empty());
}

void FigureList::build() {
    qDeleteAll(findChildren<QLabel*>());
    auto* grid = static_cast<QGridLayout*>(layout());
    grid->setColumnMinimumWidth(0, m_theme.scaled(m_nameWidth));
    const Colours& colours = m_theme.colours();
    int line = 0;
    for (const Row& row : m_rows) {
        const TextRole nameRole = row.isSum ? TextRole::DockTitle : TextRole::Small;
        QFont valueFont = m_theme.font(m_valueRole);
        valueFont.setBold(row.isSum);
        const QColor ink = row.isAlarm ? colours.error : colours.text;
        auto* name = makeLabel(row.name,
                               m_theme.font(nameRole),
                               row.isAlarm ? colours.error
                               : row.isSum ? colours.text
                                           : colours.muted);
        name->setWordWrap(m_nameWidth > 0.0);
        const bool wraps = m_valueRole != TextRole::Figure;
        auto* value = makeLabel(wraps ? breakable(row.value) : row.value, valueFont, ink);
        value->setWordWrap(wraps);
        if (row.isSentence) { // below its name
            value->setAlignment(Qt::AlignLeft | Qt::AlignTop);
            grid->addWidget(name, line++, 0, 1, 2);
            grid->addWidget(value, line, 0, 1, 2);
        } else {
            value->setAlignment((m_nameWidth > 0.0 ? Qt::AlignLeft : Qt::AlignRight) |
                                Qt::AlignTop);
            grid->addWidget(name, line, 0, Qt::AlignTop);
            grid->addWidget(value, line, 1);
        }
        ++line;
    }
}

} // namespace ui
