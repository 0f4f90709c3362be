// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/answer_page.h"

#include "engine/experiments/report/analysis/run_data.h"
#include "ui/origin/origin_legend.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/text/message_body.h"
#include "ui/theme/tip_text.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QToolTip>
#include <QVBoxLayout>

namespace ui {

namespace {

constexpr double kTextColumn = 728.0; ///< pixels at 100 %

/// What was measured on one answer, in words.
QString figuresOf(const engine::ShardAnswer& answer, std::optional<double> speed) {
    QStringList words{
        countText(answer.tokens, AnswerPage::tr("1 token"), AnswerPage::tr("%1 tokens"))};
    if (answer.decodeMs > 0.0)
        words << AnswerPage::tr("%1 tok/s")
                     .arg(static_cast<double>(answer.tokens) * 1e3 / answer.decodeMs, 0, 'f', 1);
    if (answer.variant == "vanilla")
        return words.join(QStringLiteral(" \u00B7 "));
    if (speed)
        words << AnswerPage::tr("%1 vanilla").arg(factorText(*speed));
    if (const auto m = answer.decoding.tokensPerRound())
        words << AnswerPage::tr("M %1").arg(*m, 0, 'f', 2);
    if (answer.decoding.draftSteps > 0)
        words << AnswerPage::tr("accepted %1 of %2 drafted")
                     .arg(numberText(answer.decoding.accepted),
                          numberText(answer.decoding.draftSteps));
    const QString drafters = draftedByText(answer.drafters, answer.draftedUntil, answer.tokens);
    if (!drafters.isEmpty())
        words << AnswerPage::tr("drafted by: %1").arg(drafters);
    if (answer.isEqual)
        words << (*answer.isEqual ? AnswerPage::tr("the same tokens as vanilla")
                                  : AnswerPage::tr("differs from vanilla from token %1 on")
                                        .arg(answer.differsAt.value_or(0) + 1));
    return words.join(QStringLiteral(" \u00B7 "));
}

} // namespace

MarkedText markedText(const std::vector<const engine::ShardRound*>& rounds) {
    MarkedText marked;
    int step = 0;
    for (const engine::ShardRound* round : rounds) {
        for (std::size_t i = 0; i < round->tokens.size(); ++i) {
            TokenMark token;
            token.begin = static_cast<int>(marked.text.size());
            marked.text += QString::fromStdString(round->tokens[i]);
            token.end = static_cast<int>(marked.text.size());
            const int rank = i < round->ranks.size() ? round->ranks[i] : 0;
            using Origin = engine::TokenOrigin;
            token.rank = rank - 1;
            token.origin = rank == 1               ? Origin::Draft
                           : rank > 1              ? Origin::Sibling
                           : round->draftSteps > 0 ? Origin::Bonus
                                                   : Origin::Vanilla;
            token.step = step;
            token.stepMs = round->draftMs + round->verifyMs + round->searchMs;
            marked.tokens.push_back(token);
        }
        ++step;
    }
    return marked;
}

AnswerPage::AnswerPage(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_head(new QWidget)
    , m_back(new QPushButton(tr("All prompts")))
    , m_title(plainLabel(this))
    , m_scroll(new ColumnScroll) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    m_back->setToolTip(tr("Back to the course of the stream (Esc)"));
    m_title->setProperty("tone", QStringLiteral("bold"));
    auto* row = new QHBoxLayout(m_head);
    row->addWidget(m_back);
    row->addWidget(m_title, 1);
    for (const int direction : {-1, 1}) {
        auto* step = new QPushButton(direction < 0 ? tr("Previous") : tr("Next"));
        step->setProperty("form", QStringLiteral("small"));
        step->setAccessibleName(direction < 0 ? tr("Previous prompt of the table")
                                              : tr("Next prompt of the table"));
        connect(
            step, &QPushButton::clicked, this, [this, direction] { emit stepAsked(direction); });
        row->addWidget(step);
    }
    m_back->setProperty("form", QStringLiteral("small"));
    auto* content = new QWidget;
    content->setAttribute(Qt::WA_StyledBackground);
    content->setProperty("ground", QStringLiteral("panel"));
    m_column = new QVBoxLayout(content);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(content);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_head);
    column->addWidget(m_scroll, 1);
    connect(m_back, &QPushButton::clicked, this, &AnswerPage::closed);
    connect(&theme, &Theme::changed, this, &AnswerPage::restyle);
    restyle();
}

void AnswerPage::clear() {
    while (QLayoutItem* item = m_column->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

void AnswerPage::begin(int prompt) {
    m_prompt = prompt;
    m_title->setText(tr("Prompt %1").arg(numberText(prompt)));
    if (!m_head->isAncestorOf(QApplication::focusWidget())) // else a button here is being pressed
        m_back->setFocus(Qt::ShortcutFocusReason);
}

void AnswerPage::addTitle(const QString& words, const QString& figures) {
    auto* title = plainLabel(this, true);
    title->setText(words);
    title->setProperty("tone", QStringLiteral("bold"));
    m_column->addWidget(title);
    if (figures.isEmpty())
        return;
    auto* line = plainLabel(this, true);
    line->setText(figures);
    line->setProperty("tone", QStringLiteral("small"));
    m_column->addWidget(line);
}

void AnswerPage::setAnswers(const AnswersPicture& picture, std::optional<double> speed) {
    clear();
    const engine::PromptAnswers& kept = picture.kept;
    const QString task = QString::fromStdString(engine::readableTask(kept.prompt.task));
    begin(picture.prompt);
    if (!task.isEmpty())
        m_title->setText(tr("Prompt %1 \u00B7 %2").arg(numberText(picture.prompt), task));
    addTitle(picture.problem.isEmpty() ? tr("Prompt") : picture.problem, {});
    for (const std::string& turn : kept.prompt.turns) {
        auto* text = plainLabel(this, true);
        text->setText(QString::fromStdString(turn));
        text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        m_column->addWidget(text);
    }
    if (!kept.rounds.empty())
        m_column->addWidget(new OriginLegend(m_theme));
    for (const engine::ShardAnswer& answer : kept.answers)
        addAnswer(answer, kept, answer.variant == picture.subject ? speed : std::nullopt);
    m_column->addStretch(1);
}

void AnswerPage::addAnswer(const engine::ShardAnswer& answer,
                           const engine::PromptAnswers& kept,
                           std::optional<double> speed) {
    const QString name = readableTitle(QString::fromStdString(answer.variant));
    addTitle(name, figuresOf(answer, speed));
    std::vector<const engine::ShardRound*> rounds;
    for (const engine::ShardRound& round : kept.rounds)
        if (round.variant == answer.variant)
            rounds.push_back(&round);
    MarkedText marked = markedText(rounds);
    if (marked.tokens.empty())
        marked.text = QString::fromStdString(answer.text);
    if (marked.text.isEmpty() && marked.tokens.empty()) { // an answer may be nothing but its end
        addTitle(tr("No text"),
                 tr("The run has not kept this text. Recipes keep texts with keep_texts, and "
                    "the origin of their tokens with keep_rounds."));
        return;
    }
    auto* body = new MessageBody(m_theme);
    body->setColumnWidth(m_theme.scaled(kTextColumn));
    body->setShowsOrigin(!marked.tokens.empty());
    body->setMessage(marked.text, marked.tokens);
    body->setAccessibleName(tr("Answer of %1").arg(name));
    connect(body, &MessageBody::tokenHovered, body, [body](int token, const QPoint& at) {
        const auto place = static_cast<std::size_t>(token);
        QToolTip::showText(
            at, token < 0 ? QString() : tipOf(originInWords(body->tokens()[place])), body);
    });
    m_column->addWidget(body);
}

void AnswerPage::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
    case Qt::Key_Escape:
        emit closed();
        return;
    case Qt::Key_PageUp:
        emit stepAsked(-1);
        return;
    case Qt::Key_PageDown:
        emit stepAsked(1);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void AnswerPage::restyle() {
    const int side = m_theme.scaled(12);
    m_head->layout()->setContentsMargins(side, m_theme.scaled(6), side, m_theme.scaled(6));
    m_head->layout()->setSpacing(side);
    m_column->setContentsMargins(side, side, side, side);
    m_column->setSpacing(m_theme.scaled(6));
    for (MessageBody* body : findChildren<MessageBody*>())
        body->setColumnWidth(m_theme.scaled(kTextColumn));
}

} // namespace ui
