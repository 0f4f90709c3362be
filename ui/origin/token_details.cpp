// SPDX-License-Identifier: GPL-3.0-only
#include "ui/origin/token_details.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

enum Row { kId, kConfidence, kRank, kTarget, kStep, kTime, kRowCount };

QString probabilityText(double probability) { return QLocale::c().toString(probability, 'f', 3); }

} // namespace

TokenDetails::TokenDetails(const Theme& theme, QWidget* parent)
    : QFrame(parent)
    , m_theme(theme) {
    setAccessibleName(tr("Token details"));
    setFocusPolicy(Qt::StrongFocus);
    auto* grid = new QGridLayout(this);
    m_text = plainLabel(this);
    m_origin = plainLabel(this, true);
    grid->addWidget(m_text, 0, 0, 1, 2);
    grid->addWidget(m_origin, 1, 0, 1, 2);
    grid->setRowMinimumHeight(2, theme.scaled(6));
    for (const QString& name : {tr("Token id"),
                                tr("Draft's confidence"),
                                tr("Draft's choice"),
                                tr("Full model's probability"),
                                tr("Step"),
                                tr("Time of the step")})
        m_values.push_back(addRow(name));
    m_choicesTitle = plainLabel(this, true);
    m_choicesTitle->setText(tr("Likely here \u00B7 click one to continue with it"));
    m_choicesTitle->hide();
    grid->addWidget(m_choicesTitle, grid->rowCount(), 0, 1, 2);
    m_choices = new QVBoxLayout;
    m_choices->setSpacing(theme.scaled(2));
    grid->addLayout(m_choices, grid->rowCount(), 0, 1, 2);
    m_hint = plainLabel(this);
    grid->addWidget(m_hint, grid->rowCount(), 0, 1, 2);
    setPinned(false);
    applyTheme();
    connect(&m_theme, &Theme::changed, this, &TokenDetails::applyTheme);
}

QLabel* TokenDetails::addRow(const QString& name) {
    auto* grid = static_cast<QGridLayout*>(layout());
    const int row = std::max(3, grid->rowCount());
    m_names.push_back(plainLabel(this));
    m_names.back()->setText(name);
    auto* value = plainLabel(this);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(m_names.back(), row, 0);
    grid->addWidget(value, row, 1);
    return value;
}

void TokenDetails::setToken(const TokenMark& token, const QString& text) {
    const QString none = tr("not drafted");
    const bool isDrafted = token.rank >= 0;
    m_text->setText(text.isEmpty() ? tr("(no visible text)") : visibleTokenText(text));
    m_origin->setText(originInWords(token));
    m_values[kId]->setText(token.id < 0 ? tr("unknown") : QString::number(token.id));
    m_values[kConfidence]->setText(isDrafted ? probabilityText(token.draftProbability) : none);
    m_values[kRank]->setText(isDrafted ? QString::number(token.rank + 1) : none);
    m_values[kTarget]->setText(probabilityText(token.targetProbability));
    m_values[kStep]->setText(token.step < 0 ? tr("none") : QString::number(token.step + 1));
    m_values[kTime]->setText(tr("%1 ms").arg(QLocale::c().toString(token.stepMs, 'f', 1)));

    setAccessibleDescription(summary());
}

void TokenDetails::setChoices(const QList<engine::TokenChoice>& choices,
                              engine::TokenId current,
                              bool canBranch) {
    while (QLayoutItem* item = m_choices->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const engine::TokenChoice& choice : choices)
        addChoice(choice, choice.id == current, canBranch);
    m_choicesTitle->setVisible(!choices.isEmpty());
}

void TokenDetails::addChoice(const engine::TokenChoice& choice, bool isCurrent, bool canBranch) {
    const QString text = QString::fromStdString(choice.text);
    const QString probability = probabilityText(choice.probability);
    auto* button = new QPushButton(this);
    button->setProperty("form", "small");
    button->setAutoDefault(false);
    button->setEnabled(canBranch && !isCurrent);
    button->setAccessibleName(
        isCurrent ? tr("%1, the token itself, probability %2").arg(text, probability)
                  : tr("Branch here with %1, probability %2").arg(text, probability));
    button->setToolTip(isCurrent
                           ? tr("The token itself")
                           : tr("Start a new branch here: the answer up to this point stays, and "
                                "the model continues after this token."));
    auto* row = new QHBoxLayout(button);
    row->setContentsMargins(m_theme.scaled(8), 0, m_theme.scaled(8), 0);
    auto* words = plainLabel(button);
    words->setText(isCurrent ? tr("%1 \u00B7 this one").arg(visibleTokenText(text))
                             : visibleTokenText(text));
    words->setFont(m_theme.font(TextRole::Code));
    auto* share = plainLabel(button);
    share->setText(probability);
    share->setFont(m_theme.font(TextRole::Figure));
    for (QLabel* label : {words, share})
        label->setAttribute(Qt::WA_TransparentForMouseEvents);
    row->addWidget(words, 1);
    row->addWidget(share);
    // Copied first, because the request may delete the button.
    connect(button, &QPushButton::clicked, this, [this, choice] {
        const engine::TokenChoice chosen = choice;
        emit branchAsked(chosen);
    });
    m_choices->addWidget(button);
    // Asks for room now and not with the parent, which may already be shown.
    button->show();
}

void TokenDetails::setPinned(bool isPinned) {
    m_isPinned = isPinned;
    m_hint->setText(isPinned ? tr("Esc closes, arrow keys move.") : tr("Click the token to pin."));
}

QString TokenDetails::summary() const {
    QStringList sentences{tr("Token %1.").arg(m_text->text()), m_origin->text() + u'.'};
    for (std::size_t row = 0; row < kRowCount; ++row)
        sentences << tr("%1: %2.").arg(m_names[row]->text(), m_values[row]->text());
    return sentences.join(u' ');
}

/// While the popup has the focus, Esc belongs to it, whatever the window uses Esc for.
bool TokenDetails::event(QEvent* event) {
    if (event->type() != QEvent::ShortcutOverride ||
        static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape)
        return QFrame::event(event);
    event->accept();
    return true;
}

void TokenDetails::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        emit closeRequested();
    else
        QFrame::keyPressEvent(event);
}

void TokenDetails::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(hasFocus() ? colours.focus : colours.controlBorder);
    painter.setBrush(colours.tipGround);
    const double radius = m_theme.scaled(4);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

void TokenDetails::applyTheme() {
    const Colours& colours = m_theme.colours();
    auto* grid = static_cast<QGridLayout*>(layout());
    const int side = m_theme.scaled(12);
    grid->setContentsMargins(side, m_theme.scaled(8), side, m_theme.scaled(8));
    grid->setHorizontalSpacing(m_theme.scaled(24));
    grid->setVerticalSpacing(m_theme.scaled(2));
    const auto dress = [&](QLabel* label, TextRole role, const QColor& colour) {
        setTextColour(*label, colour);
        label->setFont(m_theme.font(role));
    };
    dress(m_text, TextRole::Code, colours.text);
    dress(m_origin, TextRole::Small, colours.text);
    dress(m_hint, TextRole::Tiny, colours.muted);
    dress(m_choicesTitle, TextRole::Small, colours.muted);
    for (QLabel* name : m_names)
        dress(name, TextRole::Small, colours.muted);
    for (QLabel* value : m_values)
        dress(value, TextRole::Figure, colours.text);
    setFixedWidth(m_theme.scaled(280));
    update();
}

} // namespace ui
