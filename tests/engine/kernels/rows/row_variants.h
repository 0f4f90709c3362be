// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/rows/row_kernels.h"

#include <QTest>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

/// The instruction sets as global data: with `initTestCase_data() { addVariants(); }` each test
/// runs once for each of them and begins with FETCH_KERNELS.
inline void addVariants() {
    QTest::addColumn<QString>("variant");
    for (const char* name : {"scalar", "AVX2", "AVX-512"})
        QTest::newRow(name) << QString(name);
}

/// The kernels of a variant; null where this processor cannot run them.
inline const engine::RowKernels* runnableKernels(const QString& variant) {
    if (variant == "scalar")
        return &engine::scalarRowKernels();
    const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                         __builtin_cpu_supports("f16c");
    if (variant == "AVX2")
        return hasAvx2 ? engine::avx2RowKernels() : nullptr;
    const bool hasAvx512 =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
    return hasAvx2 && hasAvx512 ? engine::avx512RowKernels() : nullptr;
}

#define FETCH_KERNELS                                                                              \
    QFETCH_GLOBAL(QString, variant);                                                               \
    const engine::RowKernels* const found = runnableKernels(variant);                              \
    if (found == nullptr)                                                                          \
        QSKIP(qPrintable(variant + " is not exercised here: this processor has it not"));          \
    const engine::RowKernels& kernels = *found

/// Memory that ends where no page follows: touching one byte more ends the program.
template <typename Number> class EdgeRow {
public:
    explicit EdgeRow(int count)
        : m_count(static_cast<std::size_t>(count)) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t used = (m_count * sizeof(Number) + page - 1) / page * page;
        m_byteSize = used + page;
        m_memory =
            mmap(nullptr, m_byteSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char* end = static_cast<char*>(m_memory) + used;
        if (m_memory == MAP_FAILED || mprotect(end, page, PROT_NONE) != 0)
            qFatal("no memory for a test row");
        m_data = reinterpret_cast<Number*>(end) - m_count;
    }

    explicit EdgeRow(const std::vector<Number>& values)
        : EdgeRow(static_cast<int>(values.size())) {
        std::copy(values.begin(), values.end(), m_data);
    }

    ~EdgeRow() {
        if (m_memory != nullptr)
            munmap(m_memory, m_byteSize);
    }

    EdgeRow(EdgeRow&& other) noexcept
        : m_count(other.m_count)
        , m_byteSize(other.m_byteSize)
        , m_memory(std::exchange(other.m_memory, nullptr))
        , m_data(other.m_data) {}

    EdgeRow(const EdgeRow&) = delete;
    EdgeRow& operator=(const EdgeRow&) = delete;

    Number* data() { return m_data; }

    Number& operator[](int i) { return m_data[i]; }

    std::vector<Number> values() const { return {m_data, m_data + m_count}; }

private:
    std::size_t m_count;
    std::size_t m_byteSize;
    void* m_memory;
    Number* m_data;
};

inline std::vector<float> randomRow(int width, unsigned seed, float spread = 1.0F) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0F, spread);
    std::vector<float> row(static_cast<std::size_t>(width));
    for (float& value : row)
        value = normal(generator);
    return row;
}

/// Widths with every kind of tail, and two of real models.
inline std::vector<int> testedWidths() {
    std::vector<int> widths;
    for (int width = 1; width <= 70; ++width)
        widths.push_back(width);
    widths.insert(widths.end(), {127, 128, 129, 576, 1536});
    return widths;
}

template <typename Number>
bool hasSameBits(const std::vector<Number>& a, const std::vector<Number>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0;
}

/// |actual - expected| / |expected|, against the smallest normal number where that is larger.
inline double relativeError(double actual, double expected) {
    return std::abs(actual - expected) / std::max(std::abs(expected), 1.2e-38);
}
