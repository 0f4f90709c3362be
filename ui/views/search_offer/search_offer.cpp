// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/search_offer/search_offer.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"
#include "ui/views/search_offer/swift_forecast.h"

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

bool isSearching(const DecoderInfo& decoder) {
    return decoder.find("skip_set") != nullptr && decoder.find("optimise") != nullptr;
}

/// A setting of the decoder that is there and 0.
const SettingInfo* switchedOff(const RunStore& store, const char* name) {
    const auto set = store.settings().find(name);
    const bool isOff = set != store.settings().end() && set->second == SettingValue(0.0);
    return isOff ? store.decoder()->find(name) : nullptr;
}

/// Why a decoder that tries skip sets where they could pay uses none; empty for one that makes a
/// set in every answer.
QString idleReason(const RunStore& store) {
    const DecoderInfo& decoder = *store.decoder();
    const QString title = QString::fromStdString(decoder.title);
    if (decoder.find("probing") == nullptr)
        return {};
    for (const char* needed : {"skip_layers", "probing"})
        if (const SettingInfo* off = switchedOff(store, needed))
            return tr("%1 tries no skip sets: in its parameters, \"%2\" is %3.")
                .arg(title,
                     QString::fromStdString(off->title),
                     off->kind == SettingKind::Flag ? tr("off") : QStringLiteral("0"));
    QString reason;
    if (const SettingInfo* off = switchedOff(store, "search_beside"))
        reason = tr("In the parameters of %1, \"%2\" is off.")
                     .arg(title, QString::fromStdString(off->title)) +
                 QLatin1Char(' ');
    const qint64 tried = store.search().countedTrials();
    if (tried > 0)
        return reason + countText(tried,
                                  tr("%1 has tried 1 skip set and uses none now.").arg(title),
                                  tr("%1 has tried %2 skip sets and uses none now.")
                                      .arg(title, QStringLiteral("%1")));
    return reason + tr("%1 itself tries a skip set only where drafting with one could pay. On this "
                       "model it has tried none.")
                        .arg(title);
}

} // namespace

const DecoderInfo* searchingDecoder(const RunStore& store) {
    if (store.model() == nullptr)
        return nullptr;
    const auto& decoders = store.model()->decoders;
    const auto found = std::ranges::find_if(decoders, isSearching);
    return found == decoders.end() ? nullptr : &*found;
}

SearchOffer searchOffer(const RunStore& store, bool isReplay) {
    const DecoderInfo* decoder = store.decoder();
    const bool searches = decoder != nullptr && (isSearching(*decoder) || searchesBeside(store));
    if (store.model() == nullptr || decoder == nullptr || searches)
        return {};
    const QString title = QString::fromStdString(decoder->title);
    SearchOffer offer;
    // Only decoders that can make skip sets report layers that sets never name.
    offer.reason = decoder->lockedLayers.empty()
                       ? tr("%1 does not search for a skip set.").arg(title)
                       : idleReason(store);
    if (offer.reason.isEmpty())
        return {};
    if (isReplay)
        return offer;
    if (const DecoderInfo* searching = searchingDecoder(store)) {
        const QString other = QString::fromStdString(searching->title);
        offer.reason += QLatin1Char(' ') + tr("%1 searches on every answer.").arg(other);
        offer.action = forecastAction(store, tr("Use %1").arg(other));
    }
    return offer;
}

SettingValues searchingSettings(const RunStore& store, const DecoderInfo& decoder) {
    SettingValues settings;
    const ModelFacts model = store.model() != nullptr ? store.model()->model : ModelFacts();
    if (!model.silentCopies.empty() && decoder.find("r") != nullptr)
        settings["r"] = static_cast<double>(model.silentCopies.size()) / model.layerCount;
    else if (std::ranges::count(decoder.profiles, "guided", &SettingProfile::name) > 0)
        settings["profile"] = std::string("guided");
    if (store.search().foundBeside() != nullptr && isSearching(decoder))
        settings["start"] = std::string("library");
    return settings;
}

RunChange searchingChange(const RunStore& store, const DecoderInfo& decoder) {
    const DecoderInfo* present = store.decoder();
    RunChange change;
    change.text = tr("decoder %1").arg(QString::fromStdString(decoder.title));
    change.before = present != nullptr ? ChooseDecoder{present->name, store.settings()}
                                       : ChooseDecoder{"vanilla"};
    change.after = ChooseDecoder{decoder.name, searchingSettings(store, decoder)};
    return change;
}

QString useSearchingDecoder(const RunStore& store, PendingChanges& changes) {
    const DecoderInfo* decoder = searchingDecoder(store);
    if (decoder == nullptr)
        return tr("Nothing was changed: no decoder here searches for skip sets.");
    if (changes.request(searchingChange(store, *decoder)))
        return {};
    return changes.isReplay() ? tr("Nothing was changed: a recording is shown, and no engine runs. "
                                   "Load a model first.")
                              : busyText();
}

} // namespace ui
