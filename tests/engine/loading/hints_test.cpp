// SPDX-License-Identifier: Apache-2.0
// Every hint that reading a model gives is followed here, and then the model is read.
#include "engine/loading/model_files.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/loading/weight_source.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/engine/text/tiny_tokenizers.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <array>
#include <functional>
#include <limits>

using namespace engine;
using namespace test_support;

namespace {

namespace fs = std::filesystem;

std::string tinyGguf() {
    TinyGguf file = tinyGgufMetadata();
    addTinyTokenizer(file);
    file.addString("tokenizer.ggml.pre", "smollm");
    addTinyTensors(file);
    return file.toBytes();
}

/// A model that is whole: whatever a case does not write over.
void writeModel(const TemporaryFolder& folder) {
    folder.write("config.json", tinyConfigJson());
    folder.write("model.safetensors", tinySafetensors().toBytes());
    folder.write("tokenizer.json", tiny::json());
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
    ENGINE_CHECK(text.find(part) != std::string::npos, "nothing to replace: {}", part);
    return text.replace(text.find(part), part.size(), by);
}

/// The weights with one tensor of another type, shape or content.
std::string weightsWith(const std::string& name,
                        const std::string& type,
                        const std::vector<std::uint64_t>& shape,
                        const std::string& bytes) {
    TinySafetensors file;
    file.add(name, type, shape, bytes);
    return file.toBytes();
}

/// All that loading does, but for the arithmetic.
Result<void> readModel(const fs::path& path) {
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(path));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    const std::array<std::uint64_t, 1> norm = {static_cast<std::uint64_t>(config.hiddenSize)};
    ENGINE_TRY_DO(readTensor(*weights, "model.norm.weight", norm));
    for (const TensorInfo& tensor : weights->tensors()) {
        if (computesWith(config, tensor.name))
            ENGINE_TRY_DO(readTensor(*weights, tensor.name, tensor.shape));
    }
    ENGINE_TRY_DO(loadTokenizer(files));
    return {};
}

struct HintCase {
    const char* name;
    const char* hint;                                       ///< a part of it
    std::function<fs::path(const TemporaryFolder&)> spoil;  ///< the path that is then asked for
    std::function<fs::path(const TemporaryFolder&)> follow; ///< the path to ask for instead
};

/// Spoils one file of the folder; following the hint means that the right one is there again.
HintCase fileCase(const char* name, const char* hint, const char* file, std::string content) {
    return {name,
            hint,
            [=](const TemporaryFolder& folder) {
                folder.write(file, content);
                return folder.path();
            },
            [](const TemporaryFolder& folder) {
                writeModel(folder);
                return folder.path();
            }};
}

/// A GGUF file in place of another.
HintCase ggufCase(const char* name, const char* hint, const std::string& content) {
    return {name,
            hint,
            [=](const TemporaryFolder& folder) { return folder.write("m.gguf", content); },
            [](const TemporaryFolder& folder) { return folder.write("m.gguf", tinyGguf()); }};
}

/// Asks for something else in the same folder.
HintCase
placeCase(const char* name, const char* hint, const std::string& asked, const std::string& better) {
    return {name,
            hint,
            [=](const TemporaryFolder& folder) { return folder.path() / asked; },
            [=](const TemporaryFolder& folder) { return folder.path() / better; }};
}

std::vector<HintCase> placeCases() {
    return {
        placeCase("no such path", "Check the path", "absent", ""),
        placeCase("one file of a model", "Give the folder that it lies in", "config.json", ""),
        {"an empty folder",
         "Give the folder of a model",
         [](const TemporaryFolder& folder) {
             fs::create_directory(folder.path() / "empty");
             return folder.path() / "empty";
         },
         [](const TemporaryFolder& folder) { return folder.path(); }},
        {"a text",
         "Give the path of a GGUF file or of a model folder",
         [](const TemporaryFolder& folder) { return folder.write("story.txt", "Once"); },
         [](const TemporaryFolder& folder) { return folder.write("m.gguf", tinyGguf()); }},
        {"two GGUF files",
         "Give the path of one of them",
         [](const TemporaryFolder& folder) {
             fs::remove(folder.path() / "config.json");
             folder.write("one.gguf", tinyGguf());
             folder.write("two.gguf", tinyGguf());
             return folder.path();
         },
         [](const TemporaryFolder& folder) { return folder.path() / "two.gguf"; }},
        {"pickled weights",
         "Convert it to safetensors",
         [](const TemporaryFolder& folder) {
             fs::remove(folder.path() / "model.safetensors");
             folder.write("pytorch_model.bin", "PK");
             return folder.path();
         },
         [](const TemporaryFolder& folder) {
             folder.write("model.safetensors", tinySafetensors().toBytes());
             return folder.path();
         }},
    };
}

/// A part of the model is not there; the hint says to put it there.
std::vector<HintCase> missingCases() {
    std::vector<HintCase> cases;
    for (const auto& [file, hint] : {std::pair("config.json", "Put the model's config.json beside"),
                                     std::pair("model.safetensors", "Put the model's weights into"),
                                     std::pair("tokenizer.json", "Put the model's tokenizer.json")})
        cases.push_back({file,
                         hint,
                         [file = file](const TemporaryFolder& folder) {
                             fs::remove(folder.path() / file);
                             return folder.path();
                         },
                         [](const TemporaryFolder& folder) {
                             writeModel(folder);
                             return folder.path();
                         }});
    return cases;
}

std::vector<HintCase> fileCases() {
    const std::string config = tinyConfigJson();
    const std::string weights = tinySafetensors().toBytes();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::array<float, 4> bad = {1, nan, 1, 1};
    const char* const kFetchWeights = "damaged or incomplete: fetch it again";
    return {
        fileCase("broken JSON", "Mend the JSON at this byte", "config.json", config + "}"),
        fileCase("a number too large",
                 "Mend the JSON at this byte",
                 "config.json",
                 replaced(config, "10000.0", "1e999")),
        fileCase("a field of another type",
                 "Fetch config.json again",
                 "config.json",
                 replaced(config, ":16,", ":\"16\",")),
        fileCase("fields that disagree",
                 "The model's configuration is damaged: fetch it again",
                 "config.json",
                 replaced(config, "\"num_key_value_heads\":1", "\"num_key_value_heads\":3")),
        fileCase("another activation",
                 "Choose a model that does without it",
                 "config.json",
                 replaced(config, "silu", "gelu")),
        fileCase("another family",
                 "Choose a model of a supported architecture",
                 "config.json",
                 replaced(config, "llama", "cohere")),
        fileCase("quantised",
                 "Choose the unquantised checkpoint",
                 "config.json",
                 replaced(config, "{", "{\"quantization_config\":{\"bits\":4},")),
        fileCase("cut short", kFetchWeights, "model.safetensors", weights.substr(0, 1000)),
        fileCase("a damaged header", kFetchWeights, "model.safetensors", "{}" + weights),
        fileCase("a header that is no JSON",
                 kFetchWeights,
                 "model.safetensors",
                 safetensorsFile("{\"a\":", "")),
        fileCase("a tensor that is missing",
                 "Its files are incomplete, or its configuration belongs to another model",
                 "model.safetensors",
                 safetensorsFile("{}", "")),
        fileCase("another shape",
                 "The weights and the configuration belong to different models",
                 "model.safetensors",
                 weightsWith("model.norm.weight", "F32", {2}, std::string(8, '\0'))),
        fileCase("another type",
                 "Convert the model to float32, float16 or bfloat16",
                 "model.safetensors",
                 weightsWith("model.norm.weight", "I64", {4}, std::string(32, '\0'))),
        fileCase(
            "no number",
            "The weights are damaged: fetch or convert the model again",
            "model.safetensors",
            weightsWith("model.norm.weight", "F32", {4}, bytesOf(std::span<const float>(bad)))),
        fileCase("a tokenizer of another kind",
                 "Use the model's GGUF file or another export of its tokenizer",
                 "tokenizer.json",
                 replaced(tiny::json(), "BPE", "WordPiece")),
    };
}

std::vector<HintCase> ggufCases() {
    TinyGguf other;
    other.addString("general.architecture", "mamba");
    TinyGguf part = tinyGgufMetadata();
    part.addValue("split.count", GgufType::U16, bytesOf(std::uint16_t(2)));
    addTinyTensors(part);
    return {
        ggufCase("a GGUF of another family",
                 "Choose a model of a supported architecture",
                 other.toBytes()),
        ggufCase("a GGUF cut short", "fetch it again", tinyGguf().substr(0, 300)),
        ggufCase("a GGUF without sizes",
                 "Fetch the file again, or convert the model again",
                 [] {
                     TinyGguf file;
                     file.addString("general.architecture", "llama");
                     return file.toBytes();
                 }()),
        ggufCase("an old GGUF",
                 "Convert the model again with a current converter",
                 std::string("GGUF\1\0\0\0", 8) + std::string(64, '\0')),
        ggufCase("a part of a GGUF", "Give the parts names that end in", part.toBytes()),
    };
}

std::vector<HintCase> allCases() {
    std::vector<HintCase> cases = placeCases();
    for (auto more : {missingCases(), fileCases(), ggufCases()})
        cases.insert(cases.end(), more.begin(), more.end());
    return cases;
}

} // namespace

class HintsTest : public QObject {
    Q_OBJECT

private slots:
    void theModelOfTheCasesCanBeRead();
    void everyHintHelps_data();
    void everyHintHelps();

private:
    const std::vector<HintCase> m_cases = allCases();
};

void HintsTest::theModelOfTheCasesCanBeRead() {
    const TemporaryFolder folder;
    writeModel(folder);
    for (const fs::path& path : {folder.path(), folder.write("m.gguf", tinyGguf())}) {
        const auto read = readModel(path);
        QVERIFY2(read.hasValue(), read ? "" : read.error().message.c_str());
    }
}

void HintsTest::everyHintHelps_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < m_cases.size(); ++i)
        QTest::newRow(m_cases[i].name) << static_cast<int>(i);
}

void HintsTest::everyHintHelps() {
    QFETCH(int, index);
    const HintCase& one = m_cases[static_cast<std::size_t>(index)];
    const TemporaryFolder folder;
    writeModel(folder);
    const auto refused = readModel(one.spoil(folder));
    QVERIFY(!refused);
    const Error& error = refused.error();
    QVERIFY2(error.hint.find(one.hint) != std::string::npos,
             (error.message + " | " + error.hint).c_str());
    QVERIFY2(error.hint.ends_with('.') && error.hint[0] >= 'A' && error.hint[0] <= 'Z',
             error.hint.c_str());
    for (const char* internal : {"json.exception", "nlohmann", "std::", "pcre2", ".cc("})
        QVERIFY2(error.message.find(internal) == std::string::npos, error.message.c_str());
    const auto read = readModel(one.follow(folder));
    QVERIFY2(read.hasValue(), read ? "" : read.error().message.c_str());
}

QTEST_APPLESS_MAIN(HintsTest)
#include "hints_test.moc"
