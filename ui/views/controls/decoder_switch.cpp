// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/decoder_switch.h"

#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"
#include "ui/views/controls/kept_settings.h"
#include "ui/views/search_offer/search_offer.h"
#include "ui/views/search_offer/skip_set_finder.h"
#include "ui/views/search_offer/swift_forecast.h"

#include <algorithm>
#include <array>

namespace ui {

using namespace engine;

namespace {

struct Choice {
    const char* name; ///< DecoderInfo::name
    const char* title;
    const char* meaning;
};

constexpr std::array kChoices = {
    Choice{"vanilla",
           QT_TRANSLATE_NOOP("ui::DecoderSwitch", "Vanilla"),
           QT_TRANSLATE_NOOP("ui::DecoderSwitch",
                             "The full model writes one token at a time. Takes effect with the "
                             "next answer.")},
    Choice{"auto",
           QT_TRANSLATE_NOOP("ui::DecoderSwitch", "Auto"),
           QT_TRANSLATE_NOOP(
               "ui::DecoderSwitch",
               "Drafts in the way that pays on this machine, for example from text seen "
               "before or with a trained layer: the same text, sooner. Takes effect with "
               "the next answer.")},
    Choice{"swift",
           QT_TRANSLATE_NOOP("ui::DecoderSwitch", "SWIFT"),
           QT_TRANSLATE_NOOP("ui::DecoderSwitch",
                             "Drafts with some layers skipped and checks with all of them: the "
                             "same text, often sooner on large models. Takes effect with the next "
                             "answer.")}};

constexpr int kChoiceCount = static_cast<int>(kChoices.size());

bool canChoose(const RunStore& store, std::string_view name) {
    if (store.model() == nullptr)
        return false;
    const auto& known = store.model()->decoders;
    return std::any_of(
        known.begin(), known.end(), [&](const auto& info) { return info.name == name; });
}

} // namespace

SettingValues startingSettings(const RunStore& store, const std::string& decoder) {
    if (store.model() != nullptr)
        for (const DecoderInfo& info : store.model()->decoders)
            if (info.name == decoder)
                return searchingSettings(store, info);
    return {};
}

RunChange decoderChange(const ViewContext& context,
                        const std::string& name,
                        KeptSettings* kept,
                        const SettingValues& users) {
    const NextDecoder& next = context.bridge.nextDecoder();
    const DecoderInfo* before = next.info();
    QString title = QString::fromStdString(name);
    if (const ModelLoaded* model = context.store.model())
        for (const DecoderInfo& info : model->decoders)
            if (info.name == name)
                title = QString::fromStdString(info.title);
    RunChange change;
    change.text = DecoderSwitch::tr("decoder %1").arg(title);
    change.before = before == nullptr
                        ? ChooseDecoder{"vanilla"}
                        : ChooseDecoder{before->name, next.isWaiting() ? next.settings() : users};
    const DecoderInfo* used = context.store.decoder();
    ChooseDecoder after{name, {}};
    if (auto asked = next.askedFor(name)) // what was changed while it waited is not kept yet
        after.settings = *std::move(asked);
    else if (used != nullptr && used->name == name)
        after.settings = users; // it goes on as it is
    else
        after.settings =
            kept != nullptr ? kept->startOf(name) : startingSettings(context.store, name);
    change.after = std::move(after);
    return change;
}

QString waitingSentence(const ViewContext& context) {
    const NextDecoder& next = context.bridge.nextDecoder();
    if (!next.isWaiting() || !context.store.answers().isRunning())
        return {};
    const DecoderInfo* used = context.store.decoder();
    const DecoderInfo* shown = next.info();
    if (used == nullptr || used->name == shown->name)
        return DecoderSwitch::tr("These settings take effect with the next answer.");
    return DecoderSwitch::tr("%1 and these settings take effect with the next answer. %2 goes on "
                             "until then.")
        .arg(QString::fromStdString(shown->title), QString::fromStdString(used->title));
}

DecoderSwitch::DecoderSwitch(const ViewContext& context, QWidget* parent)
    : SegmentedControl(context.theme, tr("Decoder of the next answer"), parent)
    , m_context(context)
    , m_store(context.store)
    , m_pending(context.bridge, context.undoStack) {
    showDecoder();
    connect(&context.bridge, &EngineBridge::eventCame, this, &DecoderSwitch::apply);
    // Later, because it may be asked for by a click on a segment, which showing it may remove.
    connect(&context.bridge,
            &EngineBridge::nextDecoderChanged,
            this,
            &DecoderSwitch::showDecoder,
            Qt::QueuedConnection);
    connect(this, &SegmentedControl::chosen, this, &DecoderSwitch::choose);
    // The window says why it was refused, whoever asked for it.
    connect(&m_pending, &PendingChanges::refused, this, &DecoderSwitch::showDecoder);
}

void DecoderSwitch::apply(const EngineEvent& event) {
    if (event.as<DecoderChosen>() || event.as<ModelLoaded>() || event.as<ModelUnloaded>() ||
        event.as<ForecastMade>())
        showDecoder();
}

void DecoderSwitch::showDecoder() {
    const DecoderInfo* decoder = m_context.bridge.nextDecoder().info();
    int present = -1;
    for (int i = 0; decoder != nullptr && i < kChoiceCount; ++i)
        if (decoder->name == kChoices[static_cast<std::size_t>(i)].name)
            present = i;
    const bool isOther = decoder != nullptr && present < 0;
    QStringList texts;
    for (const Choice& choice : kChoices)
        texts << tr(choice.title);
    if (isOther)
        texts << QString::fromStdString(decoder->title);
    const bool hasOthers =
        count() != texts.size() || (isOther && segment(kChoiceCount)->text() != texts.last());
    if (hasOthers)
        setSegments(texts);
    for (int i = 0; i < kChoiceCount; ++i) {
        const Choice& choice = kChoices[static_cast<std::size_t>(i)];
        segment(i)->setEnabled(canChoose(m_store, choice.name));
        const bool isForecast = std::string_view(choice.name) == "swift";
        const QString forecast = isForecast ? forecastSentence(m_store) : QString();
        setTip(*segment(i),
               forecast.isEmpty() ? tr(choice.meaning)
                                  : tr(choice.meaning) + QLatin1Char(' ') + forecast);
    }
    setCurrentIndex(isOther ? kChoiceCount : present);
}

void DecoderSwitch::choose(int index) {
    if (index >= kChoiceCount)
        return;
    const Choice& choice = kChoices[static_cast<std::size_t>(index)];
    if (m_context.bridge.nextDecoder().name() == choice.name)
        return; // a click on the one that is chosen would cost the conversation its cache
    const SettingValues users =
        m_finder != nullptr ? m_finder->usersSettings() : m_store.settings();
    if (m_pending.request(decoderChange(m_context, choice.name, m_kept, users)))
        return;
    showDecoder();
    emit failed(m_pending.isReplay() ? tr("A recording is shown, so nothing can be changed.")
                                     : busyText());
}

} // namespace ui
