// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/bars/banner.h"

#include "ui/icons/icons.h"
#include "ui/theme/tip_text.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

namespace {

struct Look {
    IconName icon;
    QColor sign;
    QColor ground;
    QColor line;
};

Look lookOf(Notice::Kind kind, const Colours& colours) {
    switch (kind) {
    case Notice::Kind::Finding:
        return {IconName::Info, colours.warning, colours.raised, colours.border};
    case Notice::Kind::Warning:
        return {IconName::Warning, colours.warning, colours.warningGround, colours.warningLine};
    case Notice::Kind::Error:
        return {IconName::Error, colours.error, colours.errorGround, colours.errorLine};
    case Notice::Kind::Info:
        break;
    }
    return {IconName::Info, colours.accent, colours.selection, colours.accent};
}

} // namespace

Banner::Banner(const Theme& theme, Notice notice, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_notice(std::move(notice)) {
    setAccessibleName(m_notice.headline);
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(theme.scaled(12), theme.scaled(8), theme.scaled(8), theme.scaled(8));
    rows->setSpacing(theme.scaled(6));
    auto* top = new QHBoxLayout;
    top->setSpacing(theme.scaled(8));
    m_icon = new QLabel(this);
    m_text = new QLabel(this);
    m_text->setTextFormat(Qt::RichText);
    m_text->setWordWrap(true);
    showText();
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_close = new QToolButton(this);
    m_close->setAccessibleName(tr("Close: %1").arg(m_notice.headline));
    m_close->setToolTip(tr("Close"));
    connect(m_close, &QToolButton::clicked, this, &Banner::closed);
    top->addWidget(m_icon, 0, Qt::AlignTop);
    top->addWidget(m_text, 1);
    rows->addLayout(top);
    if (!m_notice.choices.empty() || !m_notice.details.isEmpty())
        makeButtons(m_notice.isBrief ? *top : addRow(*rows));
    top->addWidget(m_close, 0, Qt::AlignTop);
    if (!m_notice.details.isEmpty()) {
        m_details = new QPlainTextEdit(m_notice.details, this);
        m_details->setReadOnly(true);
        m_details->setAccessibleName(tr("Details"));
        m_details->setMaximumHeight(theme.scaled(140));
        m_details->hide();
        rows->addWidget(m_details);
    }
    connect(&theme, &Theme::changed, this, &Banner::restyle);
    restyle();
}

void Banner::setSentence(const QString& sentence) {
    if (m_notice.sentence == sentence)
        return;
    m_notice.sentence = sentence;
    showText();
}

void Banner::showText() {
    setAccessibleDescription(m_notice.sentence);
    const QString sentence = m_notice.sentence.toHtmlEscaped();
    m_text->setText(
        QStringLiteral("<b>%1</b> %2")
            .arg(m_notice.headline.toHtmlEscaped(), m_notice.isBrief ? QString() : sentence));
    if (m_notice.isBrief)
        setTip(*m_text, m_notice.sentence);
}

/// Below the text and in line with it; its content is at the left.
QHBoxLayout& Banner::addRow(QVBoxLayout& rows) {
    auto* line = new QHBoxLayout;
    line->setContentsMargins(m_theme.scaled(24), 0, 0, 0);
    rows.addLayout(line);
    auto* row = new QHBoxLayout;
    row->setSpacing(m_theme.scaled(8));
    line->addLayout(row);
    line->addStretch();
    return *row;
}

void Banner::makeButtons(QHBoxLayout& row) {
    const auto add = [&](const QString& label) {
        auto* button = new QPushButton(label, this);
        button->setProperty("form", "small");
        row.addWidget(button);
        return button;
    };
    for (const Notice::Choice& choice : m_notice.choices) {
        QPushButton* button = add(choice.label);
        if (&choice == &m_notice.choices.front() && m_notice.kind != Notice::Kind::Finding)
            button->setProperty("kind", "primary");
        connect(button, &QPushButton::clicked, this, [this, choice] {
            choice.act();
            if (choice.closesBanner)
                emit closed();
        });
    }
    if (m_notice.details.isEmpty())
        return;
    QPushButton* details = add(tr("Details"));
    details->setCheckable(true);
    connect(details, &QPushButton::toggled, this, &Banner::showDetails);
    connect(add(tr("Copy report")), &QPushButton::clicked, this, [this] {
        QApplication::clipboard()->setText(m_notice.headline + QLatin1Char(' ') +
                                           m_notice.sentence + QLatin1Char('\n') +
                                           m_notice.details);
    });
}

void Banner::showDetails(bool isShown) { m_details->setVisible(isShown); }

/// A view with little height never cuts off its text. The text wraps, so the height it needs
/// depends on the width.
void Banner::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    setMinimumHeight(layout()->heightForWidth(width()));
}

void Banner::restyle() {
    const Look look = lookOf(m_notice.kind, m_theme.colours());
    m_icon->setPixmap(iconPixmap(look.icon, look.sign, m_theme.scaled(16), devicePixelRatioF()));
    m_close->setIcon(
        makeIcon(IconName::Close, m_theme.colours().muted, m_theme.colours().disabled));
    if (m_details != nullptr)
        m_details->setFont(m_theme.font(TextRole::Figure));
    update();
}

void Banner::paintEvent(QPaintEvent*) {
    const Look look = lookOf(m_notice.kind, m_theme.colours());
    QPainter painter(this);
    painter.fillRect(rect(), look.ground);
    painter.fillRect(QRect(0, height() - 1, width(), 1), look.line);
    if (m_notice.kind == Notice::Kind::Finding)
        painter.fillRect(QRect(0, 0, m_theme.scaled(3), height()), look.sign);
}

} // namespace ui
