// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/page_header.h"

#include "ui/shell/widgets/live_label.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>

#include <algorithm>

namespace ui {

PageHeader::PageHeader(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_row(new QHBoxLayout(this))
    , m_title(
          new LiveLabel(theme, TextRole::Title, &Colours::text, LiveLabel::Fit::WholeOrCut, this))
    , m_sentence(new LiveLabel(theme, TextRole::Small, &Colours::muted, LiveLabel::Fit::Cut, this))
    , m_progress(new QProgressBar(this)) {
    m_progress->setRange(0, 1000);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the experiment"));
    m_row->addWidget(m_title);
    m_row->addWidget(m_sentence, 1);
    m_row->addWidget(m_progress);
    connect(&theme, &Theme::changed, this, &PageHeader::restyle);
    restyle();
    setProgress({});
}

void PageHeader::setTitle(const QString& title) { m_title->setText(title); }

void PageHeader::setSentence(const QString& sentence) { m_sentence->setText(sentence); }

void PageHeader::setProgress(const std::optional<double>& share) {
    m_progress->setVisible(share.has_value());
    if (share)
        m_progress->setValue(static_cast<int>(*share * 1000.0));
}

QPushButton* PageHeader::addButton(const QString& text, bool isMain) {
    auto* button = new QPushButton(text, this);
    button->setProperty("form", QStringLiteral("small"));
    if (isMain)
        button->setProperty("kind", QStringLiteral("primary"));
    m_row->addWidget(button);
    m_buttons.insert(isMain ? m_buttons.begin() : m_buttons.end(), button);
    return button;
}

void PageHeader::changeButtons(const std::function<void()>& change, QWidget* otherwise) {
    const QWidget* focused = focusWidget();
    const bool hadFocus = focused != nullptr && focused->hasFocus();
    change();
    if (!hadFocus || !focused->isHidden())
        return;
    const auto shown = std::ranges::find_if_not(m_buttons, &QWidget::isHidden);
    if (QWidget* next = shown != m_buttons.end() ? *shown : otherwise)
        next->setFocus(Qt::OtherFocusReason);
}

void PageHeader::restyle() {
    setFixedHeight(m_theme.scaled(40));
    m_row->setContentsMargins(m_theme.scaled(12), 0, m_theme.scaled(12), 1);
    m_row->setSpacing(m_theme.scaled(8));
    m_progress->setFixedWidth(m_theme.scaled(110));
    update();
}

void PageHeader::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), m_theme.colours().border);
}

} // namespace ui
