// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/sides/side_words.h"

#include "ui/language/tr.h"
#include "ui/origin/token_mark.h"
#include "ui/shell/figure_text.h"

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

QString seconds(double ms) { return tr("%1 s").arg(ms / 1e3, 0, 'f', 2); }

/// What the token says, in quotation marks; the end of an answer if there is none.
QString quoted(const std::optional<EmittedToken>& token) {
    if (!token)
        return tr("nothing more");
    return QStringLiteral("\u201C%1\u201D")
        .arg(visibleTokenText(QString::fromStdString(token->text)));
}

QString timesOf(const SideRun& run) {
    const double left = run.answer(SideRun::Left).decodeMs;
    const double right = run.answer(SideRun::Right).decodeMs;
    return tr("%1 took %2, %3 %4. Token ids are compared, not letters. The two sides took "
              "turns, one step each.")
        .arg(run.decoder(SideRun::Right).title,
             seconds(right),
             run.decoder(SideRun::Left).title,
             seconds(left));
}

/// How likely both tokens were to the full model; empty where that is not known.
QString preferenceOf(const SideDifference& difference) {
    if (!difference.left || difference.left->choices.size() < 2)
        return {};
    const auto& choices = difference.left->choices;
    const auto nameOf = [](const TokenChoice& choice) {
        return visibleTokenText(QString::fromStdString(choice.text));
    };
    const auto chanceOf = [](const TokenChoice& choice) {
        return QString::number(choice.probability, 'f', 4);
    };
    return tr("There the full model gave \u201C%1\u201D %2 and \u201C%3\u201D %4.")
        .arg(nameOf(choices[0]), // at once: a token may be "%3"
             chanceOf(choices[0]),
             nameOf(choices[1]),
             chanceOf(choices[1]));
}

QString meaningOf(const SideDifference& difference, bool isSampled) {
    if (difference.isNearTie)
        return tr("That is a near tie: the two are so level that the order in which numbers "
                  "are added up can decide, so neither answer is wrong.");
    if (isSampled)
        return tr("At this temperature tokens are drawn by the seed. A decoder that promises "
                  "the same draws has broken its promise; one that promises only the same "
                  "chances has not.");
    if (!difference.left || !difference.right)
        return tr("One answer ends where the other goes on, which should not be.");
    return tr("That is no near tie: the decoder has not kept its promise. Please report it.");
}

SideVerdict differenceOf(const SideRun& run, SidesForm form) {
    const SideDifference& difference = *run.comparison().difference;
    const QString place = tr("%1 wrote %2 and %3 wrote %4.")
                              .arg(run.decoder(SideRun::Left).title,
                                   quoted(difference.left),
                                   run.decoder(SideRun::Right).title,
                                   quoted(difference.right));
    const bool isSampled = run.prompt().sampling && run.prompt().sampling->temperature > 0.0;
    const bool isPromised = form == SidesForm::Check;
    QStringList causes = {place, preferenceOf(difference)};
    if (isPromised || difference.isNearTie)
        causes << meaningOf(difference, isSampled);
    causes.removeAll(QString());
    return {SideVerdict::Kind::Different,
            tr("Different from token %1 on.").arg(difference.position + 1),
            causes.join(QLatin1Char(' '))};
}

} // namespace

SideVerdict verdictOf(const SideRun& run, SidesForm form) {
    const SideComparison& compared = run.comparison();
    for (const SideRun::Place side : {SideRun::Left, SideRun::Right})
        if (const auto& error = run.answer(side).error)
            return {SideVerdict::Kind::Failed,
                    tr("%1 could not answer.").arg(run.decoder(side).title),
                    errorText(*error)};
    if (compared.difference)
        return differenceOf(run, form);
    const std::size_t left = run.answer(SideRun::Left).tokens.size();
    const std::size_t right = run.answer(SideRun::Right).tokens.size();
    if (compared.areEqual())
        return {SideVerdict::Kind::Equal,
                countText(static_cast<qint64>(left),
                          tr("Equal: %1 of 1 token."),
                          tr("Equal: %2 of %1 tokens."))
                    .arg(compared.equal),
                timesOf(run)};
    const QString soFar = countText(static_cast<qint64>(std::min(left, right)),
                                    tr("Equal so far: %1 of 1 token."),
                                    tr("Equal so far: %2 of %1 tokens."))
                              .arg(compared.equal);
    if (compared.isOver)
        return {SideVerdict::Kind::Stopped,
                tr("Stopped."),
                compared.equal > 0 ? soFar : tr("Nothing was written yet.")};
    if (std::max(left, right) == 0)
        return {SideVerdict::Kind::Running, tr("Both sides read the prompt."), {}};
    return {SideVerdict::Kind::Running, soFar, {}};
}

QString sideFigures(const SideAnswer& side, const SideRun& run, SideRun::Place place) {
    QStringList parts;
    const SideAnswer& other = run.answer(place == SideRun::Left ? SideRun::Right : SideRun::Left);
    if (place == SideRun::Right && side.isOver() && other.isOver() && other.tokensPerSecond() > 0.0)
        parts << tr("%1 %2").arg(factorText(side.tokensPerSecond() / other.tokensPerSecond()),
                                 run.decoder(SideRun::Left).title);
    if (side.rounds.empty())
        return side.error ? tr("failed") : run.hasBegun() ? tr("waits") : QString();
    parts << seconds(side.decodeMs);
    parts << tr("%1 tok/s").arg(side.tokensPerSecond(), 0, 'f', 1);
    const DecodeMetrics& metrics = side.metrics;
    if (metrics.draftSteps > 0) {
        parts << countText(static_cast<qint64>(side.rounds.size()), tr("1 round"), tr("%1 rounds"));
        if (const auto tokens = metrics.tokensPerRound())
            parts << tr("M %1").arg(*tokens, 0, 'f', 2);
        if (const auto acceptance = metrics.acceptance())
            parts << tr("%1/%2 accepted (%3)")
                         .arg(metrics.accepted)
                         .arg(metrics.draftSteps)
                         .arg(shareText(*acceptance));
    } else {
        parts << countText(static_cast<qint64>(side.tokens.size()),
                           tr("1 token, one by one"),
                           tr("%1 tokens, one by one"));
    }
    return parts.join(QStringLiteral(" \u00B7 "));
}

FigureTable sidesTable(const SideRun& run) {
    FigureTable table;
    table.header = {tr("Token"),
                    run.decoder(SideRun::Left).title,
                    run.decoder(SideRun::Right).title,
                    tr("Equal"),
                    tr("Probability left"),
                    tr("Probability right"),
                    tr("Second choice left"),
                    tr("Gap in logits left")};
    const auto& left = run.answer(SideRun::Left).tokens;
    const auto& right = run.answer(SideRun::Right).tokens;
    const auto textOf = [](const std::vector<EmittedToken>& tokens, std::size_t i) {
        return i < tokens.size() ? visibleTokenText(QString::fromStdString(tokens[i].text))
                                 : QString();
    };
    const auto chanceOf = [](const std::vector<EmittedToken>& tokens, std::size_t i) {
        return i < tokens.size() ? numberCell(tokens[i].fact.targetProbability) : QString();
    };
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
        const bool hasBoth = i < left.size() && i < right.size();
        const auto gap = i < left.size() ? gapOf(left[i]) : std::nullopt;
        table.rows.push_back(
            {QString::number(i + 1),
             textOf(left, i),
             textOf(right, i),
             !hasBoth                    ? QString()
             : left[i].id == right[i].id ? tr("yes")
                                         : tr("no"),
             chanceOf(left, i),
             chanceOf(right, i),
             gap ? visibleTokenText(QString::fromStdString(left[i].choices[1].text)) : QString(),
             gap ? numberCell(*gap) : QString()});
    }
    return table;
}

QString closestCallsText(const SideComparison& compared) {
    const QString what =
        tr("Closest calls, where the model's first and second choice were nearly level.");
    const double drift = compared.probabilityDrift;
    if (compared.equal == 0)
        return what; // no token has a probability on both sides
    if (compared.areEqual())
        return what + QLatin1Char(' ') +
               (drift == 0.0
                    ? tr("The probabilities of both sides are equal bit for bit.")
                    : tr("The probabilities of both sides differ by at most %1.").arg(drift));
    return what + QLatin1Char(' ') +
           (drift == 0.0
                ? tr("The tokens that are equal have probabilities that are equal bit for bit.")
                : tr("The probabilities of the tokens that are equal differ by at most %1.")
                      .arg(drift));
}

FigureTable closestCallsTable(const std::vector<CloseCall>& calls) {
    FigureTable table;
    table.header = {tr("Token"),
                    tr("First choice"),
                    tr("Probability"),
                    tr("Second choice"),
                    tr("Probability"),
                    tr("Gap in logits")};
    for (const CloseCall& call : calls)
        table.rows.push_back({QString::number(call.position + 1),
                              visibleTokenText(QString::fromStdString(call.first.text)),
                              shareText(call.first.probability),
                              visibleTokenText(QString::fromStdString(call.second.text)),
                              shareText(call.second.probability),
                              call.isNearTie ? tr("%1, a near tie").arg(call.gap, 0, 'f', 5)
                                             : QString::number(call.gap, 'f', 3)});
    return table;
}

} // namespace ui
