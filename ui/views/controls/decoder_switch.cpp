// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/decoder_switch.h"

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr int kSwift = 0;
constexpr int kVanilla = 1;

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
            for (const SettingProfile& profile : info.profiles)
                if (info.name == decoder && profile.name == "guided")
                    return {{"profile", profile.name}};
    return {};
}

DecoderSwitch::DecoderSwitch(const ViewContext& context, QWidget* parent)
    : SegmentedControl(context.theme, tr("How the next answer is made"), parent)
    , m_store(context.store)
    , m_pending(context.bridge, context.undoStack) {
    showDecoder();
    connect(&context.bridge, &EngineBridge::eventCame, this, &DecoderSwitch::apply);
    connect(this, &SegmentedControl::chosen, this, &DecoderSwitch::choose);
    connect(&m_pending, &PendingChanges::refused, this, [this](const auto&, const Error& error) {
        showDecoder();
        emit failed(QString::fromStdString(error.hint.empty() ? error.message
                                                              : error.message + ' ' + error.hint));
    });
}

void DecoderSwitch::apply(const EngineEvent& event) {
    if (m_store.decoder() != nullptr && m_store.decoder()->name == "swift")
        m_swiftSettings = m_store.settings();
    if (event.as<DecoderChosen>() || event.as<ModelLoaded>() || event.as<ModelUnloaded>())
        showDecoder();
}

void DecoderSwitch::showDecoder() {
    const DecoderInfo* decoder = m_store.decoder();
    const bool isOther =
        decoder != nullptr && decoder->name != "swift" && decoder->name != "vanilla";
    const int wanted = isOther ? 3 : 2;
    QStringList texts{tr("SWIFT"), tr("Vanilla")};
    if (isOther)
        texts << QString::fromStdString(decoder->title);
    if (count() != wanted || (isOther && segment(2)->text() != texts.last()))
        setSegments(texts);
    segment(kSwift)->setEnabled(canChoose(m_store, "swift"));
    segment(kVanilla)->setEnabled(canChoose(m_store, "vanilla"));
    segment(kSwift)->setToolTip(tr("Draft with layers skipped, check with all of them: same text, "
                                   "often sooner. Acts from the next answer on."));
    segment(kVanilla)->setToolTip(
        tr("One token at a time with the whole model. Acts from the next answer on."));
    setCurrentIndex(decoder == nullptr           ? -1
                    : isOther                    ? 2
                    : decoder->name == "vanilla" ? kVanilla
                                                 : kSwift);
}

void DecoderSwitch::choose(int index) {
    const DecoderInfo* present = m_store.decoder();
    if (index > kVanilla)
        return;
    RunChange change;
    change.text = index == kSwift ? tr("decoder SWIFT") : tr("decoder Vanilla");
    change.before = present != nullptr ? ChooseDecoder{present->name, m_store.settings()}
                                       : ChooseDecoder{"vanilla"};
    ChooseDecoder wanted{index == kSwift ? "swift" : "vanilla"};
    if (index == kSwift)
        wanted.settings =
            m_swiftSettings.empty() ? startingSettings(m_store, "swift") : m_swiftSettings;
    change.after = std::move(wanted);
    if (m_pending.request(std::move(change)))
        return;
    showDecoder();
    emit failed(tr("A recording is shown: nothing can be changed in it."));
}

} // namespace ui
