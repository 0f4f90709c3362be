// SPDX-License-Identifier: Apache-2.0
#include "engine/text/sentencepiece/protobuf_reader.h"

namespace engine {

namespace {

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::uint64_t tag(std::uint32_t number, std::uint32_t wireType) {
    return (std::uint64_t{number} << 3U) | wireType;
}

} // namespace

Error ProtobufReader::corrupt(std::string_view problem) const {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {} (byte {})", m_source, problem, m_offset + m_position),
            "Fetch the file again."};
}

Result<std::uint64_t> ProtobufReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (isAtEnd())
            return corrupt("a number is cut short");
        const auto byte = static_cast<std::uint8_t>(m_message[m_position++]);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if ((byte & 0x80U) == 0)
            return value;
    }
    return corrupt("a number has more than ten bytes");
}

Result<std::uint64_t> ProtobufReader::fixed(std::size_t size) {
    if (m_message.size() - m_position < size)
        return corrupt("a number is cut short");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value |= std::uint64_t{static_cast<std::uint8_t>(m_message[m_position + i])} << (8 * i);
    m_position += size;
    return value;
}

Result<ProtobufField> ProtobufReader::next() {
    ProtobufField field;
    field.offset = m_offset + m_position;
    ENGINE_TRY(const std::uint64_t key, varint());
    const std::uint64_t number = key >> 3U;
    if (number == 0 || number > 536'870'911) // 2^29 - 1, the largest the format knows
        return corrupt(fmt::format("field number {} is out of range", number));
    field.number = static_cast<std::uint32_t>(number);
    switch (key & 7U) {
    case kVarint: {
        field.kind = ProtobufField::Kind::Varint;
        ENGINE_TRY(field.value, varint());
        return field;
    }
    case kFixed64: {
        field.kind = ProtobufField::Kind::Fixed64;
        ENGINE_TRY(field.value, fixed(8));
        return field;
    }
    case kFixed32: {
        field.kind = ProtobufField::Kind::Fixed32;
        ENGINE_TRY(field.value, fixed(4));
        return field;
    }
    case kBytes: {
        field.kind = ProtobufField::Kind::Bytes;
        ENGINE_TRY(const std::uint64_t length, varint());
        if (length > m_message.size() - m_position)
            return corrupt(fmt::format("field {} claims {} bytes, {} are left",
                                       field.number,
                                       length,
                                       m_message.size() - m_position));
        field.bytes = m_message.substr(m_position, static_cast<std::size_t>(length));
        m_position += field.bytes.size();
        return field;
    }
    default:
        return corrupt(fmt::format("wire type {} is not supported", key & 7U));
    }
}

Result<void> ProtobufReader::expect(const ProtobufField& field, ProtobufField::Kind kind) const {
    if (field.kind == kind)
        return {};
    return Error{
        ErrorCode::CorruptFile,
        fmt::format(
            "{}: field {} has the wrong type (byte {})", m_source, field.number, field.offset),
        "Fetch the file again."};
}

void ProtobufWriter::raw(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U)
        m_out.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
    m_out.push_back(static_cast<char>(value));
}

void ProtobufWriter::varint(std::uint32_t number, std::uint64_t value) {
    raw(tag(number, kVarint));
    raw(value);
}

void ProtobufWriter::fixed32(std::uint32_t number, std::uint32_t value) {
    raw(tag(number, kFixed32));
    for (unsigned shift = 0; shift < 32; shift += 8)
        m_out.push_back(static_cast<char>((value >> shift) & 0xFFU));
}

void ProtobufWriter::bytes(std::uint32_t number, std::string_view value) {
    raw(tag(number, kBytes));
    raw(value.size());
    m_out.append(value);
}

} // namespace engine
