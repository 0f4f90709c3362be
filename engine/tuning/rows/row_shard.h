// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/files/hashed_file.h"
#include "engine/tuning/rows/answer_rows.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// Rows of a shard at most; a text is never cut.
inline constexpr int kShardRows = 65536;

/// A place in the collecting of rows: all prompts are answered in one order, pass after pass.
struct CollectPlace {
    int pass = 0;
    int prompt = 0;  ///< place in the order; the next one to be answered
    int filled = -1; ///< the newest pass that gave rows of training; -1: none has

    bool operator==(const CollectPlace&) const = default;
};

/// A text of a shard.
struct ShardText {
    std::uint64_t offset = 0; ///< of its numbers in the file
    int rows = 0;
    int promptRows = 0;
    TokenId last = kNoToken;
    RowSplit split = RowSplit::Training;
    std::string task;

    int answerRows() const { return rows - promptRows; }
};

/// What a shard says of itself.
struct ShardFacts {
    std::string run;    ///< that it belongs to: the hash of what determines rows
    int hiddenSize = 0; ///< numbers of a stream
    CollectPlace from;  ///< where collecting stood when it was begun, and behind it
    CollectPlace next;
    bool isLast = false;  ///< nothing is collected behind it
    double seconds = 0.0; ///< that collecting it took
    std::vector<ShardText> texts;
};

/// Writes one shard text by text; it appears as a whole. Thread: one.
class RowShardWriter {
public:
    /// Errors: Io.
    static Result<RowShardWriter>
    begin(const std::filesystem::path& path, std::string run, int hiddenSize, CollectPlace from);

    bool hasRoomFor(int rows) const { return m_rows + rows <= kShardRows; }

    bool isEmpty() const { return m_facts.texts.empty(); }

    const ShardFacts& facts() const { return m_facts; }

    /// Errors: Io.
    Result<void> add(const AnswerRows& text, RowSplit split, const std::string& task);

    /// Returns the shard's hash. Errors: Io; no shard appears then.
    Result<std::string> finish(CollectPlace next, bool isLast, double seconds);

private:
    explicit RowShardWriter(HashedFileWriter file)
        : m_file(std::move(file)) {}

    HashedFileWriter m_file;
    ShardFacts m_facts;
    int m_rows = 0;
};

/// A shard on the disk, checked. Thread: reads may come from any.
class RowShard {
public:
    /// Errors: NotFound; Io; CorruptFile naming the file.
    static Result<RowShard> open(const std::filesystem::path& path);

    const ShardFacts& facts() const { return m_facts; }

    const std::string& hash() const { return m_file.hash(); }

    /// Errors: Io, CorruptFile.
    Result<AnswerRows> read(const ShardText& text) const;

    /// The tokens alone, [rows]. Errors: Io, CorruptFile.
    Result<std::vector<TokenId>> readTokens(const ShardText& text) const;

private:
    explicit RowShard(HashedFile file)
        : m_file(std::move(file)) {}

    Result<void> readFacts();

    HashedFile m_file;
    ShardFacts m_facts;
};

} // namespace engine
