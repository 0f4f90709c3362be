// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/support/temporary_folder.h"
#include "tests/ui/support/scripted_link.h"
#include "ui/bridge/engine_bridge.h"

#include <algorithm>

namespace support {

/// Answers the commands about stored skip sets from real files, as the engine's thread does.
class StoredSets {
public:
    static constexpr const char* kOwn = "aa";

    /// Of a loaded model with so many layers.
    StoredSets(ScriptedLink& engine,
               ui::EngineBridge& bridge,
               int layers,
               const std::string& modelName)
        : m_engine(engine)
        , m_bridge(bridge)
        , m_layers(layers)
        , m_memory(m_folder.path(), kOwn, layers, modelName) {}

    engine::SkipSetMemory& memory() { return m_memory; }

    const test_support::TemporaryFolder& folder() const { return m_folder; }

    /// Everything that was asked since the last time.
    void answer() {
        for (; m_answered < m_engine.sent.size(); ++m_answered) {
            const engine::EngineCommand command = m_engine.sent[m_answered];
            if (const auto* list = std::get_if<engine::ListSkipSets>(&command))
                tell(list->requestId, engine::SkipSetChange());
            else if (const auto* change = std::get_if<engine::ChangeSkipSets>(&command))
                exchange(*change);
            else if (const auto* rename = std::get_if<engine::RenameSkipSet>(&command))
                tell(
                    rename->requestId, m_memory.rename(rename->task, rename->name), {rename->name});
            else if (const auto* import = std::get_if<engine::ImportSkipSets>(&command))
                take(*import);
        }
        m_bridge.tick();
        m_bridge.refreshPictures();
    }

    std::vector<std::string> problems; ///< told with every list

    /// Of a model that need not be loaded.
    engine::SkipSetMemory memoryOf(const engine::SkipSetOwner& owner) const {
        return owner.fingerprint.empty()
                   ? m_memory
                   : engine::SkipSetMemory(
                         m_folder.path(), owner.fingerprint, owner.layerCount, owner.model);
    }

private:
    void exchange(const engine::ChangeSkipSets& change) {
        engine::SkipSetsByTask added;
        std::vector<std::string> taken;
        for (const engine::NamedSkipSet& set : change.added) {
            added.emplace(set.task, set.stored);
            taken.push_back(set.task);
        }
        tell(change.requestId, memoryOf(change.owner).exchange(change.removed, added), taken);
    }

    void take(const engine::ImportSkipSets& import) {
        engine::SkipSetMemory memory = memoryOf(import.owner);
        const auto imports = engine::readSkipSetImport(import.path,
                                                       memory.layerCount(),
                                                       memory.fingerprint(),
                                                       import.owner.fingerprint.empty());
        if (!imports) {
            tell(import.requestId, imports.error());
            return;
        }
        const auto change = import.replaces ? memory.replace(imports.value().sets)
                                            : memory.storeMissing(imports.value().sets);
        std::vector<std::string> taken;
        for (const auto& [task, stored] : imports.value().sets)
            if (std::ranges::find(change.value().kept, task) == change.value().kept.end())
                taken.push_back(task);
        tell(import.requestId, change, taken);
    }

    void tell(std::uint64_t id,
              const engine::Result<engine::SkipSetChange>& change,
              std::vector<std::string> taken = {}) {
        if (!change) {
            engine::EngineFailed failed = failedTask("change_skip_sets", change.error());
            failed.requestId = id;
            m_engine.say(failed);
            return;
        }
        engine::SkipSetsListed listed;
        listed.requestId = id;
        listed.own.fingerprint = kOwn;
        listed.own.layerCount = m_layers;
        for (engine::ModelSkipSets& model : engine::readAllSkipSets(m_folder.path()).models) {
            if (model.fingerprint == kOwn)
                listed.own = std::move(model);
            else
                listed.others.push_back(std::move(model));
        }
        listed.problems = problems;
        listed.taken = std::move(taken);
        for (const auto& [task, stored] : change.value().lost)
            listed.lost.push_back({task, stored});
        listed.kept = change.value().kept;
        m_engine.say(listed);
    }

    ScriptedLink& m_engine;
    ui::EngineBridge& m_bridge;
    int m_layers;
    test_support::TemporaryFolder m_folder;
    engine::SkipSetMemory m_memory;
    std::size_t m_answered = 0;
};

} // namespace support
