/** Wrangler's custom build: what must be there before the Worker is served or published. */
import { bundleServedFiles } from "./served-files.ts";

await bundleServedFiles();
