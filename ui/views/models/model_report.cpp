// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/model_report.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <QLocale>

#include <limits>

namespace ui {

namespace {

constexpr double kKibi = 1024.0;

} // namespace

std::uint64_t ModelReport::neededBytes() const {
    std::uint64_t sum = 0;
    for (const MemoryItem& item : memory)
        sum += std::min(item.bytes, std::numeric_limits<std::uint64_t>::max() - sum);
    return sum;
}

ModelReport reportOf(const engine::ModelInspected& inspected) {
    const engine::ModelFacts& model = inspected.model;
    const engine::MemoryFacts& memory = inspected.memory;
    ModelReport report;
    report.path = QString::fromStdString(inspected.path);
    report.name = QString::fromStdString(model.name);
    report.family = QString::fromStdString(model.architecture);
    report.layerCount = model.layerCount;
    report.types = QString::fromStdString(model.weightTypes);
    report.arithmetic = fullArithmetic(model);
    report.tokenizer = QString::fromStdString(model.tokenizer);
    report.chatTemplate = QString::fromStdString(model.chatTemplate);
    report.licence = QString::fromStdString(model.licence);
    report.parameterCount = model.parameterCount;
    report.fileBytes = model.fileBytes;
    report.modelContextLength = model.modelContextLength;
    report.freeBytes = memory.freeBytes;
    report.isOfDevice = memory.isOfDevice;
    report.memory = {
        {tr("Weights, %1").arg(shortPrecision(model.precision)), memory.weightBytes},
        {tr("Context of %1 tokens").arg(numberText(model.contextLength)), memory.cacheBytes},
        {tr("Draft tree and search"), memory.scratchBytes},
        {tr("Largest pass"), memory.passBytes}};
    if (memory.copyBytes > 0)
        report.notes.push_back(tr("Beside this, Auto and Low precision make a 4-bit copy of the "
                                  "weights to draft with: "
                                  "%1 more, if twice as much is free then.")
                                   .arg(sizeText(memory.copyBytes)));
    for (const std::string& note : inspected.notes)
        report.notes.push_back(QString::fromStdString(note));
    return report;
}

QString parameterText(std::uint64_t count) {
    constexpr double kMillion = 1e6;
    double amount = static_cast<double>(count) / kMillion;
    QChar unit = u'M';
    if (amount >= 1000.0) {
        amount /= 1000.0;
        unit = u'B';
    }
    return QLocale::c().toString(amount, 'f', amount < 10.0 ? 1 : 0) + unit;
}

QString mainType(const QString& types) {
    return types.section(QLatin1Char(','), 0, 0).section(QLatin1Char(' '), 0, 0);
}

QString sizeText(std::uint64_t bytes) {
    double amount = static_cast<double>(bytes) / (kKibi * kKibi);
    QString unit = QStringLiteral("MiB");
    if (amount >= kKibi) {
        amount /= kKibi;
        unit = QStringLiteral("GiB");
    }
    const int decimals = amount < 100.0 ? 1 : 0;
    return QLocale::c().toString(amount, 'f', decimals) + QLatin1Char(' ') + unit;
}

QString fullArithmetic(const engine::ModelFacts& model) {
    return QString::fromStdString(model.arithmetic.empty() ? model.precision : model.arithmetic);
}

QString backendText(const engine::ModelFacts& model) {
    const QString name = QString::fromStdString(model.backend);
    const std::string& where = model.device.empty() ? model.instructionSet : model.device;
    return where.empty() ? name : name + QStringLiteral(", ") + QString::fromStdString(where);
}

QString shortPrecision(const std::string& precision) {
    if (precision == "bfloat16")
        return QStringLiteral("bf16");
    if (precision == "float32")
        return QStringLiteral("f32");
    if (precision == "float64")
        return QStringLiteral("f64");
    return QString::fromStdString(precision);
}

QString shortFacts(const engine::ModelFacts& model) {
    return countText(model.layerCount, tr("%2 \u00b7 1 layer"), tr("%2 \u00b7 %1 layers"))
        .arg(shortPrecision(model.precision));
}

} // namespace ui
