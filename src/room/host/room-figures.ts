/** What the rooms of this isolate count, all together. */
import { ROOMS } from "../../platform/telemetry/data-sets.ts";
import { metrics } from "../../platform/telemetry/telemetry.ts";

export const figures = metrics.series(ROOMS, {});
