// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/docks/explanation_card.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kWidth = 340;

QLabel* label(const QString& text, const QFont& font, QWidget* parent) {
    auto* made = new QLabel(text, parent);
    made->setTextFormat(Qt::PlainText);
    made->setWordWrap(true);
    made->setFont(font);
    return made;
}

} // namespace

ExplanationCard::ExplanationCard(const Theme& theme, const View& view)
    : QFrame(view.window(), Qt::Popup) {
    setAttribute(Qt::WA_DeleteOnClose);
    setFrameShape(QFrame::Box);
    setProperty("ground", "panel");
    setAccessibleName(view.info().title);
    setAccessibleDescription(view.info().explanation);
    auto* column = new QVBoxLayout(this);
    const int side = theme.scaled(12);
    column->setContentsMargins(side, side, side, side);
    column->setSpacing(theme.scaled(6));
    column->addWidget(label(view.info().title, theme.font(TextRole::Title), this));
    column->addWidget(label(view.info().explanation, theme.font(TextRole::Interface), this));
    setFixedWidth(theme.scaled(kWidth));
    setFixedHeight(column->heightForWidth(width()));
}

void ExplanationCard::showBeside(const View& view) {
    const QRect seen(view.mapToGlobal(QPoint()), view.size());
    const QRect whole(view.window()->mapToGlobal(QPoint()), view.window()->size());
    const int left = seen.left() - whole.left();
    const int right = whole.right() - seen.right();
    const int above = seen.top() - whole.top();
    QPoint place = seen.topLeft();
    if (std::max(left, right) >= width())
        place.setX(right >= left ? seen.right() + 1 : seen.left() - width());
    else
        place.setY(above >= height() ? seen.top() - height() : seen.bottom() + 1);
    place.setX(
        std::clamp(place.x(), whole.left(), std::max(whole.left(), whole.right() - width())));
    place.setY(
        std::clamp(place.y(), whole.top(), std::max(whole.top(), whole.bottom() - height())));
    move(place);
    show();
}

} // namespace ui
