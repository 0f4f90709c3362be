// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/decoder_options.h"
#include "app/commands/options/output_options.h"
#include "app/commands/options/text_options.h"
#include "app/commands/stream/stream_run.h"
#include "app/number_check.h"
#include "engine/session/recording/run_recording.h"

namespace app {

using namespace engine;

namespace {

struct StreamOptions {
    TextOptions text;
    DataOptions data;
    OutputOptions out;
    bool isRaw = false;
};

/// Ends the recording and frees the model. Errors: Io if the recording is incomplete.
Result<void> finish(StreamRun& run, TextSession& session, bool records) {
    auto finished = run.finish();
    if (finished && records)
        finished = session.stopRecording();
    session.close();
    return finished;
}

Result<void> runStream(const StreamOptions& options, CommandContext& context) {
    const Console& console = context.console;
    const std::stop_token stop = context.interrupt.beginWork();
    const TextOptions& text = options.text;
    const bool records = !options.out.path.empty();
    TextSession session(text, console, true);
    ENGINE_TRY_DO(session.open());
    ENGINE_TRY(const PromptSet set, readPrompts(options.data, stop));
    const DataSummary data = summaryOf(set);
    if (records)
        ENGINE_TRY_DO(checkOutput(outputPlace(options.out,
                                              text.model,
                                              options.data,
                                              text.decoder.settings,
                                              text.sampling,
                                              isRecording)));
    ENGINE_TRY_DO(session.load(stop));
    session.tellNotes();
    if (records) // last, so that no other fault destroys an earlier recording
        ENGINE_TRY_DO(session.startRecording(options.out));
    StreamReport report;
    StreamRun run(session, report, console, {text.maxTokens, options.isRaw, stop});
    bool isCancelled = false;
    const auto visited = forEachPrompt(set.prompts, [&](const DataPrompt& prompt) -> Result<bool> {
        ENGINE_TRY(const bool goesOn, run.ask(prompt));
        isCancelled = !goesOn;
        return goesOn;
    });
    const auto finished = finish(run, session, records);
    const bool isIncomplete = isCancelled || !visited;
    if (!console.isJson())
        console.text(report.table(data, isIncomplete));
    console.jsonLine(report.doneLine(data, isIncomplete));
    if (isCancelled)
        return cancelledError();
    ENGINE_TRY_DO(visited);
    ENGINE_TRY_DO(finished);
    if (report.prompts() == 0)
        return noAnswerError();
    return {};
}

} // namespace

void addStreamCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command =
        app.add_subcommand("stream", "Run data files with one decoder that keeps its search");
    const auto options = std::make_shared<StreamOptions>();
    options->text.maxTokens = 128;
    addDataOptions(*command, options->data);
    command
        ->add_option(
            "--decoder", options->text.decoder.name, "The decoder; swift-run decoders lists them")
        ->required();
    command->add_option("--set",
                        options->text.decoder.settings,
                        "A setting of the decoder, NAME=VALUE; may be given several times");
    command->add_option("--max-tokens", options->text.maxTokens, "Longest answer, in tokens")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    addOutputOptions(*command, options->out, "--out", "Record all events of the run (.swiftrun)");
    addModelOptions(*command, options->text.model);
    addContextOption(*command, options->text.model);
    addSamplingOptions(*command, options->text.sampling);
    addRawOption(*command, options->isRaw);
    addRun(*command, chosen, options, runStream);
}

} // namespace app
