// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace engine {

/// One field of a protobuf message. Source: the protobuf encoding specification.
struct ProtobufField {
    enum class Kind : std::uint8_t { Varint, Fixed64, Bytes, Fixed32 };
    std::uint32_t number = 0;
    Kind kind = Kind::Varint;
    std::uint64_t value = 0;  ///< Varint, Fixed32, Fixed64
    std::string_view bytes;   ///< Bytes
    std::uint64_t offset = 0; ///< of the field's tag in the file
};

/// Walks over the fields of one message; never reads beyond its bytes, never recurses.
/// Thread: one.
class ProtobufReader {
public:
    /// `offset`: where the message starts in its file; `source` names the file in messages.
    ProtobufReader(std::string_view message, std::uint64_t offset, const std::string& source)
        : m_message(message)
        , m_offset(offset)
        , m_source(source) {}

    bool isAtEnd() const { return m_position == m_message.size(); }

    /// The next field; not to be called at the end.
    /// Errors: CorruptFile with the byte offset: cut short, a group, an unknown wire type.
    Result<ProtobufField> next();

    /// Where the bytes of a field start in the file.
    std::uint64_t offsetOf(const ProtobufField& field) const {
        return m_offset + static_cast<std::uint64_t>(field.bytes.data() - m_message.data());
    }

    /// CorruptFile at a field, when its kind is not the one its number calls for.
    Result<void> expect(const ProtobufField& field, ProtobufField::Kind kind) const;

private:
    Result<std::uint64_t> varint();
    Result<std::uint64_t> fixed(std::size_t size);
    Error corrupt(std::string_view problem) const;

    std::string_view m_message;
    std::uint64_t m_offset;
    const std::string& m_source;
    std::size_t m_position = 0;
};

/// Appends fields of a message to a string.
class ProtobufWriter {
public:
    void varint(std::uint32_t number, std::uint64_t value);
    void fixed32(std::uint32_t number, std::uint32_t value);
    void bytes(std::uint32_t number, std::string_view value);

    std::string take() { return std::move(m_out); }

private:
    void raw(std::uint64_t value);
    std::string m_out;
};

} // namespace engine
