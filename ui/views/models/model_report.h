// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>

#include <cstdint>
#include <vector>

namespace ui {

/// A part of the memory that a model will need. A plain value.
struct MemoryItem {
    QString what; ///< "Weights, bf16"
    std::uint64_t bytes = 0;
};

/// The facts about a model before it is loaded. A plain value.
struct ModelReport {
    QString path;
    QString name;   ///< for people
    QString family; ///< "llama"
    int layerCount = 0;
    QString types;        ///< of the weights in the file, "bf16"
    QString arithmetic;   ///< how they will be held in memory, in full
    QString tokenizer;    ///< empty = none
    QString chatTemplate; ///< where it came from; empty = none
    QString licence;      ///< as named in the files; empty = not named
    std::uint64_t parameterCount = 0;
    std::uint64_t fileBytes = 0; ///< of the tensors in the file
    int modelContextLength = 0;
    std::vector<MemoryItem> memory;
    std::vector<QString> notes = {}; ///< sentences about what the files lack or need
    std::uint64_t freeBytes = 0;     ///< now, of GPUs all they have; 0 = not known
    bool isOfDevice = false;         ///< that is the memory of GPUs

    std::uint64_t neededBytes() const;

    bool fits() const { return freeBytes == 0 || neededBytes() <= freeBytes; }
};

/// The parts that are listed and their names: the panel's terms for the engine's.
ModelReport reportOf(const engine::ModelInspected& inspected);

/// "135M", "1.7B": as models are named.
QString parameterText(std::uint64_t count);

/// "Q4_1" of "Q4_1 210, F32 61, Q8_0 1": the type that most of the tensors have.
QString mainType(const QString& types);

/// "12.9 GiB", "640 MiB": three figures at most.
QString sizeText(std::uint64_t bytes);

/// "bf16 · 30 layers".
QString shortFacts(const engine::ModelFacts& model);

/// "4-bit, scale and minimum per 32"; for recordings without it, the short form.
QString fullArithmetic(const engine::ModelFacts& model);

/// "cpu, avx512", "cuda, NVIDIA H200", or the name alone where there is nothing to say.
QString backendText(const engine::ModelFacts& model);

/// "bf16" of "bfloat16": as file names say it.
QString shortPrecision(const std::string& precision);

} // namespace ui
