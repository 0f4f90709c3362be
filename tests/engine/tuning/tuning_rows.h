// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/to_size.h"
#include "engine/tuning/rows/row_store.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

/// Rows of answers that no model has made. Functions fail by exception.
namespace tuning_rows {

inline constexpr int kHidden = 3;
inline constexpr const char* kRun = "a run";

/// Random numbers; streams have any bits, those of NaN among them.
inline engine::AnswerRows someRows(int rows, int promptRows, unsigned seed, int hidden = kHidden) {
    std::mt19937 random(seed);
    engine::AnswerRows made;
    made.promptRows = promptRows;
    made.last = static_cast<engine::TokenId>(random() % 100);
    for (int i = 0; i < rows * hidden; ++i)
        made.streams.push_back(static_cast<std::uint16_t>(random()));
    for (int row = 0; row < rows; ++row)
        made.tokens.push_back(static_cast<engine::TokenId>(random() % 100));
    for (int row = promptRows; row <= rows; ++row) {
        engine::TeacherRow& said = made.teacher.emplace_back();
        for (std::size_t i = 0; i < said.ids.size(); ++i) {
            said.ids[i] = static_cast<engine::TokenId>(random() % 100);
            said.logProbabilities[i] = -static_cast<float>(random() % 4096) / 256.0F;
        }
    }
    return made;
}

/// A text as a store has it.
struct StoredText {
    engine::AnswerRows rows;
    engine::RowSplit split = engine::RowSplit::Training;
    std::string task = "task";
};

/// How a shard follows others.
struct ShardPlaces {
    int index = 0;
    engine::CollectPlace from = {};
    engine::CollectPlace next = {0, 1};
    bool isLast = true;
    int hidden = kHidden;
    std::string run = kRun;
    double seconds = 0.0;
};

/// Writes a shard and returns its hash.
inline std::string writeShard(const std::filesystem::path& folder,
                              const std::vector<StoredText>& texts,
                              const ShardPlaces& places = {}) {
    const auto path = engine::RowStore::shardFile(folder, places.index);
    auto begun = engine::RowShardWriter::begin(path, places.run, places.hidden, places.from);
    ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
    engine::RowShardWriter writer = std::move(begun).value();
    for (const StoredText& text : texts) {
        const auto added = writer.add(text.rows, text.split, text.task);
        ENGINE_CHECK(added.hasValue(), "{}", added.error().message);
    }
    const auto hash = writer.finish(places.next, places.isLast, places.seconds);
    ENGINE_CHECK(hash.hasValue(), "{}", hash.error().message);
    return hash.value();
}

inline engine::RowStore openStore(const std::filesystem::path& folder,
                                  const std::string& run = kRun) {
    auto opened = engine::RowStore::open(folder, run);
    ENGINE_CHECK(opened.hasValue(), "{}", opened.error().message);
    return std::move(opened).value();
}

/// A store of one shard with these texts.
inline engine::RowStore storeOf(const std::filesystem::path& folder,
                                const std::vector<StoredText>& texts) {
    writeShard(folder, texts);
    return openStore(folder);
}

inline std::string bytesOf(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Flips a bit of a file.
inline void damage(const std::filesystem::path& file, std::size_t byte) {
    std::string bytes = bytesOf(file);
    ENGINE_CHECK(byte < bytes.size(), "{} has no byte {}", file.string(), byte);
    bytes[byte] = static_cast<char>(bytes[byte] ^ 1);
    std::filesystem::remove(file);
    std::ofstream(file, std::ios::binary) << bytes;
}

} // namespace tuning_rows
