/** wrangler's custom build: makes the files that the Worker imports and serves. */
import { DEV_WARNING } from "../service/development.ts";
import { bundleServedFiles } from "./served-files.ts";

await bundleServedFiles();
if (process.env.WRANGLER_COMMAND === "dev") console.warn(DEV_WARNING);
