// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace engine {

/// Tells a loaded network from all others of this process. What a pass leaves with its backend is
/// of use to the transformer with the same key only. Thread: any.
class TransformerKey {
public:
    TransformerKey(); ///< a new one

    bool operator==(const TransformerKey&) const = default;

private:
    std::uint64_t m_number;
};

/// Where a backend keeps the rows of a HiddenRows. Only the transformer with the key of `owner()`
/// looks inside.
class HiddenStorage {
public:
    HiddenStorage(TransformerKey owner, int width)
        : m_owner(owner)
        , m_width(static_cast<std::size_t>(width)) {}

    virtual ~HiddenStorage() = default;

    TransformerKey owner() const { return m_owner; }

    /// Numbers of a row: the hidden size.
    std::size_t width() const { return m_width; }

    virtual int count() const = 0;

    /// Forgets the rows and keeps the memory.
    virtual void clear() = 0;

    /// Copies whole rows from `first` on. Shapes: out [rows, hidden size].
    virtual Result<void> read(int first, std::span<double> out) const = 0;

    /// Shapes: values [rows, hidden size].
    virtual Result<void> append(std::span<const double> values) = 0;

private:
    TransformerKey m_owner;
    std::size_t m_width;
};

/// Rows of the residual stream, which stay where the backend computes. Passes append rows
/// (ForwardRequest::handOuts), and passes of the same transformer go on from them
/// (ForwardRequest::hidden). The rows are there until clear(), whatever passes run meanwhile. An
/// empty one takes rows of any transformer. Thread: engine.
class HiddenRows {
public:
    int count() const { return m_storage ? m_storage->count() : 0; }

    void clear();

    /// Brings whole rows to the caller, from `first` on: exact numbers, whatever type the backend
    /// computes in. Rows that are not there are a bug (ENGINE_CHECK). Errors: those of a backend
    /// whose device fails. Shapes: out [rows, hidden size].
    Result<void> read(int first, std::span<double> out) const;

    /// Appends whole rows that the caller has made, rounded to the backend's type. A pass must have
    /// appended some before (clear() forgets them, not whose they were); otherwise it is a bug
    /// (ENGINE_CHECK). Errors: as read(). Shapes: values [rows, hidden size].
    Result<void> append(std::span<const double> values);

    /// For backends: where rows are appended; made with `width` numbers a row if there are none.
    /// Rows of another transformer are a bug (ENGINE_CHECK).
    template <typename Storage> Storage& storageFor(TransformerKey owner, int width) {
        if (count() == 0 && (!m_storage || m_storage->owner() != owner))
            m_storage = std::make_unique<Storage>(owner, width);
        checkOwner(owner);
        return static_cast<Storage&>(*m_storage); // a transformer uses one type
    }

    /// For backends: where rows are read.
    template <typename Storage> const Storage& storageOf(TransformerKey owner) const {
        checkOwner(owner);
        return static_cast<const Storage&>(*m_storage);
    }

    void checkOwner(TransformerKey owner) const;

private:
    std::unique_ptr<HiddenStorage> m_storage; // null before the first row
};

/// Rows [first, first + count) of a HiddenRows, which is a guest.
struct HiddenPiece {
    HiddenPiece(const HiddenRows& states)
        : HiddenPiece(states, 0, states.count()) {}

    HiddenPiece(const HiddenRows& states, int firstRow, int rowCount)
        : from(&states)
        , first(firstRow)
        , count(rowCount) {}

    const HiddenRows* from;
    int first;
    int count;
};

/// The rows in host memory, in the type in which the backend computes.
template <typename Real> class HostHidden final : public HiddenStorage {
public:
    using HiddenStorage::HiddenStorage;

    int count() const override { return static_cast<int>(m_values.size() / width()); }

    void clear() override { m_values.clear(); }

    Result<void> read(int first, std::span<double> out) const override {
        const Real* from = row(first);
        for (double& value : out)
            value = static_cast<double>(*from++);
        return {};
    }

    Result<void> append(std::span<const double> values) override {
        for (const double value : values)
            if constexpr (std::is_same_v<Real, double>)
                m_values.push_back(value);
            else
                m_values.push_back(static_cast<Real>(static_cast<float>(value)));
        return {};
    }

    /// One row of a pass, [hidden size].
    void append(const Real* values) { m_values.insert(m_values.end(), values, values + width()); }

    const Real* row(int index) const {
        return m_values.data() + static_cast<std::size_t>(index) * width();
    }

private:
    std::vector<Real> m_values; // [count, width]
};

} // namespace engine
