// SPDX-License-Identifier: Apache-2.0
// Answers prompts with vanilla, other decoders and, if asked, llama.cpp in turn: are the tokens
// vanilla's, and how much faster do they come? Each prompt's line is appended to a journal, so a
// run that was stopped goes on. tests/README.md has the commands of the two runs that are kept.
#include "app/commands/bench/measure/rival_process.h"
#include "app/commands/options/decoder_options.h"
#include "app/commands/options/text_options.h"
#include "app/data/answering.h"
#include "app/data/prompt_source.h"
#include "app/exit_codes.h"
#include "app/program_paths.h"
#include "engine/kernels/processor.h"
#include "tests/benchmarks/studies/study_journal.h"
#include "tests/benchmarks/studies/study_table.h"

#include <algorithm>
#include <array>
#include <thread>

namespace study {

using namespace engine;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kVanilla = 0; // in the list of decoders

struct Options {
    app::ModelOptions model;
    app::DataOptions data;
    std::vector<std::string> decoders = {"auto"};
    std::vector<std::string> settings;
    std::string journal;
    std::string llamaPython;
    std::string llamaScript;
    int prompts = 20;
    int maxTokens = 128;
    bool isOnce = false;
    bool isPastEnd = false;
    bool isAgainstLlama = false;
    bool isReportOnly = false;
    bool json = false;
};

struct Answer {
    std::string who;
    int half = 0;
    double ms = 0.0;
    double promptMs = 0.0;
    long steps = 0;
    std::vector<TokenId> tokens;
};

struct Player {
    std::string name;
    std::array<std::unique_ptr<Decoder>, 2> halves; // neither has seen the other's answers
};

/// DECODER.NAME=VALUE goes to one decoder, NAME=VALUE to all but vanilla.
std::vector<std::string> settingsOf(const Options& options, const std::string& decoder) {
    std::vector<std::string> own;
    for (const std::string& text : options.settings) {
        const std::size_t dot = text.substr(0, text.find('=')).find('.');
        if (decoder == "vanilla")
            continue;
        if (dot == std::string::npos)
            own.push_back(text);
        else if (text.substr(0, dot) == decoder)
            own.push_back(text.substr(dot + 1));
    }
    return own;
}

class Study {
public:
    Study(const Options& options, const app::Console& console, std::stop_token stop)
        : m_options(options)
        , m_console(console)
        , m_stop(std::move(stop))
        , m_registry(app::moduleFolder()) {}

    Result<StudyFigures> run() {
        if (m_options.isReportOnly) {
            ENGINE_TRY(const Journal journal, Journal::read(m_options.journal));
            return figuresOf(journal.prompts());
        }
        ENGINE_TRY(const PromptSet set, app::readPrompts(data(), m_stop));
        ENGINE_TRY(m_model, app::loadDataModel(m_options.model, false, m_stop));
        if (m_options.isPastEnd)
            m_model.endIds.clear();
        ENGINE_TRY_DO(makePlayers());
        ENGINE_TRY_DO(startLlama());
        ENGINE_TRY(Journal journal, Journal::open(m_options.journal, startLine()));
        const auto answered = answerAll(inTurn(set.prompts), journal);
        if (!answered && answered.error().code != ErrorCode::Cancelled)
            return answered.error();
        if (!answered)
            app::Console::note("Stopped; the same command goes on from here.");
        return figuresOf(journal.prompts());
    }

private:
    app::DataOptions data() const {
        app::DataOptions data = m_options.data;
        data.limits.perFile = m_options.prompts;
        return data;
    }

    Result<void> makePlayers() {
        std::vector<std::string> names = {"vanilla"};
        for (const std::string& name : m_options.decoders)
            if (name != "vanilla")
                names.push_back(name);
        for (const std::string& name : names) {
            ENGINE_TRY(const SettingValues settings,
                       app::parseSettings(m_registry, name, settingsOf(m_options, name)));
            Player player;
            player.name = name;
            for (auto& half : player.halves) {
                ENGINE_TRY(half,
                           m_registry.make(name,
                                           {.transformer = *m_model.loaded.transformer,
                                            .contextLength = m_model.contextLength,
                                            .settings = settings}));
            }
            m_players.push_back(std::move(player));
        }
        return {};
    }

    Result<void> startLlama() {
        if (!m_options.isAgainstLlama)
            return {};
        const auto cores = static_cast<int>(std::thread::hardware_concurrency());
        ENGINE_TRY(const ModelFiles files, app::openModel(m_options.model));
        app::RivalLaunch launch;
        launch.name = kLlama;
        launch.hint = "Run tests/benchmarks/set_up_llama_cpp.sh once.";
        launch.command = {
            m_options.llamaPython.empty() ? app::defaultLlamaPython()
                                          : std::filesystem::path(m_options.llamaPython),
            m_options.llamaScript.empty() ? app::llamaBenchScript()
                                          : std::filesystem::path(m_options.llamaScript)};
        launch.model = files.path();
        launch.threads =
            app::givenThreads(m_options.model) > 0 ? app::givenThreads(m_options.model) : cores;
        launch.contextLength = m_model.contextLength;
        launch.stop = m_stop;
        ENGINE_TRY(m_llama, app::RivalProcess::start(launch));
        return {};
    }

    Json startLine() const {
        const Transformer& transformer = *m_model.loaded.transformer;
        std::vector<std::string> names;
        for (const Player& player : m_players)
            names.push_back(player.name);
        return {{"event", "start"},
                {"cpu", processorName()},
                {"isa", transformer.instructionSet()},
                {"backend", m_model.loaded.backend},
                {"precision", transformer.arithmeticName()},
                {"kv", transformer.kvTypeName()},
                {"weight_bytes", transformer.weightBytes()},
                {"model", m_model.name},
                {"decoders", names},
                {"settings", m_options.settings},
                {"max_tokens", m_options.maxTokens},
                {"past_end", m_options.isPastEnd},
                {"halves", m_options.isOnce ? 1 : 2},
                {"threads", app::givenThreads(m_options.model)},
                {"llama_cpp", m_llama ? Json(m_llama->version()) : Json(nullptr)}};
    }

    /// The first prompts of all files, then the second ones: a slow minute, and a run that is
    /// stopped, touch all files alike.
    static std::vector<DataPrompt> inTurn(const std::vector<DataPrompt>& all) {
        std::map<std::string, int> seen;
        std::vector<std::pair<int, DataPrompt>> numbered;
        for (const DataPrompt& prompt : all) {
            numbered.emplace_back(seen[prompt.file]++, prompt);
            numbered.back().second.record.turns.resize(1);
        }
        std::stable_sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
        std::vector<DataPrompt> prompts;
        for (auto& [number, prompt] : numbered)
            prompts.push_back(std::move(prompt));
        return prompts;
    }

    Result<void> answerAll(const std::vector<DataPrompt>& prompts, Journal& journal) {
        std::size_t done = 0;
        for (const app::DataPrompt& prompt : prompts) {
            m_status.show(fmt::format("{} of {}: {} line {}",
                                      ++done,
                                      prompts.size(),
                                      prompt.record.task,
                                      prompt.record.line));
            if (journal.has(Journal::keyOf(prompt.file, prompt.record.line)))
                continue;
            auto line = answer(prompt, done % 2 == 0);
            if (!line && line.error().code == ErrorCode::InvalidInput) {
                app::Console::note(fmt::format("{} line {} was skipped: {}",
                                               prompt.file,
                                               prompt.record.line,
                                               line.error().message));
                continue;
            }
            ENGINE_TRY(const Json told, std::move(line));
            m_console.jsonLine(told);
            ENGINE_TRY_DO(journal.add(told));
        }
        return {};
    }

    /// All in order, and then in reverse order; when asked once, every other prompt in reverse.
    Result<Json> answer(const app::DataPrompt& prompt, bool isOdd) {
        const std::size_t count = m_players.size() + (m_llama ? 1 : 0);
        std::vector<Answer> answers;
        m_ids.clear();
        for (int half = 0; half < (m_options.isOnce ? 1 : 2); ++half)
            for (std::size_t i = 0; i < count; ++i) {
                const bool isReverse = m_options.isOnce ? isOdd : half == 1;
                const std::size_t who = isReverse ? count - 1 - i : i;
                ENGINE_TRY(Answer made,
                           who < m_players.size() ? answerBy(m_players[who], half, prompt)
                                                  : answerByLlama(half, prompt));
                answers.push_back(std::move(made));
            }
        return lineOf(prompt, answers);
    }

    Result<Answer> answerBy(Player& player, int half, const app::DataPrompt& prompt) {
        Decoder& decoder = *player.halves.at(static_cast<std::size_t>(half));
        ENGINE_TRY(app::Answers answers,
                   app::answerRecord(
                       decoder,
                       prompt.record,
                       {.model = m_model, .maxTokens = m_options.maxTokens, .stop = m_stop}));
        if (answers.isCancelled)
            return app::cancelledError();
        m_ids = answers.turns.front().prompt;
        return Answer{player.name,
                      half,
                      answers.decodeMs,
                      answers.promptMs,
                      answers.tally.steps,
                      std::move(answers.turns.front().tokens)};
    }

    Result<Answer> answerByLlama(int half, const app::DataPrompt& prompt) {
        if (m_ids.empty()) {
            ENGINE_TRY(m_ids,
                       m_model.encoder->encode({{{"user", prompt.record.turns.front()}, {}}}));
        }
        const int room = m_model.contextLength - static_cast<int>(m_ids.size());
        ENGINE_TRY(app::RivalAnswer made,
                   m_llama->decode(m_ids, m_model.endIds, std::min(room, m_options.maxTokens)));
        const auto steps = static_cast<long>(made.tokens.size());
        return Answer{kLlama, half, made.decodeMs, made.promptMs, steps, std::move(made.tokens)};
    }

    static Json lineOf(const app::DataPrompt& prompt, const std::vector<Answer>& answers) {
        const auto first = std::find_if(answers.begin(), answers.end(), [](const Answer& answer) {
            return answer.who == "vanilla" && answer.half == 0;
        });
        Json line = {{"event", "prompt"},
                     {"data", prompt.file},
                     {"line", prompt.record.line},
                     {"id", prompt.record.id},
                     {"answers", Json::array()},
                     {"vanilla_tokens", first->tokens}};
        for (const Answer& answer : answers) {
            const auto [at, other] = std::mismatch(answer.tokens.begin(),
                                                   answer.tokens.end(),
                                                   first->tokens.begin(),
                                                   first->tokens.end());
            const bool isEqual = answer.tokens == first->tokens;
            line["answers"].push_back(
                {{"decoder", answer.who},
                 {"half", answer.half},
                 {"tokens", answer.tokens.size()},
                 {"ms", answer.ms},
                 {"prompt_ms", answer.promptMs},
                 {"steps", answer.steps},
                 {"equal", isEqual},
                 {"first_difference", isEqual ? Json(nullptr) : Json(at - answer.tokens.begin())}});
        }
        return line;
    }

    const Options& m_options;
    const app::Console& m_console;
    std::stop_token m_stop;
    DecoderRegistry m_registry;
    app::DataModel m_model;
    std::vector<Player> m_players;
    std::unique_ptr<app::RivalProcess> m_llama;
    std::vector<TokenId> m_ids; // of the prompt at hand, once known
    app::StatusLine m_status;
};

void addOptions(CLI::App& app, Options& options) {
    app::addModelOptions(app, options.model);
    app::addContextOption(app, options.model);
    app.add_option("--data", options.data.paths, "Files of prompts, of each the first turns")
        ->check(CLI::ExistingFile);
    app.add_option("--prompts", options.prompts, "Of each file, the first ones")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--decoders",
                   options.decoders,
                   "The decoders to measure beside vanilla, separated by commas")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--set", options.settings, "DECODER.NAME=VALUE, or NAME=VALUE for all");
    app.add_option("--max-tokens", options.maxTokens)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--journal", options.journal, "Where every prompt's line goes")->required();
    app.add_flag("--once", options.isOnce, "Each answers a prompt once, not in both orders");
    app.add_flag("--past-end", options.isPastEnd, "Answers go on behind their end: full length");
    app.add_flag("--report", options.isReportOnly, "Only print what the journal holds");
    app.add_flag("--against-llama-cpp", options.isAgainstLlama);
    app.add_option("--llama-python", options.llamaPython);
    app.add_option("--llama-script", options.llamaScript);
    app.add_flag("--json", options.json);
}

int runStudy(const Options& options) {
    const app::Console console(options.json);
    app::InterruptWatcher interrupt;
    Study study(options, console, interrupt.beginWork());
    const auto figures = study.run();
    if (!figures) {
        console.error(figures.error());
        return app::exitCodeOf(figures.error().code);
    }
    console.text(tableOf(figures.value()));
    console.jsonLine(doneLine(figures.value()));
    return figures.value().ownDifferences() == 0 ? app::kSuccess : app::kBug;
}

} // namespace

} // namespace study

int main(int argc, char** argv) {
    CLI::App app("Tokens and speed of decoders on prompts of files, against vanilla's.");
    study::Options options;
    study::addOptions(app, options);
    CLI11_PARSE(app, argc, argv);
    if (options.data.paths.empty() && !options.isReportOnly) {
        app::Console::note("decoding_study: name files of prompts with --data.");
        return app::kUsage;
    }
    return study::runStudy(options);
}
