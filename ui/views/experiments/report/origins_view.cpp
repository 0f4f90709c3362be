// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/origins_view.h"

#include "ui/origin/origin_legend.h"
#include "ui/shell/figure_text.h"
#include "ui/text/message_body.h"
#include "ui/theme/tip_text.h"
#include "ui/views/experiments/page/answer_page.h"

#include <QLabel>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace ui {

namespace {

constexpr std::size_t kMostOriginTexts = 24; ///< a page of more is too long to be read
constexpr double kAnswerColumn = 728.0;      ///< pixels at 100 %

/// How many tokens are first choices of the draft, its other choices, the full model's own.
using CountsByOrigin = std::array<qint64, 3>;

CountsByOrigin countsOf(const engine::OriginText& text) {
    CountsByOrigin counts{};
    for (const engine::OriginText::Token& token : text.tokens)
        ++counts[token.rank == 1 ? 0U : token.rank > 1 ? 1U : 2U];
    return counts;
}

std::array<QString, 3> originNames() {
    return {OriginsView::tr("accepted"), OriginsView::tr("alternative"), OriginsView::tr("own")};
}

qint64 sumOf(const CountsByOrigin& counts) { return counts[0] + counts[1] + counts[2]; }

/// "96 tokens · accepted: 60 (62 %) · own: 36 (38 %)"
QString countsInWords(const CountsByOrigin& counts) {
    const qint64 all = sumOf(counts);
    QStringList words{countText(all, OriginsView::tr("1 token"), OriginsView::tr("%1 tokens"))};
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        if (counts[kind] == 0)
            continue;
        const double share = static_cast<double>(counts[kind]) / static_cast<double>(all);
        words << QStringLiteral("%1: %2 (%3 %)")
                     .arg(originNames()[kind],
                          numberText(counts[kind]),
                          QString::number(100.0 * share, 'f', 0));
    }
    return words.join(QStringLiteral(" \u00B7 "));
}

void addCountRows(FigureTable& table, const QString& answer, const CountsByOrigin& counts) {
    const qint64 all = sumOf(counts);
    for (std::size_t kind = 0; kind < counts.size(); ++kind)
        table.rows.push_back(
            {answer,
             originNames()[kind],
             QString::number(counts[kind]),
             all > 0 ? numberCell(static_cast<double>(counts[kind]) / static_cast<double>(all))
                     : QString()});
}

/// The text as one round: which tokens belong together is not kept, nor are probabilities, so that
/// the marks are those of the legend.
MarkedText markedTextOf(const engine::OriginText& text) {
    engine::ShardRound round;
    round.draftSteps = 1;
    for (const engine::OriginText::Token& token : text.tokens) {
        round.tokens.push_back(token.text);
        round.ranks.push_back(std::max(token.rank, 0));
    }
    MarkedText marked = markedText({&round});
    for (TokenMark& token : marked.tokens)
        token.draftProbability = 1.0;
    return marked;
}

/// Of a token of the full model it is not known whether it follows a draft.
QString originTip(const TokenMark& token) {
    return token.origin == engine::TokenOrigin::Bonus ? OriginsView::tr("Written by the full model")
                                                      : originInWords(token);
}

bool isSameMark(const TokenMark& a, const TokenMark& b) {
    return a.begin == b.begin && a.origin == b.origin && a.rank == b.rank;
}

} // namespace

OriginsView::OriginsView(const ViewContext& context, QWidget* parent)
    : View(context,
           {QStringLiteral("token_origins"),
            tr("Where the tokens come from"),
            tr("The answers of this run, every token marked: drafted and confirmed, an alternative "
               "of the draft, or written by the full model. Tokens that complete no character are "
               "not counted. Compare tables 13 and 14 of the SWIFT paper."),
            {}},
           parent)
    , m_column(new QVBoxLayout(this))
    , m_more(plainLabel(this, true)) {
    m_column->addWidget(new OriginLegend(context.theme));
    m_more->setProperty("tone", QStringLiteral("small"));
    m_column->addWidget(m_more);
    connect(&context.theme, &Theme::changed, this, &OriginsView::restyle);
    restyle();
}

OriginsView::Answer OriginsView::addAnswer() {
    Answer answer{plainLabel(this, true), plainLabel(this, true), new MessageBody(theme(), this)};
    answer.title->setProperty("tone", QStringLiteral("bold"));
    answer.counts->setProperty("tone", QStringLiteral("small"));
    MessageBody* body = answer.body;
    body->setColumnWidth(theme().scaled(kAnswerColumn));
    body->setShowsOrigin(true);
    connect(body, &MessageBody::tokenHovered, body, [body](int token, const QPoint& at) {
        const auto place = static_cast<std::size_t>(token);
        QToolTip::showText(
            at, token < 0 ? QString() : tipOf(originTip(body->tokens()[place])), body);
    });
    for (QWidget* part : std::initializer_list<QWidget*>{answer.title, answer.counts, body})
        m_column->insertWidget(m_column->indexOf(m_more), part);
    return answer;
}

/// The answers stay while a result grows.
void OriginsView::setTexts(const std::vector<engine::OriginText>& texts) {
    const std::size_t shown = std::min(texts.size(), kMostOriginTexts);
    for (; m_answers.size() > shown; m_answers.pop_back()) {
        delete m_answers.back().title;
        delete m_answers.back().counts;
        delete m_answers.back().body;
    }
    while (m_answers.size() < shown)
        m_answers.push_back(addAnswer());
    m_table = FigureTable{{tr("Answer"), tr("Origin"), tr("Tokens"), tr("Share")}, {}};
    CountsByOrigin all{};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const QString title = QString::fromStdString(texts[i].title);
        const CountsByOrigin counts = countsOf(texts[i]);
        addCountRows(m_table, title, counts);
        for (std::size_t kind = 0; kind < counts.size(); ++kind)
            all[kind] += counts[kind];
        if (i >= shown)
            continue;
        const Answer& answer = m_answers[i];
        answer.title->setText(title);
        answer.counts->setText(countsInWords(counts));
        answer.body->setAccessibleName(tr("Answer of %1").arg(title));
        const MarkedText marked = markedTextOf(texts[i]);
        if (answer.body->source() != marked.text ||
            !std::ranges::equal(answer.body->tokens(), marked.tokens, isSameMark))
            answer.body->setMessage(marked.text, marked.tokens);
    }
    if (texts.size() > 1)
        addCountRows(m_table, tr("All answers"), all);
    setSubtitle(countsInWords(all));
    setAccessibleDescription(subtitle());
    m_more->setVisible(texts.size() > shown);
    m_more->setText(countText(static_cast<qint64>(texts.size() - shown),
                              tr("1 more answer is in the saved report."),
                              tr("%1 more answers are in the saved report.")));
}

void OriginsView::restyle() {
    const int side = theme().scaled(12);
    m_column->setContentsMargins(side, theme().scaled(4), side, side);
    m_column->setSpacing(theme().scaled(6));
    for (const Answer& answer : m_answers)
        answer.body->setColumnWidth(theme().scaled(kAnswerColumn));
}

} // namespace ui
