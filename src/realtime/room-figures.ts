/** What the rooms of this isolate count, all together. */
import { ROOMS } from "../telemetry/data-sets.ts";
import { metrics } from "../telemetry/telemetry.ts";

export const figures = metrics.series(ROOMS, {});
