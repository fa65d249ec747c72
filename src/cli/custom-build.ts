/** Wrangler's custom build: what must be there before the Worker is served or published. */
import { bundleDashboard } from "./dashboard-bundle.ts";
import { bundleDemo } from "./demo-bundle.ts";
import { bundleGuest } from "./guest-bundle.ts";

await Promise.all([bundleDemo(), bundleDashboard(), bundleGuest()]);
