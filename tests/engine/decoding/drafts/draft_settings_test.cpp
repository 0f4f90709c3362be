// SPDX-License-Identifier: Apache-2.0
#include "engine/base/setting_makers.h"
#include "engine/decoding/drafts/draft_settings.h"

#include <QTest>

using namespace engine;

namespace {

const AdaptiveThresholdOptions kInitial{.threshold = 0.1,
                                        .maxSteps = 7,
                                        .targetAcceptance = 0.2,
                                        .stepSize = 0.3,
                                        .acceptanceMemory = 0.4,
                                        .thresholdMemory = 0.5,
                                        .adapts = false};
constexpr int kMost = 20;

DecoderInfo someDecoder() {
    DecoderInfo info;
    info.name = "some";
    info.settings = thresholdSettings(kInitial, kMost);
    appendSettings(info.settings,
                   {exitLayerSetting("0 = any."),
                    verificationSetting(),
                    sharedNoiseSetting(),
                    marginSetting()});
    return info;
}

SettingValues resolved(const SettingValues& given) {
    return resolveSettings(someDecoder(), given).value();
}

void compare(const AdaptiveThresholdOptions& found, const AdaptiveThresholdOptions& expected) {
    QCOMPARE(found.threshold, expected.threshold);
    QCOMPARE(found.maxSteps, expected.maxSteps);
    QCOMPARE(found.targetAcceptance, expected.targetAcceptance);
    QCOMPARE(found.stepSize, expected.stepSize);
    QCOMPARE(found.acceptanceMemory, expected.acceptanceMemory);
    QCOMPARE(found.thresholdMemory, expected.thresholdMemory);
    QCOMPARE(found.adapts, expected.adapts);
    QCOMPARE(found.acceptance, expected.acceptance);
}

} // namespace

class DraftSettingsTest : public QObject {
    Q_OBJECT

private slots:
    void everyOneIsExplainedAndActsFromTheNextStepOn();
    void theDefaultsAreTheDecodersOwn();
    void eachSettingOfTheThresholdMeansItsOwnConstant();
    void draftsBeyondTheDecodersLongestAreRefused();
    void exitsAreThoseOfTheModel();
    void verificationNamesTheRule();
};

void DraftSettingsTest::everyOneIsExplainedAndActsFromTheNextStepOn() {
    const DecoderInfo info = someDecoder();
    QCOMPARE(info.settings.size(), std::size_t{11});
    for (const SettingInfo& setting : info.settings) {
        QVERIFY2(!setting.title.empty() && setting.meaning.ends_with('.'), setting.name.c_str());
        QCOMPARE(setting.effect, SettingEffect::NextStep);
    }
    QCOMPARE(info.settings.back().name, std::string("margin"));
}

void DraftSettingsTest::theDefaultsAreTheDecodersOwn() {
    compare(thresholdOf(resolved({})), kInitial);
    DecoderInfo other;
    other.settings = thresholdSettings({}, kMost);
    compare(thresholdOf(resolveSettings(other, {}).value()), {});
}

void DraftSettingsTest::eachSettingOfTheThresholdMeansItsOwnConstant() {
    compare(thresholdOf(resolved({{"th", 0.91},
                                  {"adapt", 1.0},
                                  {"a", 0.92},
                                  {"step", 0.93},
                                  {"beta1", 0.94},
                                  {"beta2", 0.95},
                                  {"max_draft", 13.0}})),
            {.threshold = 0.91,
             .maxSteps = 13,
             .targetAcceptance = 0.92,
             .stepSize = 0.93,
             .acceptanceMemory = 0.94,
             .thresholdMemory = 0.95,
             .adapts = true});
}

void DraftSettingsTest::draftsBeyondTheDecodersLongestAreRefused() {
    QVERIFY(resolveSettings(someDecoder(), {{"max_draft", double{kMost}}}).hasValue());
    const auto longer = resolveSettings(someDecoder(), {{"max_draft", kMost + 1.0}});
    QVERIFY(!longer && longer.error().message.find("max_draft") != std::string::npos);
    QVERIFY(!resolveSettings(someDecoder(), {{"max_draft", 0.0}}));
}

void DraftSettingsTest::exitsAreThoseOfTheModel() {
    constexpr int kLayers = 6;
    for (int exit = 0; exit < kLayers; ++exit)
        QCOMPARE(exitLayerOf(resolved({{"exit_layer", double(exit)}}), kLayers, "").value(), exit);
    const auto last = exitLayerOf(resolved({{"exit_layer", double{kLayers}}}), kLayers, "Try 0.");
    QVERIFY(!last && last.error().message.find("layer 1 to 5") != std::string::npos);
    QCOMPARE(last.error().hint, std::string("Try 0."));
}

void DraftSettingsTest::verificationNamesTheRule() {
    QCOMPARE(verifyRuleOf(resolved({})), VerifyRule::Match);
    QCOMPARE(verifyRuleOf(resolved({{"verification", std::string("rejection")}})),
             VerifyRule::Rejection);
    QVERIFY(flagOf(resolved({}), "shared_noise"));
}

QTEST_APPLESS_MAIN(DraftSettingsTest)
#include "draft_settings_test.moc"
