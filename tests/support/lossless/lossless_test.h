// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/lossless/lossless_case.h"

#include <QObject>

#include <functional>
#include <string>
#include <vector>

namespace support {

/// The number of cases, and the first seed.
struct LosslessCases {
    int all = 0;    ///< with SWIFT_STUDIO_FULL_EXACTNESS=1
    int sample = 0; ///< otherwise
    std::uint64_t firstSeed = 0;
    int leastDrafted = 10; ///< see LosslessRun
};

/// The conditions for which settings are chosen.
struct LosslessTask {
    std::string decoder;
    bool samples = false; ///< tokens are drawn
    int layerCount = 0;   ///< of the network
};

/// The decoders of one module and their cases.
struct LosslessSubject {
    std::vector<std::string> decoders;
    LosslessCases greedy;
    LosslessCases sampled;
    std::function<engine::SettingValues(CaseRandom& random, const LosslessTask& task)> settings;
    /// Told each network before the first case; empty = it is used as it is.
    std::function<void(engine::Transformer&)> prepare = {};
};

/// The exactness test of every decoder: its greedy answers, and its sampled answers with the rule
/// Match, equal vanilla's token by token, whatever its settings and however they change. The
/// default run takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them. A test
/// derives from it, lists the settings, and adds further tests of its decoders.
class LosslessTest : public QObject {
    Q_OBJECT

public:
    LosslessTest(engine::DecoderRegistry& registry, LosslessSubject subject);

protected:
    /// Fails the test function, unless `fault` is empty.
    static void check(const std::string& fault);

    /// The random network that always exists.
    engine::Transformer& transformer() { return *m_models.front().transformer; }

    /// See caseModels().
    std::vector<CaseModel>& models() { return m_models; }

    /// The data of a test function: a row for each decoder.
    void addDecoders() const;

    /// The cases of the current row's decoder.
    LosslessRun runOfRow(bool samples) const;

    /// The same with other distributions of the next token: half as many, but all of them in a full
    /// run.
    LosslessRun lawRunOfRow(bool samples) const;

    /// Fails the test function if one of the cases has other tokens than vanilla.
    void compare(const LosslessRun& run);

private slots:

    void initTestCase() {
        m_models = caseModels();
        for (CaseModel& model : m_models)
            if (m_subject.prepare)
                m_subject.prepare(*model.transformer);
    }

    void greedyEqualsVanilla_data() { addDecoders(); }

    void greedyEqualsVanilla();

    void samplingEqualsVanillaTokenByToken_data() { addDecoders(); }

    void samplingEqualsVanillaTokenByToken();

    void greedyEqualsVanillaUnderAnyLaw_data() { addDecoders(); }

    void greedyEqualsVanillaUnderAnyLaw();

    void samplingEqualsVanillaUnderAnyLaw_data() { addDecoders(); }

    void samplingEqualsVanillaUnderAnyLaw();

    void settingsChangedWhileRunningChangeNoToken_data() { addDecoders(); }

    void settingsChangedWhileRunningChangeNoToken();

private:
    engine::DecoderRegistry& m_registry;
    LosslessSubject m_subject;
    std::vector<CaseModel> m_models;
};

} // namespace support
