// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/search_offer/search_offer.h"

#include "ui/shell/figure_text.h"
#include "ui/views/search_offer/swift_forecast.h"

#include <QCoreApplication>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

QString tr(const char* text) { return QCoreApplication::translate("SearchOffer", text); }

bool isSearching(const DecoderInfo& decoder) {
    return decoder.find("skip_set") != nullptr && decoder.find("optimise") != nullptr;
}

} // namespace

const DecoderInfo* searchingDecoder(const RunStore& store) {
    if (store.model() == nullptr)
        return nullptr;
    const auto& decoders = store.model()->decoders;
    const auto found = std::ranges::find_if(decoders, isSearching);
    return found == decoders.end() ? nullptr : &*found;
}

SearchOffer searchOffer(const RunStore& store) {
    const DecoderInfo* decoder = store.decoder();
    const bool searches = decoder != nullptr && (isSearching(*decoder) || searchesBeside(store));
    if (store.model() == nullptr || decoder == nullptr || searches)
        return {};
    const QString title = QString::fromStdString(decoder->title);
    SearchOffer offer;
    const auto tried = static_cast<qint64>(store.search().trials().size());
    // Only decoders that can make skip sets report layers that sets never name.
    if (decoder->lockedLayers.empty())
        offer.reason = tr("%1 does not search for a skip set.").arg(title);
    else if (tried > 0)
        offer.reason = countText(
            tried,
            tr("%1 has tried 1 skip set and uses none now.").arg(title),
            tr("%1 has tried %2 skip sets and uses none now.").arg(title, QStringLiteral("%1")));
    else
        offer.reason = tr("%1 searches for a skip set only when drafting with one could pay. On "
                          "this model it has not started a search.")
                           .arg(title);
    if (const DecoderInfo* searching = searchingDecoder(store)) {
        const QString other = QString::fromStdString(searching->title);
        offer.reason += QLatin1Char(' ') + tr("%1 searches on every answer.").arg(other);
        offer.action = tr("Use %1").arg(other);
    }
    return offer;
}

SettingValues searchingSettings(const RunStore& store, const DecoderInfo& decoder) {
    SettingValues settings;
    if (std::ranges::count(decoder.profiles, "guided", &SettingProfile::name) > 0)
        settings["profile"] = std::string("guided");
    if (store.search().foundBeside() != nullptr && isSearching(decoder))
        settings["start"] = std::string("library");
    return settings;
}

QString useSearchingDecoder(const ViewContext& context) {
    const DecoderInfo* decoder = searchingDecoder(context.store);
    if (decoder == nullptr)
        return tr("Nothing was changed: no decoder here searches for skip sets.");
    if (context.bridge.send(
            ChooseDecoder{decoder->name, searchingSettings(context.store, *decoder)}))
        return {};
    return tr("Nothing was changed: a recording is shown, and no engine runs. Load a model first.");
}

} // namespace ui
