// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/walk_texts.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"
#include "ui/views/draft_tree/draft_end_text.h"

#include <algorithm>

// The sentences of a walk. Its numbers are in walk_lines.cpp.

namespace ui {

using namespace engine;

namespace {

QString inTurnText(qint64 count) {
    return countText(count, tr("1 token"), tr("%1 tokens, one after the other"));
}

int leftOut(const RoundWalk& walk) {
    const SkipSet skipped = leftOutBy(*walk.plan);
    return static_cast<int>(skipped.attention.size() + skipped.mlp.size());
}

QString draftSentence(const RoundWalk& walk, const WordStyle& style) {
    const auto guessed = static_cast<qint64>(walk.drafting.spine.size()) - walk.drafting.guessed;
    QString how;
    if (walk.drafting.passes() == 0)
        how = countText(walk.candidates(),
                        tr("1 token is guessed without running the model at all, from what was "
                           "seen or guessed before. That costs next to nothing."),
                        tr("%1 tokens are guessed without running the model at all, from what was "
                           "seen or guessed before. That costs next to nothing."));
    else if (walk.isByAdapter())
        how = tr("The draft adapter, a small layer beside the model, guesses %1. That is quicker, "
                 "but only a guess.")
                  .arg(inTurnText(guessed));
    else if (walk.isByCopy())
        how = tr("A copy of the model whose weights are rounded to 4 bits guesses %1. That is "
                 "quicker, but only a guess.")
                  .arg(inTurnText(guessed));
    else if (walk.plan == nullptr)
        how = tr("A quicker version of the model guesses %1. That is only a guess.")
                  .arg(inTurnText(guessed));
    else if (walk.plan->exitAfterLayer >= 0 && walk.plan->exitAfterLayer + 1 < walk.layerCount)
        how = countText(walk.plan->exitAfterLayer + 1,
                        tr("The first of the %2 layers alone guesses %3. That is quicker, but "
                           "only a guess."),
                        tr("The first %1 of the %2 layers alone guess %3. That is quicker, but "
                           "only a guess."))
                  .arg(walk.layerCount)
                  .arg(inTurnText(guessed));
    else
        how = tr("The model, with %1 of its %2 sublayers left out, guesses %3. That is quicker, "
                 "but only a guess.")
                  .arg(leftOut(walk))
                  .arg(2 * walk.layerCount)
                  .arg(inTurnText(guessed));
    if (walk.drafting.guessed > 0)
        how += QLatin1Char(' ') +
               countText(walk.drafting.guessed,
                         tr("1 more token follows from what was seen before; it took no pass."),
                         tr("%1 more tokens follow from what was seen before; they took no pass."));
    const QString end = draftEndText(walk.drafting.end);
    if (end.isEmpty())
        return how;
    return how + QLatin1Char(' ') +
           style.word(tr("It stops here: %1.").arg(style.safe(end)), WordTone::Warning);
}

QString widenSentence(const RoundWalk& walk) {
    const int widest = *std::ranges::max_element(walk.widening.choices);
    if (walk.drafting.passes() == 0)
        return tr("There is more than one guess for some places, up to %1. All of them are "
                  "checked together.")
            .arg(widest);
    if (walk.widening.isByGuesses && walk.isByAdapter()) // which has alternatives of its own
        return tr("Beside the first choices stand others, up to %1 at a place: what was seen "
                  "before, and where the adapter was less sure, its next best one. They took no "
                  "further pass, so they cost nothing yet.")
            .arg(widest);
    if (walk.widening.isByGuesses)
        return tr("Beside the draft stand guesses from what was seen before, up to %1 choices at a "
                  "place. They took no pass of the draft, so they cost nothing yet.")
            .arg(widest);
    return tr("Where the draft was less sure of its first choice, it adds the next best ones, up "
              "to %1 at a place. They come from the same passes, so they cost nothing yet.")
        .arg(widest);
}

QString lineariseSentence(const RoundWalk& walk) {
    if (walk.candidates() == 0)
        return countText(walk.shape.sideCount,
                         tr("There is nothing to verify yet. Behind the text, 1 row helps to "
                            "guess in later rounds."),
                         tr("There is nothing to verify yet. Behind the text, %1 rows help to "
                            "guess in later rounds."));
    const QString rows =
        tr("All guesses are written as a list of %1 rows, to be read at once. Each row may look "
           "at the text so far and at its own line of guesses, never at a guess beside it.")
            .arg(walk.shape.rowCount());
    if (walk.shape.sideCount == 0)
        return rows;
    return rows + QLatin1Char(' ') +
           countText(walk.shape.sideCount,
                     tr("1 of them only helps to guess in later rounds."),
                     tr("%1 of them only help to guess in later rounds."));
}

QString verifySentence(const RoundWalk& walk, const WordStyle& style) {
    if (walk.isPlain)
        return tr("No guesses this time. The whole model runs once and says its next token, in "
                  "%1.")
            .arg(style.word(tr("yellow"), WordTone::Flash));
    QString pass;
    const int layers = static_cast<int>(walk.verifying.layers + 0.5);
    if (walk.layerCount > 0 && layers > 0 && layers < walk.layerCount)
        pass = countText(layers,
                         tr("The last of the %2 layers reads all %3 rows at once; the first ones "
                            "have run already."),
                         tr("The other %1 of the %2 layers read all %3 rows at once; the first "
                            "ones have run already."))
                   .arg(walk.layerCount)
                   .arg(walk.verifying.rows);
    else
        pass =
            tr("One pass of the whole model reads all %1 rows at once.").arg(walk.verifying.rows);
    pass += QLatin1Char(' ');
    if (!walk.verifying.knowsChoices)
        return pass + tr("It says at every row what it would write next. This recording is older "
                         "and has only the part of it that was written.");
    const QString yellow = style.word(tr("yellow"), WordTone::Flash);
    if (walk.isDrawn)
        return pass + tr("What it has drawn at each place as far as the answer goes is %1; behind "
                         "that, what it finds likeliest.")
                          .arg(yellow);
    return pass + tr("What it would have written itself at each place is %1.").arg(yellow);
}

QString acceptSentence(const RoundWalk& walk, const WordStyle& style) {
    const AcceptingFacts& facts = walk.accepting;
    if (walk.isPlain)
        return tr("The token is written. Without guesses, every pass of the whole model gives "
                  "one.");
    if (walk.candidates() == 0)
        return tr("Nothing was guessed, so only the model's own token is written.");
    if (facts.accepted == 0)
        return tr("The model would have written something other than the first guess. Its own "
                  "token is written, and %1: a wrong guess costs time, but never changes the "
                  "text.")
            .arg(style.word(tr("all guesses are thrown away"), WordTone::Gone));
    const QString kept =
        style.word(countText(facts.accepted, tr("1 guess is kept"), tr("%1 guesses are kept")),
                   WordTone::Accepted);
    if (facts.own() == 0)
        return tr("%1, because the model itself would have written the same. The answer ends "
                  "there.")
            .arg(kept);
    const bool isAll = facts.accepted >= static_cast<int>(walk.widening.choices.size());
    if (isAll)
        return tr("%1, because the model itself would have written the same. Behind the last one "
                  "it adds its own token.")
            .arg(kept);
    return tr("%1, because the model itself would have written the same. At the next place it "
              "writes its own token, and %2.")
        .arg(kept, style.word(tr("the rest is thrown away"), WordTone::Gone));
}

/// What is measured once more was known before: the set in use, or the best one so far.
QString triedText(const RoundWalk& walk) {
    if (!walk.trials.back().counts)
        return tr("Between two rounds a choice of sublayers to leave out that is known already is "
                  "measured on text that is already written.");
    const auto count = std::ranges::count(walk.trials, true, &TrialFinished::counts);
    return count == 1 ? tr("Between two rounds another choice of sublayers to leave out is tried "
                           "on text that is already written.")
                      : tr("Between two rounds %1 other choices of sublayers to leave out are "
                           "tried on text that is already written; this is the last of them.")
                            .arg(count);
}

QString outcomeText(const TrialFinished& trial) {
    if (!trial.counts)
        return tr("Nothing else changes.");
    if (trial.isBest)
        return trial.isBeside
                   ? tr("That is the best so far. No draft leaves these sublayers out: the search "
                        "runs beside the drafts.")
                   : tr("That is the best so far, so drafts leave these sublayers out from now "
                        "on.");
    return trial.score > trial.best
               ? tr("Drafts with it were not expected to be quicker, so nothing changes.")
               : tr("That is no better than the best so far, so nothing changes.");
}

QString searchSentence(const RoundWalk& walk) {
    const TrialFinished& trial = walk.trials.back();
    const QString found =
        trial.ticks.empty()
            ? tr("It predicts %1 of it.").arg(shareText(trial.score))
            : countText(static_cast<qint64>(trial.ticks.size()),
                        tr("It predicts %1 of the 1 token."),
                        tr("It predicts %2 of the %1 tokens."))
                  .arg(std::ranges::count_if(trial.ticks, [](int tick) { return tick != 0; }));
    return triedText(walk) + QLatin1Char(' ') + found + QLatin1Char(' ') + outcomeText(trial);
}

} // namespace

QString WordStyle::safe(const QString& text) const {
    return m_colours == nullptr ? text : text.toHtmlEscaped();
}

/// Words keep a mark of their own beside the colour: bold, or the ground of their boxes.
QString WordStyle::word(const QString& text, WordTone tone) const {
    if (m_colours == nullptr)
        return text;
    const auto on = [&](const QColor& ground, const QColor& ink) {
        return QStringLiteral(
                   "<span style=\"background-color:%1; color:%2;\">&nbsp;%3&nbsp;</span>")
            .arg(ground.name(), ink.name(), text);
    };
    switch (tone) {
    case WordTone::Stop:
        return QStringLiteral("<b style=\"color:%1;\">%2</b>").arg(m_colours->accent.name(), text);
    case WordTone::Flash:
        return on(m_colours->flash, m_colours->text);
    case WordTone::Accepted:
        return on(m_colours->accepted, m_colours->text);
    case WordTone::Gone:
        return on(m_colours->rejected, m_colours->rejectedText);
    case WordTone::Warning:
        return QStringLiteral("<span style=\"color:%1;\">%2</span>")
            .arg(m_colours->warning.name(), text);
    }
    return text;
}

QString stopTitle(RoundStop stop) {
    switch (stop) {
    case RoundStop::Draft:
        return tr("Draft");
    case RoundStop::Widen:
        return tr("Widen");
    case RoundStop::Linearise:
        return tr("Linearise");
    case RoundStop::Verify:
        return tr("Verify");
    case RoundStop::Accept:
        return tr("Accept");
    case RoundStop::Search:
        return tr("Search");
    }
    return {};
}

QString stopSentence(const RoundWalk& walk, RoundStop stop, const WordStyle& style) {
    switch (stop) {
    case RoundStop::Draft:
        return draftSentence(walk, style);
    case RoundStop::Widen:
        return widenSentence(walk);
    case RoundStop::Linearise:
        return lineariseSentence(walk);
    case RoundStop::Verify:
        return verifySentence(walk, style);
    case RoundStop::Accept:
        return acceptSentence(walk, style);
    case RoundStop::Search:
        return searchSentence(walk);
    }
    return {};
}

QString stopSummary(const RoundWalk& walk, RoundStop stop) {
    QString summary = tr("%1. %2").arg(stopTitle(stop), stopSentence(walk, stop));
    for (const WalkLine& line : stopLines(walk, stop))
        summary += QLatin1Char(' ') + tr("%1: %2.").arg(line.label, line.value);
    return summary;
}

QString rowSentence(const RoundWalk& walk, int row) {
    if (row == 0)
        return tr("The first row is the newest token of the text. It sees the text before it and "
                  "itself.");
    QStringList seen;
    for (const int other : walk.shape.lineOf(row))
        if (other != row)
            seen << (other == 0 && walk.rows[0].text.empty() ? tr("the text so far")
                                                             : rowText(walk, other));
    return tr("Row %1, %2, sees the text so far, %3 and itself.")
        .arg(row)
        .arg(rowText(walk, row), seen.join(QLatin1Char(' ')));
}

} // namespace ui
