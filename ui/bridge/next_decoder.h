// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"

#include <deque>
#include <optional>
#include <string>

namespace ui {

class RunStore;

/// The decoder of the next answer, with its settings. A decoder that is chosen while an answer is
/// generated waits in the engine until the answer has ended. Changes of settings that are sent
/// behind it wait as well, because they are of the waiting decoder. Thread: UI.
class NextDecoder {
public:
    /// It must live longer.
    explicit NextDecoder(const RunStore& run)
        : m_run(run) {}

    /// The engine was given this command. Returns whether another decoder is next, or the same one
    /// with other settings.
    bool ask(const engine::EngineCommand& command);

    /// The engine said this, and the store knows it. Returns whether a choice has ceased to wait.
    bool apply(const engine::EngineEvent& event);

    /// A replay begins again.
    void forget() { m_asked.clear(); }

    /// If this chooses the decoder in use again, as it is, and the engine has been given none of
    /// the choices that wait: forgets them, as if they had not been made. `unsent` is how many of
    /// them the engine has not been given. Returns whether it was so.
    bool takeBack(const engine::EngineCommand& command, std::size_t unsent);

    /// Whether it was asked for and is not in use yet.
    bool isWaiting() const { return waiting() != nullptr; }

    /// Null before the first one.
    const engine::DecoderInfo* info() const;

    /// All of its settings.
    engine::SettingValues settings() const;

    /// Its name as it was asked for, also where the model has no such decoder; empty before the
    /// first one.
    std::string name() const;

    /// The one that the engine has refused last; empty before the first.
    const std::string& refused() const { return m_refused; }

    /// What this decoder was asked for with, if it waits, or was taken back before it was chosen.
    std::optional<engine::SettingValues> askedFor(const std::string& decoder) const;

private:
    const engine::DecoderInfo* known(const std::string& decoder) const;
    const engine::ChooseDecoder* waiting() const;

    const RunStore& m_run;
    std::deque<engine::ChooseDecoder> m_asked; ///< not answered yet, with the changes behind them
    std::deque<engine::ChooseDecoder> m_takenBack; ///< likewise; until they are chosen
    std::string m_refused;
};

} // namespace ui
