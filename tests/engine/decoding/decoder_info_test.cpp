// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder_info.h"

#include <QTest>

#include <array>

using namespace engine;

namespace {

DecoderInfo someDecoder() {
    DecoderInfo info;
    info.name = "some";
    info.settings = {
        {.name = "profile",
         .title = "Profile",
         .kind = SettingKind::Choice,
         .initial = std::string("paper"),
         .choices = {"paper", "code"}},
        {.name = "r", .title = "r", .initial = 0.45, .minimum = 0.0, .maximum = 0.8},
        {.name = "gamma",
         .title = "gamma",
         .kind = SettingKind::Integer,
         .initial = 32.0,
         .minimum = 8.0,
         .maximum = 256.0},
        {.name = "bayes", .title = "bayes", .kind = SettingKind::Flag, .initial = 1.0},
        {.name = "file", .title = "file", .kind = SettingKind::Text, .initial = std::string()},
    };
    info.profiles = {{"paper", "As the paper.", {{"gamma", 64.0}}},
                     {"code", "As published.", {{"gamma", 50.0}, {"bayes", 0.0}}}};
    return info;
}

/// What these texts, as typed behind --set, lead to.
Result<SettingValues> resolved(const std::vector<std::string>& texts) {
    const DecoderInfo info = someDecoder();
    SettingValues given;
    for (const std::string& text : texts) {
        ENGINE_TRY(auto setting, parseSetting(info, text));
        given.insert_or_assign(setting.first, setting.second);
    }
    return resolveSettings(info, given);
}

} // namespace

class DecoderInfoTest : public QObject {
    Q_OBJECT

private slots:
    void explicitValuesWinOverTheProfileAndThatOverDefaults();
    void flagsAreTypedOnAndOff();
    void valuesOutOfRangeNameTheSettingAndTheRange_data();
    void valuesOutOfRangeNameTheSettingAndTheRange();
    void boundsThemselvesAreInRange();
    void anUnknownSettingSuggestsTheNearest();
    void valuesThatWereNotTypedAreCheckedToo();
    void textsAreTakenAsTheyAre();
    void valuesAreShownAsAUserWouldTypeThem();
    void theNearestNameIsNearEnough();
    void aSettingGivenWithoutWhatItNeedsIsRefused();
};

void DecoderInfoTest::aSettingGivenWithoutWhatItNeedsIsRefused() {
    DecoderInfo info = someDecoder();
    info.settings[2].needs = {"bayes", 1.0}; // gamma
    QVERIFY(checkTogether(info, {{"gamma", 9.0}}).hasValue());
    QVERIFY(checkTogether(info, {{"bayes", 0.0}}).hasValue()); // gamma was not given
    const auto refused = checkTogether(info, {{"gamma", 9.0}, {"bayes", 0.0}});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QCOMPARE(refused.error().message,
             std::string("The setting gamma has no effect with bayes=off."));
    QCOMPARE(refused.error().hint, std::string("Leave gamma out, or set bayes=on."));
    const auto byProfile = checkTogether(info, {{"gamma", 9.0}, {"profile", std::string("code")}});
    QVERIFY(!byProfile); // whose bayes is off
    const SettingValues resolved = resolveSettings(info, {{"bayes", 0.0}}).value();
    QVERIFY(!hasEffect(info.settings[2], resolved) && hasEffect(info.settings[1], resolved));
    QCOMPARE(needText(info.settings, info.settings[2]), std::string("only with bayes=on"));
    QCOMPARE(needText(info.settings, info.settings[1]), std::string());
}

void DecoderInfoTest::explicitValuesWinOverTheProfileAndThatOverDefaults() {
    QCOMPARE(integerOf(resolved({}).value(), "gamma"), 64); // the first profile is the default
    const auto code = resolved({"profile=code"}).value();
    QCOMPARE(integerOf(code, "gamma"), 50);
    QVERIFY(!flagOf(code, "bayes"));
    QCOMPARE(numberOf(code, "r"), 0.45); // in no profile
    const auto mixed = resolved({"gamma=9", "profile=code"}).value();
    QCOMPARE(integerOf(mixed, "gamma"), 9);
    QVERIFY(!flagOf(mixed, "bayes"));
    QCOMPARE(textOf(mixed, "profile"), std::string("code"));
}

void DecoderInfoTest::flagsAreTypedOnAndOff() {
    for (const char* on : {"bayes=on", "bayes=true", "bayes=1"})
        QVERIFY(flagOf(resolved({"profile=code", on}).value(), "bayes"));
    for (const char* off : {"bayes=off", "bayes=false", "bayes=0"})
        QVERIFY(!flagOf(resolved({off}).value(), "bayes"));
}

void DecoderInfoTest::valuesOutOfRangeNameTheSettingAndTheRange_data() {
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("range");
    const auto row = [](const char* typed, const char* setting, const char* range) {
        QTest::newRow(typed) << typed << setting << range;
    };
    row("r=0.81", "r", "a number from 0 to 0.8");
    row("r=-0.01", "r", "a number from 0 to 0.8");
    row("r=nan", "r", "a number from 0 to 0.8");
    row("r=inf", "r", "a number from 0 to 0.8");
    row("r=0.4x", "r", "a number from 0 to 0.8");
    row("r=", "r", "a number from 0 to 0.8");
    row("gamma=7", "gamma", "a whole number from 8 to 256");
    row("gamma=32.5", "gamma", "a whole number from 8 to 256");
    row("gamma=1e300", "gamma", "a whole number from 8 to 256");
    row("bayes=2", "bayes", "on or off");
    row("bayes=perhaps", "bayes", "on or off");
    row("profile=fast", "profile", "one of paper, code");
}

void DecoderInfoTest::valuesOutOfRangeNameTheSettingAndTheRange() {
    QFETCH(QString, typed);
    QFETCH(QString, setting);
    QFETCH(QString, range);
    const auto values = resolved({typed.toStdString()});
    QVERIFY(!values);
    QCOMPARE(values.error().code, ErrorCode::InvalidInput);
    const QString message = QString::fromStdString(values.error().message);
    QVERIFY2(message.contains("The setting " + setting + " is"), qPrintable(message));
    QVERIFY2(message.contains("must be " + range), qPrintable(message));
}

void DecoderInfoTest::boundsThemselvesAreInRange() {
    for (const char* typed : {"r=0", "r=0.8", "gamma=8", "gamma=256"})
        QVERIFY(resolved({typed}).hasValue());
}

void DecoderInfoTest::anUnknownSettingSuggestsTheNearest() {
    const auto values = resolved({"gama=32"});
    QVERIFY(!values);
    QVERIFY(values.error().message.find("gama") != std::string::npos);
    QVERIFY(values.error().hint.find("Did you mean gamma?") != std::string::npos);
    QVERIFY(values.error().hint.find("bayes") != std::string::npos);
    for (const char* shapeless : {"gamma", "=3", ""})
        QVERIFY(resolved({shapeless}).error().hint.find("NAME=VALUE") != std::string::npos);
}

void DecoderInfoTest::valuesThatWereNotTypedAreCheckedToo() {
    const DecoderInfo info = someDecoder();
    const auto refused = [&](const std::string& name, const SettingValue& value) {
        return !resolveSettings(info, {{name, value}}).hasValue();
    };
    QVERIFY(refused("r", 2.0));
    QVERIFY(refused("r", std::string("0.5"))); // a text is no number
    QVERIFY(refused("file", 1.0));
    QVERIFY(refused("nothing", 1.0));
    QVERIFY(!refused("r", 0.5));
}

void DecoderInfoTest::textsAreTakenAsTheyAre() {
    QCOMPARE(textOf(resolved({"file=a=b c.json"}).value(), "file"), std::string("a=b c.json"));
}

void DecoderInfoTest::valuesAreShownAsAUserWouldTypeThem() {
    const DecoderInfo info = someDecoder();
    QCOMPARE(settingText(*info.find("bayes"), 1.0), std::string("on"));
    QCOMPARE(settingText(*info.find("gamma"), 32.0), std::string("32"));
    for (const SettingInfo& setting : info.settings)
        QVERIFY(parseSetting(info, setting.name + "=" + settingText(setting, setting.initial))
                    .hasValue());
}

void DecoderInfoTest::theNearestNameIsNearEnough() {
    const std::array<std::string, 3> names = {"swift", "vanilla", "self_sd"};
    QCOMPARE(nearestName("swfit", names), std::string("swift"));
    QCOMPARE(nearestName("vanila", names), std::string("vanilla"));
    QCOMPARE(nearestName("selfsd", names), std::string("self_sd"));
    QCOMPARE(nearestName("transformers", names), std::string());
}

QTEST_APPLESS_MAIN(DecoderInfoTest)
#include "decoder_info_test.moc"
