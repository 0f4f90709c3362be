// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/tune_prompts.h"

#include "engine/tuning/files/hashed_file.h"

namespace app {

using namespace engine;

namespace {

/// Tokens of an answer that must fit behind a prompt.
constexpr std::size_t kLeastRoom = 16;

/// Notes that name a prompt; the others are counted.
constexpr int kMostNamed = 10;

template <typename Numbers> std::span<const std::byte> bytesOfAll(const Numbers& numbers) {
    return std::as_bytes(std::span(numbers));
}

void addText(ContentSum& sum, const std::string& text) {
    const std::uint64_t length = text.size();
    sum.add(std::as_bytes(std::span(&length, 1)));
    sum.add(bytesOfAll(text));
}

} // namespace

std::vector<DataPrompt> probePrompts() {
    std::vector<DataPrompt> probes;
    for (const char* text : {"a",
                             "What is the capital of France, and how many people live there?",
                             "Sum up: 12,345.67 + 8 = 12,353.67 (about 1e4); isn't it?",
                             "def double(x):\n    return [2 * i for i in x]\t# {\"a\": 1}\n\n",
                             "Größe, café, ¿qué?",
                             "你好，世界。 Привет! שלום 😀"}) {
        DataPrompt probe;
        probe.record.turns = {text};
        probes.push_back(std::move(probe));
    }
    return probes;
}

TunePrompts encodePrompts(const std::vector<DataPrompt>& from,
                          const PromptEncoder& encoder,
                          int contextLength,
                          const std::function<void(const std::string&)>& note,
                          SplitRule rule) {
    TunePrompts made;
    ContentSum sum;
    int leftOut = 0;
    for (const DataPrompt& prompt : from) {
        const std::string& text = prompt.record.turns.front();
        auto ids = encoder.encode({{{"user", text}, {}}});
        const bool isLong =
            ids && ids.value().size() + kLeastRoom > static_cast<std::size_t>(contextLength);
        if (!ids || isLong || ids.value().empty()) {
            if (leftOut++ < kMostNamed)
                note(fmt::format("{}: line {} was skipped: {}",
                                 prompt.file,
                                 prompt.record.line,
                                 ids ? fmt::format("its {} tokens leave no room for an answer.",
                                                   ids.value().size())
                                     : ids.error().message));
            continue;
        }
        addText(sum, text);
        addText(sum, prompt.record.task);
        const std::uint64_t count = ids.value().size();
        sum.add(std::as_bytes(std::span(&count, 1)));
        sum.add(bytesOfAll(ids.value()));
        made.prompts.push_back({splitOf(text, rule), prompt.record.task, std::move(ids).value()});
    }
    if (const int others = leftOut - kMostNamed; others > 0)
        note(others == 1 ? "1 more prompt was skipped."
                         : fmt::format("{} more prompts were skipped.", others));
    made.hash = sum.hexDigits();
    return made;
}

} // namespace app
