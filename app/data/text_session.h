// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/output_options.h"
#include "app/commands/options/text_options.h"
#include "engine/session/engine_session.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>

namespace app {

/// The session of `generate`, `chat` and `stream`: one model, one decoder. Thread: main.
class TextSession {
public:
    using EventHandler = std::function<void(const engine::EngineEvent&)>;

    /// `measuresBaseline` as in SessionOptions.
    TextSession(const TextOptions& options, const Console& console, bool measuresBaseline = false);

    /// Checks the options and opens the model's files; call it first. Errors: InvalidInput for
    /// options; those of opening the model.
    engine::Result<void> open();

    /// Loads the model, with a progress bar, and chooses the decoder. Errors: those of reading the
    /// model and of making the decoder; Cancelled.
    engine::Result<void> load(const std::stop_token& stop);

    /// Tells what was noticed while loading, once.
    void tellNotes();

    /// What load() has loaded.
    const engine::ModelFacts& model() const { return m_model; }

    /// The path of its file or folder.
    const std::filesystem::path& path() const { return m_path; }

    bool hasTokenizer() const { return !m_model.tokenizer.empty(); }

    /// From here on, all events are written to a .swiftrun file. Errors: those of writing it.
    engine::Result<void> startRecording(const OutputOptions& out);

    /// Errors: Io if the recording is incomplete.
    engine::Result<void> stopRecording();

    /// Asks for one answer; `handle` gets all events until it has ended. Errors: those of the
    /// prompt. A stopped answer is none.
    engine::Result<engine::PromptFinished>
    ask(engine::SubmitPrompt prompt, const std::stop_token& stop, const EventHandler& handle);

    /// The same, with the task and the limits of the options: streams the answer's text (or one
    /// JSON line a step), then prints the summary (or the "done" line) and the notes. `prompt`
    /// has only what is to be answered.
    engine::Result<engine::PromptFinished> answer(engine::SubmitPrompt prompt,
                                                  const std::stop_token& stop);

    /// Frees the model, and reports the statistics that could not be stored.
    void close();

private:
    void waitUntil(const bool& isDone, const EventHandler& handle);
    template <typename Event>
    engine::Result<Event> perform(engine::EngineCommand command, const EventHandler& handle = {});

    const TextOptions& m_options;
    const Console& m_console;
    engine::EngineSession m_session;
    std::filesystem::path m_path;
    engine::LoadModel m_load; // this and the next two: as open() has read the options
    engine::ChangeSampling m_sampling;
    engine::ChooseDecoder m_decoder;
    engine::ModelFacts m_model;
    std::vector<std::string> m_notes; // not told yet
    std::uint64_t m_promptId = 0;
};

} // namespace app
