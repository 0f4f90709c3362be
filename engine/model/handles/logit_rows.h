// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace engine {

/// Where a transformer keeps the logits of its newest pass.
class LogitStorage {
public:
    virtual ~LogitStorage() = default;

    /// The number of the newest pass.
    std::uint64_t pass() const { return m_pass; }

    virtual int vocabSize() const = 0;

    /// Copies one row. Shapes: out [vocab].
    virtual Result<void> read(int index, std::span<double> out) const = 0;

protected:
    /// To be called when a pass begins: the rows of the pass before are gone.
    void beginPass() { ++m_pass; }

private:
    std::uint64_t m_pass = 0;
};

/// Logits of a pass. They stay where the backend computes until somebody asks for a row, and are
/// gone with the next pass of that transformer. Thread: engine.
class LogitRows {
public:
    int count() const { return m_count; }

    /// One row, [vocab], brought to the caller when it is first asked for. It may be changed, and
    /// is valid until the next pass with the same ForwardResult. Numbers are double whatever the
    /// backend's type: every narrower value is exact in it. A row that was not asked for, or of a
    /// pass that is not the transformer's newest, is a bug (ENGINE_CHECK). Errors: those of a
    /// backend whose device fails.
    Result<std::span<double>> row(int index);

    /// Makes the logit of this token -infinity in every row, also in those asked for later.
    void forbid(TokenId token);

    /// For backends: these are `count` rows of the pass that has just begun.
    void show(std::shared_ptr<const LogitStorage> storage, int count);

    void clear();

private:
    std::shared_ptr<const LogitStorage> m_storage; // null before the first pass
    std::uint64_t m_pass = 0;
    int m_count = 0;
    TokenId m_forbidden = kNoToken;
    std::vector<std::vector<double>> m_rows; // [count or more], their memory used again
    std::vector<bool> m_isHere;              // [count] whether a row was brought here
};

/// The logits in host memory, in the type in which the backend computes.
template <typename Real> class HostLogits final : public LogitStorage {
public:
    explicit HostLogits(int vocabSize)
        : m_width(static_cast<std::size_t>(vocabSize)) {}

    int vocabSize() const override { return static_cast<int>(m_width); }

    Result<void> read(int index, std::span<double> out) const override {
        const Real* from = m_values.data() + static_cast<std::size_t>(index) * m_width;
        for (double& value : out)
            value = static_cast<double>(*from++);
        return {};
    }

    /// Begins a pass. Gives the place of its rows, [count, vocab], all of them to be written: what
    /// stands there is of an earlier pass.
    Real* begin(std::size_t count) {
        beginPass();
        m_values.resize(count * m_width);
        return m_values.data();
    }

private:
    std::size_t m_width;
    std::vector<Real> m_values; // [rows, vocab]
};

} // namespace engine
