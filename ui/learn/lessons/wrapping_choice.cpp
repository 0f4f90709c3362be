// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/wrapping_choice.h"

#include <QStyleOptionButton>
#include <QStylePainter>

#include <algorithm>

namespace ui {

namespace {

constexpr int kLeastLetters = 8;
constexpr int kHowTextStands =
    Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap | Qt::TextShowMnemonic;

} // namespace

WrappingChoice::WrappingChoice(QWidget* parent)
    : WrappingChoice(QString(), parent) {}

/// A radio button would never be narrower than its text in one line.
WrappingChoice::WrappingChoice(const QString& text, QWidget* parent)
    : QRadioButton(text, parent) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum, QSizePolicy::RadioButton);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

/// Where the text stands in a button of this width.
QRect WrappingChoice::textRect(int width) const {
    QStyleOptionButton option;
    initStyleOption(&option);
    option.rect = QRect(0, 0, width, QRadioButton::sizeHint().height());
    const QRect line = style()->subElementRect(QStyle::SE_RadioButtonContents, &option, this);
    const int letters = std::max(1, line.width());
    QRect text =
        fontMetrics().boundingRect(QRect(0, 0, letters, 1 << 20), kHowTextStands, this->text());
    const int above = (option.rect.height() - fontMetrics().height()) / 2;
    text.setRect(line.left(), above, letters, text.height());
    return text;
}

int WrappingChoice::heightForWidth(int width) const {
    const QRect text = textRect(width);
    return std::max(QRadioButton::sizeHint().height(), text.height() + 2 * text.top());
}

QSize WrappingChoice::minimumSizeHint() const {
    const QSize whole = QRadioButton::sizeHint();
    const int mark = whole.width() - fontMetrics().horizontalAdvance(text());
    const int letters = kLeastLetters * fontMetrics().averageCharWidth();
    return {std::min(whole.width(), std::max(0, mark) + letters), whole.height()};
}

/// The mark stands beside the first line.
void WrappingChoice::paintEvent(QPaintEvent* /*event*/) {
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    option.text.clear();
    option.rect.setHeight(QRadioButton::sizeHint().height());
    painter.drawControl(QStyle::CE_RadioButton, option);
    style()->drawItemText(&painter,
                          textRect(width()),
                          kHowTextStands,
                          palette(),
                          isEnabled(),
                          text(),
                          QPalette::WindowText);
}

} // namespace ui
