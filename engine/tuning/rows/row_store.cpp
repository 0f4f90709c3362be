// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/rows/row_store.h"

#include "engine/base/to_size.h"

#include <system_error>

namespace engine {

std::filesystem::path RowStore::shardFile(const std::filesystem::path& folder, int index) {
    return folder / fmt::format("rows-{:05}.bin", index);
}

std::filesystem::path RowStore::unfinishedFile(const std::filesystem::path& folder) {
    return folder / "rows-unfinished.bin";
}

Result<RowStore> RowStore::open(const std::filesystem::path& folder, const std::string& run) {
    RowStore store(folder, run);
    std::error_code ignored;
    while (!store.isComplete() &&
           std::filesystem::exists(shardFile(folder, store.shardCount()), ignored))
        ENGINE_TRY_DO(store.addNext());
    return store;
}

Result<void> RowStore::addNext() {
    const std::filesystem::path path = shardFile(m_folder, shardCount());
    ENGINE_TRY(RowShard shard, RowShard::open(path));
    const ShardFacts& facts = shard.facts();
    if (facts.run != m_run || facts.from != next() ||
        (!m_shards.empty() && facts.hiddenSize != hiddenSize()))
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} does not follow the files before it.", path.string()),
                     "Remove this file; --resume makes again what is missing."};
    m_shards.push_back(std::move(shard));
    return {};
}

double RowStore::seconds() const {
    double sum = 0.0;
    for (const RowShard& shard : m_shards)
        sum += shard.facts().seconds;
    return sum;
}

std::int64_t RowStore::trainingTokens() const {
    std::int64_t sum = 0;
    for (const TextPlace place : texts(RowSplit::Training))
        sum += facts(place).answerRows();
    return sum;
}

std::int64_t RowStore::answerTokens() const {
    std::int64_t sum = 0;
    for (const RowShard& shard : m_shards)
        for (const ShardText& text : shard.facts().texts)
            sum += text.answerRows();
    return sum;
}

std::vector<std::string> RowStore::hashes() const {
    std::vector<std::string> hashes;
    for (const RowShard& shard : m_shards)
        hashes.push_back(shard.hash());
    return hashes;
}

std::string RowStore::hash() const {
    std::string all;
    for (const RowShard& shard : m_shards)
        all += shard.hash();
    return contentSumOf(all);
}

std::vector<TextPlace> RowStore::texts(RowSplit split) const {
    std::vector<TextPlace> found;
    for (int shard = 0; shard < shardCount(); ++shard) {
        const auto& texts = m_shards[toSize(shard)].facts().texts;
        for (int text = 0; text < static_cast<int>(texts.size()); ++text)
            if (texts[toSize(text)].split == split)
                found.push_back({shard, text});
    }
    return found;
}

const RowShard& RowStore::shardOf(TextPlace place) const { return m_shards[toSize(place.shard)]; }

const ShardText& RowStore::facts(TextPlace place) const {
    return shardOf(place).facts().texts[toSize(place.text)];
}

Result<AnswerRows> RowStore::read(TextPlace place) const {
    return shardOf(place).read(facts(place));
}

Result<std::vector<TokenId>> RowStore::readTokens(TextPlace place) const {
    return shardOf(place).readTokens(facts(place));
}

} // namespace engine
