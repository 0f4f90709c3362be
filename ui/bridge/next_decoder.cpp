// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/next_decoder.h"

#include "ui/bridge/run_store.h"

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

/// The engine refuses settings of another decoder, and values that the waiting one does not take.
bool NextDecoder::ask(const EngineCommand& command) {
    if (const auto* choice = std::get_if<ChooseDecoder>(&command)) {
        if (choice->conversation != 0)
            return false;
        m_asked.push_back(*choice);
        return true;
    }
    const auto* change = std::get_if<ChangeSettings>(&command);
    if (change == nullptr || change->conversation != 0 || m_asked.empty())
        return false;
    ChooseDecoder& newest = m_asked.back();
    if (!change->decoder.empty() && change->decoder != newest.name)
        return false;
    // A profile resets the settings that were given before it.
    SettingValues given =
        change->values.contains(kProfileSetting) ? SettingValues() : newest.settings;
    for (const auto& [name, value] : change->values)
        given.insert_or_assign(name, value);
    const DecoderInfo* info = known(newest.name);
    if (info == nullptr || !resolveSettings(*info, given))
        return false;
    newest.settings = std::move(given);
    return true;
}

/// Choices are answered in the order in which they were sent.
bool NextDecoder::apply(const EngineEvent& event) {
    if (event.conversation != 0)
        return false;
    const auto* chosen = event.as<DecoderChosen>();
    if (chosen != nullptr)
        std::erase_if(m_takenBack, [chosen](const ChooseDecoder& choice) {
            return choice.name == chosen->info.name;
        });
    else if (event.as<ModelLoaded>() != nullptr)
        m_takenBack.clear(); // their skip sets were of another model
    if (m_asked.empty())
        return false;
    if (chosen != nullptr) {
        const auto done = std::ranges::find(m_asked, chosen->info.name, &ChooseDecoder::name);
        m_asked.erase(m_asked.begin(), done == m_asked.end() ? m_asked.begin() + 1 : done + 1);
        return true;
    }
    const auto* failed = event.as<EngineFailed>();
    if (failed == nullptr || failed->task != "choose_decoder")
        return false;
    m_refused = m_asked.front().name;
    m_asked.pop_front();
    return true;
}

bool NextDecoder::takeBack(const EngineCommand& command, std::size_t unsent) {
    const auto* choice = std::get_if<ChooseDecoder>(&command);
    const DecoderInfo* used = m_run.decoder();
    if (choice == nullptr || choice->conversation != 0 || unsent == 0 || unsent != m_asked.size() ||
        used == nullptr || choice->name != used->name)
        return false;
    const auto settings = resolveSettings(*used, choice->settings);
    if (!settings || settings.value() != m_run.settings())
        return false;
    for (ChooseDecoder& asked : m_asked) {
        std::erase_if(m_takenBack,
                      [&asked](const ChooseDecoder& other) { return other.name == asked.name; });
        if (asked.name != used->name)
            m_takenBack.push_back(std::move(asked));
    }
    m_asked.clear();
    return true;
}

const DecoderInfo* NextDecoder::info() const {
    const ChooseDecoder* choice = waiting();
    return choice == nullptr ? m_run.decoder() : known(choice->name);
}

SettingValues NextDecoder::settings() const {
    const ChooseDecoder* choice = waiting();
    if (choice == nullptr)
        return m_run.settings();
    return resolveSettings(*known(choice->name), choice->settings).value();
}

std::string NextDecoder::name() const {
    if (!m_asked.empty())
        return m_asked.back().name;
    return m_run.decoder() == nullptr ? std::string() : m_run.decoder()->name;
}

std::optional<SettingValues> NextDecoder::askedFor(const std::string& decoder) const {
    for (const auto* choices : {&m_asked, &m_takenBack}) {
        const auto newest =
            std::find_if(choices->rbegin(), choices->rend(), [&decoder](const ChooseDecoder& each) {
                return each.name == decoder;
            });
        if (newest != choices->rend())
            return newest->settings;
    }
    return std::nullopt;
}

const DecoderInfo* NextDecoder::known(const std::string& decoder) const {
    if (m_run.model() == nullptr)
        return nullptr;
    const auto& decoders = m_run.model()->decoders;
    const auto found = std::ranges::find(decoders, decoder, &DecoderInfo::name);
    return found == decoders.end() ? nullptr : &*found;
}

/// The newest choice that the engine will not refuse, as far as that can be known here.
const ChooseDecoder* NextDecoder::waiting() const {
    const auto newest =
        std::find_if(m_asked.rbegin(), m_asked.rend(), [this](const ChooseDecoder& choice) {
            const DecoderInfo* info = known(choice.name);
            return info != nullptr && resolveSettings(*info, choice.settings);
        });
    return newest == m_asked.rend() ? nullptr : &*newest;
}

} // namespace ui
