// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/conversations.h"

#include "engine/base/system_memory.h"
#include "engine/model/memory_need.h"

#include <algorithm>
#include <limits>

namespace engine {

namespace {

/// Bytes that caches like this one may still take. The system counts a cache's memory only where it
/// was written, so the rest of each existing cache is subtracted. A GPU refuses by itself.
double freeBytes(const std::map<std::uint64_t, Conversation>& all,
                 const KvStorage& cache,
                 int contextLength,
                 std::uint64_t limitBytes) {
    const auto cacheBytes = static_cast<double>(cache.byteSize());
    double reserved = 0.0;
    double unwritten = 0.0;
    for (const auto& [id, conversation] : all)
        if (const Decoder* decoder = conversation.slot.decoder()) {
            const double part = static_cast<double>(decoder->cachedTokens()) / contextLength;
            reserved += cacheBytes;
            unwritten += cacheBytes * std::clamp(1.0 - part, 0.0, 1.0);
        }
    if (limitBytes > 0)
        return static_cast<double>(limitBytes) - reserved;
    return cache.isInHostMemory() ? availableMemoryBytes() - unwritten
                                  : std::numeric_limits<double>::max();
}

} // namespace

Conversation& Conversations::at(std::uint64_t id) {
    return m_all.try_emplace(id, id, m_registry).first->second;
}

bool Conversations::isRunning(std::uint64_t id) const {
    const auto found = m_all.find(id);
    return found != m_all.end() && found->second.prompt != nullptr;
}

bool Conversations::isAnyRunning() const {
    return std::any_of(
        m_all.begin(), m_all.end(), [](const auto& item) { return item.second.prompt != nullptr; });
}

Conversation* Conversations::next() {
    Conversation* longest = nullptr;
    for (auto& [id, conversation] : m_all)
        if (conversation.prompt && (!longest || conversation.lastTurn < longest->lastTurn))
            longest = &conversation;
    if (longest != nullptr)
        touch(*longest);
    return longest;
}

Conversation* Conversations::inPause() {
    for (auto& [id, conversation] : m_all)
        if (conversation.work && !conversation.prompt)
            return &conversation;
    return nullptr;
}

bool Conversations::freeIdle(const std::function<void(Conversation&)>& onFree) {
    Conversation* idle = nullptr;
    for (auto& [id, conversation] : m_all)
        if (conversation.slot.decoder() != nullptr && !conversation.prompt &&
            (!idle || conversation.lastTurn < idle->lastTurn))
            idle = &conversation;
    if (idle == nullptr)
        return false;
    onFree(*idle);
    idle->slot.drop();
    return true;
}

Result<void> Conversations::makeRoom(const Conversation& wanting,
                                     const SessionModel& model,
                                     std::uint64_t limitBytes,
                                     const std::function<void(Conversation&)>& onFree) {
    const auto hasCache = [](const auto& item) { return item.second.slot.decoder() != nullptr; };
    if (wanting.slot.decoder() != nullptr || std::none_of(m_all.begin(), m_all.end(), hasCache))
        return {};
    // Only reserved to be measured: nothing is written to it. A GPU that is full refuses it.
    const int slots = model.contextLength + kScratchSlots;
    auto cache = model.transformer->makeCache(slots);
    while (!cache && cache.error().code == ErrorCode::NoMemory && freeIdle(onFree))
        cache = model.transformer->makeCache(slots);
    if (!cache)
        return std::move(cache).error();
    const KvStorage& storage = cache.value().storage();
    const auto cacheBytes = static_cast<double>(storage.byteSize());
    const auto free = [&] { return freeBytes(m_all, storage, model.contextLength, limitBytes); };
    while (free() < cacheBytes && std::any_of(m_all.begin(), m_all.end(), hasCache))
        if (!freeIdle(onFree))
            return Error{ErrorCode::NoMemory,
                         fmt::format("There is not enough memory for one more conversation: its "
                                     "keys and values need {:.1f} MB, {:.1f} MB are free.",
                                     cacheBytes / 1e6,
                                     std::max(0.0, free()) / 1e6),
                         "Wait for the end of another answer, or load the model with a shorter "
                         "context."};
    return {};
}

} // namespace engine
