// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/free/successor_memory.h"

#include "engine/base/counter_random.h"
#include "engine/decoding/statistics/data_files.h"
#include "engine/loading/files/byte_reader.h"

#include <algorithm>
#include <cstring>

namespace engine {

namespace {

// The file: kMagic, kVersion (u32), vocabulary (u32), fingerprint (kFingerprintBytes, filled up
// with zeros), entries (u32), for each of them previous (i32, -1 = none), token (i32), count (i32)
// and count times id (i32) and probability (f32); a check sum (u64) over all before.
constexpr std::string_view kMagic = "SWIFTSUC";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFingerprintBytes = 64;
constexpr std::size_t kMostBytes = 256'000'000;

template <typename Number> void append(std::string& bytes, Number value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
}

std::uint64_t checkSum(std::string_view bytes) {
    std::uint64_t sum = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof sum) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
        sum = mixBits(sum ^ word);
    }
    return sum;
}

/// Reads numbers from front to back; beyond the end it fails for good.
class NumberReader {
public:
    explicit NumberReader(std::string_view bytes)
        : m_bytes(bytes) {}

    template <typename Number> Number next() {
        Number value{};
        if (m_bytes.size() - m_at < sizeof value) {
            m_hasFailed = true;
            return value;
        }
        std::memcpy(&value, m_bytes.data() + m_at, sizeof value);
        m_at += sizeof value;
        return value;
    }

    bool hasFailed() const { return m_hasFailed; }

    std::size_t offset() const { return m_at; }

    bool isAtEnd() const { return m_at == m_bytes.size(); }

private:
    std::string_view m_bytes;
    std::size_t m_at = 0;
    bool m_hasFailed = false;
};

bool isToken(TokenId id, int vocabSize) { return id >= 0 && id < vocabSize; }

/// False when a number is missing or out of range.
bool readEntry(NumberReader& numbers, int vocabSize, SuccessorTable::Entry& entry) {
    entry.previous = numbers.next<TokenId>();
    entry.token = numbers.next<TokenId>();
    Successors& successors = entry.successors;
    successors = {};
    successors.count = numbers.next<std::int32_t>();
    if (numbers.hasFailed() || successors.count < 1 || successors.count > Successors::kMost ||
        !isToken(entry.token, vocabSize) ||
        (entry.previous != kNoToken && !isToken(entry.previous, vocabSize)))
        return false;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(successors.count); ++rank) {
        successors.ids[rank] = numbers.next<TokenId>();
        const auto probability = numbers.next<float>();
        if (numbers.hasFailed() || !isToken(successors.ids[rank], vocabSize) ||
            !(probability >= 0.0F && probability <= 1.0F))
            return false;
        successors.probabilities[rank] = probability;
    }
    return true;
}

} // namespace

SuccessorMemory::SuccessorMemory(const std::filesystem::path& folder, std::string modelFingerprint)
    : m_fingerprint(std::move(modelFingerprint))
    , m_path(modelDataFile(folder, "successors", m_fingerprint, ".bin")) {
    ENGINE_CHECK(m_fingerprint.size() <= kFingerprintBytes, "fingerprint '{}'", m_fingerprint);
}

std::string SuccessorMemory::headerOf(const SuccessorTable& table) const {
    std::string bytes(kMagic);
    append(bytes, kVersion);
    append(bytes, static_cast<std::uint32_t>(table.vocabSize()));
    bytes += m_fingerprint;
    bytes.resize(bytes.size() + kFingerprintBytes - m_fingerprint.size(), '\0');
    return bytes;
}

Result<std::string> SuccessorMemory::load(SuccessorTable& table) {
    const auto loaded = read(table);
    m_knownRecords = table.recordCount();
    if (loaded || loaded.error().code == ErrorCode::NotFound)
        return std::string();
    if (loaded.error().code != ErrorCode::CorruptFile)
        return loaded.error();
    return setDataFileAside(m_path, loaded.error());
}

Result<void> SuccessorMemory::read(SuccessorTable& table) const {
    ENGINE_TRY(const std::string bytes, readTextFile(m_path, kMostBytes));
    const auto bad = [&](std::string_view problem, std::size_t offset) {
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{}: {} (byte {})", m_path.string(), problem, offset),
                     ""};
    };
    const std::string header = headerOf(table);
    std::uint64_t sum = 0;
    if (bytes.size() < header.size() + sizeof(std::uint32_t) + sizeof sum)
        return bad("it is too short", bytes.size());
    if (bytes.compare(0, header.size(), header) != 0)
        return bad("it is not for this model and this version of the program", 0);
    const std::string_view content(bytes.data(), bytes.size() - sizeof sum);
    std::memcpy(&sum, bytes.data() + content.size(), sizeof sum);
    if (sum != checkSum(content))
        return bad("its check sum is wrong", content.size());
    NumberReader numbers(content.substr(header.size()));
    const auto count = numbers.next<std::uint32_t>();
    SuccessorTable found = table; // nothing of a bad file is kept
    SuccessorTable::Entry entry;
    for (std::uint32_t left = count; left > 0; --left) {
        if (!readEntry(numbers, table.vocabSize(), entry))
            return bad("an entry is damaged", header.size() + numbers.offset());
        found.restore(entry);
    }
    if (!numbers.isAtEnd())
        return bad("there is something behind the last entry", header.size() + numbers.offset());
    table = std::move(found);
    return {};
}

Result<void> SuccessorMemory::store(const SuccessorTable& table) {
    std::string bytes = headerOf(table);
    const std::vector<SuccessorTable::Entry> entries = table.entries();
    append(bytes, static_cast<std::uint32_t>(entries.size()));
    for (const SuccessorTable::Entry& entry : entries) {
        append(bytes, entry.previous);
        append(bytes, entry.token);
        append(bytes, entry.successors.count);
        for (std::size_t rank = 0; rank < static_cast<std::size_t>(entry.successors.count);
             ++rank) {
            append(bytes, entry.successors.ids[rank]);
            append(bytes, entry.successors.probabilities[rank]);
        }
    }
    append(bytes, checkSum(bytes));
    ENGINE_TRY_DO(storeDataFile(m_path, bytes));
    m_knownRecords = table.recordCount();
    return {};
}

Result<void> SuccessorMemory::keep(const SuccessorTable& table) {
    if (table.recordCount() - m_knownRecords < kRowsBetweenWrites)
        return {};
    return store(table);
}

} // namespace engine
