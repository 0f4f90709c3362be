// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backends/backend_registry.h"
#include "engine/model/cpu/cpu_backend.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace engine;

namespace {

bool mentions(const Error& error, const std::string& text) {
    return (error.message + error.hint).find(text) != std::string::npos;
}

/// Without modules: what is built in.
BackendRegistry builtIn() { return BackendRegistry("/nowhere"); }

} // namespace

/// What backends say about themselves, and what they make of a user's settings.
class BackendSettingsTest : public QObject {
    Q_OBJECT

private slots:

    void theUsualBackendComesFirst() {
        const auto infos = builtIn().list();
        QCOMPARE(infos.size(), std::size_t{2});
        QCOMPARE(infos[0].name, chosenBackend(""));
        QCOMPARE(infos[1].name, std::string("plain"));
        QCOMPARE(chosenBackend("plain"), std::string("plain"));
    }

    void everyBackendDescribesItself() {
        for (const BackendInfo& info : BackendRegistry(SWIFT_STUDIO_MODULE_DIR).list()) {
            QVERIFY2(!info.title.empty() && !info.summary.empty(), info.name.c_str());
            const auto devices = info.devices();
            QVERIFY2(devices ? !devices.value().front().name.empty()
                             : devices.error().code == ErrorCode::Unsupported &&
                                   !devices.error().hint.empty(),
                     info.name.c_str());
            std::set<std::string> names;
            for (const SettingInfo& setting : info.settings) {
                QVERIFY2(names.insert(setting.name).second, setting.name.c_str());
                QVERIFY2(!setting.title.empty() && !setting.meaning.empty(), setting.name.c_str());
                QVERIFY2(checkSetting(setting, setting.initial).hasValue(), setting.name.c_str());
                QVERIFY(setting.effect == SettingEffect::NextLoad);
                QVERIFY(setting.choiceTitles.empty() ||
                        setting.choiceTitles.size() == setting.choices.size());
            }
        }
    }

    void everyChoiceOfEveryBackendIsUnderstood() {
        BackendRegistry registry(SWIFT_STUDIO_MODULE_DIR);
        for (const BackendInfo& info : registry.list())
            for (const SettingInfo& setting : info.settings)
                for (const std::string& choice : setting.choices)
                    QVERIFY2(registry.options(info.name, {{setting.name, choice}}).hasValue(),
                             choice.c_str());
    }

    void withoutSettingsTheBackendChooses() {
        const auto options = builtIn().options("cpu", {});
        QVERIFY(options.hasValue());
        QVERIFY(options.value().precision == Precision::F32);
        QVERIFY(options.value().settings.empty());
        QCOMPARE(options.value().threads, 0);
    }

    void theCpuBackendReadsItsWords() {
        const std::pair<const char*, WeightForm> forms[] = {{"auto", WeightForm::Auto},
                                                            {"file", WeightForm::File},
                                                            {"f32", WeightForm::F32},
                                                            {"int8", WeightForm::Int8},
                                                            {"bf16", WeightForm::Bf16}};
        const auto read = [](const SettingValues& settings) {
            return cpu::optionsOf(builtIn().options("cpu", settings).value()).value();
        };
        for (const auto& [word, form] : forms)
            QVERIFY2(read({{"weights", word}}).weights == form, word);
        const std::pair<const char*, KvType> types[] = {{"f16", KvType::F16},
                                                        {"bf16", KvType::BF16},
                                                        {"f32", KvType::F32},
                                                        {"int8", KvType::Int8}};
        for (const auto& [word, type] : types)
            QVERIFY2(read({{"kv", word}}).kvType == type, word);
        QVERIFY(!read({{"kv", "auto"}}).kvType.has_value());
        QCOMPARE(read({{"isa", "avx2"}}).instructionSet, std::string("avx2"));
        QCOMPARE(read({{"isa", "auto"}}).instructionSet, std::string());
        QCOMPARE(read({{"threads", 3.0}}).threads, 3);
    }

    void otherWordsAreRefusedWithTheChoices() {
        for (const auto& [setting, word, choice] : {std::array{"precision", "int3", "float64"},
                                                    {"precision", "", "float64"},
                                                    {"weights", "int3", "int8"},
                                                    {"kv", "int3", "bf16"}}) {
            const std::string backend = setting == std::string("precision") ? "plain" : "cpu";
            const auto refused = builtIn().options(backend, {{setting, word}});
            QVERIFY2(!refused, setting);
            QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
            QVERIFY2(mentions(refused.error(), choice), refused.error().message.c_str());
        }
        QVERIFY(!builtIn().options("cpu", {{"threads", -1.0}}));
        QVERIFY(!builtIn().options("cpu", {{"threads", "many"}}));
    }

    void aSettingOfAnotherBackendIsRefusedByName() {
        for (const auto& [setting, word] :
             {std::array{"weights", "file"}, {"kv", "f16"}, {"isa", "scalar"}}) {
            const auto refused = builtIn().options("plain", {{setting, word}});
            QVERIFY2(!refused, setting);
            QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
            QVERIFY(mentions(refused.error(), std::string("--") + setting));
            QVERIFY(mentions(refused.error(), "--backend cpu"));
        }
        const auto unknown = builtIn().options("cpu", {{"weigths", "file"}});
        QVERIFY(!unknown && mentions(unknown.error(), "Did you mean weights?"));
    }

    void aValueThatOnlyAnotherBackendTakesNamesThatOne() {
        const auto refused = builtIn().options("cpu", {{"precision", "float64"}});
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Unsupported);
        QVERIFY(mentions(refused.error(), "--backend plain"));
    }

    void aLongArithmeticHasAShortForm() {
        QCOMPARE(shortArithmetic("4-bit, scale and minimum per 32"), std::string("4-bit"));
        QCOMPARE(shortArithmetic("bfloat16"), std::string("bfloat16"));
    }
};

QTEST_GUILESS_MAIN(BackendSettingsTest)
#include "backend_settings_test.moc"
