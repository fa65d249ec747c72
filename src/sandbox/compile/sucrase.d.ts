/** The inside of sucrase: its package has types for these files, but not where they are looked for. */
declare module "sucrase/dist/esm/HelperManager.js" {
  export * from "sucrase/dist/types/HelperManager";
}
declare module "sucrase/dist/esm/NameManager.js" {
  export { default } from "sucrase/dist/types/NameManager";
}
declare module "sucrase/dist/esm/TokenProcessor.js" {
  export { default } from "sucrase/dist/types/TokenProcessor";
}
declare module "sucrase/dist/esm/identifyShadowedGlobals.js" {
  export { default } from "sucrase/dist/types/identifyShadowedGlobals";
}
declare module "sucrase/dist/esm/parser/index.js" {
  export * from "sucrase/dist/types/parser/index";
}
declare module "sucrase/dist/esm/parser/tokenizer/state.js" {
  export { default } from "sucrase/dist/types/parser/tokenizer/state";
}
declare module "sucrase/dist/esm/parser/tokenizer/types.js" {
  export * from "sucrase/dist/types/parser/tokenizer/types";
}
declare module "sucrase/dist/esm/transformers/RootTransformer.js" {
  export { default } from "sucrase/dist/types/transformers/RootTransformer";
}
declare module "sucrase/dist/esm/util/getTSImportedNames.js" {
  export { default } from "sucrase/dist/types/util/getTSImportedNames";
}
declare module "sucrase/dist/esm/parser/traverser/base.js" {
  export * from "sucrase/dist/types/parser/traverser/base";
}
declare module "sucrase/dist/esm/parser/tokenizer/index.js" {
  export * from "sucrase/dist/types/parser/tokenizer/index";
}
