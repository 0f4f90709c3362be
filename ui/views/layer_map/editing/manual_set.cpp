// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/editing/manual_set.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <QPointer>
#include <QUndoCommand>
#include <QUndoStack>

#include <algorithm>
#include <utility>
#include <vector>

namespace ui {

using namespace engine;

namespace {

constexpr const char* kStart = "start";
constexpr const char* kSkipSet = "skip_set";
constexpr const char* kOptimise = "optimise";
constexpr int kSettingsId = 0x534554; // any number that no other command of the window has

/// The manual set given by the settings.
std::optional<SkipSet> manualSetOf(const SettingValues& values) {
    const auto start = values.find(kStart);
    const auto text = values.find(kSkipSet);
    if (start == values.end() || text == values.end() ||
        start->second != SettingValue(std::string("manual")))
        return std::nullopt;
    const auto* json = std::get_if<std::string>(&text->second);
    if (json == nullptr || json->empty())
        return std::nullopt;
    const auto document = JsonDocument::parse(*json, "the setting skip_set");
    if (!document)
        return std::nullopt;
    auto set = readSkipSet(document.value().root(), "The setting skip_set");
    return set ? std::optional(std::move(set).value()) : std::nullopt;
}

/// A lesson model has other layers than the model at its path.
std::pair<std::string, bool> setsOwner(const RunStore& store) {
    const ModelLoaded* model = store.model();
    return model == nullptr ? std::pair(std::string(), false)
                            : std::pair(model->path, !model->model.silentCopies.empty());
}

/// Settings before and after; does nothing once their decoder or their model is gone.
class SettingsCommand : public QUndoCommand {
public:
    SettingsCommand(ManualSet& sender, const RunStore& store, const QString& what)
        : QUndoCommand(what)
        , m_sender(&sender)
        , m_store(store)
        , m_decoder(store.decoder()->name)
        , m_owner(setsOwner(store)) {}

    SettingValues before;
    SettingValues after;

    void undo() override { send(before); }

    void redo() override { send(after); }

    /// A change of the run, which a lesson may give back. None is merged with another one.
    int id() const override { return kSettingsId; }

private:
    void send(const SettingValues& values) {
        const bool isOfAnother = setsOwner(m_store) != m_owner;
        if (isOfAnother && m_sender != nullptr)
            emit m_sender->refused(
                tr("Nothing was changed: the skip sets were those of another model."));
        const bool isSame =
            !isOfAnother && m_store.decoder() != nullptr && m_store.decoder()->name == m_decoder;
        if (!isSame || m_sender == nullptr || !m_sender->send(values))
            setObsolete(true);
    }

    QPointer<ManualSet> m_sender;
    const RunStore& m_store;
    std::string m_decoder;
    std::pair<std::string, bool> m_owner;
};

} // namespace

ManualSet::ManualSet(const ViewContext& context, QObject* parent)
    : QObject(parent)
    , m_context(context) {
    connect(&context.bridge, &EngineBridge::eventCame, this, &ManualSet::follow);
}

QString ManualSet::refusal() const {
    if (m_context.store.model() == nullptr)
        return tr("Nothing was changed: no model is loaded. Open one first.");
    const DecoderInfo* decoder = m_context.store.decoder();
    if (decoder == nullptr)
        return tr("Nothing was changed: no decoder is chosen. Choose SWIFT first.");
    for (const char* name : {kStart, kSkipSet, kOptimise})
        if (decoder->find(name) == nullptr)
            return tr("Nothing was changed: %1 does not use a skip set of yours. Choose SWIFT to "
                      "skip sublayers by hand.")
                .arg(QString::fromStdString(decoder->title));
    return {};
}

std::optional<SkipSet> ManualSet::pending() const {
    const RunStore& store = m_context.store;
    if (m_pending || store.model() == nullptr || store.search().current() != nullptr)
        return m_pending;
    SettingValues settings = m_sent;
    settings.insert(store.settings().begin(), store.settings().end());
    std::optional<SkipSet> set = manualSetOf(settings);
    const auto fits = [layers = store.model()->model.layerCount](const std::vector<int>& skipped) {
        return skipped.empty() || skipped.back() < layers;
    };
    if (set && !(fits(set->attention) && fits(set->mlp)))
        set.reset(); // that of another model, which goes
    return set;
}

bool ManualSet::isManual() const {
    if (pending())
        return true;
    const BestSet* current = m_context.store.search().current();
    return current != nullptr && current->change.reason == "manual";
}

bool ManualSet::isSearchOff() const {
    const SettingValue* optimise = setting(kOptimise);
    return optimise != nullptr && *optimise == SettingValue(0.0);
}

void ManualSet::use(const SkipSet& set, const QString& what) {
    change({{kStart, std::string("manual")}, {kSkipSet, skipSetJson(set)}, {kOptimise, 0.0}}, what);
}

void ManualSet::resumeSearch() { change({{kOptimise, 1.0}}, tr("resume the search")); }

void ManualSet::change(const SettingValues& values, const QString& what) {
    if (const QString sentence = refusal(); !sentence.isEmpty()) {
        emit refused(sentence);
        return;
    }
    auto command = std::make_unique<SettingsCommand>(*this, m_context.store, what);
    command->after = values;
    for (const auto& [name, value] : values)
        if (const SettingValue* known = setting(name))
            command->before[name] = *known;
    m_context.undoStack.push(command.release());
}

bool ManualSet::send(const SettingValues& values) {
    if (!m_context.bridge.send(ChangeSettings{values, 0, m_context.store.decoder()->name})) {
        emit refused(m_context.bridge.isReplay()
                         ? tr("Nothing was changed: a recording is shown, and no engine runs. Load "
                              "a model to change its skip set.")
                         : busyText());
        return false;
    }
    for (const auto& [name, value] : values)
        m_sent[name] = value;
    if (values.contains(kSkipSet))
        m_pending = manualSetOf(values);
    emit changed();
    return true;
}

const SettingValue* ManualSet::setting(const std::string& name) const {
    if (const auto sent = m_sent.find(name); sent != m_sent.end())
        return &sent->second;
    const auto known = m_context.store.settings().find(name);
    return known == m_context.store.settings().end() ? nullptr : &known->second;
}

void ManualSet::forget() {
    m_sent.clear();
    m_pending.reset();
    emit changed();
}

void ManualSet::follow(const EngineEvent& event) {
    if (const auto* told = event.as<SettingsChanged>()) {
        const bool isTakenUp = std::ranges::all_of(m_sent, [&](const auto& sent) {
            const auto found = told->settings.find(sent.first);
            return found != told->settings.end() && found->second == sent.second;
        });
        if (isTakenUp) {
            m_sent.clear();
            if (m_pending != manualSetOf(told->settings))
                m_pending.reset(); // another view has sent another one
        }
        emit changed();
    }
    if (const auto* plan = event.as<PlanChanged>(); plan && m_pending == plan->plan.skipped)
        m_pending.reset();
    const auto* failed = event.as<EngineFailed>();
    const bool isRefused = failed != nullptr && failed->task == "change_settings";
    if (isRefused && !m_sent.empty()) {
        const QString sentence = errorText(failed->error);
        forget();
        emit refused(sentence);
    }
    if (event.as<ModelLoaded>() || event.as<ModelUnloaded>() || event.as<DecoderChosen>())
        forget();
}

} // namespace ui
