// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/recipe/recipe.h"
#include "engine/experiments/recipe/search_members.h"

#include <string>

// The members of every type of a recipe by their names in JSON. Each one is described in
// resources/recipe.schema.json, too.

namespace engine {

template <typename V> void visitMembers(V& visit, RecipeVariant& r) {
    visit("name", r.name);
    visit("decoder", r.decoder);
    visit("settings", r.settings);
    visit("search", r.search);
    visit("set_from", r.setFrom);
    visit("set_task", r.setTask);
}

template <typename V> void visitMembers(V& visit, RecipeSampling& r) {
    visit("temperature", r.temperature);
    visit("top_p", r.topP);
    visit("top_k", r.topK);
}

template <typename V> void visitMembers(V& visit, RecipeStage& r) {
    visit("name", r.name);
    visit("variants", r.variants);
    visit("baseline", r.hasBaseline);
    visit("twice", r.isTwice);
    visit("split_by_task", r.isSplitByTask);
    visit("split_by_variant", r.isSplitByVariant);
    visit("first_task_only", r.isForFirstTask);
    visit("same_prompts", r.reusesPrompts);
    visit("max_tokens", r.maxTokens);
    visit("sampling", r.sampling);
}

template <typename V> void visitMembers(V& visit, RecipeSize& r) {
    visit("prompts_per_task", r.promptsPerTask);
    visit("max_tokens", r.maxTokens);
    visit("seeds", r.seeds);
    visit("draws", r.draws);
    visit("draw_tokens", r.drawTokens);
    visit("most_tasks", r.mostTasks);
    visit("settings", r.settings);
    visit("trials", r.trials);
    visit("variants", r.variants);
}

template <typename V> void visitMembers(V& visit, TableWish& r) {
    visit("id", r.id);
    visit("title", r.title);
    visit("rows", r.rows);
    visit("columns", r.columns);
    visit("variants", r.variants);
    visit("stage", r.stage);
    visit("note", r.note);
}

template <typename V> void visitMembers(V& visit, FigureWish& r) {
    visit("id", r.id);
    visit("title", r.title);
    visit("kind", r.kind);
    visit("x", r.x);
    visit("y", r.y);
    visit("series", r.series);
    visit("panels", r.panels);
    visit("variants", r.variants);
    visit("stage", r.stage);
    visit("note", r.note);
}

template <typename V> void visitMembers(V& visit, OverlayValue& r) {
    visit("measure", r.measure);
    visit("variant", r.variant);
    visit("task", r.task);
    visit("value", r.value);
    visit("x", r.x);
}

template <typename V> void visitMembers(V& visit, RecipeOverlay& r) {
    visit("label", r.label);
    visit("values", r.values);
}

template <typename V> void visitMembers(V& visit, VerdictWish& r) {
    visit("kind", r.kind);
    visit("measure", r.measure);
    visit("variant", r.variant);
    visit("against", r.against);
    visit("along", r.along);
}

template <typename V> void visitMembers(V& visit, RunOptions& r) {
    visit("size", r.size);
    visit("seed", r.seed);
    visit("models", r.models);
    visit("planted", r.isPlanted);
    visit("backend", r.backend);
    visit("backend_settings", r.backendSettings);
    visit("context", r.context);
    visit("raw", r.isRaw);
    visit("draft_adapter", r.draftAdapter);
}

template <typename V> void visitMembers(V& visit, Recipe& r) {
    std::string schema; // which editors read; it says nothing about the experiment
    visit("$schema", schema);
    visit("name", r.name);
    visit("title", r.title);
    visit("source", r.source);
    visit("summary", r.summary);
    visit("caveat", r.caveat);
    visit("stream", r.isStream);
    visit("order", r.order);
    visit("tasks", r.tasks);
    visit("preferred_tasks", r.preferred);
    visit("stages", r.stages);
    visit("keep_texts", r.keepsTexts);
    visit("keep_rounds", r.keepsRounds);
    visit("least_models", r.leastModels);
    visit("sizes", r.sizes);
    visit("tables", r.tables);
    visit("figures", r.figures);
    visit("overlays", r.overlays);
    visit("verdict", r.verdict);
    visit("run", r.run);
}

} // namespace engine
