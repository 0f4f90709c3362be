// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace engine {

/// The kind of a failure outside the program. The command line turns each kind into its exit code
/// (see app/README.md).
enum class ErrorCode {
    InvalidInput, ///< an invalid argument, prompt or id
    NotFound,     ///< a file, a folder or a name that does not exist
    Unsupported,  ///< well formed, but not supported by this program
    CorruptFile,  ///< a file whose bytes contradict its format
    NoMemory,     ///< an allocation that failed or would fail
    Io,           ///< the operating system refused to read or write
    Numeric,      ///< a computation with a result that is not finite
    Device,       ///< a GPU that failed, went away or computes wrongly
    Cancelled,    ///< the user asked to stop
    Internal,     ///< a run-time module threw: an error inside the program
};

/// One failure, described for the user: what happened and where, then what to do about it.
struct Error {
    ErrorCode code = ErrorCode::InvalidInput;
    std::string message; ///< one sentence: what and where (file, byte offset, line, tensor)
    std::string hint;    ///< one sentence: what to do; may be empty
};

/// A value, or the error because of which there is none. Thread: any; a plain value.
template <typename T> class [[nodiscard]] Result {
public:
    // Implicit on purpose: `return value;` and `return Error{...};` both read as they should.
    Result(T value) // NOLINT(google-explicit-constructor)
        : m_content(std::in_place_index<0>, std::move(value)) {}

    Result(Error error) // NOLINT(google-explicit-constructor)
        : m_content(std::in_place_index<1>, std::move(error)) {}

    bool hasValue() const { return m_content.index() == 0; }

    explicit operator bool() const { return hasValue(); }

    T& value() & { return std::get<0>(m_content); }

    const T& value() const& { return std::get<0>(m_content); }

    T&& value() && { return std::get<0>(std::move(m_content)); }

    const Error& error() const& { return std::get<1>(m_content); }

    Error&& error() && { return std::get<1>(std::move(m_content)); }

private:
    std::variant<T, Error> m_content;
};

/// Success without a value, or an error.
template <> class [[nodiscard]] Result<void> {
public:
    Result() = default;

    Result(Error error) // NOLINT(google-explicit-constructor)
        : m_error(std::move(error)) {}

    bool hasValue() const { return !m_error.has_value(); }

    explicit operator bool() const { return hasValue(); }

    const Error& error() const& { return *m_error; }

    Error&& error() && { return *std::move(m_error); }

private:
    std::optional<Error> m_error;
};

/// Thrown by ENGINE_CHECK: our own code is wrong. Nobody catches it but the outermost loop.
class __attribute__((visibility("default"))) EngineBug : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

} // namespace engine

/// Checks a condition that holds if our own code is correct; the rest is a fmt format string and
/// its values.
#define ENGINE_CHECK(condition, ...)                                                               \
    do {                                                                                           \
        if (!(condition)) [[unlikely]]                                                             \
            throw ::engine::EngineBug(fmt::format(__VA_ARGS__));                                   \
    } while (false)

#define ENGINE_JOIN_TOKENS(a, b) a##b
#define ENGINE_JOIN(a, b) ENGINE_JOIN_TOKENS(a, b)

/// ENGINE_TRY(auto file, openFile(path)): declares `file`, or returns the error to the caller.
#define ENGINE_TRY(declaration, ...)                                                               \
    auto ENGINE_JOIN(engineResult, __LINE__) = (__VA_ARGS__);                                      \
    if (!ENGINE_JOIN(engineResult, __LINE__))                                                      \
        return std::move(ENGINE_JOIN(engineResult, __LINE__)).error();                             \
    declaration = std::move(ENGINE_JOIN(engineResult, __LINE__)).value()

/// ENGINE_TRY_DO(check(file)): continues, or returns the error to the caller.
#define ENGINE_TRY_DO(...)                                                                         \
    do {                                                                                           \
        if (auto engineResult = (__VA_ARGS__); !engineResult)                                      \
            return std::move(engineResult).error();                                                \
    } while (false)
