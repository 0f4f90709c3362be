// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/recipe/recipe_words.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <QDir>

#include <cmath>

namespace ui {

QString recipeName(TuningRecipe recipe) {
    switch (recipe) {
    case TuningRecipe::LayerSkip:
        return QStringLiteral("LayerSkip");
    case TuningRecipe::Space:
        return QStringLiteral("SPACE");
    case TuningRecipe::Draft:
        break;
    }
    return tr("A draft layer");
}

QString recipeSentence(TuningRecipe recipe) {
    switch (recipe) {
    case TuningRecipe::LayerSkip:
        return tr("A copy of the model whose first layers predict what all of them together would "
                  "say. It is for the decoders LayerSkip and DEL.");
    case TuningRecipe::Space:
        return tr("A copy of the model that fills in several tokens at once, with a mask in the "
                  "place of each. It is for the decoder SPACE.");
    case TuningRecipe::Draft:
        break;
    }
    return tr("A small layer beside the model, which itself stays as it is. Auto drafts with it "
              "where that pays.");
}

QString tuningTitle(const TuningChoice& choice) {
    return choice.changesModel()
               ? tr("%1 copy of %2").arg(recipeName(choice.recipe), choice.model.name)
               : tr("Draft layer for %1").arg(choice.model.name);
}

QString decoderOf(TuningRecipe recipe) {
    return recipe == TuningRecipe::Draft ? QString() : recipeKey(recipe);
}

QString perplexityText(const TuningQuality& quality) {
    const double percent = 100.0 * (quality.perplexity / quality.perplexityBefore - 1.0);
    const QString sign = percent < 0.0 ? QStringLiteral("\u2212") : QStringLiteral("+");
    return tr("perplexity %1 instead of %2 (%3 %)")
        .arg(decimalText(quality.perplexity),
             decimalText(quality.perplexityBefore),
             sign + QString::number(std::abs(percent), 'f', 1));
}

TuningFinding copyFinding(const TuningSession& session) {
    const TuningDone& done = *session.run().done;
    const TuningQuality& quality = *done.quality;
    const auto same = std::lround(100.0 * quality.agreement); // as the table rounds it
    const QString figures = tr("%1, and %2 of 100 most probable tokens are the same")
                                .arg(perplexityText(quality))
                                .arg(same);
    const QString place = QDir::toNativeSeparators(done.path);
    TuningFinding finding;
    QStringList cause;
    if (quality.isKept) {
        finding.kind = engine::VerdictKind::Gain;
        finding.headline = tr("The copy is as good as the model: %1.").arg(figures);
        const QString round =
            session.choice().recipe == TuningRecipe::Space
                ? tr("With what its masks draft, a round writes %1 tokens instead of one.")
                : tr("With drafts of three tokens, a round writes %1 tokens instead of one.");
        cause << round.arg(decimalText(done.all.tokensPerRound)) << tr("It lies in %1.").arg(place);
    } else {
        finding.kind = engine::VerdictKind::NoGain;
        finding.headline = tr("The copy is worse than the model: %1.").arg(figures);
        cause << tr("So it was called %1, and nothing was written to %2. More prompts, or LoRA in "
                    "place of all weights, change the model less.")
                     .arg(place, QDir::toNativeSeparators(session.choice().output));
    }
    if (!done.isHeldOut)
        cause << tr("There were too few answers to hold some out, so these figures are of answers "
                    "that were trained on and are too good: add more prompts to get true ones.");
    finding.cause = cause.join(QLatin1Char(' '));
    return finding;
}

} // namespace ui
