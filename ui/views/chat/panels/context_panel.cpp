// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/panels/context_panel.h"

#include "ui/icons/icons.h"
#include "ui/learn/lessons/wrapping_choice.h"
#include "ui/shell/figure_text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

ContextPanel::ContextPanel(const Theme& theme, QWidget* parent)
    : QFrame(parent)
    , m_theme(theme)
    , m_icon(new QLabel(this))
    , m_title(new QLabel(this))
    , m_newChat(new WrappingChoice(this))
    , m_dropOldest(new WrappingChoice(this))
    , m_cutMiddle(new WrappingChoice(this))
    , m_continue(new QPushButton(tr("Continue"), this))
    , m_cancel(new QPushButton(tr("Write a shorter message"), this))
    , m_note(new QLabel(tr("You are asked once per chat. Nothing is cut without your "
                           "choice."),
                        this)) {
    setAccessibleName(tr("The context is full"));
    // It comes in the middle of a chat, and must not widen the window.
    for (QLabel* sentence : {m_title, m_note})
        sentence->setWordWrap(true);
    m_newChat->setText(tr("Continue in a new chat with a summary \u00B7 this chat stays complete"));
    m_dropOldest->setText(tr("Drop the oldest messages"));
    m_cutMiddle->setText(tr("Cut the middle, keep the start"));
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(
        theme.scaled(12), theme.scaled(10), theme.scaled(12), theme.scaled(10));
    rows->setSpacing(theme.scaled(6));
    auto* top = new QHBoxLayout;
    top->addWidget(m_icon);
    top->addWidget(m_title, 1);
    rows->addLayout(top);
    for (QRadioButton* choice : {m_newChat, m_dropOldest, m_cutMiddle})
        rows->addWidget(choice);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_continue);
    buttons->addWidget(m_cancel);
    buttons->addStretch();
    rows->addLayout(buttons);
    rows->addWidget(m_note);
    connect(m_continue, &QPushButton::clicked, this, [this] {
        if (m_newChat->isChecked())
            emit newChatChosen();
        else
            emit chosen(m_dropOldest->isChecked() ? engine::ContextPolicy::DropOldest
                                                  : engine::ContextPolicy::CutMiddle);
    });
    connect(m_cancel, &QPushButton::clicked, this, &ContextPanel::dismissed);
    connect(&theme, &Theme::changed, this, &ContextPanel::restyle);
    restyle();
}

void ContextPanel::ask(const ContextQuestion& question) {
    m_title->setText(tr("The context is full: %1 of %2 tokens. How do you want to continue?")
                         .arg(numberText(question.usedTokens), numberText(question.contextLength)));
    const auto words = [](const QString& what, const engine::ContextFit& fit) {
        return fit.isEnough
                   ? tr("%1 \u00B7 %2, %3")
                         .arg(what,
                              countText(fit.droppedMessages, tr("1 message"), tr("%1 messages")),
                              countText(fit.droppedTokens, tr("1 token"), tr("%1 tokens")))
                   : tr("%1 \u00B7 would not free enough").arg(what);
    };
    m_dropOldest->setText(words(tr("Drop the oldest messages"), question.dropOldest));
    m_cutMiddle->setText(words(tr("Cut the middle, keep the start"), question.cutMiddle));
    // A summary is made of the messages that fit; a message that is too long by itself fits
    // nowhere.
    const bool canDrop = question.dropOldest.isEnough;
    m_newChat->setEnabled(canDrop && question.dropOldest.isSent.size() > 1);
    m_dropOldest->setEnabled(canDrop);
    m_cutMiddle->setEnabled(question.cutMiddle.isEnough);
    chooseFirst(std::exchange(m_askedFor, question.leaf) == question.leaf);
    setBusy(false);
    m_continue->setEnabled(canDrop || question.cutMiddle.isEnough);
}

/// The same question may be asked repeatedly: the user's choice stays while it is possible.
void ContextPanel::chooseFirst(bool isSameQuestion) {
    const std::array choices = {m_newChat, m_dropOldest, m_cutMiddle};
    const auto isPossible = [](const QRadioButton* choice) { return choice->isEnabled(); };
    const auto chosen = std::ranges::find_if(choices, &QRadioButton::isChecked);
    if (isSameQuestion && chosen != choices.end() && isPossible(*chosen))
        return;
    const auto first = std::ranges::find_if(choices, isPossible);
    if (first != choices.end())
        (*first)->setChecked(true);
}

void ContextPanel::setBusy(bool isBusy) {
    m_continue->setEnabled(!isBusy);
    m_note->setText(isBusy ? tr("The model is writing the summary. Esc stops it.")
                           : tr("You are asked once per chat. Nothing is cut without your "
                                "choice."));
}

void ContextPanel::restyle() {
    m_icon->setPixmap(iconPixmap(
        IconName::Warning, m_theme.colours().warning, m_theme.scaled(16), devicePixelRatioF()));
    m_title->setProperty("tone", "bold");
    m_note->setFont(m_theme.font(TextRole::Small));
    m_continue->setProperty("kind", "primary");
    m_continue->setProperty("form", "small");
    m_cancel->setProperty("form", "small");
    update();
}

void ContextPanel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_theme.colours().warningLine);
    painter.setBrush(m_theme.colours().warningGround);
    painter.drawRoundedRect(QRectF(rect()).adjusted(.5, .5, -.5, -.5), 6, 6);
}

} // namespace ui
