// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/rows/row_shard.h"

#include "engine/base/to_size.h"
#include "engine/loading/config/model_limits.h"
#include "engine/loading/json/json_document.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

constexpr std::string_view kShardMagic = "SWTROWS1";

// A text is stored as tokens, teacher rows and streams, one behind the other.
static_assert(sizeof(TeacherRow) == kTeacherTokens * (sizeof(TokenId) + sizeof(float)));

std::uint64_t teacherCount(const ShardText& text) { return toSize(text.answerRows() + 1); }

std::uint64_t bytesOfText(const ShardText& text, int hiddenSize) {
    return toSize(text.rows) * (sizeof(TokenId) + toSize(hiddenSize) * sizeof(std::uint16_t)) +
           teacherCount(text) * sizeof(TeacherRow);
}

nlohmann::ordered_json placeJson(const CollectPlace& place) {
    return {place.pass, place.prompt, place.filled};
}

std::string shardJson(const ShardFacts& facts) {
    auto texts = nlohmann::ordered_json::array();
    for (const ShardText& text : facts.texts)
        texts.push_back({{"offset", text.offset},
                         {"rows", text.rows},
                         {"prompt_rows", text.promptRows},
                         {"last", text.last},
                         {"split", static_cast<int>(text.split)},
                         {"task", text.task}});
    const nlohmann::ordered_json shard = {{"run", facts.run},
                                          {"hidden", facts.hiddenSize},
                                          {"from", placeJson(facts.from)},
                                          {"next", placeJson(facts.next)},
                                          {"last", facts.isLast},
                                          {"seconds", facts.seconds},
                                          {"texts", std::move(texts)}};
    return shard.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

/// Reads whole numbers and notes the first that is missing or out of range.
struct NumberTaker {
    bool isGood = true;

    std::int64_t take(const JsonValue& value, std::int64_t low, std::int64_t high) {
        const auto number = value.asInteger();
        if (number && *number >= low && *number <= high)
            return *number;
        isGood = false;
        return low;
    }

    CollectPlace place(const JsonValue& value) {
        const std::vector<JsonValue> parts = value.items();
        constexpr std::int64_t kMost = 1'000'000'000;
        if (parts.size() != 2 && parts.size() != 3) {
            isGood = false;
            return {};
        }
        CollectPlace read;
        read.pass = static_cast<int>(take(parts[0], 0, kMost));
        read.prompt = static_cast<int>(take(parts[1], 0, kMost));
        // Files of earlier versions do not say it: as if no row of this pass were there yet.
        read.filled =
            parts.size() == 3 ? static_cast<int>(take(parts[2], -1, kMost)) : read.pass - 1;
        return read;
    }
};

} // namespace

Result<RowShardWriter> RowShardWriter::begin(const std::filesystem::path& path,
                                             std::string run,
                                             int hiddenSize,
                                             CollectPlace from) {
    ENGINE_TRY(HashedFileWriter file, HashedFileWriter::begin(path, kShardMagic));
    RowShardWriter writer(std::move(file));
    writer.m_facts.run = std::move(run);
    writer.m_facts.hiddenSize = hiddenSize;
    writer.m_facts.from = from;
    return writer;
}

Result<void> RowShardWriter::add(const AnswerRows& text, RowSplit split, const std::string& task) {
    ENGINE_CHECK(text.promptRows >= 1 && text.answerRows() >= 0 &&
                     text.teacher.size() == toSize(text.answerRows() + 1) &&
                     text.streams.size() == toSize(text.rows()) * toSize(m_facts.hiddenSize),
                 "a text of {} rows that do not fit together",
                 text.rows());
    m_facts.texts.push_back(
        {m_file.offset(), text.rows(), text.promptRows, text.last, split, task});
    m_rows += text.rows();
    ENGINE_TRY_DO(m_file.writeAll(std::span<const TokenId>(text.tokens)));
    ENGINE_TRY_DO(m_file.writeAll(std::span<const TeacherRow>(text.teacher)));
    return m_file.writeAll(std::span<const std::uint16_t>(text.streams));
}

Result<std::string> RowShardWriter::finish(CollectPlace next, bool isLast, double seconds) {
    m_facts.next = next;
    m_facts.isLast = isLast;
    m_facts.seconds = seconds;
    return m_file.finish(shardJson(m_facts));
}

Result<RowShard> RowShard::open(const std::filesystem::path& path) {
    ENGINE_TRY(HashedFile file, HashedFile::open(path, kShardMagic));
    RowShard shard(std::move(file));
    ENGINE_TRY_DO(shard.readFacts());
    return shard;
}

Result<void> RowShard::readFacts() {
    ENGINE_TRY(const JsonDocument document,
               JsonDocument::parse(m_file.description(), m_file.path().string()));
    const JsonValue root = document.root();
    NumberTaker numbers;
    m_facts.run = std::string(root["run"].asString().value_or(""));
    m_facts.hiddenSize =
        static_cast<int>(numbers.take(root["hidden"], 1, model_limits::kRowValues));
    m_facts.from = numbers.place(root["from"]);
    m_facts.next = numbers.place(root["next"]);
    m_facts.isLast = root["last"].asBool().value_or(false);
    m_facts.seconds = root["seconds"].asNumber().value_or(0.0);
    std::uint64_t end = kShardMagic.size();
    for (const JsonValue& entry : root["texts"].items()) {
        ShardText text;
        text.offset = static_cast<std::uint64_t>(
            numbers.take(entry["offset"], 0, std::numeric_limits<std::int64_t>::max()));
        text.rows = static_cast<int>(numbers.take(entry["rows"], 1, kShardRows));
        text.promptRows = static_cast<int>(numbers.take(entry["prompt_rows"], 1, text.rows));
        text.last = static_cast<TokenId>(
            numbers.take(entry["last"], kNoToken, model_limits::kVocabulary - 1));
        text.split = static_cast<RowSplit>(numbers.take(entry["split"], 0, 2));
        text.task = std::string(entry["task"].asString().value_or(""));
        numbers.isGood = numbers.isGood && text.offset == end;
        end += bytesOfText(text, m_facts.hiddenSize);
        m_facts.texts.push_back(std::move(text));
    }
    if (!numbers.isGood)
        return m_file.corrupt("its description does not fit its content");
    return {};
}

Result<AnswerRows> RowShard::read(const ShardText& text) const {
    AnswerRows read;
    read.promptRows = text.promptRows;
    read.last = text.last;
    read.teacher.resize(teacherCount(text));
    read.streams.resize(toSize(text.rows) * toSize(m_facts.hiddenSize));
    ENGINE_TRY(read.tokens, readTokens(text));
    std::uint64_t at = text.offset + std::span(read.tokens).size_bytes();
    ENGINE_TRY_DO(m_file.readAll(at, std::span(read.teacher), "rows of a text"));
    at += std::span(read.teacher).size_bytes();
    ENGINE_TRY_DO(m_file.readAll(at, std::span(read.streams), "streams of a text"));
    return read;
}

Result<std::vector<TokenId>> RowShard::readTokens(const ShardText& text) const {
    std::vector<TokenId> tokens(toSize(text.rows));
    ENGINE_TRY_DO(m_file.readAll(text.offset, std::span(tokens), "tokens of a text"));
    return tokens;
}

} // namespace engine
