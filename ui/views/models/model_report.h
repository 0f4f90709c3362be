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

/// What is known of a model before it is loaded. A plain value.
struct ModelReport {
    QString path;
    QString name;   ///< for people
    QString family; ///< "llama"
    int layerCount = 0;
    QString types;        ///< of the weights in the file, "bf16"
    QString arithmetic;   ///< how they will be held, in full
    QString tokenizer;    ///< empty = none
    QString chatTemplate; ///< where it came from; empty = none
    QString licence;      ///< as the files name it; empty = they do not
    std::uint64_t parameterCount = 0;
    std::uint64_t fileBytes = 0; ///< of the tensors in the file
    int modelContextLength = 0;
    std::vector<MemoryItem> memory;
    std::uint64_t freeBytes = 0; ///< now; 0 = not known

    std::uint64_t neededBytes() const;

    bool fits() const { return freeBytes == 0 || neededBytes() <= freeBytes; }
};

/// Which parts are listed, and how they are called: the panel's words for what the engine says.
ModelReport reportOf(const engine::ModelInspected& inspected);

/// "135M", "1.7B": as models are named.
QString parameterText(std::uint64_t count);

/// "Q4_1" of "Q4_1 210, F32 61, Q8_0 1": the type that most of the tensors have.
QString mainType(const QString& types);

/// "12.9 GiB", "640 MiB": three figures at most.
QString sizeText(std::uint64_t bytes);

/// "bf16 · 30 layers".
QString shortFacts(const engine::ModelFacts& model);

/// "4-bit, scale and minimum per 32"; of recordings that do not tell, the short form.
QString fullArithmetic(const engine::ModelFacts& model);

/// "cpu, avx512", or the name alone where the backend chooses no instructions.
QString backendText(const engine::ModelFacts& model);

/// "bf16" of "bfloat16": as file names say it.
QString shortPrecision(const std::string& precision);

} // namespace ui
