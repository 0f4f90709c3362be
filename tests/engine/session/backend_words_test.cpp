// SPDX-License-Identifier: Apache-2.0
#include "engine/session/backend_words.h"

#include <QTest>

using namespace engine;

class BackendWordsTest : public QObject {
    Q_OBJECT

private slots:

    void theCpuBackendIsChosenUnlessAnotherOneIsNamed() {
        QCOMPARE(chosenBackend(""), std::string("cpu"));
        QCOMPARE(chosenBackend("torch"), std::string("torch"));
    }

    void withoutWordsTheBackendChooses() {
        const auto options = transformerOptions({});
        QVERIFY(options.hasValue());
        QVERIFY(options.value().precision == Precision::F32);
        QVERIFY(options.value().weights == WeightForm::Auto);
        QVERIFY(!options.value().kvType.has_value());
        QVERIFY(options.value().instructionSet.empty());
    }

    void everyWordIsUnderstood() {
        const std::pair<const char*, WeightForm> forms[] = {{"auto", WeightForm::Auto},
                                                            {"file", WeightForm::File},
                                                            {"f32", WeightForm::F32},
                                                            {"int8", WeightForm::Int8},
                                                            {"bf16", WeightForm::Bf16}};
        for (const auto& [word, form] : forms)
            QVERIFY2(transformerOptions({.weights = word}).value().weights == form, word);
        const std::pair<const char*, KvType> types[] = {
            {"f16", KvType::F16}, {"bf16", KvType::BF16}, {"f32", KvType::F32}};
        for (const auto& [word, type] : types)
            QVERIFY2(transformerOptions({.kvType = word}).value().kvType == type, word);
        QCOMPARE(transformerOptions({.instructionSet = "avx2"}).value().instructionSet,
                 std::string("avx2"));
        QVERIFY(
            transformerOptions({.backend = "torch", .precision = "bfloat16"}).value().precision ==
            Precision::BF16);
    }

    void otherWordsAreRefusedWithTheChoices_data() {
        QTest::addColumn<QString>("precision");
        QTest::addColumn<QString>("weights");
        QTest::addColumn<QString>("kvType");
        QTest::addColumn<QString>("choice");
        QTest::newRow("precision") << "int3" << QString() << QString() << "bfloat16";
        QTest::newRow("no precision") << QString() << QString() << QString() << "bfloat16";
        QTest::newRow("weights") << "float32"
                                 << "int3" << QString() << "int8";
        QTest::newRow("keys and values") << "float32" << QString() << "int8"
                                         << "bf16";
    }

    void otherWordsAreRefusedWithTheChoices() {
        QFETCH(const QString, precision);
        QFETCH(const QString, weights);
        QFETCH(const QString, kvType);
        QFETCH(const QString, choice);
        const auto options = transformerOptions({.precision = precision.toStdString(),
                                                 .weights = weights.toStdString(),
                                                 .kvType = kvType.toStdString()});
        QVERIFY(!options);
        QCOMPARE(options.error().code, ErrorCode::InvalidInput);
        QVERIFY(QString::fromStdString(options.error().hint).contains(choice));
    }

    void anotherBackendTakesNoneOfTheCpuBackendsWords() {
        const BackendWords words[] = {{.backend = "torch", .weights = "file"},
                                      {.backend = "plain", .kvType = "f16"},
                                      {.backend = "plain", .instructionSet = "scalar"}};
        const char* const options[] = {"--weights", "--kv", "--isa"};
        for (int i = 0; i < 3; ++i) {
            const auto refused = transformerOptions(words[i]);
            QVERIFY2(!refused, options[i]);
            QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
            const QString message = QString::fromStdString(refused.error().message);
            QVERIFY2(message.contains(options[i]) &&
                         message.contains(QString::fromStdString(words[i].backend)),
                     qPrintable(message));
            BackendWords ours = words[i];
            ours.backend = "cpu";
            QVERIFY2(transformerOptions(ours).hasValue(), options[i]);
        }
    }

    void aLongArithmeticHasAShortForm() {
        QCOMPARE(shortArithmetic("4-bit, scale and minimum per 32"), std::string("4-bit"));
        QCOMPARE(shortArithmetic("bfloat16"), std::string("bfloat16"));
    }
};

QTEST_GUILESS_MAIN(BackendWordsTest)
#include "backend_words_test.moc"
