// SPDX-License-Identifier: Apache-2.0
// What swift-run says when the world is wrong: one sentence with what and where, a hint, an exit
// code of its kind, and nothing half-written.
#include "app/exit_codes.h"
#include "tests/support/file_content.h"
#include "tests/support/programs/swift_run.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>

using support::expectRefusal;
using support::ProgramRun;

namespace {

const QString kFolderModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny_llama";
const QString kGgufModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";
const QStringList kSmallChat = {"chat",
                                "--model",
                                kGgufModel,
                                "--backend",
                                "plain",
                                "--context",
                                "64",
                                "--max-tokens",
                                "3",
                                "--json"};

ProgramRun run(const QStringList& arguments, const QByteArray& input = {}) {
    return support::runProgram(support::swiftRunPath(), arguments, input);
}

} // namespace

class SwiftRunBadInputTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void badArgumentsAreRefused_data();
    void badArgumentsAreRefused();
    void wordsThatCannotBeReadAreToldInJsonToo();
    void formsThatNoAnswerHasAreOneSentence();
    void missingAndForeignFilesAreNamed();
    void aFolderWithoutConfigSaysWhatIsMissing();
    void unknownArchitecturesAreNamed();
    void aTokenizerOfAnotherModelIsRefused();
    void weightsThatAreNotFiniteNameTheTensor();
    void aDamagedSkipFileSaysWhere();
    void badLinesAreNumbered();
    void aTextThatIsNoUtf8IsNamed();
    void aFolderWithOnlyATokenizerCanTokenize();
    void chatGoesOnAfterAMessageThatDoesNotFit();
    void aChatWithoutAnyAnswerIsNoSuccess();
    void linesMayEndAsOnWindows();
    void aContextThatDoesNotFitIntoMemoryIsRefused();

private:
    QString copyOfFolderModel();

    std::unique_ptr<QTemporaryDir> m_folder;
};

void SwiftRunBadInputTest::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("SWIFT_STUDIO_DATA", m_folder->filePath("memory").toUtf8());
}

QString SwiftRunBadInputTest::copyOfFolderModel() {
    const QString folder = m_folder->filePath("model");
    QDir().mkpath(folder);
    for (const QString name : {"config.json", "model.safetensors"})
        support::writeFile(folder + "/" + name, support::fileBytes(kFolderModel + "/" + name));
    return folder;
}

void SwiftRunBadInputTest::formsThatNoAnswerHasAreOneSentence() {
    const QString schema = m_folder->filePath("schema.json");
    const auto refused = [&](const QStringList& form) {
        return run(QStringList{"generate", "--model", kFolderModel, "--prompt-ids", "1"} + form);
    };
    for (const auto& [content, sentence] : std::vector<std::pair<QByteArray, QByteArray>>{
             {"false", "The JSON schema allows no text at all."},
             {R"({"type": "array", "items": {"$ref": "#"}, "minItems": 1})",
              "The JSON schema allows no text at all."},
             {R"({"anyOf": [{"$ref": "#"}, {"type": "null"}]})", "The JSON schema loops: "},
             {R"({"allOf": [{"$ref": "#"}]})", "\"allOf\" refers to itself endlessly"},
             {R"({"type": "number", "minimum": 1, "exclusiveMaximum": 1})",
              "The JSON schema allows no text at all."},
             {R"({"uniqueItems": true})", "\"uniqueItems\" is not supported here"}}) {
        support::writeFile(schema, content);
        const ProgramRun result = refused({"--json-schema", schema});
        QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
        QVERIFY2(result.errors.contains(sentence), result.errors.constData());
        QVERIFY2(result.errors.count('\n') == 2, result.errors.constData()); // and its hint
    }
    const ProgramRun result = refused({"--regex", "[^\\x{0}-\\x{10FFFF}]"});
    QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
    QVERIFY2(result.errors.contains("The regular expression allows no text at all."),
             result.errors.constData());
}

void SwiftRunBadInputTest::badArgumentsAreRefused_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    const QStringList generate = {
        "generate", "--model", kFolderModel, "--prompt-ids", "1,2", "--backend", "plain"};
    const QStringList forward = {"forward", "--model", kFolderModel, "--backend", "plain"};
    const int usage = app::kUsage;
    QTest::newRow("no command") << QStringList{} << usage << QStringList{"subcommand"};
    QTest::newRow("unknown command") << QStringList{"nope", "--more"} << usage
                                     << QStringList{"There is no subcommand \"nope\"."};
    QTest::newRow("unknown command of library") << QStringList{"library", "nope"} << usage
                                                << QStringList{"There is no subcommand \"nope\"."};
    QTest::newRow("unknown option")
        << QStringList{"inspect", "--nonsense"} << usage << QStringList{"--nonsense"};
    QTest::newRow("top-p 0") << generate + QStringList{"--top-p", "0"} << usage
                             << QStringList{"Top-p", "0"};
    QTest::newRow("min-p 1") << generate + QStringList{"--min-p", "1"} << usage
                             << QStringList{"Min-p is 1, but must be at least 0 and below 1"};
    QTest::newRow("repetition penalty")
        << generate + QStringList{"--repetition-penalty", "0"} << usage
        << QStringList{"The repetition penalty is 0, but must be above 0"};
    QTest::newRow("presence penalty") << generate + QStringList{"--presence-penalty", "3"} << usage
                                      << QStringList{"must be between -2 and 2"};
    QTest::newRow("bias without a value")
        << generate + QStringList{"--logit-bias", "5"} << usage
        << QStringList{"--logit-bias \"5\" is not of the form TOKEN_OR_ID=VALUE"};
    QTest::newRow("bias beyond the vocabulary")
        << generate + QStringList{"--logit-bias", "99999=1"} << usage
        << QStringList{"names token 99999, but the model's vocabulary has the ids 0 to"};
    QTest::newRow("bias of a text without a tokenizer")
        << generate + QStringList{"--logit-bias", "yes=1"} << usage
        << QStringList{"\"yes\"", "has no tokenizer"};
    QTest::newRow("expression") << generate + QStringList{"--regex", "(a"} << usage
                                << QStringList{"The regular expression is refused at byte 2"};
    QTest::newRow("two forms") << generate + QStringList{"--regex", "a", "--json-object"} << usage
                               << QStringList{"--json-schema, --json-object and --regex"};
    QTest::newRow("form without a tokenizer") << generate + QStringList{"--json-object"} << usage
                                              << QStringList{"A grammar needs the texts of tokens"};
    QTest::newRow("no schema") << generate + QStringList{"--json-schema", "/nowhere.json"}
                               << int(app::kNotFound) << QStringList{"/nowhere.json"};
    QTest::newRow("negative temperature")
        << generate + QStringList{"--temperature", "-1"} << usage << QStringList{"temperature"};
    QTest::newRow("unknown decoder") << generate + QStringList{"--decoder", "hydra"}
                                     << int(app::kNotFound) << QStringList{"hydra", "vanilla"};
    QTest::newRow("unknown backend") << QStringList{"generate",
                                                    "--model",
                                                    kFolderModel,
                                                    "--prompt-ids",
                                                    "1",
                                                    "--backend",
                                                    "hydra"}
                                     << int(app::kNotFound) << QStringList{"hydra", "plain"};
    QTest::newRow("unknown precision")
        << generate + QStringList{"--precision", "int3"} << usage << QStringList{"int3"};
    const bool isTorchThere = QFile::exists(SWIFT_STUDIO_MODULE_DIR "/libbackend_torch.so");
    QTest::newRow("bfloat16 in plain")
        << generate + QStringList{"--precision", "bfloat16"}
        << (isTorchThere ? int(app::kUnsupported) : usage) << QStringList{"bfloat16"};
    for (const char* option : {"--weights", "--kv", "--isa"})
        QTest::addRow("%s of plain", option)
            << generate + QStringList{option, option == QString("--isa") ? "avx2" : "bf16"} << usage
            << QStringList{option, "plain"};
    const QStringList fast = generate.mid(0, 5);
    QTest::newRow("unknown weights")
        << fast + QStringList{"--weights", "int3"} << usage << QStringList{"int3", "int8"};
    QTest::newRow("unknown keys") << fast + QStringList{"--kv", "int3"} << usage
                                  << QStringList{"int3", "bf16"};
    QTest::newRow("unknown instructions")
        << fast + QStringList{"--isa", "sse9"} << usage << QStringList{"sse9", "avx2"};
    QTest::newRow("float64 of cpu")
        << fast + QStringList{"--precision", "float64"} << int(app::kUnsupported)
        << QStringList{"float64", "--backend plain"};
    QTest::newRow("context beyond the model")
        << generate + QStringList{"--context", "1000000"} << usage << QStringList{"1000000"};
    QTest::newRow("prompt beyond the context")
        << generate + QStringList{"--context", "2"} << usage << QStringList{"2 tokens", "context"};
    QTest::newRow("no prompt") << QStringList{"generate", "--model", kFolderModel} << usage
                               << QStringList{"prompt"};
    QTest::newRow("two prompts") << generate + QStringList{"--prompt", "x"} << usage
                                 << QStringList{"More than one"};
    QTest::newRow("text without tokenizer")
        << QStringList{"generate", "--model", kFolderModel, "--prompt", "x"} << int(app::kNotFound)
        << QStringList{"tokenizer"};
    QTest::newRow("id outside the vocabulary") << QStringList{"generate",
                                                              "--model",
                                                              kFolderModel,
                                                              "--prompt-ids",
                                                              "1,160",
                                                              "--backend",
                                                              "plain"}
                                               << usage << QStringList{"160", "vocabulary"};
    QTest::newRow("no id")
        << QStringList{"generate", "--model", kFolderModel, "--prompt-ids", "1,x"} << usage
        << QStringList{"--prompt-ids", "x"};
    QTest::newRow("missing prompt file")
        << QStringList{"generate", "--model", kGgufModel, "--prompt-file", "nowhere.txt"}
        << int(app::kNotFound) << QStringList{"nowhere.txt"};
    QTest::newRow("forward, id outside")
        << forward + QStringList{"--ids", "-3"} << usage << QStringList{"-3"};
    QTest::newRow("forward, parent ahead")
        << forward + QStringList{"--ids", "1,2,3", "--parents", "0,-1"} << usage
        << QStringList{"--parents", "node 0"};
    QTest::newRow("forward, too many parents")
        << forward + QStringList{"--ids", "1", "--parents", "-1,-1"} << usage
        << QStringList{"--parents"};
    QTest::newRow("forward, exit beyond")
        << forward + QStringList{"--ids", "1", "--exit-after", "3"} << usage
        << QStringList{"--exit-after", "3"};
    QTest::newRow("forward, no skip file")
        << forward + QStringList{"--ids", "1", "--skip", "nowhere.json"} << int(app::kNotFound)
        << QStringList{"nowhere.json"};
}

void SwiftRunBadInputTest::badArgumentsAreRefused() {
    QFETCH(QStringList, arguments);
    QFETCH(int, exitCode);
    QFETCH(QStringList, named);
    expectRefusal(run(arguments), exitCode, named);
}

void SwiftRunBadInputTest::wordsThatCannotBeReadAreToldInJsonToo() {
    for (const QStringList& words : {QStringList{"nope"},
                                     QStringList{"inspect", "--nonsense"},
                                     QStringList{"generate", "--top-k=-1"},
                                     QStringList{"generate", "--stop="}}) {
        const ProgramRun plain = run(words);
        QVERIFY2(plain.output.isEmpty(), plain.output.constData());
        const ProgramRun result = run(words + QStringList{"--json"});
        QVERIFY2(result.exitCode == app::kUsage, result.errors.constData());
        const auto lines = result.jsonLines();
        QVERIFY2(lines.size() == 1, result.output.constData());
        QCOMPARE(lines.first()["event"].toString(), QString("error"));
        QCOMPARE(lines.first()["code"].toString(), QString("InvalidInput"));
        const QByteArray message = lines.first()["message"].toString().toUtf8();
        QVERIFY2(result.errors.startsWith("swift-run: " + message), result.errors.constData());
    }
}

void SwiftRunBadInputTest::missingAndForeignFilesAreNamed() {
    const QString missing = m_folder->filePath("missing.gguf");
    expectRefusal(run({"inspect", missing}), app::kNotFound, {missing});
    const QString text = support::writeFile(m_folder->filePath("notes.gguf"), "Dear diary,\n");
    expectRefusal(run({"inspect", text}), app::kCorruptFile, {text});
    const QString pickle = support::writeFile(m_folder->filePath("model.bin"), "PK\3\4");
    expectRefusal(run({"inspect", pickle}), app::kUnsupported, {pickle});
    const QStringList adapted = {
        "generate", "--model", kFolderModel, "--prompt-ids", "1", "--draft-adapter"};
    expectRefusal(run(adapted + QStringList{missing}), app::kNotFound, {missing});
    expectRefusal(run(adapted + QStringList{text}), app::kCorruptFile, {text, "header"});
}

void SwiftRunBadInputTest::aFolderWithoutConfigSaysWhatIsMissing() {
    const QString folder = copyOfFolderModel();
    QVERIFY(QFile::remove(folder + "/config.json"));
    expectRefusal(run({"generate", "--model", folder, "--prompt-ids", "1", "--backend", "plain"}),
                  app::kNotFound,
                  {folder, "config.json"});
}

void SwiftRunBadInputTest::unknownArchitecturesAreNamed() {
    const QString folder = copyOfFolderModel();
    QByteArray config = support::fileBytes(folder + "/config.json");
    config.replace("\"model_type\": \"llama\"", "\"model_type\": \"cohere\"");
    config.replace("LlamaForCausalLM", "Gemma2ForCausalLM");
    support::writeFile(folder + "/config.json", config);
    expectRefusal(run({"inspect", folder}), app::kUnsupported, {"cohere", "llama", "qwen2"});
}

void SwiftRunBadInputTest::aTokenizerOfAnotherModelIsRefused() {
    const QString folder = copyOfFolderModel(); // 160 embeddings
    QJsonObject vocabulary;
    for (int id = 0; id < 300; ++id)
        vocabulary[QString("t%1").arg(id)] = id;
    const QJsonObject tokenizer = {
        {"version", "1.0"},
        {"added_tokens", QJsonArray()},
        {"normalizer", QJsonValue()},
        {"pre_tokenizer",
         QJsonObject{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
        {"post_processor", QJsonValue()},
        {"decoder", QJsonObject{{"type", "ByteLevel"}}},
        {"model", QJsonObject{{"type", "BPE"}, {"vocab", vocabulary}, {"merges", QJsonArray()}}}};
    support::writeFile(folder + "/tokenizer.json", QJsonDocument(tokenizer).toJson());
    expectRefusal(run({"generate", "--model", folder, "--prompt-ids", "1", "--backend", "plain"}),
                  app::kUsage,
                  {"300", "160"});
}

void SwiftRunBadInputTest::weightsThatAreNotFiniteNameTheTensor() {
    const QString folder = copyOfFolderModel();
    QByteArray bytes = support::fileBytes(folder + "/model.safetensors");
    const quint16 nan = 0x7E00; // of float16
    std::memcpy(bytes.data() + bytes.size() - 2, &nan, sizeof nan);
    support::writeFile(folder + "/model.safetensors", bytes);
    expectRefusal(run({"generate", "--model", folder, "--prompt-ids", "1", "--backend", "plain"}),
                  app::kNumeric,
                  {"tensor", "weight"});
}

void SwiftRunBadInputTest::aDamagedSkipFileSaysWhere() {
    const QStringList arguments = {
        "forward", "--model", kFolderModel, "--backend", "plain", "--ids", "1", "--skip"};
    const auto skip = [&](const QByteArray& text) {
        return run(arguments +
                   QStringList{support::writeFile(m_folder->filePath("skip.json"), text)});
    };
    expectRefusal(skip("{\"attention\":[1"), app::kCorruptFile, {"skip.json", "byte"});
    expectRefusal(skip("{\"attention\":[3]}"), app::kUsage, {"skip.json", "attention", "0 to 2"});
    expectRefusal(skip("{\"mlp\":\"all\"}"), app::kCorruptFile, {"skip.json", "mlp"});
    expectRefusal(skip("{\"layers\":[1]}"), app::kCorruptFile, {"skip.json"});
    expectRefusal(skip("{\"mlp\":[1,1]}"), app::kCorruptFile, {"skip.json", "twice", "byte"});
    const QByteArray two = "{\"a\":{\"mlp\":[1]},\"b\":{\"mlp\":[2]}}";
    expectRefusal(skip(two), app::kUsage, {"skip.json", "a, b"});
    const QString file = m_folder->filePath("skip.json");
    expectRefusal(run(arguments + QStringList{file, "--skip-entry", "c"}),
                  app::kUsage,
                  {"skip.json", "\"c\"", "a, b"});
    const ProgramRun named = run(arguments + QStringList{file, "--skip-entry", "b"});
    QVERIFY2(named.exitCode == 0, named.errors.constData());
}

void SwiftRunBadInputTest::badLinesAreNumbered() {
    const ProgramRun json = run({"tokenize", "--model", kGgufModel, "--json"}, "\"good\"\n\"bad\n");
    QCOMPARE(json.exitCode, int(app::kUsage));
    QVERIFY(!json.errors.contains("fetch it again")); // nothing was fetched
    QVERIFY(json.errors.contains("Line 2"));
    QCOMPARE(json.jsonLines().first()["text"].toString(), QString("good"));
    const ProgramRun ids = run({"detokenize", "--model", kGgufModel}, "1 2\n1 two\n");
    QCOMPARE(ids.exitCode, int(app::kUsage));
    QVERIFY(ids.errors.contains("Line 2"));
    const ProgramRun range = run({"detokenize", "--model", kGgufModel, "--json"}, "[100000]\n");
    QCOMPARE(range.exitCode, int(app::kUsage));
    QVERIFY(range.errors.contains("100000"));
    const ProgramRun bytes = run({"tokenize", "--model", kGgufModel}, "caf\xE9\n");
    QCOMPARE(bytes.exitCode, int(app::kUsage));
    QVERIFY(bytes.errors.contains("UTF-8"));
    // The hint helps: iconv -f latin1 -t UTF-8.
    QVERIFY(bytes.errors.contains("iconv -f latin1 -t UTF-8"));
    QCOMPARE(run({"tokenize", "--model", kGgufModel}, QString("caf\u00E9\n").toUtf8()).exitCode, 0);
}

void SwiftRunBadInputTest::aTextThatIsNoUtf8IsNamed() {
    const QString file = support::writeFile(m_folder->filePath("latin.txt"), "caf\xE9");
    const auto refused = [](const QString& arguments) {
        const QString line = QString("%1 %2 --model %3 --backend plain --max-tokens 1")
                                 .arg(support::swiftRunPath(), arguments, kGgufModel);
        return support::runProgram("/bin/bash", {"-c", line});
    };
    const QString bad = "\"$(printf 'caf\\xE9')\"";
    for (const auto& [arguments, named] : std::vector<std::pair<QString, QString>>{
             {"generate --prompt " + bad, "--prompt is not UTF-8: byte 3 (0xE9)"},
             {"generate --prompt-file " + file, "latin.txt is not UTF-8: byte 3 (0xE9)"},
             {"generate --prompt-file - < " + file, "standard input is not UTF-8: byte 3 (0xE9)"},
             {"generate --chat --prompt hi --system " + bad, "--system is not UTF-8"},
             {"generate --prompt hi --stop ok --stop " + bad, "--stop is not UTF-8"},
             {"chat --system " + bad, "--system is not UTF-8"}})
        expectRefusal(refused(arguments), app::kUsage, {named, "iconv -f latin1 -t UTF-8"});
    expectRefusal(refused("generate --prompt hi --system brief"),
                  app::kUsage,
                  {"--system needs a chat", "--chat"});
}

void SwiftRunBadInputTest::aFolderWithOnlyATokenizerCanTokenize() {
    const QString folder = m_folder->filePath("tokenizer only");
    QDir().mkpath(folder);
    const QJsonObject tokenizer = {
        {"version", "1.0"},
        {"added_tokens", QJsonArray()},
        {"pre_tokenizer",
         QJsonObject{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
        {"decoder", QJsonObject{{"type", "ByteLevel"}}},
        {"model",
         QJsonObject{{"type", "BPE"},
                     {"vocab", QJsonObject{{"a", 0}, {"b", 1}, {"ab", 2}}},
                     {"merges", QJsonArray{"a b"}}}}};
    support::writeFile(folder + "/tokenizer.json", QJsonDocument(tokenizer).toJson());
    const ProgramRun result = run({"tokenize", "--model", folder}, "abba\n");
    QCOMPARE(result.exitCode, 0);
    QCOMPARE(result.output, QByteArray("2 1 0\n"));
    expectRefusal(run({"generate", "--model", folder, "--prompt", "a", "--backend", "plain"}),
                  app::kNotFound,
                  {"config.json"});
}

void SwiftRunBadInputTest::chatGoesOnAfterAMessageThatDoesNotFit() {
    const ProgramRun result = run(kSmallChat, QByteArray(4000, 'x') + "\nHi\n");
    QCOMPARE(result.exitCode, 0);
    QVERIFY(result.errors.contains("context"));
    QCOMPARE(result.jsonLines().last()["event"].toString(), QString("done"));
}

void SwiftRunBadInputTest::aChatWithoutAnyAnswerIsNoSuccess() {
    const ProgramRun result = run(kSmallChat, QByteArray(4000, 'x') + "\n/exit\n");
    QCOMPARE(result.exitCode, int(app::kUsage));
    QVERIFY2(result.errors.contains("No prompt was answered."), result.errors.constData());
    QCOMPARE(run(kSmallChat, "/clear\n").exitCode, 0); // nothing was refused
}

void SwiftRunBadInputTest::linesMayEndAsOnWindows() {
    const ProgramRun result = run(kSmallChat, "/clear\r\n/exit\r\n");
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY2(result.output.isEmpty(), result.output.constData()); // neither was a message
}

/// The weights are small: what does not fit are the keys and values, known before any pass.
void SwiftRunBadInputTest::aContextThatDoesNotFitIntoMemoryIsRefused() {
    const QString folder = copyOfFolderModel();
    QJsonObject config =
        QJsonDocument::fromJson(support::fileBytes(folder + "/config.json")).object();
    config["max_position_embeddings"] = 1073741824;
    support::writeFile(folder + "/config.json", QJsonDocument(config).toJson());
    const QStringList arguments = {"generate", "--model", folder, "--prompt-ids", "1,2"};
    const ProgramRun refused = run(arguments + QStringList{"--context", "1073741824"});
    expectRefusal(refused,
                  app::kNoMemory,
                  {"context of 1073741824 tokens", "GB are needed", "GB are free", "--context"});
    const ProgramRun fits = run(arguments + QStringList{"--max-tokens", "1"});
    QVERIFY2(fits.exitCode == app::kSuccess, fits.errors.constData());
}

QTEST_GUILESS_MAIN(SwiftRunBadInputTest)
#include "swift_run_bad_input_test.moc"
