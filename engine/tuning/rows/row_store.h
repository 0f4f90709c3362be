// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/rows/row_shard.h"

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// A text by its shard and its place there.
struct TextPlace {
    int shard = 0;
    int text = 0;
};

/// The shards of a run, from the first one on. Thread: one.
class RowStore {
public:
    /// Opens all whole shards of a folder that follow each other; none is fine. Errors: Io;
    /// CorruptFile naming the first damaged one, or one of another run.
    static Result<RowStore> open(const std::filesystem::path& folder, const std::string& run);

    /// The file of shard `index`.
    static std::filesystem::path shardFile(const std::filesystem::path& folder, int index);

    /// The file of texts that a stopped run had collected for its next shard.
    static std::filesystem::path unfinishedFile(const std::filesystem::path& folder);

    /// Adds the shard that was written behind the others. Errors: as open.
    Result<void> addNext();

    int shardCount() const { return static_cast<int>(m_shards.size()); }

    /// Where collecting goes on.
    CollectPlace next() const { return m_shards.empty() ? CollectPlace() : last().next; }

    /// Whether nothing is to be collected any more.
    bool isComplete() const { return !m_shards.empty() && last().isLast; }

    /// Time that collecting took, as far as it was measured.
    double seconds() const;

    /// Tokens of answers that rows of training have read.
    std::int64_t trainingTokens() const;

    /// The same for all splits.
    std::int64_t answerTokens() const;

    std::vector<std::string> hashes() const; ///< [shards]

    /// A hash over those of the shards.
    std::string hash() const;

    int hiddenSize() const { return m_shards.empty() ? 0 : last().hiddenSize; }

    /// All texts of a split, in the order in which they were collected.
    std::vector<TextPlace> texts(RowSplit split) const;

    const ShardText& facts(TextPlace place) const;

    /// Errors: Io, CorruptFile.
    Result<AnswerRows> read(TextPlace place) const;
    Result<std::vector<TokenId>> readTokens(TextPlace place) const;

private:
    RowStore(std::filesystem::path folder, std::string run)
        : m_folder(std::move(folder))
        , m_run(std::move(run)) {}

    const ShardFacts& last() const { return m_shards.back().facts(); }

    const RowShard& shardOf(TextPlace place) const;

    std::filesystem::path m_folder;
    std::string m_run;
    std::vector<RowShard> m_shards;
};

} // namespace engine
