/** Wrangler's custom build: what must be there before the Worker is served or published. */
import { bundleDemo } from "./demo-bundle.ts";

await bundleDemo();
