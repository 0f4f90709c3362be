// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/text_options.h"
#include "engine/session/engine_session.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>

namespace app {

/// The session of `generate` and `chat`: one model, one decoder, one conversation. Thread: main.
class TextSession {
public:
    TextSession(const TextOptions& options, const Console& console);

    /// Loads the model, with a progress bar, and chooses the decoder. Errors: InvalidInput for
    /// options; those of reading the model and of making the decoder; Cancelled.
    engine::Result<void> load(const std::stop_token& stop);

    /// What load() has loaded.
    const engine::ModelFacts& model() const { return m_model; }

    /// The path of its file or folder.
    const std::filesystem::path& path() const { return m_path; }

    bool hasTokenizer() const { return !m_model.tokenizer.empty(); }

    /// Asks for one answer: streams its text (or one JSON line a step), then prints the summary (or
    /// the "done" line). `prompt` has only what is to be answered. Errors: those of the prompt. A
    /// stopped answer is none.
    engine::Result<engine::PromptFinished> answer(engine::SubmitPrompt prompt,
                                                  const std::stop_token& stop);

    /// Frees the model, and reports the statistics that could not be stored.
    void close();

private:
    using EventHandler = std::function<void(const engine::EngineEvent&)>;

    void waitUntil(const bool& isDone, const EventHandler& handle);
    template <typename Event>
    engine::Result<Event> perform(engine::EngineCommand command, const EventHandler& handle = {});

    const TextOptions& m_options;
    const Console& m_console;
    engine::EngineSession m_session;
    engine::ModelFacts m_model;
    std::filesystem::path m_path;
    std::uint64_t m_promptId = 0;
};

} // namespace app
