// SPDX-License-Identifier: Apache-2.0
#include "tests/support/lossless/lossless_test.h"

#include <QTest>

#include <utility>

namespace support {

LosslessTest::LosslessTest(engine::DecoderRegistry& registry, LosslessSubject subject)
    : m_registry(registry)
    , m_subject(std::move(subject)) {}

void LosslessTest::check(const std::string& fault) { QVERIFY2(fault.empty(), fault.c_str()); }

void LosslessTest::compare(const LosslessRun& run) {
    check(runLosslessCases(m_registry, m_models, run));
}

void LosslessTest::greedyEqualsVanilla() { compare(runOfRow(false)); }

void LosslessTest::samplingEqualsVanillaTokenByToken() { compare(runOfRow(true)); }

void LosslessTest::greedyEqualsVanillaUnderAnyLaw() { compare(lawRunOfRow(false)); }

void LosslessTest::samplingEqualsVanillaUnderAnyLaw() { compare(lawRunOfRow(true)); }

void LosslessTest::settingsChangedWhileRunningChangeNoToken() {
    check(changeSettingsWhileRunning(m_registry, transformer(), runOfRow(false)));
}

void LosslessTest::addDecoders() const {
    QTest::addColumn<QString>("decoder");
    for (const std::string& name : m_subject.decoders)
        QTest::addRow("%s", name.c_str()) << QString::fromStdString(name);
}

LosslessRun LosslessTest::runOfRow(bool samples) const {
    QFETCH(const QString, decoder);
    const LosslessCases& cases = samples ? m_subject.sampled : m_subject.greedy;
    const LosslessTask task{decoder.toStdString(), samples};
    return {.decoder = task.decoder,
            .allCases = cases.all,
            .sampleCases = cases.sample,
            .samples = samples,
            .firstSeed = cases.firstSeed,
            .leastDrafted = cases.leastDrafted,
            .settings = [this, task](CaseRandom& random, int layerCount) {
                return m_subject.settings(random, {task.decoder, task.samples, layerCount});
            }};
}

LosslessRun LosslessTest::lawRunOfRow(bool samples) const {
    LosslessRun run = runOfRow(samples);
    run.hasLaw = true;
    run.sampleCases /= 2;
    run.firstSeed += 50'000'000;
    run.leastDrafted /= 2; // a grammar ends some answers soon
    return run;
}

} // namespace support
