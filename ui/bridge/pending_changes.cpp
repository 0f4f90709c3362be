// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/pending_changes.h"

#include <QUndoCommand>
#include <QUndoStack>

#include <algorithm>
#include <string>
#include <utility>

namespace ui {

using namespace engine;

namespace {

constexpr int kMergeId = 0x52554E; // any number that no other command of the window has

class UndoChange : public QUndoCommand {
public:
    UndoChange(EngineBridge& bridge, std::string decoder, RunChange change)
        : QUndoCommand(change.text)
        , m_bridge(bridge)
        , m_decoder(std::move(decoder))
        , m_model(modelOf(bridge))
        , m_change(std::move(change)) {}

    void undo() override { send(m_change.before); }

    void redo() override {
        if (!m_isDone)
            send(m_change.after);
        m_isDone = false;
    }

    int id() const override {
        return std::holds_alternative<ChangeSampling>(m_change.after) ? kSamplingStepId : kMergeId;
    }

    bool mergeWith(const QUndoCommand* other) override {
        const auto& command = static_cast<const UndoChange&>(*other);
        const RunChange& later = command.m_change;
        if (m_change.setting.empty() || later.setting != m_change.setting ||
            later.visit != m_change.visit || command.m_decoder != m_decoder)
            return false;
        m_change.after = later.after;
        setText(later.text);
        return true;
    }

private:
    /// The model in use, as it was asked for: a file may be loaded as it is and as a lesson model.
    static std::pair<std::string, bool> modelOf(const EngineBridge& bridge) {
        const LoadModel* load = bridge.loadInUse();
        return load == nullptr ? std::pair(std::string(), false)
                               : std::pair(load->path, load->isPlanted);
    }

    /// Another decoder's settings of the same names are not meant, also not those of one that was
    /// asked for just now, and a skip set is one model's.
    void send(const EngineCommand& command) {
        if (modelOf(m_bridge) != m_model) {
            setObsolete(true);
            return;
        }
        if (std::holds_alternative<ChangeSettings>(command) &&
            m_bridge.nextDecoder().name() != m_decoder) {
            setObsolete(true);
            return;
        }
        m_bridge.choose(command);
    }

    EngineBridge& m_bridge;
    std::string m_decoder; // that was chosen when it was made
    std::pair<std::string, bool> m_model;
    RunChange m_change;
    bool m_isDone = true; // the engine did it before the command was made
};

std::string_view taskOf(const EngineCommand& command) {
    if (std::holds_alternative<ChangeSettings>(command))
        return "change_settings";
    if (std::holds_alternative<ChangeSampling>(command))
        return "change_sampling";
    return "choose_decoder";
}

/// `decoder`: the one that is chosen.
bool isConfirmedBy(const EngineCommand& command,
                   const EngineEvent& event,
                   const std::string& decoder) {
    if (const auto* wanted = std::get_if<ChangeSettings>(&command)) {
        const auto* changed = event.as<SettingsChanged>();
        const bool isMeant = wanted->decoder.empty() || wanted->decoder == decoder;
        return changed != nullptr && isMeant &&
               std::all_of(wanted->values.begin(), wanted->values.end(), [&](const auto& value) {
                   const auto found = changed->settings.find(value.first);
                   return found != changed->settings.end() && found->second == value.second;
               });
    }
    if (const auto* wanted = std::get_if<ChangeSampling>(&command)) {
        const auto* changed = event.as<SamplingChanged>();
        return changed != nullptr && changed->sampling == wanted->sampling;
    }
    const auto* wanted = std::get_if<ChooseDecoder>(&command);
    const auto* chosen = event.as<DecoderChosen>();
    return wanted != nullptr && chosen != nullptr && chosen->info.name == wanted->name;
}

} // namespace

PendingChanges::PendingChanges(EngineBridge& bridge, QUndoStack& undoStack, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_undoStack(undoStack)
    , m_decoder(bridge.nextDecoder().name()) {
    connect(&bridge, &EngineBridge::eventCame, this, &PendingChanges::apply);
    connect(&bridge, &EngineBridge::choicesTakenBack, this, [this] {
        std::erase_if(m_waiting, [](const Waiting& waiting) { return waiting.isUnsent; });
    });
}

bool PendingChanges::request(RunChange change) {
    const ChoiceState state = m_bridge.choose(change.after);
    if (state == ChoiceState::Sent || state == ChoiceState::Waiting)
        m_waiting.push_back({std::move(change), state == ChoiceState::Waiting});
    return state != ChoiceState::Refused;
}

void PendingChanges::apply(const EngineEvent& event) {
    if (const auto* failed = event.as<EngineFailed>()) {
        refuse(*failed);
        return;
    }
    if (const auto* chosen = event.as<DecoderChosen>())
        m_decoder = chosen->info.name;
    for (std::size_t i = 0; i < m_waiting.size(); ++i)
        if (isConfirmedBy(m_waiting[i].change.after, event, m_decoder)) {
            take(i);
            return;
        }
}

void PendingChanges::take(std::size_t index) {
    RunChange change = std::move(m_waiting[index].change);
    m_waiting.erase(m_waiting.begin() + static_cast<std::ptrdiff_t>(index));
    m_undoStack.push(new UndoChange(m_bridge, m_decoder, std::move(change)));
}

/// Commands are processed in order, so the oldest of its kind is meant.
void PendingChanges::refuse(const EngineFailed& failed) {
    const auto meant = std::find_if(m_waiting.begin(), m_waiting.end(), [&](const auto& waiting) {
        return taskOf(waiting.change.after) == failed.task;
    });
    if (meant == m_waiting.end())
        return;
    const RunChange change = std::move(meant->change);
    m_waiting.erase(meant);
    emit refused(change, failed.error);
}

} // namespace ui
