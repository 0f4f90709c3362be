// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/search_offer/swift_forecast.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

namespace ui {

using namespace engine;

namespace {

/// Speeds that differ by less from plain decoding are called about the same.
constexpr double kAboutTheSame = 0.03;

bool isFlagOn(const RunStore& store, const char* setting) {
    const auto found = store.settings().find(setting);
    return found != store.settings().end() && found->second == SettingValue(1.0);
}

} // namespace

bool searchesBeside(const RunStore& store) {
    return isFlagOn(store, "search_beside") && isFlagOn(store, "skip_layers");
}

QString forecastSentence(const RunStore& store) {
    const DraftForecast* forecast = store.search().forecast();
    if (forecast == nullptr)
        return {};
    const double searching = forecast->searchingSpeedup();
    const double settled = forecast->speedup();
    QString about = tr("SWIFT would run at about %1 here").arg(factorText(searching));
    if (forecast->searchShare > 0.0) // older recordings leave the search out
        about = tr("%1 while it searches, and at %2 afterwards").arg(about, factorText(settled));
    if (forecast->tokens > 0) // older recordings do not say it
        about = countText(forecast->tokens,
                          tr("%2, as measured on 1 token"),
                          tr("%2, as measured on %1 tokens"))
                    .arg(about);
    const bool gains = settled > 1.0 + kAboutTheSame;
    if (!gains && searching < 1.0 - kAboutTheSame)
        return tr("%1: skipping layers does not pay on this model. The text would be the same.")
            .arg(about);
    if (!gains)
        return tr("%1: skipping layers neither gains nor costs much.").arg(about);
    if (searching < 1.0)
        return tr("%1: skipping layers pays only when its search has ended.").arg(about);
    return tr("%1: skipping layers pays on this model.").arg(about);
}

QString forecastAction(const RunStore& store, const QString& action) {
    const DraftForecast* forecast = store.search().forecast();
    return forecast == nullptr
               ? action
               : tr("%1: about %2").arg(action, factorText(forecast->searchingSpeedup()));
}

QString forecastCheck(const RunStore& store) {
    const DraftForecast* forecast = store.search().forecast();
    if (forecast == nullptr)
        return {};
    const QString forecastText = factorText(forecast->searchingSpeedup());
    const SpanFigures chat = store.speed().chat();
    const auto measured = chat.isDrafting() ? chat.speedup() : std::nullopt;
    return measured
               ? tr("The forecast was about %1; measured in this chat: %2.")
                     .arg(forecastText, factorText(*measured))
               : tr("The forecast is about %1; the next answer measures it.").arg(forecastText);
}

QString besideSentence(const RunStore& store) {
    const QString found = tr("Found beside the chat and not used");
    const DraftForecast* forecast = store.search().forecast();
    return forecast == nullptr
               ? tr("%1: what SWIFT would gain with it is not measured yet.").arg(found)
               : tr("%1: SWIFT would run at about %2 with it.")
                     .arg(found, factorText(forecast->searchingSpeedup()));
}

} // namespace ui
