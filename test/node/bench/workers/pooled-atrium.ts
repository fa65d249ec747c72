/** Atrium as src/index.ts serves it, with the programs of workflows in processes of the pool. */
export * from "./atrium.ts";
export { default } from "./atrium.ts";
