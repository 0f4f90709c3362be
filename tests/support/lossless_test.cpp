// SPDX-License-Identifier: Apache-2.0
#include "tests/support/lossless_test.h"

#include <QTest>

#include <utility>

namespace support {

LosslessTest::LosslessTest(engine::DecoderRegistry& registry,
                           std::vector<std::string> decoders,
                           RunOf runOf)
    : m_registry(registry)
    , m_decoders(std::move(decoders))
    , m_runOf(std::move(runOf)) {}

void LosslessTest::check(const std::string& fault) { QVERIFY2(fault.empty(), fault.c_str()); }

void LosslessTest::greedyEqualsVanilla() {
    check(runLosslessCases(m_registry, m_models, runOfRow(false)));
}

void LosslessTest::samplingEqualsVanillaTokenByToken() {
    check(runLosslessCases(m_registry, m_models, runOfRow(true)));
}

void LosslessTest::settingsChangedWhileRunningChangeNoToken() {
    check(changeSettingsWhileRunning(m_registry, transformer(), runOfRow(false)));
}

void LosslessTest::addDecoders() const {
    QTest::addColumn<QString>("decoder");
    for (const std::string& name : m_decoders)
        QTest::addRow("%s", name.c_str()) << QString::fromStdString(name);
}

LosslessRun LosslessTest::runOfRow(bool samples) const {
    QFETCH(const QString, decoder);
    return m_runOf(decoder.toStdString(), samples);
}

} // namespace support
