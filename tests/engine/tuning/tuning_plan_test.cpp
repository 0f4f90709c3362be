// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/model_numbers.h"
#include "engine/tuning/tuning_need.h"
#include "engine/tuning/tuning_plan.h"
#include "tests/support/models/tiny_model.h"

#include <QTest>

#include <functional>

using namespace engine;

namespace {

/// With a window that so few rows of a prompt suffice for as are always kept, also with two layers.
TuningPlan quickPlan() {
    TuningPlan plan = planOfProfile("quick").value();
    plan.window = 100;
    return plan;
}

std::string allOf(const TuningPlan& plan) { return plan.allText("a model", "prompts", 512); }

std::string rowsOf(const TuningPlan& plan) { return plan.rowsText("a model", "prompts", 512); }

/// A change of a plan, and the member of its texts that shows it.
struct Change {
    const char* member;
    bool changesRows;
    std::function<void(TuningPlan&)> make;
};

const std::vector<Change>& changes() {
    static const std::vector<Change> all = {
        {"answer_tokens", true, [](TuningPlan& plan) { ++plan.answerTokens; }},
        {"minutes", true, [](TuningPlan& plan) { plan.minutes = 0.5; }},
        {"longest_answer", true, [](TuningPlan& plan) { ++plan.longestAnswer; }},
        {"version", true, [](TuningPlan& plan) { plan.split = SplitRule::ByBytes; }},
        {"seed", true, [](TuningPlan& plan) { plan.seed = 18'000'000'000'000'000'000U; }},
        {"profile", false, [](TuningPlan& plan) { plan.profile = "full"; }},
        {"epochs", false, [](TuningPlan& plan) { ++plan.epochs; }},
        {"step_rows", false, [](TuningPlan& plan) { ++plan.stepRows; }},
        {"steps", false, [](TuningPlan& plan) { ++plan.steps; }},
        {"threads", false, [](TuningPlan& plan) { ++plan.threads; }},
        {"head", false, [](TuningPlan& plan) { ++plan.head; }},
        {"layers", false, [](TuningPlan& plan) { ++plan.layers; }},
        {"prompt_rows", true, [](TuningPlan& plan) { plan.layers = 3; }},
        {"prompt_rows", true, [](TuningPlan& plan) { plan.window = 257; }},
        {"window", false, [](TuningPlan& plan) { --plan.window; }},
        {"unroll", false, [](TuningPlan& plan) { ++plan.unroll; }},
        {"start", false, [](TuningPlan& plan) { plan.start = LayerStart::Random; }},
        {"rate", false, [](TuningPlan& plan) { plan.rate *= 1.0 + 1e-15; }},
        {"depth_decay", false, [](TuningPlan& plan) { plan.depthDecay = 0.7; }},
        {"stream_loss", false, [](TuningPlan& plan) { plan.streamLoss = 0.0; }},
        {"averaging", false, [](TuningPlan& plan) { plan.averaging = 0.9991; }},
        {"bfloat16", false, [](TuningPlan& plan) { plan.usesBfloat16 = true; }},
        {"validation_steps", false, [](TuningPlan& plan) { ++plan.validationSteps; }},
        {"validation_rows", false, [](TuningPlan& plan) { ++plan.validationRows; }}};
    return all;
}

} // namespace

class TuningPlanTest : public QObject {
    Q_OBJECT

private slots:
    void profilesSayHowMuchIsTrained();
    void anUnknownProfileIsRefusedWithAListOfThem();
    void recipesHaveNamesProfilesAndSettingsOfTheirOwn();
    void aRateThatIsGivenStaysWhateverComesBesideIt();
    void everySettingChangesItsMemberAlone();
    void settingsTakeTheirBoundsAndNothingBeyond();
    void wordsInPlaceOfNumbersAreRefused_data();
    void wordsInPlaceOfNumbersAreRefused();
    void anUnknownSettingIsRefusedWithTheNearestName();
    void aSettingWithoutAValueIsRefused();
    void theTextsShowEveryMember();
    void theRowsReachAsFarBackAsTheWindow();
    void theTextsShowModelPromptsAndContext();
    void theTextsShowHowPromptsWereDealtOut();
    void aDifferenceIsToldWithBothValues();
    void limitsOfTimeAreNoDifference();
    void whatIsNoPlanHasNoDifference();
    void whatClearlyDoesNotFitIsRefused_data();
    void whatClearlyDoesNotFitIsRefused();
};

void TuningPlanTest::profilesSayHowMuchIsTrained() {
    QCOMPARE(tuningProfiles(), (std::vector<std::string>{"quick", "full", "overnight"}));
    const std::vector<std::int64_t> tokens = {300'000, 1'200'000, 4'000'000};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto plan = planOfProfile(tuningProfiles()[i]);
        QVERIFY(plan.hasValue());
        QCOMPARE(plan.value().profile, tuningProfiles()[i]);
        QCOMPARE(plan.value().answerTokens, tokens[i]);
        QCOMPARE(plan.value().epochs, 3);
        QCOMPARE(plan.value().steps, std::int64_t{0});
        QVERIFY(plan.value().stepRows > 0);
    }
}

void TuningPlanTest::anUnknownProfileIsRefusedWithAListOfThem() {
    for (const char* name : {"slow", "", "Quick"}) {
        const auto plan = planOfProfile(name);
        QVERIFY(!plan.hasValue());
        QCOMPARE(plan.error().code, ErrorCode::InvalidInput);
        QVERIFY(plan.error().hint.find("quick, full, overnight") != std::string::npos);
    }
}

void TuningPlanTest::recipesHaveNamesProfilesAndSettingsOfTheirOwn() {
    QCOMPARE(recipeNamed("eagle").error().code, ErrorCode::InvalidInput);
    for (const TuningRecipe recipe : {TuningRecipe::LayerSkip, TuningRecipe::Space}) {
        QCOMPARE(recipeNamed(recipeName(recipe)).value(), recipe);
        const TuningPlan begun = planOfProfile("quick", recipe).value();
        QVERIFY(begun.changesModel());
        QCOMPARE(begun.epochs, 2);
        QVERIFY(rowsOf(begun) != rowsOf(quickPlan())); // other rows of prompts
        TuningPlan other = begun;
        QVERIFY(!applySetting(other, "head=64").hasValue()); // of the recipe draft
        for (const SettingInfo& setting : tuningSettings(recipe)) {
            const std::string value =
                setting.kind == SettingKind::Integer || setting.kind == SettingKind::Number
                    ? settingText(setting.minimum)
                    : std::string("on");
            TuningPlan plan = begun;
            const auto applied = applySetting(plan, setting.name + "=" + value);
            QVERIFY2(applied.hasValue(), setting.name.c_str());
            const auto difference = differenceOf(allOf(plan), allOf(begun)).value();
            const bool isInitial = settingText(setting, setting.initial) == value;
            QVERIFY2(isInitial || difference.starts_with(setting.name + " is "),
                     (setting.name + ": " + difference).c_str());
        }
    }
    QVERIFY(!quickPlan().changesModel());
}

void TuningPlanTest::aRateThatIsGivenStaysWhateverComesBesideIt() {
    const auto rateOf = [](const std::vector<const char*>& settings) {
        TuningPlan plan = planOfProfile("quick", TuningRecipe::LayerSkip).value();
        for (const char* setting : settings)
            if (!applySetting(plan, setting).hasValue())
                return -1.0;
        return plan.rate;
    };
    QCOMPARE(rateOf({}), 1e-4);
    QCOMPARE(rateOf({"full=on"}), 3e-5);
    QCOMPARE(rateOf({"full=on", "full=off"}), 1e-4);
    QCOMPARE(rateOf({"rate=0.0002", "full=on"}), 2e-4);
    QCOMPARE(rateOf({"full=on", "rate=0.0001"}), 1e-4);
}

void TuningPlanTest::everySettingChangesItsMemberAlone() {
    const std::map<std::string, std::string> typed = {{"head", "64"},
                                                      {"layers", "2"},
                                                      {"window", "16"},
                                                      {"unroll", "1"},
                                                      {"start", "random"},
                                                      {"rate", "0.25"},
                                                      {"depth_decay", "0.5"},
                                                      {"stream_loss", "2.5"},
                                                      {"averaging", "0.5"},
                                                      {"bfloat16", "on"},
                                                      {"longest_answer", "32"},
                                                      {"step_rows", "128"},
                                                      {"validation_steps", "7"},
                                                      {"validation_rows", "99"}};
    const std::map<std::string, std::string> shown = {{"start", "\"random\""},
                                                      {"bfloat16", "true"}};
    QCOMPARE(typed.size(), tuningSettings().size());
    for (const auto& [name, value] : typed) {
        TuningPlan plan = quickPlan();
        const auto applied = applySetting(plan, name + "=" + value);
        QVERIFY2(applied.hasValue(), applied ? "" : applied.error().message.c_str());
        const std::string wanted = shown.contains(name) ? shown.at(name) : value;
        const std::string begin = name + " is " + wanted + ", but was ";
        const auto difference = differenceOf(allOf(plan), allOf(quickPlan()));
        QVERIFY2(difference.value().starts_with(begin), difference.value().c_str());
        // With the earlier value in its place the text is the earlier one.
        const std::string member = '"' + name + "\":";
        std::string text = allOf(plan);
        const std::size_t at = text.find(member + wanted);
        QVERIFY(at != std::string::npos);
        text.replace(
            at, (member + wanted).size(), member + difference.value().substr(begin.size()));
        QCOMPARE(text, allOf(quickPlan()));
    }
    TuningPlan plan = quickPlan();
    QVERIFY(applySetting(plan, "start=random").hasValue());
    QVERIFY(applySetting(plan, "start=last_layer").hasValue());
    QVERIFY(applySetting(plan, "bfloat16=on").hasValue());
    QVERIFY(applySetting(plan, "bfloat16=off").hasValue());
    QCOMPARE(allOf(plan), allOf(quickPlan()));
}

void TuningPlanTest::settingsTakeTheirBoundsAndNothingBeyond() {
    for (const SettingInfo& setting : tuningSettings()) {
        if (setting.kind != SettingKind::Integer && setting.kind != SettingKind::Number)
            continue;
        QVERIFY(setting.minimum < setting.maximum);
        for (const double value : {setting.minimum, setting.maximum}) {
            TuningPlan plan = quickPlan();
            QVERIFY2(applySetting(plan, setting.name + "=" + settingText(value)).hasValue(),
                     setting.name.c_str());
        }
        for (const double value : {setting.minimum - 1.0, setting.maximum + 1.0}) {
            TuningPlan plan = quickPlan();
            const auto refused = applySetting(plan, setting.name + "=" + settingText(value));
            QVERIFY2(!refused.hasValue(), setting.name.c_str());
            QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
            const std::string& message = refused.error().message;
            QVERIFY(message.find(setting.name) != std::string::npos);
            QVERIFY(message.find(settingRange(setting)) != std::string::npos);
            QCOMPARE(allOf(plan), allOf(quickPlan()));
        }
    }
}

void TuningPlanTest::wordsInPlaceOfNumbersAreRefused_data() {
    QTest::addColumn<std::string>("typed");
    for (const char* typed : {"head=many",
                              "head=100.5",
                              "head=",
                              "head=64 ",
                              "rate=nan",
                              "rate=inf",
                              "start=first",
                              "bfloat16=perhaps",
                              "unroll=2=3"})
        QTest::newRow(typed) << std::string(typed);
}

void TuningPlanTest::wordsInPlaceOfNumbersAreRefused() {
    QFETCH(const std::string, typed);
    TuningPlan plan = quickPlan();
    const auto refused = applySetting(plan, typed);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QVERIFY(refused.error().message.find(typed.substr(0, typed.find('='))) != std::string::npos);
    QVERIFY(!refused.error().hint.empty());
    QCOMPARE(allOf(plan), allOf(quickPlan()));
}

void TuningPlanTest::anUnknownSettingIsRefusedWithTheNearestName() {
    TuningPlan plan = quickPlan();
    const auto refused = applySetting(plan, "windw=5");
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QVERIFY(refused.error().message.find("\"windw\"") != std::string::npos);
    QVERIFY(refused.error().hint.find("Did you mean window?") != std::string::npos);
    QVERIFY(!applySetting(plan, "=5").hasValue());
    QVERIFY(!applySetting(plan, "Head=64").hasValue());
    QVERIFY(!applySetting(plan, "epochs=5").hasValue()); // an option of its own
}

void TuningPlanTest::aSettingWithoutAValueIsRefused() {
    TuningPlan plan = quickPlan();
    for (const char* typed : {"head", "", "head 64"}) {
        const auto refused = applySetting(plan, typed);
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
        QVERIFY(refused.error().message.find('"' + std::string(typed) + '"') != std::string::npos);
        QVERIFY(refused.error().hint.find("NAME=VALUE") != std::string::npos);
    }
}

void TuningPlanTest::theTextsShowEveryMember() {
    for (const Change& change : changes()) {
        TuningPlan plan = quickPlan();
        change.make(plan);
        QVERIFY2((rowsOf(plan) != rowsOf(quickPlan())) == change.changesRows, change.member);
        const std::string is = std::string(change.member) + " is ";
        const auto all = differenceOf(allOf(plan), allOf(quickPlan()));
        QVERIFY2(all.value().starts_with(is), all.value().c_str());
        const auto rows = differenceOf(rowsOf(plan), rowsOf(quickPlan()));
        QCOMPARE(rows.value().starts_with(is), change.changesRows);
        QCOMPARE(rows.value().empty(), !change.changesRows);
    }
}

void TuningPlanTest::theRowsReachAsFarBackAsTheWindow() {
    const auto rowsFor = [](int window, int context) {
        TuningPlan plan = quickPlan();
        plan.window = window;
        return plan.promptRows(context);
    };
    QCOMPARE(rowsFor(16, 2048), 256); // smaller ones train on the same rows
    QCOMPARE(rowsFor(256, 2048), 256);
    QCOMPARE(rowsFor(1000, 2048), 1000);
    QCOMPARE(rowsFor(0, 2048), 2048);
    QVERIFY(rowsFor(0, 1'000'000) < 65'536); // what a file takes
    const TuningPlan model = planOfProfile("quick", TuningRecipe::LayerSkip).value();
    QCOMPARE(model.promptRows(2048), 2048);
    TuningPlan all = quickPlan();
    all.window = 0;
    QCOMPARE(differenceOf(rowsOf(all), rowsOf(quickPlan())).value(),
             std::string("prompt_rows is 512, but was 256"));
}

/// Version 2 is that of plans that knew one way alone.
void TuningPlanTest::theTextsShowHowPromptsWereDealtOut() {
    TuningPlan plan = quickPlan();
    for (const SplitRule rule : {SplitRule::ByText, SplitRule::ByBytes}) {
        plan.split = rule;
        QVERIFY(splitRuleOf(rowsOf(plan)) == rule);
        QVERIFY(splitRuleOf(allOf(plan)) == rule);
    }
    QVERIFY(rowsOf(plan).starts_with("{\"version\":2,"));
    for (const char* text : {"", "x", "[]", "{}", "{\"version\":\"2\"}"})
        QVERIFY(splitRuleOf(text) == SplitRule::ByText);
}

void TuningPlanTest::theTextsShowModelPromptsAndContext() {
    const TuningPlan plan = quickPlan();
    QCOMPARE(plan.rowsText("m", "p", 8), plan.rowsText("m", "p", 8));
    QCOMPARE(plan.allText("m", "p", 8), plan.allText("m", "p", 8));
    for (const auto& text : {&TuningPlan::rowsText, &TuningPlan::allText}) {
        const std::string before = (plan.*text)("m", "p", 8);
        QVERIFY(differenceOf((plan.*text)("n", "p", 8), before).value().starts_with("model is"));
        QVERIFY(differenceOf((plan.*text)("m", "q", 8), before).value().starts_with("prompts is"));
        QCOMPARE(differenceOf((plan.*text)("m", "p", 9), before).value(),
                 std::string("context is 9, but was 8"));
    }
}

void TuningPlanTest::aDifferenceIsToldWithBothValues() {
    const auto difference = [](const char* now, const char* before) {
        return differenceOf(now, before).value();
    };
    const std::string one = R"({"seed":2,"rate":0.5})";
    QCOMPARE(difference(one.c_str(), R"({"seed":1,"rate":0.25})"),
             std::string("seed is 2, but was 1"));
    QCOMPARE(difference(one.c_str(), R"({"rate":0.25,"seed":2})"),
             std::string("rate is 0.5, but was 0.25"));
    QCOMPARE(difference(one.c_str(), R"({"rate":0.5,"seed":2})"), std::string());
    QCOMPARE(difference(one.c_str(), R"({"seed":2})"),
             std::string("rate is 0.5, but was not known"));
    QCOMPARE(difference(one.c_str(), R"({"seed":2,"rate":0.5,"mode":"x"})"),
             std::string("mode is not known, but was \"x\""));
}

/// Where time decides, the number of answers is a limit as well.
void TuningPlanTest::limitsOfTimeAreNoDifference() {
    TuningPlan before = quickPlan();
    before.minutes = 10.0;
    TuningPlan now = before;
    now.minutes = 20.0;
    now.answerTokens /= 2;
    QCOMPARE(differenceOf(allOf(now), allOf(before)).value(), std::string());
    QCOMPARE(differenceOf(rowsOf(now), rowsOf(before)).value(), std::string());
    now.seed = 2;
    QCOMPARE(differenceOf(allOf(now), allOf(before)).value(), std::string("seed is 2, but was 1"));
    now = before;
    now.minutes = 0.0; // its steps would be another number from the first one on
    QVERIFY(differenceOf(allOf(now), allOf(before)).value().starts_with("minutes is 0"));
    QVERIFY(differenceOf(allOf(before), allOf(now)).value().starts_with("minutes is 10"));
}

void TuningPlanTest::whatIsNoPlanHasNoDifference() {
    for (const char* text : {"", "{", "[]", "7"}) {
        QCOMPARE(differenceOf(text, "{}").error().code, ErrorCode::CorruptFile);
        QCOMPARE(differenceOf("{}", text).error().code, ErrorCode::CorruptFile);
    }
}

/// Of 1,000 answer tokens and a model with 160 tokens, 48 numbers in its stream.
void TuningPlanTest::whatClearlyDoesNotFitIsRefused_data() {
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<bool>("isFull");
    QTest::addColumn<double>("minutes");
    QTest::addColumn<qint64>("trained");
    QTest::addColumn<double>("memory");
    QTest::addColumn<double>("disk");
    constexpr double kRows = 1000.0 * (4 + 80 + 2 * 48);
    constexpr double kEmbedding = 160.0 * 48.0;
    const ModelConfig model = support::tinyConfig();
    const auto all = trainedWeights(ModelTrainerPlan{.isFull = true}, model);
    const auto weights = static_cast<double>(all);
    QTest::newRow("an adapter") << "draft" << false << 0.0 << qint64{500}
                                << 500 * 36 + kEmbedding * 4 << kRows + 500 * 36;
    QTest::newRow("answers of minutes")
        << "draft" << false << 2.0 << qint64{500} << 500 * 36 + kEmbedding * 4 << 500.0 * 36;
    QTest::newRow("LoRA") << "layerskip" << false << 0.0 << qint64{500} << 500 * 36 + weights * 4
                          << kRows + 500 * 36 + weights * 2;
    QTest::newRow("all weights") << "space" << true << 0.0 << qint64{all} << weights * 36
                                 << kRows + weights * 38;
    QTest::newRow("answers alone") << "draft" << false << 0.0 << qint64{0} << 0.0 << kRows;
}

void TuningPlanTest::whatClearlyDoesNotFitIsRefused() {
    QFETCH(const QString, recipe);
    QFETCH(const bool, isFull);
    QFETCH(const double, minutes);
    QFETCH(const qint64, trained);
    QFETCH(const double, memory);
    QFETCH(const double, disk);
    TuningPlan plan = planOfProfile("quick", recipeNamed(recipe.toStdString()).value()).value();
    plan.answerTokens = 1000;
    plan.isFull = isFull;
    plan.minutes = minutes;
    const auto fits = [&](double freeMemory, double freeDisk) {
        return checkTuningFits(plan, support::tinyConfig(), trained, {freeMemory, freeDisk});
    };
    QVERIFY(fits(memory, disk).hasValue());
    QCOMPARE(fits(memory - 1.0, disk).error().code, ErrorCode::NoMemory);
    QCOMPARE(fits(memory, disk - 1.0).error().code, ErrorCode::Io);
}

QTEST_GUILESS_MAIN(TuningPlanTest)
#include "tuning_plan_test.moc"
