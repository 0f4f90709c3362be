// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_link.h"
#include "ui/bridge/playback.h"

#include <memory>
#include <utility>
#include <vector>

namespace support {

/// An engine that says what the test wrote and remembers what it was asked. The test keeps a
/// pointer to it; the bridge owns it.
class ScriptedLink : public ui::EngineLink {
public:
    bool send(engine::EngineCommand command) override {
        sent.push_back(std::move(command));
        return true;
    }

    std::vector<engine::EngineEvent> takeEvents() override { return std::exchange(waiting, {}); }

    bool takeRewind() override { return std::exchange(goesBack, false); }

    ui::Playback* playback() override { return recording.get(); }

    void say(engine::EventContent content) {
        waiting.push_back({time += 0.02, std::move(content)});
    }

    /// The newest command of this type, null when there is none.
    template <typename T> const T* lastSent() const {
        for (auto command = sent.rbegin(); command != sent.rend(); ++command)
            if (const T* found = std::get_if<T>(&*command))
                return found;
        return nullptr;
    }

    std::vector<engine::EngineCommand> sent;
    std::vector<engine::EngineEvent> waiting;
    double time = 0.0;
    bool goesBack = false;                   ///< with the next tick everything begins anew
    std::unique_ptr<ui::Playback> recording; ///< set: the link is a replay
};

} // namespace support
