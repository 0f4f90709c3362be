// SPDX-License-Identifier: Apache-2.0
#include "tests/support/models/default_model.h"

#include "engine/experiments/data/data_stream.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/text/chat_prompt.h"
#include "tests/support/value_of.h"

#include <algorithm>
#include <filesystem>

namespace support {

using namespace engine;

namespace {

constexpr const char* kPath = SWIFT_STUDIO_CACHE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr const char* kSharedPrompts = SWIFT_STUDIO_SHARED_DIR "/data";
constexpr const char* kOwnPrompts = SWIFT_STUDIO_TEST_DATA_DIR "/prompts";

} // namespace

bool DefaultModel::isThere() { return std::filesystem::exists(kPath); }

DefaultModel DefaultModel::load(bool planted, std::string backend) {
    BackendRegistry registry(std::filesystem::absolute(SWIFT_STUDIO_MODULE_DIR));
    const auto names = registry.names();
    if (backend.empty())
        backend = std::find(names.begin(), names.end(), "torch") != names.end() ? "torch" : "plain";
    ModelFiles files = valueOf(ModelFiles::open(kPath));
    if (planted)
        files.plantCopies();
    const auto weights = valueOf(files.weights());
    DefaultModel model;
    model.config = valueOf(files.config());
    const TransformerFactory factory = valueOf(registry.find(backend));
    model.transformer = valueOf(factory(model.config, *weights, {}));
    model.tokenizer = valueOf(loadTokenizer(files));
    model.chatTemplate =
        std::make_unique<ChatTemplate>(valueOf(chooseChatTemplate(files, *model.tokenizer)));
    return model;
}

std::vector<TokenId> DefaultModel::prompt(const std::string& text) const {
    return valueOf(encodeChat(*chatTemplate, {{"user", text}}, *tokenizer));
}

std::vector<TokenId> DefaultModel::endIds() const {
    std::vector<TokenId> ids = config.eosIds;
    const auto chat = chatEndIds(*tokenizer);
    ids.insert(ids.end(), chat.begin(), chat.end());
    return ids;
}

bool hasSharedData() { return std::filesystem::exists(kSharedPrompts); }

std::vector<std::string> dataPrompts(const std::string& task, int count) {
    std::vector<std::string> prompts;
    const char* folder = hasSharedData() ? kSharedPrompts : kOwnPrompts;
    DataStream stream = valueOf(DataStream::open(fmt::format("{}/{}.jsonl", folder, task),
                                                 {.limit = count, .onlyTask = {}}));
    while (auto item = valueOf(stream.next()))
        if (const auto* record = std::get_if<DataRecord>(&*item))
            prompts.push_back(record->turns.front());
    return prompts;
}

} // namespace support
