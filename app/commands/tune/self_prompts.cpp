// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/self_prompts.h"

#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"
#include "engine/tuning/rows/answer_collector.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>

namespace app {

using namespace engine;

namespace {

/// Messages that are written together, a batch: the weights are read once for all of them.
constexpr int kAtOnce = 8;

constexpr int kLongestMessage = 192;        // tokens
constexpr std::size_t kShortestMessage = 8; // bytes

/// Tries for each prompt that is wanted, and for all of them together.
constexpr int kMostTries = 20;
constexpr int kFewestTries = 400;

constexpr const char* kTask = "self-made";
constexpr const char* kSpaces = " \t\r\n";

std::string trimmedText(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(kSpaces);
    return begin == std::string::npos
               ? std::string()
               : text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

class SelfPromptWriter {
public:
    explicit SelfPromptWriter(const SelfPromptWork& work)
        : m_work(work) {}

    Result<std::vector<DataPrompt>> run() {
        ENGINE_TRY(m_turn, m_work.encoder.userTurn());
        readKept();
        if (isEnough())
            return take();
        ENGINE_TRY(m_file, openFile());
        const int context =
            std::min(m_work.contextLength, static_cast<int>(m_turn.begin.size()) + kLongestMessage);
        ENGINE_TRY(AnswerCollector messages,
                   AnswerCollector::make(m_work.transformer, context, kAtOnce, kLongestMessage));
        const int mostTries = std::max(kFewestTries, kMostTries * m_work.count);
        while (!isEnough() && m_batch * kAtOnce < mostTries)
            ENGINE_TRY_DO(writeBatch(messages));
        if (m_prompts.empty())
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("The model has written no usable prompt in {} tries.", mostTries),
                "Give prompts with --data."};
        return take();
    }

private:
    bool isEnough() const { return static_cast<int>(m_prompts.size()) >= m_work.count; }

    std::vector<DataPrompt> take() {
        m_prompts.resize(std::min(m_prompts.size(), toSize(m_work.count)));
        return std::move(m_prompts);
    }

    /// The lines of whole batches. What stands behind them is written again: a kill may have cut
    /// it.
    void readKept() {
        std::ifstream file(m_work.file, std::ios::binary);
        std::vector<int> batches; // [prompts]
        std::vector<std::uintmax_t> ends;
        std::uintmax_t end = 0;
        for (std::string line; std::getline(file, line) && !file.eof();) {
            const auto kept = nlohmann::json::parse(line, nullptr, false);
            if (!kept.is_object() || !kept.contains("try") || !kept["try"].is_number_integer() ||
                !kept.contains("prompt") || !kept["prompt"].is_string())
                break;
            end += line.size() + 1;
            const int number = kept["try"].get<int>();
            add(number, kept["prompt"].get<std::string>());
            batches.push_back(number / kAtOnce);
            ends.push_back(end);
        }
        if (isEnough() || batches.empty())
            return;
        m_batch = batches.back();
        while (!batches.empty() && batches.back() == m_batch) {
            batches.pop_back();
            ends.pop_back();
            m_known.erase(m_prompts.back().record.turns.front());
            m_prompts.pop_back();
        }
        m_keptBytes = ends.empty() ? 0 : ends.back();
    }

    Result<std::ofstream> openFile() const {
        std::error_code failure;
        if (std::filesystem::exists(m_work.file, failure))
            std::filesystem::resize_file(m_work.file, m_keptBytes, failure);
        std::ofstream file(m_work.file, std::ios::binary | std::ios::app);
        if (failure || !file)
            return ioError();
        return file;
    }

    Error ioError() const {
        return {ErrorCode::Io,
                fmt::format("{} cannot be written.", m_work.file.string()),
                "Check the folder, its permissions and the free space."};
    }

    Result<void> writeBatch(AnswerCollector& messages) {
        std::vector<SamplingOptions> draws(toSize(kAtOnce));
        for (int i = 0; i < kAtOnce; ++i) {
            draws[toSize(i)].temperature = 1.0;
            draws[toSize(i)].seed =
                counterBits(counterKey(m_work.seed + 2, toSize(m_batch)), static_cast<TokenId>(i));
        }
        ENGINE_TRY(const auto written,
                   messages.collect(m_turn.begin,
                                    {.sampling = draws,
                                     .maxTokens = kLongestMessage,
                                     .endIds = m_work.endIds,
                                     .stop = m_work.stop,
                                     .forbidden = m_work.forbidden}));
        for (int i = 0; i < kAtOnce; ++i) {
            ENGINE_TRY(const std::string text, messageOf(written[toSize(i)]));
            const int number = m_batch * kAtOnce + i;
            if (text.size() < kShortestMessage || m_known.contains(text))
                continue;
            ENGINE_TRY(const bool holdsMask, holdsForbidden(text));
            if (holdsMask)
                continue;
            add(number, text);
            const nlohmann::ordered_json line = {{"try", number}, {"prompt", text}};
            m_file << line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)
                   << '\n';
        }
        ++m_batch;
        m_file.flush();
        if (!m_file)
            return ioError();
        if (m_work.onProgress)
            m_work.onProgress(std::min(static_cast<int>(m_prompts.size()), m_work.count));
        return {};
    }

    /// Empty for one that does not end.
    Result<std::string> messageOf(const AnswerRows& rows) const {
        std::vector<TokenId> ids(rows.tokens.begin() + rows.promptRows, rows.tokens.end());
        bool hasEnd = std::ranges::find(m_work.endIds, rows.last) != m_work.endIds.end();
        if (!hasEnd)
            ids.push_back(rows.last);
        std::erase_if(ids, [&](TokenId id) { return id >= m_work.tokenizer.vocabSize(); });
        ENGINE_TRY(std::string text, m_work.tokenizer.decode(ids, true));
        if (const std::size_t end = m_turn.end.empty() ? std::string::npos : text.find(m_turn.end);
            end != std::string::npos) {
            text.erase(end);
            hasEnd = true;
        }
        return hasEnd ? trimmedText(text) : std::string();
    }

    /// Whether the text has that token when it is read, though the model has not written it.
    Result<bool> holdsForbidden(const std::string& text) const {
        if (m_work.forbidden == kNoToken)
            return false;
        ENGINE_TRY(const auto ids, m_work.encoder.encode({{{"user", text}, {}}}));
        return std::ranges::find(ids, m_work.forbidden) != ids.end();
    }

    void add(int number, const std::string& text) {
        DataPrompt prompt;
        prompt.file = kSelfPromptsName;
        prompt.record.line = number + 1;
        prompt.record.id = fmt::format("self-{}", number);
        prompt.record.task = kTask;
        prompt.record.turns = {text};
        m_prompts.push_back(std::move(prompt));
        m_known.insert(text);
    }

    const SelfPromptWork& m_work;
    UserTurn m_turn;
    std::ofstream m_file;
    std::vector<DataPrompt> m_prompts;
    std::set<std::string> m_known;
    int m_batch = 0; // the next one
    std::uintmax_t m_keptBytes = 0;
};

} // namespace

Result<std::vector<DataPrompt>> writeSelfPrompts(const SelfPromptWork& work) {
    return SelfPromptWriter(work).run();
}

} // namespace app
