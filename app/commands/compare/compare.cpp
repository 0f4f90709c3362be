// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/comparison_report.h"
#include "app/commands/compare/paper_prompts.h"
#include "app/commands/options/decoder_options.h"
#include "app/commands/options/output_options.h"
#include "app/commands/options/text_options.h"
#include "app/number_check.h"
#include "app/program_paths.h"
#include "engine/tuning/rows/answer_rows.h"

#include <map>
#include <optional>

namespace app {

using namespace engine;

namespace {

struct CompareOptions {
    ModelOptions model;
    DataOptions data;
    std::vector<std::string> decoders = {"vanilla", "swift"};
    std::vector<std::string> settings;
    TypedSampling sampling;
    int maxTokens = 128;
    OutputOptions csv;
    bool isRaw = false;
    bool runsCode = false;
    bool asInPapers = false;
    bool isHeldOut = false;
    int shots = -1; ///< examples; -1: as many as in the papers
};

OutputPlace csvPlace(const CompareOptions& options) {
    return outputPlace(options.csv,
                       options.model,
                       options.data,
                       options.settings,
                       options.sampling,
                       isComparisonCsv);
}

/// The prompts one by one, until all are done or the user stops it.
class CompareRun {
public:
    CompareRun(const CompareOptions& options,
               const Console& console,
               Comparison& comparison,
               const QualityJudge& judge,
               const PaperPrompts* papers,
               const PromptSet& prompts)
        : m_options(options)
        , m_console(console)
        , m_comparison(comparison)
        , m_judge(judge)
        , m_papers(papers)
        , m_prompts(prompts.prompts)
        , m_data(summaryOf(prompts))
        , m_report(variantsOf(comparison), comparison.vanilla()) {}

    Result<void> run() {
        if (m_papers != nullptr)
            m_data.prompts -= static_cast<std::int64_t>(m_papers->exampleCount());
        const auto visited =
            forEachPrompt(m_prompts, [this](const DataPrompt& prompt) { return visit(prompt); });
        m_status.clear();
        const bool isIncomplete = m_isCancelled || !visited;
        if (!m_console.isJson())
            m_console.text(m_report.table(m_data, isIncomplete));
        m_console.jsonLine(m_report.doneLine(m_data, isIncomplete));
        if (!m_options.csv.path.empty())
            ENGINE_TRY_DO(writeOutput(csvPlace(m_options), m_report.csv()));
        if (m_isCancelled)
            return cancelledError();
        ENGINE_TRY_DO(visited);
        if (m_failure)
            return *m_failure;
        if (m_report.prompts() == 0)
            return noAnswerError();
        return {};
    }

private:
    static std::vector<Variant> variantsOf(const Comparison& comparison) {
        std::vector<Variant> variants;
        for (const Contestant& contestant : comparison.contestants())
            variants.push_back(contestant.variant);
        return variants;
    }

    Result<bool> visit(const DataPrompt& prompt) {
        if (m_papers != nullptr && m_papers->isExample(prompt))
            return true;
        ++m_seen;
        const DataRecord asked = m_papers != nullptr ? m_papers->shaped(prompt) : prompt.record;
        auto outcomes = m_comparison.run(asked, [&](std::string_view decoder) {
            m_status.show(fmt::format("{} of {}: {} {}, {}",
                                      m_seen,
                                      m_data.prompts,
                                      prompt.record.task,
                                      prompt.record.id,
                                      decoder));
        });
        m_status.clear();
        if (!outcomes)
            return leaveOut(prompt, outcomes.error());
        if (!outcomes.value()) {
            m_isCancelled = true;
            return false;
        }
        PromptOutcomes& made = *outcomes.value();
        ENGINE_TRY_DO(judgeAnswers(prompt.record, made));
        m_report.add(prompt.record.task, made);
        for (std::size_t i = 0; i < made.size(); ++i)
            if (made[i]) {
                auto line = m_report.promptLine(prompt, i, *made[i]);
                line["of"] = m_data.prompts;
                m_console.jsonLine(line);
            }
        tellFailures();
        return true;
    }

    /// Equal texts are scored once.
    Result<void> judgeAnswers(const DataRecord& record, PromptOutcomes& outcomes) const {
        std::map<std::string, AnswerQuality> known; // by text
        for (auto& outcome : outcomes)
            for (std::size_t half = 0; outcome && half < outcome->texts.size(); ++half) {
                const std::string& text = outcome->texts.at(half);
                if (!known.contains(text)) {
                    const std::string own =
                        m_papers != nullptr ? PaperPrompts::answerIn(record.task, text) : text;
                    ENGINE_TRY(known[text], m_judge.score(record, own));
                }
                outcome->quality.at(half) = known[text];
            }
        return {};
    }

    /// A decoder that fails loses only its own figures; its error becomes the program's at the end.
    void tellFailures() {
        const auto& contestants = m_comparison.contestants();
        m_hasFailed.resize(contestants.size());
        for (std::size_t i = 0; i < contestants.size(); ++i) {
            const auto& failure = contestants[i].failure;
            if (!failure || m_hasFailed[i])
                continue;
            m_hasFailed[i] = true;
            m_report.addFailure(i, failure->message);
            Console::note(fmt::format(
                "{} is dropped and the others go on: {}", contestants[i].name(), failure->message));
            m_console.jsonLine({{"event", "given_up"},
                                {"variant", contestants[i].name()},
                                {"decoder", contestants[i].variant.decoder},
                                {"message", failure->message}});
            if (!m_failure)
                m_failure = failure;
        }
    }

    /// A prompt that no decoder can take is reported and counted; any other error ends the run.
    Result<bool> leaveOut(const DataPrompt& prompt, const Error& error) {
        if (error.code == ErrorCode::Cancelled) {
            m_isCancelled = true;
            return false;
        }
        ENGINE_TRY_DO(m_report.leaveOut(m_console, prompt, error));
        return true;
    }

    const CompareOptions& m_options;
    const Console& m_console;
    Comparison& m_comparison;
    const QualityJudge& m_judge;
    const PaperPrompts* m_papers; // null: prompts are asked as they are
    const std::vector<DataPrompt>& m_prompts;
    DataSummary m_data;
    ComparisonReport m_report;
    StatusLine m_status;
    std::int64_t m_seen = 0;
    std::vector<bool> m_hasFailed; // [contestants]
    std::optional<Error> m_failure;
    bool m_isCancelled = false;
};

Result<PromptSet> readChosenPrompts(const CompareOptions& options, const std::stop_token& stop) {
    DataOptions data = options.data;
    if (options.isHeldOut)
        data.isUsed = [](const DataRecord& record) {
            return isNeverTrainedOn(record.turns.front());
        };
    ENGINE_TRY(PromptSet set, readPrompts(data, stop));
    if (set.prompts.empty())
        return Error{ErrorCode::InvalidInput,
                     "None of these prompts is held out from a training: two of ten are, chosen by "
                     "their texts.",
                     "Give more prompts, or leave out --held-out."};
    return set;
}

Result<void> runCompare(const CompareOptions& options, CommandContext& context) {
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY_DO(options.sampling.options.validate());
    DecoderRegistry registry(moduleFolder());
    ENGINE_TRY(const auto variants, readVariants(registry, options.decoders, options.settings));
    ENGINE_TRY(const PromptSet set, readChosenPrompts(options, stop));
    std::optional<PaperPrompts> papers;
    if (options.asInPapers) {
        ENGINE_TRY(PaperPrompts read, PaperPrompts::read(set.prompts, options.shots));
        papers.emplace(std::move(read));
    }
    if (!options.csv.path.empty()) // before hours of work
        ENGINE_TRY_DO(checkOutput(csvPlace(options)));
    std::optional<CodeSandbox> sandbox;
    if (options.runsCode) {
        ENGINE_TRY(CodeSandbox made, CodeSandbox::make(stop));
        sandbox.emplace(std::move(made));
    }
    const QualityJudge judge(std::move(sandbox));
    ENGINE_TRY(const DataModel model,
               loadDataModel(options.model, options.isRaw || options.asInPapers, stop));
    ENGINE_TRY(const SamplingOptions sampling,
               resolveSampling(options.sampling, model.tokenizer.get()));
    std::vector<Contestant> contestants;
    for (const Variant& variant : variants) {
        Contestant contestant{.variant = variant, .halves = {}};
        for (auto& half : contestant.halves) {
            ENGINE_TRY(half,
                       registry.make(variant.decoder,
                                     {.transformer = *model.loaded.transformer,
                                      .sampling = sampling,
                                      .contextLength = model.contextLength,
                                      .settings = variant.settings}));
        }
        contestants.push_back(std::move(contestant));
    }
    const int vocabSize = model.loaded.config.vocabSize;
    Comparison comparison({.model = model,
                           .maxTokens = options.maxTokens,
                           .stop = stop,
                           .vocabulary = vocabularyFor(sampling, model.tokenizer.get(), vocabSize)},
                          std::move(contestants));
    return CompareRun(options, context.console, comparison, judge, papers ? &*papers : nullptr, set)
        .run();
}

} // namespace

void addCompareCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command =
        app.add_subcommand("compare", "Compare decoders on prompts: tokens and speedups");
    const auto options = std::make_shared<CompareOptions>();
    addDataOptions(*command, options->data);
    addModelOptions(*command, options->model);
    addContextOption(*command, options->model);
    command
        ->add_option("--decoders",
                     options->decoders,
                     "The decoders to compare, separated by commas; vanilla is always one of them. "
                     "NAME=DECODER gives a variant a name of its own, so that one decoder can be "
                     "compared with itself: a=swift,b=swift")
        ->delimiter(',')
        ->capture_default_str();
    command->add_option(
        "--set",
        options->settings,
        "A setting: DECODER.NAME=VALUE or VARIANT.NAME=VALUE, or NAME=VALUE for all "
        "that draft; may be given several times");
    command->add_flag(
        "--held-out", options->isHeldOut, "Use only the prompts that tune does not train on");
    command->add_option("--max-tokens", options->maxTokens, "Longest answer, in tokens")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    addSamplingOptions(*command, options->sampling);
    addRawOption(*command, options->isRaw);
    CLI::Option* papers = command->add_flag(
        "--paper-prompts",
        options->asInPapers,
        "Ask in the format of the papers' experiments: labels, worked examples of the same task, "
        "no chat template. The examples are the first prompts of a task; they are not asked");
    command
        ->add_option("--shots",
                     options->shots,
                     "How many worked examples; default: as many as in the papers (5 for "
                     "calculations and translations, 1 for summaries, stories and questions)")
        ->transform(wholeFrom(0))
        ->needs(papers);
    command->add_flag("--run-code",
                      options->runsCode,
                      "Run the programs that answer prompts of the task \"code\", in a sandbox "
                      "without network, and count those that pass their tests");
    addOutputOptions(
        *command, options->csv, "--csv", "Also write the figures to this file, as CSV");
    command->footer("All decoders run each prompt in order, then again in reverse order. Each half "
                    "has decoders of its own,\nso that neither half has seen the other's prompts.");
    addRun(*command, chosen, options, runCompare);
}

} // namespace app
